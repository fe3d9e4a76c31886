"""Layer hot-swapping: PAC in the place of convolutions of a network that is already trained.

The weights stay, and so do their names in the ``state_dict``. The guide is what another layer of
the network gives; times a small scale, K is nearly 1 and PAC nearly the convolution that it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from torch import nn

from pacbench.pac.hot_swapped import GuideTap, HotSwappedConv2d
from pacbench.pac.layers import PacConv2d

SCALE = 1e-4
"""The paper's."""


def hot_swap(
    model: nn.Module,
    layers: str | Sequence[str],
    guide: str,
    scale: float = SCALE,
    learn_scale: bool = False,
    *,
    backend: str = "auto",
) -> nn.Module:
    """Replace convolutions of a model by PAC layers with the same weights, in place.

    Args:
        model: any module; its ``state_dict`` keeps its keys.
        layers: names of ``nn.Conv2d`` layers, as in ``model.named_modules()``, or globs: a glob
            stands for those of the layers it matches that are ``nn.Conv2d``.
        guide: name of the layer whose output (B, C, H, W) guides them; it must be called before
            them. Its output is taken as it is before later layers change it in place, and resized
            (bilinearly) to the input of each layer.
        scale: what the guide is multiplied by.
        learn_scale: learn it, one ``guide_scale`` for each layer, which adds a key for each.
        backend: of the PAC layers; see ``pacbench.kernels``.

    Returns:
        The model.

    Raises:
        ValueError: a layer that does not exist, or that is no odd-sized, ungrouped ``nn.Conv2d``
            padded with zeros; a guide that does not exist, or that contains a layer it is to guide.
            The model is then unchanged. A guide that is called after its layer raises in the
            model's forward pass.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    names = _chosen(modules, [layers] if isinstance(layers, str) else layers)
    for name in names:
        _check_layer(name, modules)
    _check_guide(guide, names, modules)

    tap = GuideTap(guide)
    tap.attach(modules[guide], model)
    for name in names:
        conv = model.get_submodule(name)
        if isinstance(conv, nn.Conv2d):  # or it is swapped already, under another of its names
            near = _nearest(guide, _defined_before(name, modules, guide))
            layer = HotSwappedConv2d(conv, name, tap, scale, learn_scale, backend, near)
            _replace(model, modules, conv, layer)
    return model


def unswap(model: nn.Module) -> nn.Module:
    """Undo every :func:`hot_swap` of a model, in place: convolutions with the weights of now.

    Returns:
        The model.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    for layer in dict.fromkeys(modules.values()):
        if isinstance(layer, HotSwappedConv2d):
            _replace(model, modules, layer, layer.as_conv())
            layer.tap.detach()
    return model


def _chosen(modules: dict[str, nn.Module], patterns: Sequence[str]) -> list[str]:
    """The names that the patterns stand for, each once, in the model's order."""
    if not patterns:
        raise ValueError("layers is empty; name at least one nn.Conv2d of the model")
    found: set[str] = set()
    for pattern in patterns:
        matched = [name for name in modules if name and fnmatchcase(name, pattern)]
        if pattern in modules:  # whatever stands in it, a name means itself
            matched = [pattern]
        elif any(isinstance(modules[name], nn.Conv2d) for name in matched):
            matched = [name for name in matched if isinstance(modules[name], nn.Conv2d)]
        if not pattern or not matched:
            raise ValueError(f"the model has no layer '{pattern}'; {_near(pattern, modules)}")
        found.update(matched)
    return [name for name in modules if name in found]


def _check_layer(name: str, modules: dict[str, nn.Module]) -> None:
    if reason := _why_not(modules[name]):
        able = [known for known, module in modules.items() if known and not _why_not(module)]
        near = _nearest(name, able)
        raise ValueError(f"layer '{name}' {reason}; near names that can be swapped: {near}")


def _why_not(layer: nn.Module) -> str:
    """Why a layer cannot be swapped; empty if it can."""
    kind = type(layer).__name__
    if isinstance(layer, PacConv2d):
        return "is a PAC layer already; unswap the model first"
    if not isinstance(layer, nn.Conv2d):
        return f"is a {kind}, not an nn.Conv2d"
    if type(layer) is not nn.Conv2d:
        return f"is a {kind}, which computes more than nn.Conv2d"
    if layer.groups != 1:
        return f"has groups={layer.groups}; PAC has no groups"
    if any(size % 2 == 0 for size in layer.kernel_size):
        return (
            f"has kernel_size={layer.kernel_size}; PAC needs odd sizes, since it compares each "
            "pixel with the window's middle one"
        )
    if layer.padding_mode != "zeros":
        return f"has padding_mode='{layer.padding_mode}'; PAC pads with zeros"
    return ""


def _check_guide(guide: str, names: Sequence[str], modules: dict[str, nn.Module]) -> None:
    if not guide or guide not in modules:
        raise ValueError(f"the model has no layer '{guide}' to guide; {_near(guide, modules)}")
    for name in names:
        if modules[name] in modules[guide].modules():
            what = "itself" if name == guide else f"by '{guide}', which contains it"
            raise ValueError(
                f"layer '{name}' would be guided {what}: the guide is computed after the layer "
                "that needs it"
            )


def _defined_before(name: str, modules: dict[str, nn.Module], guide: str) -> list[str]:
    """Names of what may guide a layer in place of ``guide``: calls mostly follow definitions."""
    before = list(modules)[: list(modules).index(name)]
    return [
        other for other in before if other not in ("", guide) and not name.startswith(f"{other}.")
    ]


def _nearest(name: str, names: Sequence[str]) -> str:
    """Those names that are most like this one."""
    return ", ".join(get_close_matches(name, names, n=5, cutoff=0.0)) or "none"


def _near(name: str, names: dict[str, Any]) -> str:
    """Names like this one, or the first of them all, for the end of a message."""
    known = [known for known in names if known]
    if near := get_close_matches(name, known, n=5, cutoff=0.5):
        return f"near names: {', '.join(near)}"
    more = ", …" if len(known) > 10 else ""
    return f"it has {', '.join(known[:10]) or 'none'}{more}"


def _replace(
    model: nn.Module, modules: dict[str, nn.Module], old: nn.Module, new: nn.Module
) -> None:
    """Put a module in all the places of another one."""
    for name, module in modules.items():
        if module is old:
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, new)
