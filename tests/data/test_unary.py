"""Unaries from noise, from the network and from files."""

import hashlib

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from pacbench.data.base import Sample
from pacbench.data.draws import Draws, key_of
from pacbench.data.scenes import Scenes, ScenesParams
from pacbench.data.unary import FilesUnary, NetworkUnary, NoiseUnary, Unary
from pacbench.data.unary.network import CHECKPOINT, CHECKPOINT_SHA256, build_network
from pacbench.data.unary.train import train
from pacbench.errors import UserError
from pacbench.metrics import SegmentationScore


def sample_of(labels, name="s"):
    return Sample(name, np.zeros((3, *labels.shape), np.uint8), labels=labels)


@pytest.fixture
def blocks():
    """Blocks of 32 pixels of four classes: 8 divides them, so cells are of one class."""
    return np.kron(np.array([[0, 1, 2], [3, 0, 1]], np.uint8), np.ones((32, 32), np.uint8))


def test_without_noise_the_labels_come_back(blocks):
    logits = NoiseUnary(keep=1.0).logits(sample_of(blocks), 5, 0)
    assert logits.shape == (5, 64, 96)
    assert logits.dtype == np.float32
    wrong = logits.argmax(axis=0) != blocks
    assert wrong.mean() < 0.01  # only where four blocks meet
    assert not wrong[:, 8:24].any()
    np.testing.assert_allclose(logits.sum(axis=0), 10, rtol=1e-5)


