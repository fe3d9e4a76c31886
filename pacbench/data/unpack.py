"""Archives from elsewhere, unpacked so that nothing lands outside of the target folder."""

from __future__ import annotations

import posixpath
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

    All names are checked before anything is written. Links within the archive are left out.

    Raises:
        UserError: a damaged archive, or one with absolute paths, ``..``, devices, or links that
            lead out of it.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                for info in opened.infolist():
                    _need_inside(archive, info.filename)
                    if not _zip_is_plain(info):
                        raise _untrusted(archive, f"'{info.filename}' is a link or a device")
                _write(archive, root, _zip_files(opened))
        else:
            with tarfile.open(archive) as opened_tar:
                for member in opened_tar.getmembers():
                    _check_member(archive, member)
                _write(archive, root, _tar_files(opened_tar))
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise UserError(f"{archive} cannot be unpacked: {error}") from error


def _untrusted(archive: Path, why: str) -> UserError:
    return UserError(f"{archive} is not to be trusted: {why}")


def _need_inside(archive: Path, name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise _untrusted(archive, f"it would write to '{name}'")


def _check_member(archive: Path, member: tarfile.TarInfo) -> None:
    _need_inside(archive, member.name)
    if member.isreg() or member.isdir():
        return
    if not (member.issym() or member.islnk()):
        raise _untrusted(archive, f"'{member.name}' is a device")
    # A symbolic link starts from its own folder, a hard link from the archive's.
    start = posixpath.dirname(member.name) if member.issym() else ""
    target = posixpath.normpath(posixpath.join(start, member.linkname))
    if target.startswith(("/", "..")):
        raise _untrusted(archive, f"'{member.name}' is a link to '{member.linkname}'")


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
        file = archive.extractfile(member) if member.isreg() else None
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
