"""Native code under the sanitizers of g++: how it is built, and run in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def why_not() -> str:
    """Why nothing can be built with sanitizers here; empty if it can."""
    if shutil.which("g++") is None:
        return "no g++ to compile the sources with sanitizers"
    if not all(Path(runtime).is_absolute() for runtime in _runtimes()):
        return "g++ has no sanitizer libraries"
    return ""


def run_awkward_sizes(kind: str, library: Path) -> subprocess.CompletedProcess[str]:
    """Runs awkward_sizes.py with a library that is built with ``SANITIZE``."""
    environment = {"LD_PRELOAD": " ".join(_runtimes()), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("awkward_sizes.py")), kind, str(library)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _runtimes() -> list[str]:
    return [
        subprocess.run(
            ["g++", f"-print-file-name={name}.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan", "libubsan")
    ]
