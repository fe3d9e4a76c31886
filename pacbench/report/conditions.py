"""What figures were measured on and how: every table carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacbench.environment import Environment
from pacbench.method import methods
from pacbench.record import Record
from pacbench.report.naming import constant_axes
from pacbench.report.paper import CONDITIONS
from pacbench.report.run import Results
from pacbench.report.scores import score_of


def conditions(results: Results) -> list[str]:
    """Data, protocol, device and backend: what stands in a caption."""
    ran = [record for record in results.records if record.ok] or results.records
    lines = [_data(ran), _protocol(ran)]
    if constants := constant_axes(results.records):
        lines.append("throughout: " + ", ".join(f"{k} = {v}" for k, v in constants.items()))
    lines += [device(environment, ran) for environment in results.environments.values()]
    lines.append(_exceptions("backend", [(r.cell.label, r.cell.backend) for r in ran]))
    return [line for line in lines if line]


def reading(results: Results) -> list[str]:
    """How the figures are to be read: what stands beneath a table."""
    ran = [record for record in results.records if record.ok]
    lines = []
    if score_of(ran):
        lines.append("scores: ± 95 % interval over the images; gains are paired image by image")
    counts = [len(blocks) for r in ran if r.timing for blocks in r.timing.samples]
    processes = sorted({r.cell.timing.processes for r in ran})
    lines.append(
        "runtime: median of a call, set-up included, ± its 95 % interval; "
        f"{min(counts, default=0)} or more timings of each image in turn with the other methods, "
        f"in {' or '.join(map(str, processes)) or 0} processes; memory: peak beyond the inputs"
    )
    lines += [
        f"peak of {p.threads} threads: {p.flops_per_second / 1e9:.0f} GFLOP/s (matrix product), "
        f"{p.bytes_per_second / 1e9:.1f} GB/s (copy); of peak: the least time by either, over that "
        "measured; FLOPs and bytes by each operator's formula"
        for p in results.peaks
    ]
    if results.suite.paper_table:
        where = CONDITIONS.get(results.suite.paper_table, "")
        lines.append(f"paper: as it prints them, for {where}")
    return lines


def unstable(records: Sequence[Record]) -> list[str]:
    """Why timings should not be trusted, in one note."""
    reasons: dict[str, list[str]] = {}
    for record in records:
        if record.timing and record.timing.unstable and record.cell.method != "unary":
            reasons.setdefault(record.cell.label, []).append(record.timing.unstable)
    told = [
        f"{label}: {first}" + (f", and {len(others)} more" if others else "")
        for label, (first, *others) in reasons.items()
    ]
    return [f"† unstable timing: {' | '.join(told)}"] if told else []


def note_of(record: Record) -> str:
    """What a reader must be told of the method; of a trained one, by what."""
    cell = record.cell
    if weights := cell.params.get("weights"):
        return f"trained: weights {weights}"
    if cell.method not in methods:
        return ""
    info, fields = methods[cell.method].info, methods[cell.method].Params.model_fields
    chosen = [
        f"{name} = {_setting(value)}"
        for name, value in cell.params.items()
        if name in fields.keys() - cell.axes.keys() and value != fields[name].default
    ]
    if not (info.note and chosen):
        return info.note
    told = f"parameters chosen in the suite: {', '.join(chosen)}"
    return f"{info.note}; {told}" if info.learnable else told


def is_untrained(record: Record) -> bool:
    """Whether its method learns, and was given no weights."""
    method = record.cell.method
    learns = method in methods and methods[method].info.learnable
    return learns and not record.cell.params.get("weights")


def _setting(value: Any) -> str:
    """``pac_crf (dilations = [16, 64])`` for a method within a method."""
    if not isinstance(value, dict) or "name" not in value:
        return str(value)
    inner = ", ".join(f"{name} = {each}" for name, each in value.get("params", {}).items())
    return f"{value['name']} ({inner})" if inner else str(value["name"])


def device(environment: Environment, records: Sequence[Record]) -> str:
    """The machine and the software."""
    kinds = sorted({record.cell.device for record in records})
    threads = sorted({record.cell.threads for record in records})
    commit = (environment.commit or "no commit")[:10]
    return (
        f"device: {' and '.join(kinds)} ({', '.join([environment.cpu, *environment.gpu])}), "
        f"{' or '.join(map(str, threads))} threads, torch {environment.torch}, "
        f"pacbench {environment.pacbench} ({commit}"
        f"{', with local changes' if environment.dirty else ''})"
    )


def _data(ran: Sequence[Record]) -> str:
    datas = dict.fromkeys(
        f"{r.cell.data.name}, split {r.cell.data.split}, {len(r.images)} samples, "
        f"seed {r.cell.seed}"
        for r in ran
    )
    return "data: " + " and ".join(datas)


def _protocol(ran: Sequence[Record]) -> str:
    """The parts of all protocols; those that differ side by side."""
    protocols = [r.protocol for r in ran if r.protocol]
    return f"protocol: {side_by_side(protocols)}" if protocols else ""


def side_by_side(texts: Sequence[str]) -> str:
    """``a; x4 or x8; b`` of ``a; x4; b`` and ``a; x8; b``."""
    parts = [text.split("; ") for text in texts]
    merged = [
        " or ".join(dict.fromkeys(part[i] for part in parts if i < len(part)))
        for i in range(max(map(len, parts)))
    ]
    return "; ".join(merged)


def _exceptions(what: str, pairs: Sequence[tuple[str, str]]) -> str:
    """``backend: native; pydensecrf for Full-CRF``: the commonest, then what differs."""
    values = [value for _, value in pairs if value != "none"]
    if not values:
        return ""
    usual = max(dict.fromkeys(values), key=values.count)
    others: dict[str, dict[str, None]] = {}
    for label, value in pairs:
        if value not in (usual, "none"):
            others.setdefault(value, {})[label] = None
    told = [f"{value} for {', '.join(labels)}" for value, labels in others.items()]
    return f"{what}: " + "; ".join([usual, *told])
