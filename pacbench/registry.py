"""Things found by name: methods and datasets, ours and those of other packages.

A registry fills itself on first use from the packages named in ``homes`` (every module in them is
imported, and registers what it holds) and from an entry-point group, so that another package can
add a method without touching this one.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from pacbench.errors import UserError, did_you_mean, listing

T = TypeVar("T")


class UnknownNameError(UserError):
    """A name that nothing was registered under."""


class Registry(Generic[T]):
    """Classes by name.

    Args:
        kind: what is registered, for messages ("method").
        homes: packages whose modules register themselves when imported.
        group: entry-point group through which other packages add theirs.
    """

    def __init__(self, kind: str, homes: tuple[str, ...], group: str) -> None:
        self.kind = kind
        self.homes = homes
        self.group = group
        self._classes: dict[str, type[T]] = {}
        self._discovered = False

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Class decorator; a name that is taken by another class raises ``ValueError``."""

        def add(cls: type[T]) -> type[T]:
            holder = self._classes.setdefault(name, cls)
            if holder is not cls:
                raise ValueError(
                    f"{self.kind} '{name}' is registered twice: "
                    f"by {holder.__module__}.{holder.__qualname__} "
                    f"and by {cls.__module__}.{cls.__qualname__}"
                )
            return cls

        return add

    def __getitem__(self, name: str) -> type[T]:
        self._discover()
        try:
            return self._classes[name]
        except KeyError:
            raise UnknownNameError(
                f"no {self.kind} is called '{name}'{did_you_mean(name, self._classes)}; "
                f"registered: {listing(self._classes)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._classes))

    def rediscover(self) -> None:
        """Look again, after the path of importable packages has changed."""
        self._discovered = False

    def _discover(self) -> None:
        if self._discovered:
            return
        for home in self.homes:
            package = importlib.import_module(home)
            for module in pkgutil.walk_packages(package.__path__, prefix=f"{home}."):
                importlib.import_module(module.name)
        for entry in entry_points(group=self.group):
            try:
                self.register(entry.name)(entry.load())
            except Exception as error:  # another package's fault must not stop this one
                warnings.warn(
                    f"{self.kind} '{entry.name}' of {entry.value} cannot be used: {error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
        self._discovered = True