def test_noise_is_the_protocol_written_out(blocks):
    """One-hot labels shrunk by 8 without anti-aliasing; noise blended in by the grown mask."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(blocks.shape) < 0.3, 4, blocks).astype(np.uint8)[:61, :90]
    cells, size = (61 // 8, 90 // 8), (61, 90)
    draws = Draws(key_of("noise unary", 3, "s"))
    kept = (draws.units(cells[0] * cells[1]) < 0.7).reshape(1, *cells)
    classes = (draws.units(cells[0] * cells[1]) * 5).astype(int).reshape(cells)

    def resized(array, to):
        tensor = torch.from_numpy(np.asarray(array, np.float32))[None]
        return torch.nn.functional.interpolate(tensor, to, mode="bilinear")[0].numpy()

    right = resized(resized(np.eye(5)[labels].transpose(2, 0, 1), cells), size)
    wrong = resized(np.eye(5)[classes].transpose(2, 0, 1), size)
    mask = resized(kept, size)
    logits = NoiseUnary(gain=2.0, keep=0.7).logits(sample_of(labels), 5, 3)
    np.testing.assert_allclose(logits, 2 * (mask * right + (1 - mask) * wrong), atol=1e-5)


def test_the_share_of_noisy_cells_is_as_asked():
    labels = np.zeros((800, 800), np.uint8)
    logits = NoiseUnary(keep=0.8).logits(sample_of(labels), 21, 0)
    centres = logits.argmax(axis=0)[4::8, 4::8]
    assert (centres != 0).mean() == pytest.approx(0.2 * 20 / 21, abs=0.02)
    assert set(np.unique(centres)) == set(range(21))


def test_noise_depends_on_seed_and_name_only(blocks):
    noise = NoiseUnary()
    first = noise.logits(sample_of(blocks, "a"), 5, 0)
    np.testing.assert_array_equal(first, noise.logits(sample_of(blocks, "a"), 5, 0))
    assert (first != noise.logits(sample_of(blocks, "b"), 5, 0)).any()
    assert (first != noise.logits(sample_of(blocks, "a"), 5, 1)).any()
    assert hashlib.sha256(first.tobytes()).hexdigest()[:16] == "5656c546db9bd400"


def test_ignored_pixels_vote_for_nothing():
    logits = NoiseUnary(keep=1.0).logits(sample_of(np.full((16, 16), 255, np.uint8)), 3, 0)
    assert (logits == 0).all()


def test_images_smaller_than_a_cell():
    assert NoiseUnary().logits(sample_of(np.zeros((3, 5), np.uint8)), 2, 0).shape == (2, 3, 5)


def test_noise_needs_labels():
    with pytest.raises(ValueError, match="sample 'x' has no labels"):
        NoiseUnary().logits(Sample("x", np.zeros((3, 4, 4), np.uint8)), 2, 0)


def test_the_committed_network_is_whole_and_small():
    content = CHECKPOINT.read_bytes()
    assert len(content) < 1_000_000
    assert hashlib.sha256(content).hexdigest() == CHECKPOINT_SHA256


def test_the_network_is_good_but_not_perfect():
    """On scenes it never saw: far above chance, and worse at edges than inside."""
    params = ScenesParams(unary=NetworkUnary(name="network"), count=12)
    score = SegmentationScore(21)
    for index in range(12):
        sample = Scenes(params, "test", 99)[index]
        assert sample.unary.shape == (21, 375, 500)
        score.add(sample.unary.argmax(axis=0), sample)
    metrics = score.result()
    assert 0.25 < metrics["miou"] < 0.8
    assert metrics["accuracy"] > 0.8
    assert metrics["trimap_iou_1"] < metrics["trimap_iou_10"] < metrics["miou"]


def test_training_writes_a_network_that_can_be_used(tmp_path, capsys):
    train(scenes=3, steps=2, out=tmp_path / "trained.pt")
    printed = capsys.readouterr().out
    assert hashlib.sha256((tmp_path / "trained.pt").read_bytes()).hexdigest() in printed
    unary = NetworkUnary(name="network", checkpoint=tmp_path / "trained.pt")
    logits = unary.logits(Sample("s", np.full((3, 40, 56), 90, np.uint8)), 21, 0)
    assert logits.shape == (21, 40, 56)
    assert np.isfinite(logits).all()
    assert logits.std() > 0


def test_a_checkpoint_of_the_users_own(tmp_path):
    torch.save(build_network(4).state_dict(), tmp_path / "mine.pt")
    unary = NetworkUnary(name="network", checkpoint=tmp_path / "mine.pt")
    sample = Sample("s", np.zeros((3, 37, 50), np.uint8))
    assert unary.logits(sample, 4, 0).shape == (4, 37, 50)
    assert unary.protocol.startswith("network:")
    with pytest.raises(UserError, match=r"mine\.pt is no unary network of 21 classes"):
        unary.logits(sample, 21, 0)
    (tmp_path / "junk.pt").write_bytes(b"junk")
    with pytest.raises(UserError, match=r"junk\.pt is no unary network"):
        NetworkUnary(name="network", checkpoint=tmp_path / "junk.pt").logits(sample, 21, 0)
    with pytest.raises(UserError, match=r"gone\.pt does not exist; python -m"):
        NetworkUnary(name="network", checkpoint=tmp_path / "gone.pt").need()


def test_files_are_grown_and_cropped(tmp_path):
    small = np.random.default_rng(0).random((3, 5, 5)).astype(np.float32)
    np.save(tmp_path / "s.npy", small)
    sample = Sample("s", np.zeros((3, 30, 40), np.uint8))
    unary = FilesUnary(name="files", root=tmp_path, grow_to=(65, 65), align_corners=True)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(small)[None], (65, 65), mode="bilinear", align_corners=True
    )[0, :, :30, :40]
    np.testing.assert_allclose(unary.logits(sample, 3, 0), expected.numpy(), atol=1e-5)
    plain = FilesUnary(name="files", root=tmp_path).logits(sample, 3, 0)
    assert plain.shape == (3, 30, 40)
    assert unary.protocol == f"files:{tmp_path.name},to65x65,corners"


def test_mistakes_in_files(tmp_path):
    sample = Sample("s", np.zeros((3, 30, 40), np.uint8))
    unary = FilesUnary(name="files", root=tmp_path)
    with pytest.raises(UserError, match=r"the logits of sample 's' are missing: .*s\.npy"):
        unary.logits(sample, 3, 0)
    (tmp_path / "s.npy").write_bytes(b"junk")
    with pytest.raises(UserError, match="cannot be read as logits"):
        unary.logits(sample, 3, 0)
    np.save(tmp_path / "s.npy", np.zeros((4, 5, 5), np.float32))
    with pytest.raises(UserError, match=r"has shape \(4, 5, 5\), expected \(3, h, w\)"):
        unary.logits(sample, 3, 0)
    with pytest.raises(UserError, match="grow_to is 20×90, smaller than the image 's' of 30×40"):
        FilesUnary(name="files", root=tmp_path, grow_to=(20, 90)).logits(sample, 4, 0)


def test_missing_files_are_said_before_any_sample(tmp_path):
    params = ScenesParams(unary={"name": "files", "root": tmp_path / "gone"})
    with pytest.raises(UserError, match=r"folder of the unaries' logits is missing: .*gone"):
        Scenes(params, "val", 0)


def test_sources_are_chosen_by_name():
    adapter = TypeAdapter(Unary)
    assert isinstance(adapter.validate_python({"name": "network"}), NetworkUnary)
    assert isinstance(adapter.validate_python({"name": "noise", "keep": 0.5}), NoiseUnary)
    for wrong in ({"name": "magic"}, {"name": "noise", "kept": 1}, {"name": "files"}):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)
