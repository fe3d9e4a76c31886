"""Where runs were measured: the header, each section and the environments tell."""

from __future__ import annotations

import re
from dataclasses import replace

from made_results import ENVIRONMENT, crf_results, depth_results

from pacbench.environment import Environment
from pacbench.report.html import report_page
from pacbench.report.html.machines import environments, measured, suites_of_machines
from pacbench.report.run import Results

OTHER = ENVIRONMENT.model_copy(update={"cpu": "Other CPU", "cores": 1, "gpu": ["Some GPU"]})
LATER = ENVIRONMENT.model_copy(update={"commit": "0123456789"})


def on(made: Results, *places: Environment) -> Results:
    return replace(made, environments={place.id: place for place in places})


def test_days_and_machines_are_named() -> None:
    crf, depth = crf_results(), depth_results()
    assert measured([crf]) == f"measured 2026-01-01 on {ENVIRONMENT.machine}"
    assert measured([crf, on(depth, LATER)]) == measured([crf])
    both = f"{ENVIRONMENT.machine} and Other CPU, 1 core, Some GPU"
    assert measured([crf, on(depth, OTHER)]) == f"measured 2026-01-01 on {both}"
    last = crf.records[-1].model_copy(update={"started": "2026-02-03T00:00:00+00:00"})
    crf.records[-1] = last
    assert measured([crf]).startswith("measured from 2026-01-01 to 2026-02-03 on ")


def test_environments_say_whose_they_are() -> None:
    runs = [crf_results(), on(depth_results(), ENVIRONMENT, OTHER)]
    shown = environments(runs)
    assert [each["suites"] for each in shown] == [["crf", "depth"], ["depth"]]
    assert dict(shown[1]["facts"])["CPU"] == "Other CPU"
    assert dict(shown[1]["facts"])["governor"]
    assert suites_of_machines(runs)["Other CPU, 1 core, Some GPU"] == ["depth"]


def test_the_page_warns_of_several_machines() -> None:
    alike = report_page([crf_results()], [], "One")
    assert "different machines" not in alike
    text = report_page([crf_results(), on(depth_results(), OTHER)], [], "Two")
    header = text[text.index("<header>") : text.index("</header>")]
    assert "measured on different machines" in header
    assert "<li>Other CPU, 1 core, Some GPU: depth</li>" in header
    for name, environment in (("crf", ENVIRONMENT), ("depth", OTHER)):
        section = text[text.index(f'<section id="suite-{name}">') :]
        assert f"{name}: measured 2026-01-01 on {environment.machine}" in section
        (linked,) = re.findall(r'href="#environment-(\w+)"', section[: section.index("</p>")])
        assert linked == environment.id
        assert f'id="environment-{linked}"' in text
