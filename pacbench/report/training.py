"""How long the weights of a row were trained, as far as it is known."""

from __future__ import annotations

from functools import cache

from pacbench.train.checkpoint import read_about
from pacbench.train.weights import packaged_weights, sha256_of


@cache
def training_of(weights: str, sha256: str | None) -> str:
    """``trained for 2500 steps, 0.05 % of the paper's``, of weights that come with pacbench.

    Of others, and of those that have been trained anew since, ``trained: weights NAME``.

    Args:
        weights: their name in the suite.
        sha256: of the file that was used, as its record says.
    """
    same = [path for path in packaged_weights().values() if sha256_of(path) == sha256]
    if not same:
        return f"trained: weights {weights}"
    about = read_about(same[0].parent)
    spec = about["training"]
    told = f"trained for {round(spec['iterations'] * spec['budget'])} steps"
    if about["cell"]["task"] != "upsample":  # only there are the iterations the paper's
        return told
    return f"{told}, {100 * spec['budget']:g} % of the paper's"
