"""The stream of draws: the same everywhere, and of the distributions it claims."""

import numpy as np
import pytest

from pacbench.data.draws import Draws, key_of


def test_the_stream_is_pinned():
    """If this fails, every generated scene has changed."""
    draws = Draws(1, 2, 3)
    assert draws.uniform() == 0.6704722626516632
    assert draws.below(1000) == 111
    assert draws.bytes(5).tolist() == [179, 41, 50, 126, 92]
    assert draws.units(2).tolist() == [0.35617637634277344, 0.7046634554862976]
    assert draws.bell(2).tolist() == [0.20974212884902954, 0.43301600217819214]
    assert key_of("a", 1) == 13722700206037900931


def test_key_of_keeps_words_apart():
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of(1, 23) != key_of(12, 3)


def test_distributions():
    draws = Draws(0)
    bell = draws.bell(100_000)
    assert abs(bell.mean()) < 0.02
    assert bell.std() == pytest.approx(1, abs=0.02)
    units = draws.units(100_000)
    assert units.min() >= 0
    assert units.max() < 1
    assert units.mean() == pytest.approx(0.5, abs=0.01)
    assert np.bincount(draws.bytes(256_000)).std() < 60
    picks = np.bincount([draws.weighted([1, 0, 3]) for _ in range(4000)], minlength=3) / 4000
    np.testing.assert_allclose(picks, [0.25, 0, 0.75], atol=0.03)
    assert {draws.between(2, 4) for _ in range(100)} == {2, 3, 4}


def test_directions_are_unit_vectors_all_around():
    draws = Draws(5)
    vectors = np.array([draws.direction() for _ in range(1000)])
    np.testing.assert_allclose(np.hypot(*vectors.T), 1)
    quadrants = (vectors > 0).astype(int) @ [1, 2]
    assert np.bincount(quadrants).min() > 150
    turns = np.array([draws.turn(0.1) for _ in range(1000)])
    assert np.degrees(np.abs(np.arctan2(turns[:, 1], turns[:, 0]))).max() < 11.5
