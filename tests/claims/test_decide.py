"""Claims are decided from paired scores and times, or said not to be decidable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_claims import decided, trained, with_params
from made_results import cell, crf_results, depth_results, failed, record, results

from pacbench.claims.decide import verdict_on
from pacbench.method import Architecture
from pacbench.record import Record
from pacbench.report.run import Results
from pacbench.timing import Timing
from pacbench.timing.intervals import Estimate


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
    assert verdict_on(effect, effect, above, below) == verdict


def test_a_claim_fails_by_the_wider_interval_only() -> None:
    narrow, wide = Estimate(-2, -3, -1), Estimate(-2, -5, 1)
    assert verdict_on(narrow, wide, above=0, below=None) == "not decided"
    assert verdict_on(narrow, wide, above=None, below=0) == "holds"


def test_gains_are_paired_over_images() -> None:
    found = decided("crf-pac-16-64-gains-more-than-full", trained(crf_results()))
    assert found.verdict == "holds"
    (comparison,) = found.comparisons
    assert comparison.effect.value == pytest.approx(2.0, abs=0.05)
    assert comparison.joint == comparison.effect  # the only comparison of its claim
    assert comparison.pair.effect.how == "paired over 6 images"
    assert comparison.pair.effect.unit == "points"
    assert comparison.pair.names == ("PAC-CRF, 16-64", "Full-CRF")


def test_times_are_paired_over_rounds() -> None:
    found = decided("crf-pac-32-is-faster-than-full", crf_results())
    assert found.verdict == "holds"
    assert found.comparisons[0].effect.value == pytest.approx(0.4, abs=0.01)
    assert found.comparisons[0].pair.effect.how == "paired over 60 rounds of 6 images"
    apart = crf_results()
    lone = apart.records[1].model_copy(
        update={"timing": apart.records[1].timing.model_copy(update={"race": "other"})}  # type: ignore[union-attr]
    )
    apart = replace(apart, records=[apart.records[0], lone, *apart.records[2:]])
    (comparison,) = decided("crf-pac-32-is-faster-than-full", apart).comparisons
    assert comparison.pair.effect.how == "timed apart"


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
    assert comparison.pair.effect.how == "paired over 20 rounds of 20 images"
    assert comparison.effect.low < 0.4 < comparison.effect.high


@pytest.mark.parametrize("race", ["r", ""], ids=["together", "apart"])
def test_too_few_timings_decide_nothing(race: str) -> None:
    found = decided("crf-pac-32-is-faster-than-full", timed_once(5, race))
    assert (found.verdict, found.because) == ("not decided", "inconclusive")
    assert found.comparisons[0].effect.high == float("inf")


def test_a_claim_for_each_factor_needs_all_of_them() -> None:
    run = trained(depth_results())
    found = decided("depth-pac-beats-djf", run)
    assert [c.pair.at for c in found.comparisons] == ["4×", "8×", "16×"]
    assert (found.verdict, found.because) == ("holds", None)
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
    assert found.because == "not measured"
    several = decided("depth-pac-beats-all", run)
    assert {c.pair.names[1] for c in several.comparisons} == {"BICUBIC", "DJF_OURS"}
    assert {c.verdict for c in several.comparisons} == {"holds"}
    assert several.verdict == "not decided"  # of the other methods nothing is known
    assert several.reason == "not measured: mrf, gf, jbu, sdf, fbs, dmsg, djf, djf_plus"


def test_several_runs_are_told_apart() -> None:
    runs = [trained(crf_results(name=name)) for name in ("crf", "crf_voc")]
    found = decided("crf-pac-16-64-gains-more-than-full", *runs)
    assert [c.pair.at for c in found.comparisons] == ["crf", "crf_voc"]


def untrained_at(factor: int, made: Results) -> Results:
    """Trained, but for PAC and DJF at a factor."""
    return replace(
        made,
        records=[
            with_params(r, weights=None if r.cell.axes["factor"] == factor else "some")
            for r in made.records
        ],
    )


def test_scores_of_untrained_methods_decide_nothing() -> None:
    found = decided("depth-pac-beats-djf", untrained_at(16, depth_results()))
    assert [c.verdict for c in found.comparisons] == ["holds", "holds", "not decided"]
    assert (found.verdict, found.because) == ("not decided", "untrained")
    assert found.reason == "untrained at 16×: PAC and DJF_OURS"
    found = decided("depth-djf-beats-bicubic", untrained_at(16, depth_results()))
    assert found.reason == "untrained at 16×: DJF_OURS"  # bicubic interpolation does not learn
    found = decided("depth-pac-beats-djf", depth_results())
    assert found.reason == "untrained at 4× and 8× and 16×: PAC and DJF_OURS"


def test_untrained_methods_neither_hide_nor_make_a_failure() -> None:
    made = untrained_at(16, depth_results())

    def bad_at(factor: int) -> Results:
        worse = [
            record(r.cell, [100.0 + i for i in range(5)], metric="rmse_cm")
            if r.cell.paper_row == "pac" and r.cell.axes["factor"] == factor
            else r
            for r in made.records
        ]
        return replace(made, records=worse)

    assert decided("depth-pac-beats-djf", bad_at(4)).verdict == "does not hold"
    assert decided("depth-pac-beats-djf", bad_at(16)).verdict == "not decided"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("crf-pac-32-is-faster-than-full", crf_results()),
        ("arch-lite-is-as-large-as-djf", depth_results()),
    ],
)
def test_times_and_parameters_do_not_depend_on_training(name: str, made: Results) -> None:
    found = decided(name, made)
    assert (found.verdict, found.reason) == ("holds", "")


def test_memory_is_compared_without_interval() -> None:
    made = depth_results()
    needed = {"pac": 30_000_000, "djf_ours": 20_000_000}
    records = [r.model_copy(update={"memory": needed.get(r.cell.method, 1)}) for r in made.records]
    found = decided("arch-pac-needs-more-memory-than-djf", replace(made, records=records))
    assert found.verdict == "holds"
    assert [c.effect for c in found.comparisons] == [Estimate(1.5, 1.5, 1.5)] * 3
    assert found.comparisons[0].pair.effect.how == "measured once"


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
    found = decided("arch-parameters", networks(190))
    assert found.verdict == "does not hold"
    assert found.comparisons[0].pair.names == ("pac", "the paper")


def test_steps_are_compared_with_each_other() -> None:
    def run(seventh: float) -> Results:
        made = [
            record(
                cell(
                    "pac_crf",
                    paper_row="pac_crf_16_64",
                    params={"steps": steps, "weights": "some"},
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
    found = decided("flow-pac-beats-djf")
    assert found.reason == "not measured: no run with paper_table tab_upsample_flow"
    assert found.because == "not measured"
    made = trained(crf_results())
    found = decided("crf-pac-16-64-gains-more-than-bcl", made)
    assert (found.verdict, found.reason) == ("not decided", "bcl_crf was not measured")
    broken = replace(made, records=[made.records[3], failed(made.records[1].cell)])
    found = decided("crf-pac-16-64-gains-more-than-full", broken)
    assert found.reason == "full_crf failed: timeout"
