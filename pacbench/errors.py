"""Mistakes of a user, as opposed to defects of the software."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Something the user can put right: reported without a traceback, exit code 2.

    The message says what was wrong, where, the value, what is allowed and what to do.
    """


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """``" (did you mean 'pac_crf'?)"`` for a near miss, else an empty string."""
    near = get_close_matches(word, list(allowed), n=1, cutoff=0.6)
    return f" (did you mean '{near[0]}'?)" if near else ""


def listing(names: Iterable[str]) -> str:
    """Names for the end of an error message: ``a, b, c``, or ``none``."""
    return ", ".join(sorted(names)) or "none"
