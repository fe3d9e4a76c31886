"""Files of JSON lines that survive a crash: appended lines are on disk, a torn one is dropped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any


def complete_lines(path: Path) -> list[bytes]:
    """The lines of a file; what follows the last newline is torn or empty, and left out."""
    return path.read_bytes().split(b"\n")[:-1]


def drop_torn_line(file: IO[bytes]) -> None:
    """Bring a file, open for reading and writing, to the end of its last complete line."""
    content = file.read()
    end = content.rfind(b"\n") + 1
    file.truncate(end)
    file.seek(end)


def append(file: IO[bytes], value: Any) -> None:
    """Write a line; it is on disk when this returns."""
    file.write(json.dumps(value, allow_nan=False).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
