"""Shares and times as people write them on a command line."""

from __future__ import annotations

import re

from pacbench.errors import UserError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def share(option: str, text: str) -> float:
    """``1%`` or ``0.01``, between 0 and 1."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    value = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 < value < 1:
        raise UserError(f"{option} {text}: should be a share such as 1% or 0.01")
    return value


def seconds(option: str, text: str) -> float:
    """``90``, ``90s``, ``5m`` or ``1h``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None or float(match[1]) <= 0:
        raise UserError(f"{option} {text}: should be a time such as 90s, 5m or 1h")
    return float(match[1]) * _UNITS[match[2]]
