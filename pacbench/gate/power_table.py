"""What to expect of the gate on a machine, as tables: by benchmark, and against the bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pacbench.gate.power import RUN_SECONDS, Expected, total
from pacbench.gate.selftest import SLOWDOWNS, Pair
from pacbench.report.formats import markdown
from pacbench.report.table import Column, Entry, Table

MOST_FALSE_ALARMS = 0.005
LEAST_CAUGHT = {0.05: 0.97, 0.10: 0.995}
COVERAGE = (0.93, 0.97)


def as_markdown(expected: Expected, pairs: Sequence[Pair]) -> str:
    """What a user can expect here, from what these pairs said."""
    load = ", the other cores kept busy" if pairs[0].load else ""
    tables = [_by_benchmark(expected, len(pairs), load), _against_bars(expected, load)]
    return "\n".join(markdown(table) for table in tables)


def _by_benchmark(expected: Expected, pairs: int, load: str) -> Table:
    caught = [Column(f"+{slowdown:.0%} caught") for slowdown in SLOWDOWNS[1:]]
    columns = [Column("benchmark", align="l"), Column("false alarms"), Column("called the same")]
    columns += [*caught, Column("95 % interval holds"), Column("pairs")]
    rows = []
    for power in expected.powers:
        figures = [
            f"{rate}, measured {injected:+.1%}"
            for rate, injected in zip(power.slower[1:], power.injected[1:], strict=True)
        ]
        row = [power.benchmark, power.slower[0], power.same[0], *figures, power.covered]
        rows.append([*(Entry(str(figure)) for figure in row), Entry(f"{power.pairs:.0f}")])
    return Table(
        name="self-test",
        caption=f"What the gate can be trusted with on this machine{load}",
        columns=columns,
        rows=rows,
        notes=[
            f"{expected.false_alarms.of} runs of the gate for each figure, within "
            f"{RUN_SECONDS:.0f} s, on pairs drawn from {pairs} real process pairs; in brackets, "
            "the 95 % interval of the drawing: a kind of bad luck that none of those pairs had is "
            "not in it",
            "caught: said to be slower, with real extra work of the candidate; measured: by "
            "how much that slowed it, before it was moved to the figure above",
        ],
    )


def _against_bars(expected: Expected, load: str) -> Table:
    powers = expected.powers
    alarms = total([power.slower[0] for power in powers])
    covered = total([power.covered for power in powers])
    mean, longest = np.mean(expected.seconds), max(expected.seconds)
    least, most = COVERAGE
    figures = [
        (
            "false alarms, of decisions",
            str(alarms),
            f"at most {MOST_FALSE_ALARMS:.1%}",
            alarms.value <= MOST_FALSE_ALARMS,
        ),
        *(
            (f"+{slowdown:.0%} caught", str(rate), f"at least {bar:.1%}", rate.value >= bar)
            for position, (slowdown, bar) in enumerate(LEAST_CAUGHT.items(), start=1)
            for rate in [total([power.slower[position] for power in powers])]
        ),
        (
            "95 % interval holds",
            str(covered),
            f"{least:.0%} to {most:.0%}",
            least <= covered.value <= most,
        ),
        (
            f"seconds of a run of {len(powers)} benchmarks",
            f"{mean:.0f}, the longest {longest:.0f}",
            f"at most {RUN_SECONDS:.0f}",
            longest <= RUN_SECONDS,
        ),
    ]
    columns = [Column("all benchmarks", align="l"), Column("figure"), Column("bar"), Column("")]
    return Table(
        name="bars",
        caption=f"Against the bars{load}",
        columns=columns,
        rows=[
            [Entry(what), Entry(figure), Entry(bar), Entry("pass" if good else "FAIL")]
            for what, figure, bar, good in figures
        ],
        notes=[f"false alarms, of whole runs: {expected.false_alarms}"],
    )
