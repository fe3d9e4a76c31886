"""What figures were measured on and how: every table carries it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pacbench.environment import Environment
from pacbench.method import methods
from pacbench.record import Record
from pacbench.report.naming import constant_axes, counted, name_of, varying_axes
from pacbench.report.run import Results
from pacbench.report.training import training_of

MOST_TOLD = 4
"""Facts of an environment that are named."""


def conditions(results: Results) -> list[str]:
    """Data, protocol, device and backend: what stands in a caption."""
    ran = [record for record in results.records if record.ok] or results.records
    lines = [_data(ran), _protocol(ran)]
    if constants := constant_axes(results.records):
        lines.append("throughout: " + ", ".join(f"{k} = {v}" for k, v in constants.items()))
    for name, environment in results.environments.items():
        several = f", environment {name}" if len(results.environments) > 1 else ""
        lines.append(device(environment, ran) + several)
    lines.append(_exceptions("backend", [(r.cell.label, r.cell.backend) for r in ran]))
    return [line for line in lines if line]


def unstable(records: Sequence[Record]) -> list[str]:
    """Why timings should not be trusted: the worst of them, in one note (JSON has all)."""
    doubtful = [
        (record, record.timing)
        for record in records
        if record.timing and record.timing.unstable and record.cell.method != "unary"
    ]
    if not doubtful:
        return []
    record, timing = max(doubtful, key=lambda pair: pair[1].mad / pair[1].median)
    more = f", and {len(doubtful) - 1} more" if len(doubtful) > 1 else ""
    name = name_of(record, varying_axes(list(records)))
    return [f"† unstable timing: {name}: {timing.unstable}{more}"]


def note_of(record: Record) -> str:
    """What a reader must be told of the method, its training above all."""
    cell = record.cell
    if weights := cell.params.get("weights"):
        return training_of(weights, record.weights_sha256)
    if cell.method not in methods:
        return ""
    info = methods[cell.method].info
    return info.note if info.learnable or not chosen_in_suite([record]) else ""


def chosen_in_suite(records: Iterable[Record]) -> str:
    """That the suite sets parameters of the method, if it does for any of the records.

    Operators have none but the size of their work, and weights stand above what they began with.
    """
    for record in records:
        cell = record.cell
        if cell.task == "op" or cell.method not in methods or cell.params.get("weights"):
            continue
        fields = methods[cell.method].Params.model_fields
        own = {name: cell.params[name] for name in cell.params.keys() & fields - cell.axes.keys()}
        if any(value != fields[name].default for name, value in own.items()):
            return "parameters chosen in the suite; the records have them"
    return ""


def elsewhere(record: Record, results: Results) -> str:
    """Where a record was measured, if not in the first of several environments."""
    if len(results.environments) < 2 or record.environment == results.environment.id:
        return ""
    told = f"measured in environment {record.environment}"
    if record.environment not in results.environments:
        return told
    facts = results.environment.differences(results.environments[record.environment])
    differing = [fact.partition(":")[0] for fact in facts]
    more = f" and {len(differing) - MOST_TOLD} more" if len(differing) > MOST_TOLD else ""
    return f"{told}, which differs in {', '.join(differing[:MOST_TOLD])}{more}"


def is_untrained(record: Record) -> bool:
    """Whether its method learns, and was given no weights."""
    method = record.cell.method
    learns = method in methods and methods[method].info.learnable
    return learns and not record.cell.params.get("weights")


def device(environment: Environment, records: Sequence[Record]) -> str:
    """The machine and the software."""
    kinds = sorted({record.cell.device for record in records})
    *fewer, most = sorted({record.cell.threads for record in records})
    threads = " or ".join([*map(str, fewer), counted(most, "thread")])
    commit = (environment.commit or "no commit")[:10]
    return (
        f"device: {' and '.join(kinds)} ({', '.join([environment.cpu, *environment.gpu])}), "
        f"{threads}, torch {environment.torch}, "
        f"pacbench {environment.pacbench} ({commit}"
        f"{', with local changes' if environment.dirty else ''})"
    )


def _data(ran: Sequence[Record]) -> str:
    datas: dict[str, None] = {}
    for record in ran:
        data = record.cell.data
        samples = [counted(len(record.images), "sample")] if record.images else []
        parts = [data.name, f"split {data.split}", *samples, f"seed {record.cell.seed}"]
        datas[", ".join(parts)] = None
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
