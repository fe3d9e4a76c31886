"""What methods are given, and that their output comes back in the sample's units."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from pacbench.data.base import Sample
from pacbench.protocols import UpsampleProtocol


def depth_sample(height=24, width=32, seed=0):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (3, height, width)).astype(np.uint8)
    return Sample("s", image, depth=rng.uniform(1, 9, (height, width)).astype(np.float32))


def flow_sample(height=24, width=32):
    rng = np.random.default_rng(1)
    flow = rng.normal(0, 20, (2, height, width)).astype(np.float32)
    return Sample("f", np.zeros((3, height, width), np.uint8), flow=flow)


def grown(inputs):
    """Bilinear upsampling, as the simplest of methods."""
    low = torch.from_numpy(inputs.low)
    size = inputs.guide.shape[2:]
    return torch.nn.functional.interpolate(low, size, mode="bilinear").numpy()


def test_depth_is_normalised_by_its_own_range():
    sample = depth_sample()
    inputs = UpsampleProtocol(factor=4).inputs_of(sample)
    low = sample.depth[1::4, 1::4]
    assert inputs.low.shape == (1, 1, 6, 8)
    assert inputs.low.min() == 0
    assert inputs.low.max() == 1
    np.testing.assert_allclose(
        inputs.low[0, 0], (low - low.min()) / (low.max() - low.min()), rtol=1e-5
    )
    np.testing.assert_array_equal(inputs.guide[0], sample.image.astype(np.float32) / 255)


def test_finish_restores_metres():
    sample = depth_sample()
    inputs = UpsampleProtocol(factor=4).inputs_of(sample)
    direct = torch.nn.functional.interpolate(
        torch.from_numpy(sample.depth[1::4, 1::4])[None, None], (24, 32), mode="bilinear"
    )
    restored = inputs.finish(grown(inputs))
    assert restored.shape == (1, 24, 32)
    np.testing.assert_allclose(restored[0], direct[0, 0].numpy(), rtol=1e-5)


def test_a_flat_map_is_widened_by_half_a_unit():
    sample = Sample("s", np.zeros((3, 8, 8), np.uint8), depth=np.full((8, 8), 3, np.float32))
    inputs = UpsampleProtocol(factor=2).inputs_of(sample)
    assert (inputs.low == 0.5).all()
    assert inputs.minimum.item() == 2.5
    assert inputs.span.item() == 1
    np.testing.assert_array_equal(inputs.finish(grown(inputs))[0], sample.depth)


@pytest.mark.parametrize(("joint", "shape"), [(False, (2, 1, 6, 8)), (True, (1, 2, 6, 8))])
def test_flow_goes_as_two_images_or_two_channels(joint, shape):
    sample = flow_sample()
    protocol = UpsampleProtocol(target="flow", factor=4, mode="bilinear", joint_channels=joint)
    inputs = protocol.inputs_of(sample)
    assert inputs.low.shape == shape
    assert inputs.guide.shape == (1, 3, 24, 32)
    assert inputs.low.reshape(2, -1).min(axis=1).tolist() == [0, 0]  # u and v each by its own range
    assert inputs.low.reshape(2, -1).max(axis=1).tolist() == [1, 1]
    assert inputs.finish(grown(inputs)).shape == (2, 24, 32)


def test_odd_sizes_go_through_the_next_multiple():
    sample = depth_sample(37, 50)
    inputs = UpsampleProtocol(factor=8).inputs_of(sample)
    assert inputs.low.shape == (1, 1, 5, 7)
    assert inputs.guide.shape == (1, 3, 40, 56)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(sample.image.astype(np.float32) / 255)[None], (40, 56), mode="bilinear"
    )
    np.testing.assert_allclose(inputs.guide, expected.numpy(), atol=1e-5)
    assert inputs.finish(grown(inputs)).shape == (1, 37, 50)


def test_invalid_pixels_do_not_reach_the_input():
    sample = depth_sample()
    valid = np.ones((24, 32), bool)
    valid[::3] = False
    spoiled = np.where(valid, sample.depth, np.float32(0))
    inputs = UpsampleProtocol(factor=4).inputs_of(
        Sample("s", sample.image, depth=spoiled, valid=valid)
    )
    assert inputs.minimum.item() >= 1


def test_noise_is_seeded_and_of_the_given_size():
    sample = depth_sample(512, 512)
    clean = UpsampleProtocol(factor=4).inputs_of(sample)
    noisy = UpsampleProtocol(factor=4, noise=0.05)

    def metres(inputs):
        return inputs.low * inputs.span + inputs.minimum

    first, again = noisy.inputs_of(sample, 1), noisy.inputs_of(sample, 1)
    other = noisy.inputs_of(sample, 2)
    np.testing.assert_array_equal(first.low, again.low)
    assert (first.low != other.low).any()
    difference = metres(first) - metres(clean)
    assert difference.std() == pytest.approx(0.05, rel=0.05)
    assert abs(difference.mean()) < 0.002


def test_names_tell_protocols_apart():
    protocols = [
        UpsampleProtocol(factor=factor, mode=mode, noise=noise, joint_channels=joint)
        for factor in (4, 8)
        for mode in ("center", "bilinear")
        for noise in (0, 0.1)
        for joint in (False, True)
    ]
    assert len({protocol.name for protocol in protocols}) == len(protocols)
    assert UpsampleProtocol().name == "depth,center,x4"


def test_mistakes_are_refused():
    with pytest.raises(ValidationError):
        UpsampleProtocol(factor=0)
    with pytest.raises(ValidationError):
        UpsampleProtocol(mode="lanczos")
    with pytest.raises(ValueError, match="sample 'f' has no depth to upsample"):
        UpsampleProtocol().inputs_of(flow_sample())
    inputs = UpsampleProtocol().inputs_of(depth_sample())
    with pytest.raises(
        ValueError, match=r"returned shape \(1, 1, 6, 8\), expected \(1, 1, 24, 32\)"
    ):
        inputs.finish(inputs.low)
