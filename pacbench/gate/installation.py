"""The version to compare with, in an environment of its own that shares the other packages.

A baseline is a revision of the repository, a run (the commit it was measured at), a wheel, the
folder of a checkout, or the folder of a virtual environment that has pacbench. All but the last
are built as a wheel and installed into a small virtual environment that lies in front of this
one, so that nothing differs between the two sides but pacbench itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from pathlib import Path

from pacbench.errors import UserError
from pacbench.gate.pairs import Side

BUILD_LIMIT = 1800


def this_installation() -> Side:
    """The pacbench that is running."""
    return Side("this version", sys.executable)


def resolve(baseline: str) -> Side:
    """What a user named, installed; raises ``UserError`` where there is no such thing."""
    path = Path(baseline)
    if path.suffix == ".whl" and path.is_file():
        return Side(path.name, _installed(path, _digest(path)))
    if (path / "bin" / "python").exists():
        return Side(baseline, str(path / "bin" / "python"))
    if (path / "records.jsonl").is_file():
        return _of_run(path)
    if (path / "pyproject.toml").is_file():
        with tempfile.TemporaryDirectory() as scratch:
            wheel = _built(path, Path(scratch))
            return Side(baseline, _installed(wheel, _digest(wheel)))
    return _revision(baseline)


def _revision(revision: str) -> Side:
    """A commit, built once and kept."""
    root = _run(["git", "rev-parse", "--show-toplevel"], f"{revision}: no baseline: ").strip()
    what = f"{revision}: is no wheel, run, folder or revision of {root}: "
    commit = _run(["git", "-C", root, "rev-parse", "--verify", f"{revision}^{{commit}}"], what)
    name = commit.strip()[:12]
    python = _python(name)
    if not python.exists():
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "source"
            archive = Path(scratch) / "source.tar"
            _run(["git", "-C", root, "archive", "-o", str(archive), commit.strip()], what)
            with tarfile.open(archive) as tar:
                tar.extractall(source, filter="data")
            _installed(_built(source, Path(scratch)), name)
    return Side(f"{revision} ({name})" if revision != name else name, str(python))


def _of_run(path: Path) -> Side:
    """The commit that a run was measured at; local changes that it had are not to be had."""
    from pacbench.store import RunFolder

    environment = RunFolder(path).environment()
    if environment.commit is None:
        raise UserError(f"{path}: the run does not say which commit it was measured at")
    commit = _revision(environment.commit)
    changes = ", without its local changes" if environment.dirty else ""
    return Side(f"{path} ({environment.commit[:12]}{changes})", commit.python)


def _built(source: Path, scratch: Path) -> Path:
    wheels = scratch / "wheels"
    options = ["--no-build-isolation", "--no-deps", "--quiet", "--wheel-dir", str(wheels)]
    settings = {"build-dir": scratch / "build", "cmake.define.PACBENCH_CUDA": "OFF"}  # CPU only
    options += [f"--config-settings={key}={value}" for key, value in settings.items()]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
    _run(command, f"{source}: cannot be built: ")
    (wheel,) = wheels.glob("pacbench-*.whl")
    return wheel


def _installed(wheel: Path, name: str) -> str:
    """The Python of an environment with that wheel, made if it is not there."""
    python = _python(name)
    if python.exists():
        return str(python)
    folder = python.parents[1]
    making = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        venv.create(making, symlinks=True, with_pip=False)
        (packages,) = (making / "lib").glob("python*/site-packages")
        # A path in a .pth file is searched after this environment's own packages, and .pth files
        # found there are not followed, so that an editable install there does not come first.
        (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        options = ["--no-deps", "--quiet", "--no-warn-script-location", "--target", str(packages)]
        command = [sys.executable, "-m", "pip", "install", *options, str(wheel)]
        _run(command, f"{wheel.name}: cannot be installed: ")
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return str(python)


def _python(name: str) -> Path:
    """Where the environment of that name is kept; its other packages are this one's."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    here = f"{sys.version} {sysconfig.get_path('purelib')}"
    others = hashlib.sha256(here.encode()).hexdigest()[:8]
    return cache / "pacbench" / "gate" / f"{name}-{others}" / "bin" / "python"


def _digest(wheel: Path) -> str:
    return hashlib.sha256(wheel.read_bytes()).hexdigest()[:12]


def _run(command: list[str], what: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=BUILD_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{what}{error}") from None
    if done.returncode != 0:
        raise UserError(what + (done.stderr or done.stdout).strip()[-2000:])
    return done.stdout
