"""Downloads that go on where they stopped, and are checked before they are used."""

from __future__ import annotations

import hashlib
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Never

from tqdm import tqdm

from pacbench.data.base import Source
from pacbench.data.unpack import unpack
from pacbench.errors import UserError

CHUNK = 1 << 20
TIMEOUT = 60.0
ATTEMPTS = 5
"""Tries in a row that may bring no new byte before a download is given up."""


def fetch(source: Source, root: Path, mirror: str | None = None, pause: float = 2.0) -> Path:
    """Downloads a source into ``root``, checks it, and unpacks it if it is an archive.

    A file that is already there and right is not downloaded again.

    Args:
        mirror: another address of the same file.
        pause: seconds before a lost connection is tried again, doubled each time.

    Raises:
        UserError: an address that cannot be used, a server that gives nothing, a wrong checksum.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {root} cannot be made: {error}") from error
    path = root / source.filename
    if path.exists():
        wrong = _what_is_wrong(path, source)
        if wrong:
            raise UserError(f"{wrong}. Remove it and fetch it again")
    else:
        part = path.with_name(path.name + ".part")
        _download(mirror or source.url, part, pause)
        wrong = _what_is_wrong(part, source)
        if wrong:
            part.unlink()
            raise UserError(
                f"{wrong}; it was removed. Fetch it again, from another address with --url if "
                "this one keeps serving it"
            )
        part.rename(path)
    if source.archive:
        unpack(path, root)
    return path


def md5_of(path: Path) -> str:
    """md5 of a file of any size, with a progress bar."""
    digest = hashlib.md5(usedforsecurity=False)
    size = path.stat().st_size
    with path.open("rb") as file, _bar(f"checking {path.name}", size) as bar:
        while data := file.read(CHUNK):
            digest.update(data)
            bar.update(len(data))
    return digest.hexdigest()


def _what_is_wrong(path: Path, source: Source) -> str | None:
    found = md5_of(path)
    if found == source.md5:
        return None
    return f"{path} is damaged: its md5 is {found}, expected {source.md5}"


def _download(url: str, part: Path, pause: float) -> None:
    """Fills ``part``, from where it ends, over as many connections as it takes."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise UserError(f"cannot download from '{url}': only http:// and https:// addresses")
    idle = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            if _continue(url, part, before):
                return
            reason = "the connection was closed early"
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise UserError(f"{url} answers {error.code} {error.reason}") from None
            reason = f"{error.code} {error.reason}"
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
        idle = idle + 1 if part.stat().st_size <= before else 0
        if idle == ATTEMPTS:
            raise UserError(
                f"{url} gave nothing new in {ATTEMPTS} tries: {reason}. What has come is kept in "
                f"{part}: the same command goes on from there"
            )
        time.sleep(pause * 2**idle)


def _continue(url: str, part: Path, offset: int) -> bool:
    """One connection; True if the file is complete at its end."""
    part.touch()
    request = urllib.request.Request(url)  # noqa: S310 (the scheme was checked)
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing after our last byte: the checksum decides
            return True
        raise
    with answer:
        resumed = answer.status == 206
        start = offset if resumed else 0  # a server that ignores Range begins anew
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else None
        with (
            part.open("ab" if resumed else "wb") as file,
            _bar(part.stem, total, start) as bar,
        ):
            while data := answer.read(CHUNK):
                file.write(data)
                bar.update(len(data))
    return total is None or part.stat().st_size >= total


def _bar(title: str, total: int | None, done: int = 0) -> tqdm[Never]:
    return tqdm(desc=title, total=total, initial=done, unit="B", unit_scale=True, disable=None)
