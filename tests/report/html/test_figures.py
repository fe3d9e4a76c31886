"""Figures and pictures of the report: captions, order, zoom, slider."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Pages
from made_results import crf_results, depth_results
from matplotlib.figure import Figure
from PIL import Image

from pacbench.report.html.figures import caption_of, figures
from pacbench.report.html.images import WIDEST, of_picture


def test_captions_say_what_the_axes_do() -> None:
    figure = Figure()
    for panel, label in zip(
        figure.subplots(1, 3), ("RMSE, cm", "runtime, ms", "memory"), strict=True
    ):
        panel.set(xlabel="upsampling factor, ×", ylabel=label)
    assert caption_of(figure) == "RMSE, runtime and memory against upsampling factor"


def test_captions_are_for_people_and_pictures_in_order(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for factor in (16, 4, 8):
        Image.new("RGB", (8, 6)).save(tmp_path / "figures" / f"depth-pictures-x{factor}.png")
    made = depth_results(tmp_path, outputs={"columns": ["runtime", "memory"]})
    captions = [figure.caption for figure in figures(made)]
    assert not any("RMSE" in caption for caption in captions)  # nor does a figure show any
    assert captions[-3:] == [f"pictures of outputs, upsampled {factor}×" for factor in (4, 8, 16)]
    assert [figure.caption for figure in figures(crf_results(tmp_path / "none"))][-1] == (
        "distribution of timings"
    )


def test_pictures_of_labels_are_exact_and_others_small() -> None:
    labels = np.zeros((60, 80, 3), dtype=np.uint8)
    labels[20:40, 30:] = (128, 0, 64)
    assert of_picture(labels).startswith("data:image/png;")
    assert np.array_equal(pixels(of_picture(labels)), labels)
    photo = np.random.default_rng(0).integers(0, 255, (600, 800, 3), dtype=np.uint8)
    assert of_picture(photo).startswith("data:image/webp;")
    assert pixels(of_picture(photo)).shape == (WIDEST * 600 // 800, WIDEST, 3)


def pixels(address: str) -> Any:
    with Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))) as opened:
        return np.asarray(opened.convert("RGB"))


@pytest.mark.parametrize("shape", [(1200, 500), (500, 900)])
def test_figures_enlarge_to_what_the_window_holds(
    pages: Pages, made_report: Path, shape: tuple[int, int]
) -> None:
    page = pages.open(made_report, shape)
    page.locator("figure button").first.click()
    assert page.locator("dialog#zoom").is_visible()
    picture, canvas = page.locator("#zoom img"), page.locator("#zoom .canvas")
    page.wait_for_function("document.querySelector('#zoom img').style.width !== ''")
    outer, inner = canvas.bounding_box(), picture.bounding_box()
    assert inner["width"] <= outer["width"] + 1
    assert inner["height"] <= outer["height"] + 1
    slack = min(outer["width"] - inner["width"], outer["height"] - inner["height"])
    assert slack < 3  # it fills one of the two
    page.keyboard.press("+")
    assert picture.bounding_box()["width"] == pytest.approx(1.5 * inner["width"], rel=0.01)
    page.keyboard.press("0")
    assert picture.bounding_box()["width"] == inner["width"]
    page.keyboard.press("Escape")
    assert not page.locator("dialog#zoom").is_visible()


def test_the_slider_shows_one_picture_or_the_other(page: Any) -> None:
    compare = page.locator(".compare").first
    slider, over = compare.locator("input[type=range]"), compare.locator(".over")
    share = "each => getComputedStyle(each).clipPath"
    assert over.evaluate(share) == "inset(0px 0px 0px 50%)"
    slider.focus()
    slider.press("Home")
    assert over.evaluate(share) in ("inset(0px)", "inset(0px 0px 0px 0%)")
    slider.press("ArrowRight")
    assert over.evaluate(share) == "inset(0px 0px 0px 1%)"
    right = "PAC-CRF, 16-64 (untrained)"
    assert slider.get_attribute("aria-valuetext") == f"1 % truth, the rest {right}"
    assert over.get_attribute("alt") == f"image-0: {right}"
    before = over.get_attribute("src")
    compare.locator("select").nth(1).select_option(label="image")
    assert over.get_attribute("src") != before
    assert over.get_attribute("alt") == "image-0: image"
    stage = compare.locator(".stage")
    box = stage.bounding_box()
    stage.click(position={"x": 0.75 * box["width"], "y": box["height"] / 2})  # scrolls to it first
    assert float(slider.input_value()) == pytest.approx(75, abs=1)
