"""tools/results.py as a module: it is a script, and no part of the package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_tool() -> ModuleType:
    """A fresh module, whose folders a test may change."""
    spec = importlib.util.spec_from_file_location("tools_results", ROOT / "tools" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
