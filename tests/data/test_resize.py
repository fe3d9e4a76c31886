"""Bilinear growth against torch's."""

import numpy as np
import pytest
import torch

from pacbench.data.resize import bilinear


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(1, 1), (7, 5), (20, 33), (3, 64)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (5, 7), (33, 20)])
def test_it_is_torchs(shape, size, align_corners):
    array = np.random.default_rng(0).random((2, *shape)).astype(np.float32)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(array)[None], size, mode="bilinear", align_corners=align_corners
    )[0]
    np.testing.assert_allclose(bilinear(array, size, align_corners), expected.numpy(), atol=1e-5)


def test_the_input_is_left_alone():
    array = np.ones((4, 4), np.float32)
    bilinear(array, (8, 8))[:] = 5
    assert (array == 1).all()
