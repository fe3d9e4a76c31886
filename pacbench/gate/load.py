"""A neighbour who keeps the other cores busy: ``python -P load.py CORE…`` until it is ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

BYTES = 1 << 25  # more than a core's own caches, so that memory is shared with it as well


@contextmanager
def busy(cores: Sequence[int]) -> Iterator[None]:
    """Keep those cores busy for the length of the block, a process on each."""
    processes = [
        subprocess.Popen([sys.executable, "-P", __file__, str(core)], start_new_session=True)
        for core in cores
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _run(core: int) -> None:
    """Arithmetic and copies, as another program of the kind would do."""
    import numpy as np

    os.sched_setaffinity(0, [core])
    parent = os.getppid()
    source = np.ones(BYTES // 8)
    target = np.empty_like(source)
    while os.getppid() == parent:  # ends with whoever started it
        np.copyto(target, source)
        np.sqrt(target, out=target)


if __name__ == "__main__":
    _run(int(sys.argv[1]))
