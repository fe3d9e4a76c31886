"""A training that is killed after its first checkpoint and started again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path


def whole_and_killed(suite: Path, root: Path, name: str) -> tuple[Path, Path]:
    """Train a suite twice by the command, once in one go; the folders of both.

    Args:
        suite: the file.
        root: to train under.
        name: of the folder that the command makes, as ``small/pac-crf``.
    """

    def command(out: Path) -> list[str]:
        return [sys.executable, "-m", "pacbench", "train", str(suite), "--out", str(out)]

    whole, killed = (root / part / name for part in ("whole", "killed"))
    subprocess.run(command(root / "whole"), check=True, timeout=240, capture_output=True)
    process = subprocess.Popen(command(root / "killed"), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (killed / "checkpoint.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    subprocess.run(command(root / "killed"), check=True, timeout=240, capture_output=True)
    return whole, killed
