"""How the columns of a table are to be read: the notes that stand beneath it."""

from __future__ import annotations

from collections.abc import Sequence

from pacbench.record import Record
from pacbench.report.naming import counted
from pacbench.report.scores import Score
from pacbench.timing.peak import Peak

LAYERS = {"C": "convolution", "P": "transposed PAC", "D": "deconvolution"}
"""The letters of ``Architecture.layers``."""

RANKS = (
    "bold: the best of its column, underlined: the second; of what is printed, among rows that "
    "were given the same"
)
STAGES = "set-up, step: timed in calls of their own, so they do not add up to the runtime"
MEMORY = "memory: peak of a call beyond its inputs, measured once"
IN_CACHE = "in cache"


def of_score(score: Score, records: Sequence[Record]) -> str:
    if max((len(record.images) for record in records), default=0) < 2:
        return f"{score.name}: of one image, which tells no interval"
    return f"{score.name}: ± 95 % interval over the images"


def of_gain(records: Sequence[Record]) -> str:
    several = any(len(record.images) > 1 for record in records)
    return "gain: paired image by image, ± 95 % interval" if several else ""


def of_runtime(records: Sequence[Record]) -> str:
    timings = [record.timing for record in records if record.timing]
    blocks = [len(samples) for timing in timings for samples in timing.samples]
    if not blocks:
        return ""
    *fewer, most = sorted({len(timing.by_process()[0]) for timing in timings})
    processes = " or ".join([*map(str, fewer), counted(most, "process")])
    over = "processes, which few tell little of, and rounds" if most > 1 else "rounds"
    unknown = ", alone where these are too few" if any(t.interval is None for t in timings) else ""
    return (
        f"runtime: median of a call, set-up included, ± its 95 % interval over {over}{unknown}; "
        f"each image timed {min(blocks)} or more times, in turn with the other methods, "
        f"in {processes}"
    )


def of_share(peaks: Sequence[Peak], in_cache: bool) -> str:
    if not peaks:
        return ""
    measured = "; ".join(
        f"of {counted(peak.threads, 'thread')} {peak.flops_per_second / 1e9:.0f} GFLOP/s (matrix "
        f"product), {peak.bytes_per_second / 1e9:.1f} GB/s (copy)"
        for peak in peaks
    )
    cached = f"; {IN_CACHE}: faster than memory, for what it moves fits into the caches"
    return (
        f"peak: {measured}; of peak: the least time by either, over that measured, FLOPs and bytes "
        "by each operator's formula" + (cached if in_cache else "")
    )


def of_layers(records: Sequence[Record]) -> str:
    shown = {
        layer[0]
        for record in records
        if record.architecture
        for branch in record.architecture.layers.values()
        for layer in branch
    }
    letters = [f"{letter} {what}" for letter, what in LAYERS.items() if letter in shown]
    return f"layers: by branch, each with its number of filters: {', '.join(letters)}"
