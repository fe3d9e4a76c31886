"""`pacbench gate`: has anything become slower?"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pacbench.cli.run import RUNS
from pacbench.errors import UserError

if TYPE_CHECKING:
    from pacbench.gate.decide import Rule
    from pacbench.gate.session import Report
    from pacbench.suite.cells import Cell

TRIALS = 1000
REFERENCE_PROCESSES = 6

Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="REV|RUN|WHEEL|DIR",
        help="What to compare with: a git revision, a run or latest (its commit), a wheel, a "
        "checkout or a virtual environment.",
    ),
]
Candidate = Annotated[
    str | None,
    typer.Option(metavar="REV|WHEEL|DIR", help="What to judge; this installation if not given."),
]
Against = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Compare with kept ratios to yardsticks instead."),
]
Keep = Annotated[
    Path | None,
    typer.Option("--write-reference", metavar="FILE", help="Measure ratios to yardsticks; keep."),
]
OtherCpu = Annotated[
    bool, typer.Option("--other-cpu", help="Compare with ratios of another CPU all the same.")
]
SelfTest = Annotated[
    bool, typer.Option("--self-test", help="Print the false alarms and the power to expect here.")
]
Pool = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep the self-test's pairs here, and use those kept."),
]
Load = Annotated[
    bool, typer.Option("--load", help="Keep the other cores busy during the self-test.")
]
SuiteName = Annotated[str, typer.Option("--suite", help="The suite whose cells are benchmarks.")]
Counting = Annotated[
    str,
    typer.Option(
        "--instructions",
        metavar="auto|off",
        help="Count the kernels' instructions as well, after the timing, where valgrind is there.",
    ),
]
MaxSlowdown = Annotated[str, typer.Option(metavar="SHARE", help="Slower by this is tolerated.")]
Confidence = Annotated[
    str, typer.Option(metavar="SHARE", help="That no benchmark is wrongly called slower.")
]
Budget = Annotated[str, typer.Option(metavar="TIME", help="Such as 90s or 5m.")]
Markdown = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the summary there.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE")]
Junit = Annotated[Path | None, typer.Option(metavar="FILE")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: pacbench gate --baseline main --junit gate.xml")(gate)


def gate(
    baseline: Baseline = None,
    candidate: Candidate = None,
    against: Against = None,
    write_reference: Keep = None,
    other_cpu: OtherCpu = False,
    self_test: SelfTest = False,
    pool: Pool = None,
    load: Load = False,
    suite: SuiteName = "gate",
    max_slowdown: MaxSlowdown = "1%",
    confidence: Confidence = "99%",
    budget: Budget = "5m",
    instructions: Counting = "auto",
    markdown: Markdown = None,
    json_: Json = None,
    junit: Junit = None,
    quiet: Quiet = False,
) -> None:
    """Say which benchmarks have become slower.

    Exit code 0 if none has, 1 if one has, 3 if one could not be decided, 2 for a mistake.
    """
    from pacbench.gate.decide import Rule
    from pacbench.gate.quantities import seconds, share
    from pacbench.session import plan

    chosen = [baseline is not None, against is not None, write_reference is not None, self_test]
    if chosen.count(True) != 1:
        raise UserError("name one of --baseline, --against, --write-reference and --self-test")
    if instructions not in ("auto", "off"):
        raise UserError(f"--instructions {instructions}: should be auto or off")
    counting = instructions == "auto"
    cells = plan(suite).cells
    if any(cell.device != "cpu" for cell in cells):
        raise UserError(f"--suite {suite}: the gate times on the CPU only; set 'device: cpu' in it")
    rule = Rule(
        max_slowdown=share("--max-slowdown", max_slowdown),
        confidence=share("--confidence", confidence),
        benchmarks=len(cells),
    )
    time_limit = seconds("--budget", budget)
    if self_test:
        _self_test(cells, rule, time_limit, pool, load, quiet)
        return
    if write_reference is not None:
        _write_reference(cells, write_reference, counting, _say(quiet))
        return
    if against is not None:
        report = _against(cells, rule, against, other_cpu, counting)
    else:
        report = _compare(str(baseline), candidate, cells, rule, time_limit, counting, _say(quiet))
    raise typer.Exit(_write(report, markdown, json_, junit))


def _compare(
    baseline: str,
    candidate: str | None,
    cells: list[Cell],
    rule: Rule,
    budget: float,
    counting: bool,
    say: Callable[[str], None],
) -> Report:
    from pacbench.gate import session
    from pacbench.gate.installation import resolve, this_installation
    from pacbench.gate.instructions import beside

    say(f"installing {baseline}")
    sides = (resolve(_run_or(baseline)), resolve(candidate) if candidate else this_installation())
    report = session.run(sides, cells, rule, budget, say)
    if not counting:
        return report
    say("counting instructions")
    return beside(report, sides, cells)


def _run_or(baseline: str) -> str:
    """The folder of a run that is named as elsewhere; what names none, as it is."""
    from pacbench.store import RunFolder

    named = baseline == "latest" or (RUNS / baseline / "records.jsonl").is_file()
    return str(RunFolder.find(baseline, RUNS).path) if named else baseline


def _against(cells: list[Cell], rule: Rule, path: Path, other_cpu: bool, counting: bool) -> Report:
    from pacbench.environment import cpu_model
    from pacbench.gate.instructions import beside_reference
    from pacbench.gate.reference import Reference, compare, measure

    reference = Reference.read(path)
    if not other_cpu:
        reference.require_cpu(cpu_model(), str(path))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        measured = measure(cells, REFERENCE_PROCESSES, Path(scratch))
    report = compare(reference, measured, rule, str(path), time.monotonic() - start)
    return beside_reference(report, reference.instructions, cells) if counting else report


def _write_reference(
    cells: list[Cell], path: Path, counting: bool, say: Callable[[str], None]
) -> None:
    from pacbench.environment import capture
    from pacbench.gate.installation import this_installation
    from pacbench.gate.instructions import CannotCountError, count
    from pacbench.gate.reference import Reference, measure

    counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        measured = measure(cells, REFERENCE_PROCESSES, Path(scratch))
    if counting:
        try:
            (counts,) = count([this_installation()], cells)
        except CannotCountError as reason:
            say(f"instructions are not counted: {reason}")
    reference = Reference(
        environment=capture(cells[0].threads), log_ratios=measured, instructions=counts
    )
    _save(path, reference.model_dump_json(indent=2) + "\n")


def _self_test(
    cells: list[Cell], rule: Rule, budget: float, pool: Path | None, load: bool, quiet: bool
) -> None:
    from pacbench.gate import selftest
    from pacbench.gate.installation import this_installation
    from pacbench.gate.power import evaluate
    from pacbench.gate.power_table import as_markdown
    from pacbench.gate.session import name_of

    pairs = selftest.read_pool(pool, load, [name_of(cell) for cell in cells]) if pool else []
    for pair in selftest.collect(this_installation(), cells, budget, _say(quiet), load):
        pairs.append(pair)
        if pool:
            selftest.add_to_pool(pool, pair)
    typer.echo(as_markdown(evaluate(pairs, rule, TRIALS), pairs), nl=False)


def _write(report: Report, markdown: Path | None, json_: Path | None, junit: Path | None) -> int:
    from pacbench.gate.report import as_json, as_junit, as_markdown

    typer.echo(as_markdown(report), nl=False)
    for path, text in (
        (markdown, as_markdown(report)),
        (json_, as_json(report)),
        (junit, as_junit(report)),
    ):
        if path is not None:
            _save(path, text)
    return report.exit_code


def _save(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _say(quiet: bool) -> Callable[[str], None]:
    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return say
