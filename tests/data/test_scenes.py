"""Generated scenes: the same everywhere, and hard in the ways they claim."""

import hashlib
import pickle

import numpy as np
import pytest
from pydantic import ValidationError

from pacbench.data import datasets
from pacbench.data.scenes import Scenes, ScenesParams
from pacbench.data.scenes.dataset import SPLITS, scene_key
from pacbench.data.scenes.kinds import CLASS_NAMES, CLASSES
from pacbench.errors import UserError
from pacbench.metrics.upsampling import depth_edges

PINNED = [
    ("train", 0, 0, {}, "3f440de2f1d14c96"),
    ("train", 0, 1, {}, "f254abfb676fe021"),
    ("val", 0, 0, {}, "c35bea5962bd8dac"),
    ("test", 0, 0, {}, "8020c87b07a7394e"),
    ("test", 7, 12, {}, "aef2edfb05902a89"),
    ("train", 123456789, 3, {"size": (59, 97)}, "b248f42f740c6651"),
    ("val", 1, 2, {"noise": 0.0, "blur": 0.0, "jpeg": None}, "544e291b55579ad8"),
    ("test", 0, 1, {"size": (375, 500), "jpeg": 50, "blur": 1.3}, "d403fa8d8d4818b2"),
]


def scenes(split="train", seed=0, **params):
    return Scenes(ScenesParams(**{"unary": None, "size": (96, 128), **params}), split, seed)


def digest(sample):
    """Of image and labels as they are, depth in millimetres and flow in hundredths of a pixel."""
    parts = (
        sample.image,
        sample.labels,
        np.rint(sample.depth * np.float32(1000)).astype("<i4"),
        np.rint(sample.flow * np.float32(100)).astype("<i4"),
    )
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


@pytest.fixture(scope="module")
def many():
    return [scenes(count=60)[index] for index in range(60)]


@pytest.mark.parametrize(("split", "seed", "index", "params", "pinned"), PINNED)
def test_scenes_are_the_same_everywhere(split, seed, index, params, pinned):
    """A change of these is a new version of the dataset: raise VERSION, and pin them anew."""
    assert digest(scenes(split, seed, **params)[index]) == pinned


def test_splits_share_no_seed():
    keys = [
        scene_key(split, seed, index)
        for split in SPLITS
        for seed in range(5)
        for index in range(50)
    ]
    assert len(set(keys)) == len(keys)
    firsts = {digest(scenes(split, seed)[0]) for split in SPLITS for seed in range(3)}
    assert len(firsts) == 9


def test_a_scene_does_not_depend_on_what_was_made_before():
    forwards = [digest(scenes()[index]) for index in (0, 1, 2)]
    dataset = scenes()
    assert [digest(dataset[index]) for index in (2, 1, 0)] == forwards[::-1]
    assert digest(scenes(count=3)[2]) == digest(scenes(count=1000)[2])
    assert digest(pickle.loads(pickle.dumps(dataset))[1]) == forwards[1]  # noqa: S301


def test_a_sample_has_everything():
    sample = Scenes(ScenesParams(), "val", 4)[0]
    assert sample.image.shape == (3, 375, 500)
    assert sample.image.dtype == sample.labels.dtype == np.uint8
    assert sample.depth.shape == sample.labels.shape == (375, 500)
    assert sample.flow.shape == (2, 375, 500)
    assert sample.unary.shape == (21, 375, 500)
    assert sample.depth.dtype == sample.flow.dtype == sample.unary.dtype == np.float32
    assert sample.valid is None
    assert sample.name == "val-4-00000"
    assert datasets["scenes"] is Scenes


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (17, 1), (59, 97), (111, 30), (40, 513)])
def test_any_size(size):
    for index in range(3):
        sample = scenes(size=size)[index]
        assert sample.image.shape == (3, *size)
        assert np.isfinite(sample.depth).all()
        assert np.isfinite(sample.flow).all()


