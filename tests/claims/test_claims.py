"""The paper's claims: decided from paired scores and times, or said not to be decidable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import cell, crf_results, depth_results, failed, record, results
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from pacbench.claims.decide import Decision, decide, verdict_on
from pacbench.claims.model import Claim, load_claims
from pacbench.claims.report import as_json, claims_table, exit_code, summary
from pacbench.cli import app
from pacbench.errors import UserError
from pacbench.method import Architecture
from pacbench.record import Record
from pacbench.report.formats import markdown
from pacbench.report.paper import paper_rows
from pacbench.report.run import Results
from pacbench.timing import Timing
from pacbench.timing.intervals import Estimate

CLAIMS = {claim.id: claim for claim in load_claims()}


def decided(name: str, *runs: Results) -> Decision:
    return decide(CLAIMS[name], runs)


def test_claims_name_rows_that_the_paper_has() -> None:
    assert len(CLAIMS) >= 25
    for claim in CLAIMS.values():
        rows = {row for row, _ in paper_rows(claim.table)} | {"djf_ours", "pac_crf_16_64"}
        for selection in (claim.ours, claim.theirs):
            if selection != "paper":
                wanted = [selection.row] if isinstance(selection.row, str) else selection.row
                assert set(wanted) <= rows, claim.id


@pytest.mark.parametrize(
    ("effect", "above", "below", "verdict"),
    [
        (Estimate(2, 1, 3), 0, None, "holds"),
        (Estimate(-2, -3, -1), 0, None, "does not hold"),
        (Estimate(0.1, -1, 1), 0, None, "not decided"),
        (Estimate(0.9, 0.8, 1.0), None, 1.1, "holds"),
        (Estimate(1.2, 1.1, 1.3), None, 1.1, "does not hold"),
        (Estimate(1, 1, 1), 0.99, 1.01, "holds"),
        (Estimate(1.02, 1.02, 1.02), 0.99, 1.01, "does not hold"),
        (Estimate(5, float("-inf"), float("inf")), 0, None, "not decided"),
    ],
)
def test_verdicts(effect: Estimate, above: float, below: float, verdict: str) -> None:
    assert verdict_on(effect, above, below) == verdict


def test_gains_are_paired_over_images() -> None:
    found = decided("crf-pac-16-64-gains-more-than-full", crf_results())
    assert found.verdict == "holds"
    (comparison,) = found.comparisons
    assert comparison.effect.value == pytest.approx(2.0, abs=0.05)
    assert comparison.how == "paired over 6 images"
    assert comparison.unit == "points"
    assert comparison.where == "crf (scenes, test, 6 images; scenes-1; scored so)"


def test_times_are_paired_over_rounds() -> None:
    found = decided("crf-pac-32-is-faster-than-full", crf_results())
    assert found.verdict == "holds"
    assert found.comparisons[0].effect.value == pytest.approx(0.4, abs=0.01)
    assert found.comparisons[0].how == "paired over timed rounds"
    apart = crf_results()
    lone = apart.records[1].model_copy(
        update={"timing": apart.records[1].timing.model_copy(update={"race": "other"})}  # type: ignore[union-attr]
    )
    apart = replace(apart, records=[apart.records[0], lone, *apart.records[2:]])
    assert decided("crf-pac-32-is-faster-than-full", apart).comparisons[0].how == "timed apart"


def timed_once(images: int, race: str = "r") -> Results:
    """Every image timed once, by PAC-CRF 32 in 0.4 of the time that Full-CRF takes."""
    made = crf_results()

    def timing(of: Record) -> Timing:
        noise = 1 if of.cell.method == "full_crf" else 2
        seconds = {"full_crf": 0.5, "pac_crf": 0.2}.get(of.cell.method, 0.1)
        blocks = [[seconds * (1 + 0.1 * (noise * i % 5))] for i in range(images)]
        return Timing.of(blocks, race=race or of.id)

    records = [r.model_copy(update={"timing": timing(r)}) for r in made.records]
    return replace(made, records=records)


def test_images_timed_once_are_rounds() -> None:
    found = decided("crf-pac-32-is-faster-than-full", timed_once(20))
    (comparison,) = found.comparisons
    assert found.verdict == "holds"
    assert comparison.how == "paired over 20 rounds of 20 images"
    assert comparison.effect.low < 0.4 < comparison.effect.high


@pytest.mark.parametrize(("images", "race"), [(5, "r"), (20, "")], ids=["few", "timed apart"])
def test_too_few_timings_decide_nothing(images: int, race: str) -> None:
    found = decided("crf-pac-32-is-faster-than-full", timed_once(images, race))
    assert found.verdict == "not decided"
    assert found.comparisons[0].effect.high == float("inf")


def test_a_claim_for_each_factor_needs_all_of_them() -> None:
    run = depth_results()
    found = decided("depth-pac-beats-djf", run)
    assert [c.at for c in found.comparisons] == ["4×", "8×", "16×"]
    assert found.verdict == "holds"
    worse = [
        record(r.cell, [100.0 + i for i in range(5)], metric="rmse_cm")
        if r.cell.paper_row == "pac" and r.cell.axes["factor"] == 16
        else r
        for r in run.records
    ]
    found = decided("depth-pac-beats-djf", replace(run, records=worse))
    assert [c.verdict for c in found.comparisons] == ["holds", "holds", "does not hold"]
    assert found.verdict == "does not hold"
    twice = [r for r in run.records if r.cell.axes["factor"] != 16 or r.cell.method != "pac"]
    found = decided("depth-pac-beats-djf", replace(run, records=twice))
    assert (found.verdict, found.reason) == ("not decided", "not measured: pac at 16×")
    several = decided("depth-pac-beats-all", run)
    assert {c.theirs for c in several.comparisons} == {"BICUBIC", "DJF_OURS"}
    assert {c.verdict for c in several.comparisons} == {"holds"}
    assert several.verdict == "not decided"  # of the other methods nothing is known
    assert several.reason == "not measured: mrf, gf, jbu, sdf, fbs, dmsg, djf, djf_plus"


def test_parameters_are_compared_with_the_papers() -> None:
    def networks(least: float) -> Results:
        thousands = {"pac": (least, 222, 260), "pac_lite": (56, 56, 56)}
        made = [
            record(
                cell(row, task="upsample", protocol={"factor": factor}, axes={"factor": factor}),
                metric="rmse_cm",
                architecture=Architecture(parameters=round(1e3 * each)),
            )
            for row, counts in thousands.items()
            for factor, each in zip((4, 8, 16), counts, strict=True)
        ]
        return results(made, paper_table="tab_upsample_arch")

    assert decided("arch-parameters", networks(182.7)).verdict == "holds"
    assert decided("arch-parameters", networks(190)).verdict == "does not hold"


def test_steps_are_compared_with_each_other() -> None:
    def run(seventh: float) -> Results:
        made = [
            record(
                cell(
                    "pac_crf",
                    paper_row="pac_crf_16_64",
                    params={"steps": steps},
                    axes={"steps": steps},
                ),
                [level + 0.01 * i for i in range(6)],
                seconds=0.01 * steps,
            )
            for steps, level in ((1, 0.5), (5, 0.6), (7, seventh))
        ]
        return results(made, paper_table="tab_crf_mfsteps")

    assert decided("steps-five-are-enough", run(0.6)).verdict == "holds"
    assert decided("steps-five-are-enough", run(0.7)).verdict == "does not hold"
    assert decided("steps-five-beat-one", run(0.6)).verdict == "holds"
    assert decided("steps-cost-is-linear", run(0.6)).verdict == "holds"


def test_what_was_not_measured_is_not_decided() -> None:
    assert (
        decided("flow-pac-beats-djf").reason
        == "not measured: no run with paper_table tab_upsample_flow"
    )
    made = crf_results()
    found = decided("crf-pac-16-64-gains-more-than-bcl", made)
    assert (found.verdict, found.reason) == ("not decided", "bcl_crf was not measured")
    broken = replace(made, records=[made.records[3], failed(made.records[1].cell)])
    found = decided("crf-pac-16-64-gains-more-than-full", broken)
    assert found.reason == "full_crf failed: timeout"


def test_exit_codes() -> None:
    holds = decided("crf-pac-32-is-faster-than-full", crf_results())
    fails, open_ = replace(holds, verdict="does not hold"), replace(holds, verdict="not decided")
    assert [exit_code(list(each)) for each in ([holds], [holds, open_], [open_, fails])] == [
        0,
        3,
        1,
    ]
    assert summary([holds, open_]) == (
        "The paper's claims: 1 hold, 0 do not hold, 1 are not decided"
    )


def test_reports() -> None:
    decisions = [decide(claim, [crf_results(), depth_results()]) for claim in CLAIMS.values()]
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(claims_table(decisions)))
    assert sum(token.type == "tr_open" for token in tokens) == len(CLAIMS) + 1
    read = json.loads(as_json(decisions))
    by_id = {entry["id"]: entry for entry in read}
    assert by_id["crf-pac-32-is-faster-than-full"]["comparisons"][0]["unit"] == "×"
    assert by_id["flow-pac-beats-djf"]["comparisons"] == []
    rows = {row[0].value: row[2].text for row in claims_table(decisions).rows}
    assert rows["depth-pac-beats-djf"].startswith("4×: −0.55 cm (−0.60 to −0.50); 8×: −1.10 cm")
    least = "the least of 6; DJF_OURS, 4×: −0.55 cm (−0.60 to −0.50); not measured: mrf, gf"
    assert rows["depth-pac-beats-all"].startswith(least)


def test_untrained_methods_are_told() -> None:
    faster, better = (
        decided(f"crf-pac-32-{claim}-than-full", crf_results())
        for claim in ("is-faster", "gains-more")
    )
    assert faster.comparisons[0].untrained == ()  # weights do not change times
    assert better.comparisons[0].untrained == ("PAC-CRF, 32",)
    table = claims_table([faster, better])
    assert [row[2].mark for row in table.rows] == ["", " [1]"]
    assert table.notes[0] == "[1] untrained: PAC-CRF, 32"


def test_where_claims_were_tested_is_one_line_a_suite() -> None:
    (line,) = claims_table([decided("depth-pac-beats-djf", depth_results())]).notes[2:]
    factors = "depth,center,x4 or depth,center,x8 or depth,center,x16"
    assert line == f"tested on: depth: scenes, test, 5 images; scenes-1; {factors}; rmse:cm"


CLAIM: dict[str, Any] = CLAIMS["crf-pac-32-is-faster-than-full"].model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"below": None}, "needs 'above' or 'below'"),
        ({"effect": "difference"}, "scores are compared by difference"),
        ({"theirs": "paper"}, "only parameters compare with the paper"),
        ({"quantity": "beauty"}, "Input should be 'score', 'runtime'"),
    ],
)
def test_a_mistake_in_a_claim_is_told(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps([{**CLAIM, **changes}]))
    with pytest.raises(UserError, match=message):
        load_claims(path)


def test_own_claims_are_read(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps([CLAIM]))
    assert load_claims(path) == [Claim.model_validate(CLAIM)]
    path.write_text(json.dumps([CLAIM, CLAIM]))
    with pytest.raises(UserError, match="two claims are called"):
        load_claims(path)
    path.write_text("a: [")
    with pytest.raises(UserError, match="is not YAML"):
        load_claims(path)
    with pytest.raises(UserError, match="cannot be read"):
        load_claims(tmp_path / "none.yaml")


def test_the_command_line(crf_folder: Path) -> None:
    run = CliRunner().invoke(app, ["claims", str(crf_folder), "--only", "crf-pac-32-is-faster*"])
    assert run.exit_code == 0, run.output
    assert "| PAC-CRF 32 is faster than Full-CRF | holds" in run.output
    run = CliRunner().invoke(app, ["claims", str(crf_folder), "--format", "json"])
    assert run.exit_code == 3
    assert len(json.loads(run.output)) == len(CLAIMS)
    with pytest.raises(UserError, match="no claim is called so"):
        CliRunner().invoke(app, ["claims", str(crf_folder), "--only", "x"], catch_exceptions=False)
