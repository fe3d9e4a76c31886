"""What this machine can do at most, measured: ``python -m pacbench.timing.peak THREADS``.

The peak of multiply-adds is the best rate of a large matrix product, which the maths library keeps
within a few per cent of what the units can do; the bandwidth is the best rate of a copy far larger
than the caches, its reads and writes both counted.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from pacbench.timing.cost import Cost

ROUNDS = 12
MATRIX = 1536
COPY_BYTES = 1 << 27


class Peak(BaseModel):
    """The best rates seen on ``threads`` threads of the CPU, in FLOP/s and bytes/s."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threads: int
    flops_per_second: float
    bytes_per_second: float

    def limits(self, device: str, threads: int) -> bool:
        """Whether work on so many threads of a device is bound by it."""
        return device == "cpu" and threads == self.threads

    def least_seconds(self, cost: Cost) -> float:
        """The roofline: no call of that cost can be faster here."""
        return max(cost.flops / self.flops_per_second, cost.bytes / self.bytes_per_second)


def measure_here(threads: int) -> Peak:
    """Measure in this process, about a second."""
    import torch  # slow to import, and those who only read a peak need none of it

    torch.set_num_threads(threads)
    left, right = torch.rand(MATRIX, MATRIX), torch.rand(MATRIX, MATRIX)
    product = torch.empty(MATRIX, MATRIX)
    source = torch.zeros(COPY_BYTES, dtype=torch.uint8)
    target = torch.zeros_like(source)
    return Peak(
        threads=threads,
        flops_per_second=2 * MATRIX**3 / _best(lambda: torch.mm(left, right, out=product)),
        bytes_per_second=2 * COPY_BYTES / _best(lambda: target.copy_(source)),
    )


def measure(threads: int) -> Peak:
    """Measure in a process of its own, as cells are."""
    done = subprocess.run(
        [sys.executable, "-m", "pacbench.timing.peak", str(threads)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return Peak.model_validate_json(done.stdout)


def _best(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    print(measure_here(int(sys.argv[1])).model_dump_json())
