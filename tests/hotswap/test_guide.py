"""The guide to hot-swapping says what the code does."""

from __future__ import annotations

import doctest
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "hot_swap.md"


def test_examples_of_the_guide() -> None:
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0
