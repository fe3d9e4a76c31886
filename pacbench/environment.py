"""The machine and the software that a run was measured on."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

CPU_FEATURES = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "amx_tile",
)


class Environment(BaseModel):
    """Facts that a measurement depends on; None where this machine does not tell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpu: str
    cpu_features: list[str]
    cores: int
    threads: int
    ram_gb: float
    gpu: list[str]
    governor: str | None
    turbo: str | None
    os: str
    python: str
    torch: str
    packages: dict[str, str]
    pacbench: str
    commit: str | None
    dirty: bool | None

    @property
    def id(self) -> str:
        """Short hash: two runs with the same id were measured alike."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]

    @property
    def machine(self) -> str:
        """``AMD EPYC, 2 cores``, and its GPUs."""
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return ", ".join([self.cpu, cores, *self.gpu])

    def differences(self, other: Environment) -> list[str]:
        """``key: here, there`` for each fact that differs, packages by name."""
        here, there = _flat(self), _flat(other)
        return [
            f"{key}: {here.get(key)}, {there.get(key)}"
            for key in sorted(here.keys() | there.keys())
            if here.get(key) != there.get(key)
        ]


def capture(threads: int) -> Environment:
    """The environment of this process, whose cells run on ``threads`` threads."""
    commit, dirty = git_state(Path(__file__).parent)
    return Environment(
        cpu=cpu_model(),
        cpu_features=cpu_features(),
        cores=usable_cores(),
        threads=threads,
        ram_gb=round(psutil.virtual_memory().total / 2**30, 1),
        gpu=gpus(),
        governor=_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(),
        os=platform.platform(),
        python=platform.python_version(),
        torch=version("torch"),
        packages=dict(sorted((d.name, d.version) for d in distributions())),
        pacbench=package_version(),
        commit=commit,
        dirty=dirty,
    )


def package_version() -> str:
    try:
        return version("pacbench")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


def usable_cores() -> int:
    """Cores that this process may run on, which a container can make fewer than there are."""
    return len(os.sched_getaffinity(0))


def cpu_model() -> str:
    return _cpuinfo().get("model name", platform.machine())


def cpu_features() -> list[str]:
    flags = _cpuinfo().get("flags", "").split()
    return [feature for feature in CPU_FEATURES if feature in flags]


def gpus() -> list[str]:
    """Name, driver and memory of each NVIDIA GPU, from its own tool."""
    query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    return _output("nvidia-smi", *query).splitlines()


def git_state(folder: Path) -> tuple[str | None, bool | None]:
    """Commit and dirty flag of the checkout that tracks ``folder``; (None, None) outside of one."""
    git = ("git", "-C", str(folder))
    if not _output(*git, "ls-files", "."):  # an installed copy may lie inside another's checkout
        return None, None
    return _output(*git, "rev-parse", "HEAD"), bool(_output(*git, "status", "--porcelain", "-uno"))


def _output(program: str, *arguments: str) -> str:
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpuinfo() -> dict[str, str]:
    text = _read("/proc/cpuinfo") or ""
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _turbo() -> str | None:
    no_turbo = _first_line("/sys/devices/system/cpu/intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = _first_line("/sys/devices/system/cpu/cpufreq/boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def _first_line(path: str) -> str | None:
    text = _read(path)
    return text.strip().splitlines()[0] if text and text.strip() else None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None


def _flat(environment: Environment) -> dict[str, object]:
    facts = environment.model_dump(exclude={"packages"})
    return {**facts, **{f"package {k}": v for k, v in environment.packages.items()}}
