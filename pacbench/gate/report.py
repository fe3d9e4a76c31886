"""What the gate found, for people, for programs and for CI."""

from __future__ import annotations

from xml.etree import ElementTree

from pacbench.gate.session import Finding, Report
from pacbench.report.formats import markdown
from pacbench.report.table import Column, Entry, Table

ICONS = {
    "slower": "🔴 slower",
    "faster": "🟢 faster",
    "undecided": "🟡 undecided",
    "not compared": "⚪ not compared",
}


def as_markdown(report: Report) -> str:
    """A comment for a pull request."""
    columns = [Column("benchmark", align="l"), Column("verdict", align="l"), Column("time")]
    columns += [Column("interval"), Column("pairs"), Column("instructions")]
    table = Table(
        name="gate",
        caption=f"{_headline(report)}: {report.candidate} against {report.baseline}",
        columns=columns,
        rows=[[Entry(text) for text in _row(finding)] for finding in report.findings],
        notes=[
            f"slower: by more than {report.max_slowdown:.1%}, with {report.confidence:.3g} "
            "confidence over all benchmarks",
            f"time: candidate over baseline, {report.how}; timed for {report.seconds:.0f} s",
            *([f"instructions: {report.instructions}"] if report.instructions else []),
            *(f"{f.benchmark}: {f.note}" for f in report.findings if f.note),
        ],
    )
    return markdown(table)


def as_json(report: Report) -> str:
    return report.model_dump_json(indent=2)


def as_junit(report: Report) -> str:
    """A test case per benchmark: slower fails, undecided is an error, not compared is skipped."""
    verdicts = [finding.verdict for finding in report.findings]
    suite = ElementTree.Element(
        "testsuite",
        name="pacbench gate",
        tests=str(len(verdicts)),
        failures=str(verdicts.count("slower")),
        errors=str(verdicts.count("undecided")),
        skipped=str(verdicts.count("not compared")),
        time=f"{report.seconds:.1f}",
    )
    kinds = {"slower": "failure", "undecided": "error", "not compared": "skipped"}
    for finding in report.findings:
        case = ElementTree.SubElement(
            suite, "testcase", classname="pacbench.gate", name=finding.benchmark
        )
        if kind := kinds.get(finding.verdict):
            ElementTree.SubElement(case, kind, message=_sentence(finding))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _headline(report: Report) -> str:
    verdicts = [finding.verdict for finding in report.findings]
    if count := verdicts.count("slower"):
        return f"{count} of {len(verdicts)} benchmarks are slower"
    if count := verdicts.count("undecided"):
        return f"nothing is known to be slower, {count} of {len(verdicts)} benchmarks are undecided"
    return "nothing is slower"


def _row(finding: Finding) -> list[str]:
    time, interval, counts = "–", "–", finding.instructions
    if finding.ratio is not None and finding.low is not None and finding.high is not None:
        time = _change(finding.ratio)
        interval = f"{_change(finding.low)} to {_change(finding.high)}"
    instructions = f"{counts.candidate:,} ({_change(counts.ratio, 2)})" if counts else "–"
    pairs = str(len(finding.log_ratios) or "–")
    return [finding.benchmark, _verdict(finding), time, interval, pairs, instructions]


def _verdict(finding: Finding) -> str:
    if finding.verdict == "same" and finding.low is not None and finding.high is not None:
        return f"same within {max(finding.high - 1, 1 - finding.low):.1%}"
    return ICONS[finding.verdict]


def _sentence(finding: Finding) -> str:
    if finding.ratio is None or finding.low is None or finding.high is None:
        return finding.note
    pairs = f", {len(finding.log_ratios)} process pairs" if finding.log_ratios else ""
    interval = f"{finding.low:.3f} to {finding.high:.3f}{pairs}"
    return f"takes {finding.ratio:.3f} times as long ({interval})"


def _change(ratio: float, digits: int = 1) -> str:
    return f"{100 * (ratio - 1):+.{digits}f} %".replace("-", "−")
