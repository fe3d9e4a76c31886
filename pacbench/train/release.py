"""Weights of the paper's release, told by their keys and turned into weights of methods here.

The release saves bare state dicts. A network with a CRF has the keys ``backbone.…``, ``crf.…`` and
``feat_scales.…``, without the first where it was frozen; an upsampling network those of its
branches. Dilations and mean-field steps are not in a file: they are assumed to be the paper's. What
an upsampling network upsamples is not in it either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from pacbench.errors import UserError

State = dict[str, Tensor]

PAPER_DILATIONS = {1: [32], 2: [64, 16]}  # by the number of pairwise kernels, in their order
CONV_CRF_RGB_SCALE = 13.0


@dataclass(frozen=True)
class Imported:
    """Weights for a method.

    Attributes:
        method: its registered name.
        params: the parameters that it needs to fit them.
        state: its state dict.
        protocol: what the task's protocol must be for them.
        labels: of a CRF.
        unsaid: what else they were made for, which is not in the file and is for the user to know.
    """

    method: str
    params: dict[str, Any]
    state: State
    protocol: dict[str, Any] = field(default_factory=dict)
    labels: int = 0
    unsaid: str = ""


@dataclass(frozen=True)
class Recogniser:
    """One kind of weights.

    Attributes:
        kind: in words.
        key: pattern of a key that only this kind has.
        convert: from a state dict to weights of a method; raises UserError if it has none for it.
    """

    kind: str
    key: str
    convert: Callable[[State], Imported]

    def matches(self, state: State) -> bool:
        return any(re.fullmatch(self.key, key) for key in state)


def import_release(state: State) -> list[Imported]:
    """What a state dict of the release holds: a network, a CRF, or one of each.

    Raises:
        UserError: none of the kinds that are known.
    """
    backbone = _under(state, "backbone")
    rest = {key: value for key, value in state.items() if not key.startswith("backbone.")}
    parts = [part for part in (backbone, rest) if part]
    found = [r.convert(part) for part in parts for r in RECOGNISERS if r.matches(part)]
    if not found or len(found) < len(parts):
        kinds = ", ".join(recogniser.kind for recogniser in RECOGNISERS)
        keys = ", ".join(list(state)[:3]) or "none"
        raise UserError(f"not weights of the paper's release (first keys: {keys}); known: {kinds}")
    return found


def _pac_crf(state: State) -> Imported:
    filters = _numbered(state, r"crf\.messengers\.(\d+)\.weight")
    labels, kernel_size = filters[0].shape[0], filters[0].shape[-1]
    dense = (labels, labels, kernel_size, kernel_size)
    if labels == 1 or any(f.shape != dense for f in filters):
        raise UserError(
            "a PAC-CRF of other than 4d pairwise kernels of one size: pac_crf has none, but "
            "pacbench.pac.PacCRF loads its keys `crf.…` as they are"
        )
    params = {
        "kernel_size": kernel_size,
        "dilations": PAPER_DILATIONS.get(len(filters), [16 * 4**i for i in range(len(filters))]),
    }
    converted = {key: value for key, value in state.items() if not key.startswith("feat_scales.")}
    for index, scale in enumerate(_numbered(state, r"feat_scales\.(\d+)")):
        converted[f"feat_scales.{index}"] = scale.expand(3).flip(0)  # its images are BGR
    return Imported("pac_crf", params, converted, labels=labels)


def _conv_crf(state: State) -> Imported:
    (height, _) = state["crf.messengers.0.weight"].shape[2:]
    scale = {"rgb_scale": torch.full((3,), CONV_CRF_RGB_SCALE)}  # not learned in the release
    labels = len(state["crf.compat.0.weight"])
    return Imported("conv_crf", {"kernel_size": height}, {**state, **scale}, labels=labels)


def _loose_crf(state: State) -> Imported:
    raise UserError(
        f"a CRF whose steps have weights of their own ({len(state)} tensors): pac_crf shares them, "
        "but pacbench.pac.PacCRFLoose loads its keys `crf.…` as they are"
    )


def _pac_upsampling(state: State) -> Imported:
    factor = 2 ** len(_numbered(state, r"up_convts\.(\d+)\.weight"))
    encoder = [w.shape[0] for w in _numbered(state, r"branch_t\.conv(\d+)\.weight")]
    method = "pac" if set(encoder) == {32} else "pac_lite"
    return Imported(method, {}, state, {"factor": factor}, unsaid="depth or flow")


def _djf(state: State) -> Imported:
    params = {"padding": "release"}
    return Imported("djf_ours", params, state, unsaid="the factor; depth or flow")


def _fcn(state: State) -> Imported:
    return Imported("fcn8s", {"width": 1.0, "padding": 100}, state)


RECOGNISERS: Sequence[Recogniser] = (
    Recogniser("PAC-CRF", r"feat_scales\.0", _pac_crf),
    Recogniser("Conv-CRF", r"crf\.compat\.0\.weight", _conv_crf),
    Recogniser("PAC-CRF with loose steps", r"crf\.steps\.0\..*", _loose_crf),
    Recogniser("PAC upsampling", r"up_convts\.0\.weight", _pac_upsampling),
    Recogniser("DJF", r"branch_joint\.0\.weight", _djf),
    Recogniser("FCN-8s", r"conv1_1\.weight", _fcn),
)


def _under(state: State, part: str) -> State:
    """The tensors of a part, named as within it."""
    prefix = f"{part}."
    return {k.removeprefix(prefix): value for k, value in state.items() if k.startswith(prefix)}


def _numbered(state: State, pattern: str) -> list[Tensor]:
    """The tensors whose keys match, in the order of the number in them."""
    found = {int(m[1]): value for k, value in state.items() if (m := re.fullmatch(pattern, k))}
    return [found[number] for number in sorted(found)]
