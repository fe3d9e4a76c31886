"""Which code a method is made of: what was found with other code is not what it would find."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path


def code_of(cls: type) -> str:
    """The sha256 of the source files that a class is made of.

    They are its module and whatever that imports of its own package, directly or not: the solver
    of a filter stands in a file of its own.
    """
    package = cls.__module__.partition(".")[0]
    sources: dict[str, bytes] = {}
    left = [cls.__module__]
    while left:
        name = left.pop()
        if name in sources or name.partition(".")[0] != package:
            continue
        if (file := _file_of(name)) is not None:
            sources[name] = file.read_bytes()
            left += _imported(sources[name], name if file.stem == "__init__" else _parent(name))
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + b"\n" + sources[name] + b"\n")
    return digest.hexdigest()


def _imported(source: bytes, package: str) -> Iterator[str]:
    """What a file imports, wherever it does; ``from a import b`` may mean ``a`` or ``a.b``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _file_of(name: str) -> Path | None:
    """The source of a module; None for what is no module."""
    try:
        spec = find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return None
    origin = spec.origin if spec else None
    return Path(origin) if origin and origin.endswith(".py") else None


def _parent(name: str) -> str:
    return name.rpartition(".")[0]
