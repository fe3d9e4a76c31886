"""Claims as tables, JSON and CSV, and the exit code."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

from made_claims import CLAIMS, decided, trained
from made_results import ENVIRONMENT, crf_results, depth_results
from markdown_it import MarkdownIt

from pacbench.claims.decide import decide
from pacbench.claims.programs import as_csv, as_json
from pacbench.claims.report import claims_table, exit_code, summary
from pacbench.report.formats import markdown
from pacbench.report.run import Results
from pacbench.timing.intervals import Estimate


def test_exit_codes() -> None:
    holds = decided("crf-pac-32-is-faster-than-full", crf_results())
    fails, open_ = replace(holds, verdict="does not hold"), replace(holds, verdict="not decided")
    chosen = ([holds], [holds, open_], [open_, fails])
    assert [exit_code(list(each)) for each in chosen] == [0, 3, 1]


def test_the_summary_tells_why_claims_are_not_decided() -> None:
    decisions = [
        decided("crf-pac-32-is-faster-than-full", crf_results()),
        decided("crf-pac-16-64-gains-more-than-full", crf_results()),
        decided("crf-pac-16-64-gains-more-than-bcl", crf_results()),
    ]
    assert summary(decisions) == (
        "The paper's claims: 1 hold, 0 do not hold, "
        "2 are not decided (0 inconclusive, 1 untrained, 1 not measured)"
    )
    verdicts = [row[1].text for row in claims_table(decisions).rows]
    assert verdicts == ["holds", "not decided (untrained)", "not decided (not measured)"]


def test_a_row_a_claim() -> None:
    runs = [trained(crf_results()), trained(depth_results())]
    table = claims_table([decide(claim, runs) for claim in CLAIMS.values()])
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(table))
    assert sum(token.type == "tr_open" for token in tokens) == len(CLAIMS) + 1
    rows = {name: row[2].text for name, row in zip(CLAIMS, table.rows, strict=True)}
    assert rows["depth-pac-beats-djf"].startswith("4×: −0.55 cm (−0.60 to −0.50); 8×: −1.10 cm")
    least = "the least of 6; DJF_OURS, 4×: −0.55 cm (−0.60 to −0.50); not measured: mrf, gf"
    assert rows["depth-pac-beats-all"].startswith(least)


def test_the_least_of_many_is_one_that_could_tell() -> None:
    (row,) = claims_table([decided("depth-pac-beats-all", depth_results())]).rows
    assert row[2].text.startswith("the least of 6; DJF_OURS, 4×: ")  # none could
    made = depth_results()
    factors = {r.id: r.cell.axes["factor"] for r in made.records}
    some = [
        new if factors[old.id] == 8 else old
        for old, new in zip(made.records, trained(made).records, strict=True)
    ]
    (row,) = claims_table([decided("depth-pac-beats-all", replace(made, records=some))]).rows
    assert row[2].text.startswith("the least of 2; DJF_OURS, 8×: −1.10 cm")
    assert "untrained at 4× and 16×: PAC and DJF_OURS" in row[2].text


def test_our_thresholds_are_told() -> None:
    decisions = [
        decided(name, trained(crf_results()))
        for name in ("crf-pac-32-is-faster-than-full", "crf-pac-32-gains-slightly-less-than-full")
    ]
    table = claims_table(decisions)
    assert [row[0].text.endswith(" (our threshold)") for row in table.rows] == [False, True]
    assert any(note.startswith("our threshold: ") for note in table.notes)
    assert [each["stated"] for each in json.loads(as_json(decisions))] == ["text", "ours"]


def unsteady(made: Results) -> Results:
    timing = made.records[1].timing
    assert timing is not None
    shaken = made.records[1].model_copy(
        update={"timing": timing.model_copy(update={"unstable": "MAD is 9%"})}
    )
    return replace(made, records=[made.records[0], shaken, *made.records[2:]])


def test_unstable_timings_are_marked_where_times_are_compared() -> None:
    made = unsteady(trained(crf_results()))
    names = (
        "crf-pac-32-is-faster-than-full",
        "crf-pac-32-is-faster-than-16-64",
        "crf-pac-16-64-gains-more-than-full",
    )
    decisions = [decided(name, made) for name in names]
    table = claims_table(decisions)
    assert [row[2].mark for row in table.rows] == [" †", "", ""]
    assert table.notes[0] == "† unstable timing: Full-CRF: MAD is 9%"
    told = [claim["comparisons"][0]["unstable"] for claim in json.loads(as_json(decisions))]
    assert told == [["Full-CRF: MAD is 9%"], [], []]


def test_what_claims_were_tested_on_is_one_line_a_suite() -> None:
    (line,) = [
        note
        for note in claims_table([decided("depth-pac-beats-djf", depth_results())]).notes
        if note.startswith("tested on")
    ]
    factors = "depth,center,x4 or depth,center,x8 or depth,center,x16"
    data = "data: scenes, split test, 5 samples, seed 0"
    assert line.startswith(
        f"tested on: depth: {data}; protocol: scenes-1; {factors}; rmse:cm; device: cpu ("
    )
    assert f"{ENVIRONMENT.cpu}), 2 threads, torch {ENVIRONMENT.torch}" in line
    crf = claims_table([decided("crf-pac-32-is-faster-than-full", crf_results())])
    assert crf.notes[-1].endswith("; backend: pydensecrf; native for PAC-CRF, 32")


def test_programs_get_the_intervals_that_fail_a_claim() -> None:
    (claim,) = json.loads(as_json([decided("depth-pac-beats-djf", trained(depth_results()))]))
    assert [c["joint_low"] < c["low"] for c in claim["comparisons"]] == [True] * 3


def test_programs_get_every_comparison() -> None:
    names = ("crf-pac-32-is-faster-than-full", "depth-pac-beats-djf", "flow-pac-beats-djf")
    decisions = [decided(name, trained(crf_results()), depth_results()) for name in names]
    faster, better, unknown = json.loads(as_json(decisions))
    (comparison,) = faster["comparisons"]
    assert comparison["low"] <= comparison["effect"] <= comparison["high"]
    wanted = {"unit": "×", "suite": "crf", "device": "cpu", "threads": 2, "verdict": "holds"}
    assert wanted.items() <= comparison.items()
    assert (comparison["ours_backend"], comparison["theirs_backend"]) == ("native", "pydensecrf")
    assert [c["untrained"] for c in better["comparisons"]] == [["PAC", "DJF_OURS"]] * 3
    assert (unknown["because"], unknown["comparisons"]) == ("not measured", [])

    rows = list(csv.DictReader(io.StringIO(as_csv(decisions))))
    assert [row["id"] for row in rows] == [names[0], *[names[1]] * 3, names[2]]
    assert rows[0]["claim"] == "PAC-CRF 32 is faster than Full-CRF"
    assert float(rows[0]["effect"]) == comparison["effect"]
    assert float(rows[0]["low"]) == comparison["low"]
    assert (rows[0]["ours"], rows[0]["verdict"]) == ("PAC-CRF, 32", "holds")
    assert rows[1]["untrained"] == "PAC; DJF_OURS"
    assert (rows[-1]["effect"], rows[-1]["comparison_verdict"]) == ("", "")


def test_an_interval_that_only_its_widening_saves_is_told() -> None:
    found = decided("depth-pac-beats-djf", trained(depth_results()))
    saved = replace(
        found.comparisons[0],
        effect=Estimate(1, 0.5, 1.5),
        joint=Estimate(1, -0.2, 2.2),
        verdict="not decided",
    )
    (row,) = claims_table([replace(found, comparisons=[saved])]).rows
    assert row[2].text == "4×: +1.00 cm (+0.50 to +1.50, widened −0.20 to +2.20)"
    failed = replace(saved, joint=saved.effect, verdict="does not hold")
    (row,) = claims_table([replace(found, comparisons=[failed])]).rows
    assert row[2].text == "4×: +1.00 cm (+0.50 to +1.50)"
