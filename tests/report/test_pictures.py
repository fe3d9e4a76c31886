"""Picture rows: which outputs they show, where, in which colours, and that no pixel is lost."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from made_results import (
    cell,
    crf_results,
    depth_results,
    flow_results,
    record,
    results,
    write_pictures,
    write_run,
)
from matplotlib.figure import Figure
from PIL import Image

from pacbench.data.show import MapColours
from pacbench.report.pictures import brightest_of, error_of, load, picture_rows
from pacbench.report.plots.pictures import pictures, shown_outputs, telling_window
from pacbench.report.plots.sheet import WIDEST, Panel, fitted, sheet_of
from pacbench.report.plots.style import save
from pacbench.report.run import Results, read
from pacbench.store import RunFolder


def kept(made: Results, root: Path) -> Results:
    """The results as a run that kept pictures."""
    folder = write_run(made, root)
    write_pictures(made, folder)
    return read(RunFolder(folder))


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts if text.get_text()]


def shown(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(panel.get_images()[0].get_array()) for panel in figure.axes]


def test_labels_are_shown_whole_with_all_methods_and_the_scores_of_the_sample(
    tmp_path: Path,
) -> None:
    made = kept(crf_results(), tmp_path)
    ((name, figure),) = pictures(made)
    assert name == "pictures"
    assert words(figure)[:10] == [
        "image", "image-0", "truth", "Unaries only", "mIoU 50.00 %", "Full-CRF", "mIoU 52.00 %",
        "PAC-CRF, 32 (untrained)", "mIoU 53.00 %", "PAC-CRF, 16-64 (untrained)",
    ]  # fmt: skip
    assert len(shown(figure)) == 2 * 6
    assert {picture.shape for picture in shown(figure)} == {(192, 256, 3)}  # 48 × 64, four times


def test_maps_are_shown_in_one_crop_with_errors_beneath(tmp_path: Path) -> None:
    made = kept(depth_results(), tmp_path)
    drawn = dict(pictures(made))
    assert list(drawn) == ["pictures-x4", "pictures-x8", "pictures-x16"]
    text = words(drawn["pictures-x8"])
    assert text[:5] == [
        "input", "guide", "DJF_OURS (untrained)", "PAC_LITE (untrained)", "PAC (untrained)",
    ]  # fmt: skip
    assert text[5:7] == ["truth", "image-0, 8×"]
    assert text[7].startswith("depth ")
    assert text[7].endswith(" m")
    assert text[8].startswith("error 0 to ")
    assert text[8].endswith(" cm, or more")
    assert text[9] == "beneath: RMSE of the crop"
    scores = [each for each in text[10:13] if each.startswith("RMSE ") and each.endswith(" cm")]
    assert len(scores) == 3
    crops = [picture for picture in shown(drawn["pictures-x8"]) if picture.shape[0] > 100]
    assert len(crops) == 2 * (6 + 3)
    assert {crop.shape for crop in crops} == {(190, 250, 3)}  # 19 × 25 of 48 × 64, ten times


def test_flow_is_shown_in_the_colour_wheel_beside_the_best(tmp_path: Path) -> None:
    made = kept(flow_results(), tmp_path)
    ((name, figure),) = pictures(made)
    assert name == "pictures"
    text = words(figure)
    assert text[:8] == [
        "input", "guide", "BILINEAR", "JBU", "SDF", "DJF_OURS (untrained)", "PAC", "truth",
    ]  # fmt: skip
    assert text[8] == "image-0, 4×"
    assert text[9].startswith("flow up to ")
    assert text[9].endswith(" px")
    assert text[10].endswith(" px, or more")
    assert text[11] == "beneath: EPE of the crop"
    row = picture_rows(made)[0]
    truth, output = load(row.truth), load(row.outputs[0].path)
    outputs = shown_outputs(row.outputs)
    window = telling_window([error_of(load(each.path), truth) for each in outputs])
    off = np.hypot(*(output - truth)[:, *window])
    assert text[12] == f"EPE {np.nanmean(off):.3f} px"
    wheel = next(picture for picture in shown(figure) if picture.shape == (49, 49, 3))
    assert wheel[24, 24].tolist() == [255, 255, 255]  # no motion
    assert wheel[24, 48][0] == 255  # to the right is red
    assert wheel[24, 48][1] < 60


def test_of_maps_the_papers_methods_and_the_best_two_are_shown(tmp_path: Path) -> None:
    row = picture_rows(kept(flow_results(), tmp_path))[0]
    best_of_all = [output for output in row.outputs if output.record.cell.method != "sdf"]
    assert [each.record.cell.method for each in shown_outputs(best_of_all)] == [
        "bilinear", "jbu", "djf_ours", "pac",
    ]  # fmt: skip
    others = [output for output in row.outputs if output.record.cell.method in ("mrf", "gf", "sdf")]
    assert [each.record.cell.method for each in shown_outputs(others)] == ["mrf", "sdf"]


def test_crops_have_their_own_range_and_errors_that_of_the_worst_method() -> None:
    truth = np.zeros((1, 10, 10), np.float32)
    truth[0, :5] = np.linspace(2, 3, 50).reshape(5, 10)
    truth[0, 0, 0] = np.nan
    whole, crop = MapColours.of(truth), MapColours.of(truth[:, :5])
    assert (whole.low, whole.high) == pytest.approx((0, 3))
    assert str(crop) == "2.02 to 3.00 m"
    assert crop(truth)[0, 0].tolist() == [0, 0, 0]
    assert str(MapColours.of(np.full((2, 3, 3), 3, np.float32))) == "up to 4.2 px"
    little, much = truth + 0.1, truth + np.float32(1)
    errors = [error_of(each, truth) for each in (little, much)]
    assert np.isnan(errors[0][0, 0])
    assert brightest_of(errors) == pytest.approx(1)
    assert brightest_of([np.full((2, 2), np.nan, np.float32)]) == 0


def test_the_telling_window_is_where_errors_differ() -> None:
    quiet, loud = np.zeros((2, 50, 100), dtype=np.float32)
    loud[30:45, 70:95] = 1
    loud[:5, :5] = np.nan
    rows, columns = telling_window([quiet, loud])
    assert (rows.stop - rows.start, columns.stop - columns.start) == (20, 40)
    assert rows.start <= 30
    assert rows.stop >= 45
    assert columns.start <= 70
    assert columns.stop >= 95


def test_no_pixel_of_a_crop_is_lost() -> None:
    random = np.random.default_rng(0)
    crops = [random.integers(0, 255, (*size, 3), dtype=np.uint8) for size in ((30, 100), (19, 64))]
    line = [Panel(crop, "a title that is far too long for a line of it", "below") for crop in crops]
    buffer = io.BytesIO()
    save(sheet_of([line, line]), buffer, "png")
    written = np.asarray(Image.open(buffer).convert("RGB"))
    for crop, times in zip(crops, (2, 4), strict=True):
        large = crop.repeat(times, axis=0).repeat(times, axis=1)
        candidates = np.argwhere((written == large[0, 0]).all(axis=2))
        found = [
            np.array_equal(written[y : y + large.shape[0], x : x + large.shape[1]], large)
            for y, x in candidates
        ]
        assert sum(found) == 2


def test_pictures_that_are_too_wide_are_averaged() -> None:
    wide = np.zeros((3, 2 * WIDEST + 1, 3), np.uint8)
    wide[1, 30] = 90
    small = fitted(wide)
    assert small.shape == (1, WIDEST * 2 // 3 + 1, 3)
    assert small[0, 10].tolist() == [10, 10, 10]  # a ninth of it


def test_long_rows_of_labels_are_broken_evenly(tmp_path: Path) -> None:
    made = [record(cell("pac_crf", label=f"PAC-CRF, {d}", params={"d": d})) for d in range(8)]
    ((_, figure),) = pictures(kept(results(made), tmp_path))
    tops = [round(panel.get_position().y1, 6) for panel in figure.axes]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == [5, 5, 5, 5]  # of two samples


def test_rows_that_a_suite_leaves_out_of_its_table_are_in_the_pictures(tmp_path: Path) -> None:
    made = crf_results(outputs={"rows": ["PAC*"]})
    ((_, figure),) = pictures(kept(made, tmp_path))
    assert "Full-CRF" in words(figure)
