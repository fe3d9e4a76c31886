"""Loads the compiled operators."""

from __future__ import annotations

import ctypes

library: ctypes.CDLL | None = None
why_missing = "the native library is not built"