def test_classes_are_as_uneven_as_in_real_label_maps(many):
    """Pascal VOC: three quarters background, one class ahead of a long tail."""
    share = np.bincount(np.concatenate([s.labels.ravel() for s in many]), minlength=CLASSES) / (
        len(many) * many[0].labels.size
    )
    assert len(share) == CLASSES == len(CLASS_NAMES) == 21
    assert 0.65 < share[0] < 0.85
    assert (share > 0).sum() >= 19
    objects = np.sort(share[1:])[::-1]
    assert objects[:5].sum() > 0.5 * objects.sum()
    assert 10 * objects[15] < objects[0]


def test_depth_is_in_the_range_of_a_room(many):
    assert min(s.depth.min() for s in many) > 0.4
    assert max(s.depth.max() for s in many) < 12
    slopes = [np.abs(np.diff(s.depth, axis=1)) for s in many]
    flat = np.mean([(slope == 0).mean() for slope in slopes])
    assert flat < 0.5  # slanted and curved surfaces, not only layers


def test_colour_edges_and_depth_edges_are_not_the_same(many):
    """Strong colour edges where depth is smooth, and depth edges of weak contrast."""
    smooth_but_edge = depth_but_weak = 0.0
    for sample in many:
        grey = sample.image.astype(np.int16).mean(axis=0)
        contrast = np.zeros(grey.shape)
        contrast[:, 1:] = np.abs(np.diff(grey, axis=1))
        contrast[1:] = np.maximum(contrast[1:], np.abs(np.diff(grey, axis=0)))
        edges = depth_edges(sample.depth)
        smooth_but_edge += (contrast > 25)[~edges].sum() / max((contrast > 25).sum(), 1)
        depth_but_weak += (contrast < 10)[edges].mean() if edges.any() else 0
    assert smooth_but_edge / len(many) > 0.15
    assert depth_but_weak / len(many) > 0.15


def test_flow_edges_follow_objects(many):
    """The flow jumps more across label edges than within labels."""
    ratios = []
    for sample in many:
        jump = np.abs(np.diff(sample.flow, axis=2)).sum(axis=0)
        across = np.diff(sample.labels.astype(int), axis=1) != 0
        if across.any():
            ratios.append(np.median(jump[across]) / np.median(jump[~across]))
    assert np.median(ratios) > 10


def test_sensor_parameters_change_the_image_only():
    clean = scenes(noise=0, blur=0, jpeg=None)[0]
    for params in ({"noise": 5}, {"blur": 1.5}, {"jpeg": 20}):
        other = scenes(**{"noise": 0, "blur": 0, "jpeg": None, **params})[0]
        assert (other.image != clean.image).mean() > 0.05
        np.testing.assert_array_equal(other.labels, clean.labels)
        np.testing.assert_array_equal(other.depth, clean.depth)


def test_the_cache_gives_the_same_scenes(tmp_path):
    kept = scenes(cache=tmp_path / "cache")
    first, again = kept[1], kept[1]
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 1
    assert digest(first) == digest(again) == digest(scenes()[1])
    files[0].write_bytes(files[0].read_bytes()[:-500])  # damaged: made again
    assert digest(kept[1]) == digest(first)
    scenes(cache=tmp_path / "cache", noise=3)[1]
    scenes(cache=tmp_path / "cache", count=7)[1]  # the count changes no scene
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"the cache folder .* cannot be written"):
        scenes(cache=tmp_path / "file")[0]


def test_mistakes_are_refused():
    with pytest.raises(UserError, match=r"no split 'tset' \(did you mean 'test'\?\)"):
        scenes("tset")
    for index in (-1, 5):
        with pytest.raises(IndexError, match=f"sample {index} of 5"):
            scenes(count=5)[index]
    for params in ({"size": (0, 5)}, {"noise": -1}, {"jpeg": 0}, {"classes": 5}, {"colour": 1}):
        with pytest.raises(ValidationError):
            ScenesParams(**params)


def test_protocol_names_version_and_unaries():
    assert scenes().protocol == "scenes-1"
    assert Scenes(ScenesParams(), "val", 0).protocol == "scenes-1;noise:x8,keep0.8,gain10"
