"""The renderer's pieces: polygons, surfaces, texture, blur and JPEG losses."""

import io

import numpy as np
import pytest
from PIL import Image

from pacbench.data.draws import Draws
from pacbench.data.scenes.canvas import Canvas, Material
from pacbench.data.scenes.jpeg import jpeg_losses
from pacbench.data.scenes.raster import fill, window_of
from pacbench.data.scenes.sensor import blurred, noisy
from pacbench.data.scenes.surfaces import paint_cone, paint_ellipsoid, paint_face
from pacbench.data.scenes.textures import TEXTURES, TILE, noise_tile

GREY = Material((0, 0, 0), (255, 255, 255), "noise", 1.0, (0, 0), label=3, instance=1)
LIGHT = (0.0, -1.0, 0.0)


def inside_by_crossings(outlines, x, y):
    """The even-odd rule for one point, by counting edges to its left."""
    crossings = 0
    for outline in outlines:
        for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            if (y0 <= y) != (y1 <= y):
                crossings += x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x
    return crossings % 2 == 1


def test_fill_is_the_even_odd_rule():
    rng = np.random.default_rng(0)
    for _ in range(5):
        outlines = [rng.uniform(-5, 30, (count, 2)) for count in (7, 4)]
        window = (slice(2, 20), slice(3, 25))
        expected = [
            [inside_by_crossings(outlines, x + 0.5, y + 0.5) for x in range(3, 25)]
            for y in range(2, 20)
        ]
        np.testing.assert_array_equal(fill(outlines, window), expected)


def test_windows_are_clipped_to_the_image():
    square = np.array([(0, 0), (10, 0), (10, 10), (0, 10)], float)
    assert window_of(square - 3.5, (20, 30)) == (slice(0, 7), slice(0, 7))
    assert window_of(square + 25, (20, 30)) is None


def empty_canvas():
    return Canvas((60, 80), focal=70.0, horizon=30.0)


def depth_of(canvas):
    hit = canvas.inverse_depth > 0
    return np.where(hit, 1 / np.maximum(canvas.inverse_depth, 1e-9), np.nan), hit


def test_a_face_has_the_depth_of_its_plane():
    canvas = empty_canvas()
    corners = np.array([(-1, -1, 3), (1.5, -1, 5), (1.5, 0.8, 5), (-1, 0.8, 3)], float)
    paint_face(canvas, [corners], GREY, LIGHT)
    depth, hit = depth_of(canvas)
    assert hit.sum() > 300
    x, z = (canvas.x * depth)[hit], depth[hit]
    np.testing.assert_allclose(z, 3 + 0.8 * (x + 1), rtol=1e-4)


def test_an_ellipsoid_satisfies_its_equation():
    canvas = empty_canvas()
    centre, radii = np.array([0.4, -0.2, 4.0]), (0.9, 0.6, 1.2)
    paint_ellipsoid(canvas, centre, radii, GREY, LIGHT)
    depth, hit = depth_of(canvas)
    point = np.stack([(canvas.x * depth)[hit], (canvas.y * depth)[hit], depth[hit]], axis=1)
    np.testing.assert_allclose((((point - centre) / radii) ** 2).sum(axis=1), 1, atol=2e-3)
    assert (point[:, 2] < centre[2]).all()  # the side that faces the camera


def test_a_cone_satisfies_its_equation():
    canvas = empty_canvas()
    base = np.array([-0.3, 0.9, 3.5])
    paint_cone(canvas, base, 1.4, (0.7, 0.3), GREY, LIGHT)
    depth, hit = depth_of(canvas)
    x, y, z = (canvas.x * depth)[hit], (canvas.y * depth)[hit], depth[hit]
    radius = 0.7 + (0.3 - 0.7) * (base[1] - y) / 1.4
    np.testing.assert_allclose(np.hypot(x - base[0], z - base[2]), radius, atol=2e-3)
    assert hit.sum() > 200


