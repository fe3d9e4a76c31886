"""What the gate found, as markdown, JSON and JUnit."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from pacbench.errors import UserError
from pacbench.gate.quantities import seconds, share
from pacbench.gate.report import as_json, as_junit, as_markdown
from pacbench.gate.session import Finding, Report


def report_of(*findings: Finding) -> Report:
    return Report(
        baseline="main (abc)",
        candidate="this version",
        max_slowdown=0.01,
        confidence=0.99,
        seconds=123.4,
        findings=list(findings),
    )


def finding(verdict: Any, ratio: float = 1.0, **changes: Any) -> Finding:
    values = {"low": ratio - 0.01, "high": ratio + 0.012, "log_ratios": [0.0] * 6, **changes}
    return Finding(benchmark=f"PAC, {verdict}", verdict=verdict, ratio=ratio, **values)


SAME, SLOWER, FASTER = finding("same"), finding("slower", 1.05), finding("faster", 0.9)
UNDECIDED = finding("undecided", 1.02)
MISSING = Finding(benchmark="new", verdict="not compared", note="main: it has no method 'new'")


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((SAME, FASTER, MISSING), 0),
        ((SAME, UNDECIDED), 3),
        ((UNDECIDED, SLOWER), 1),
        ((), 0),
    ],
)
def test_exit_codes(findings: tuple[Finding, ...], code: int) -> None:
    assert report_of(*findings).exit_code == code


def test_markdown_fits_a_comment() -> None:
    text = as_markdown(report_of(SAME, SLOWER, FASTER, UNDECIDED, MISSING))
    assert text.startswith("**1 of 5 benchmarks are slower: this version against main (abc)**")
    assert "same within 1.2%" in text
    assert "| +5.0 % | +4.0 % to +6.2 % |" in " ".join(text.split())
    assert "−10.0 %" in text
    assert "- new: main: it has no method 'new'" in text
    assert "nothing is slower" in as_markdown(report_of(SAME))
    assert "1 of 1 benchmarks are undecided" in as_markdown(report_of(UNDECIDED))


def test_json_comes_back() -> None:
    report = report_of(SLOWER, MISSING)
    assert Report.model_validate_json(as_json(report)) == report


def test_junit() -> None:
    suite = ElementTree.fromstring(as_junit(report_of(SAME, SLOWER, UNDECIDED, MISSING)))  # noqa: S314
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    kinds = [[child.tag for child in case] for case in suite]
    assert kinds == [[], ["failure"], ["error"], ["skipped"]]
    failure = suite[1][0].attrib["message"]
    assert failure == "takes 1.050 times as long (1.040 to 1.062, 6 process pairs)"


def test_quantities() -> None:
    assert (share("-", "1%"), share("-", "0.01"), share("-", "99.5 %")) == (0.01, 0.01, 0.995)
    assert [seconds("-", text) for text in ("90", "90s", "5m", "1.5h")] == [90, 90, 300, 5400]
    for wrong in ("0", "120%", "-1%", "many", ""):
        with pytest.raises(UserError, match="--max-slowdown"):
            share("--max-slowdown", wrong)
    for wrong in ("0", "5d", "m", ""):
        with pytest.raises(UserError, match="--budget"):
            seconds("--budget", wrong)
