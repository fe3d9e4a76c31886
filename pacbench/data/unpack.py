"""Archives from elsewhere, unpacked so that nothing lands outside of the target folder."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from tqdm import tqdm

from pacbench.errors import UserError


def unpack(archive: Path, root: Path) -> None:
    """Writes the plain files of a .zip or .tar archive (of any compression) under ``root``.

    All names are checked before anything is written.

    Raises:
        UserError: a damaged archive, or one with absolute paths, ``..``, links or devices.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                for info in opened.infolist():
                    _check(archive, info.filename, _zip_is_plain(info))
                _write(archive, root, _zip_files(opened))
        else:
            with tarfile.open(archive) as opened_tar:
                for member in opened_tar.getmembers():
                    _check(archive, member.name, member.isreg() or member.isdir())
                _write(archive, root, _tar_files(opened_tar))
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise UserError(f"{archive} cannot be unpacked: {error}") from error


def _check(archive: Path, name: str, plain: bool) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise UserError(f"{archive} is not to be trusted: it would write to '{name}'")
    if not plain:
        raise UserError(f"{archive} is not to be trusted: '{name}' is a link or a device")


def _zip_is_plain(info: zipfile.ZipInfo) -> bool:
    mode = info.external_attr >> 16
    return stat.S_IFMT(mode) in (0, stat.S_IFREG, stat.S_IFDIR)


def _zip_files(archive: zipfile.ZipFile) -> Iterator[tuple[str, IO[bytes]]]:
    for info in archive.infolist():
        if not info.is_dir():
            with archive.open(info) as file:
                yield info.filename, file


def _tar_files(archive: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    for member in archive.getmembers():
        file = archive.extractfile(member)
        if file is not None:
            with file:
                yield member.name, file


def _write(archive: Path, root: Path, files: Iterator[tuple[str, IO[bytes]]]) -> None:
    for name, file in tqdm(files, desc=f"unpacking {archive.name}", unit="file", disable=None):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():  # an archive must not write through a link it finds
            target.unlink()
        with target.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