def test_the_nearest_surface_wins_in_any_order():
    near = np.array([(-1, -1, 2), (1, -1, 2), (1, 1, 2), (-1, 1, 2)], float)
    far = near + np.array([0.5, 0.2, 1])
    pictures = []
    for order in ((near, far), (far, near)):
        canvas = empty_canvas()
        for corners in order:
            paint_face(canvas, [corners], GREY, LIGHT)
        pictures.append(depth_of(canvas)[0])
    np.testing.assert_array_equal(*pictures)


def test_what_is_behind_the_camera_is_not_drawn():
    canvas = empty_canvas()
    paint_face(canvas, [np.array([(-1, 0, -1), (1, 0, -1), (0, 1, 3)], float)], GREY, LIGHT)
    paint_ellipsoid(canvas, np.array([0, 0, 0.5]), (1, 1, 1), GREY, LIGHT)
    paint_cone(canvas, np.array([0, 1, 0.2]), 1, (0.5, 0.5), GREY, LIGHT)
    assert not canvas.materials


@pytest.mark.parametrize("name", sorted(TEXTURES))
def test_textures_are_between_zero_and_one_and_not_flat(name):
    u, v = np.meshgrid(np.linspace(-3, 3, 70, dtype=np.float32), np.linspace(-2, 2, 50, dtype="f4"))
    value = TEXTURES[name](u, v)
    assert value.shape == (50, 70)
    assert value.dtype == np.float32
    assert value.min() >= 0
    assert value.max() <= 1
    assert value.std() > 0.05


def test_the_noise_tile_has_no_seam():
    tile = noise_tile()
    assert tile.shape == (TILE, TILE)
    inner = np.abs(np.diff(tile, axis=1)).max()
    assert np.abs(tile[:, 0] - tile[:, -1]).max() <= inner
    assert np.abs(tile[0] - tile[-1]).max() <= np.abs(np.diff(tile, axis=0)).max()


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.6])
def test_blur_has_the_variance_of_its_gaussian(sigma):
    image = np.zeros((3, 41, 41), np.float32)
    image[:, 20, 20] = 1
    spread = blurred(image, sigma)[0]
    offsets = np.arange(41) - 20
    assert spread.sum() == pytest.approx(1, abs=1e-4)
    assert (spread.sum(axis=0) * offsets**2).sum() == pytest.approx(sigma**2, rel=1e-3)
    flat = np.full((3, 5, 7), 9, np.float32)
    np.testing.assert_allclose(blurred(flat, sigma), flat)


def test_noise_has_its_deviation():
    grey = np.full((3, 100, 100), 128, np.float32)
    assert noisy(grey, 4.0, Draws(1)).std() == pytest.approx(4, rel=0.03)
    assert noisy(grey, 0.0, Draws(1)) is grey


def photograph_like():
    y, x = np.mgrid[:70, :90]
    planes = [128 + 80 * np.sin(x / 9), 120 + 0.8 * y, np.where(x + y > 80, 200, 60)]
    return np.stack(planes).astype(np.float32)


@pytest.mark.parametrize("quality", [15, 50, 90])
def test_jpeg_losses_are_those_of_libjpeg(quality):
    """Not the same bytes, but as far from the image, and near to what libjpeg gives."""
    image = photograph_like()
    ours = np.clip(jpeg_losses(image, quality), 0, 255)
    file = io.BytesIO()
    pixels = np.rint(image).astype(np.uint8).transpose(1, 2, 0)
    Image.fromarray(pixels).save(file, "jpeg", quality=quality, subsampling="4:2:0")
    theirs = np.asarray(Image.open(file)).astype(np.float32).transpose(2, 0, 1)
    our_error, their_error = np.abs(ours - image).mean(), np.abs(theirs - image).mean()
    assert our_error == pytest.approx(their_error, rel=0.5)
    assert np.abs(ours - theirs).mean() < 1 + 0.6 * their_error


def test_worse_quality_is_worse():
    image = photograph_like()
    errors = [np.abs(jpeg_losses(image, quality) - image).mean() for quality in (95, 60, 20, 3)]
    assert errors == sorted(errors)
    grey = np.full((3, 9, 17), 100, np.float32)
    np.testing.assert_array_equal(jpeg_losses(grey, 90), grey)
