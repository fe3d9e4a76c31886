"""Archives: the good are unpacked, the bad write nothing."""

import io
import os
import stat
import tarfile
import zipfile

import pytest

from pacbench.data.unpack import unpack
from pacbench.errors import UserError


def make_tar(path, members, mode="w:gz"):
    """Members are (name, content) or a TarInfo."""
    with tarfile.open(path, mode) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def make_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


GOOD = [("set/a.txt", b"one"), ("set/deep/b.txt", b"two" * 100)]


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_good_archives(tmp_path, make):
    unpack(make(tmp_path / "archive", GOOD), tmp_path / "out")
    assert (tmp_path / "out/set/a.txt").read_bytes() == b"one"
    assert (tmp_path / "out/set/deep/b.txt").read_bytes() == b"two" * 100


@pytest.mark.parametrize("name", ["../evil", "set/../../evil", "/tmp/evil", "..\\evil"])  # noqa: S108
@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_names_that_lead_out(tmp_path, make, name):
    archive = make(tmp_path / "archive", [*GOOD, (name, b"evil")])
    with pytest.raises(UserError, match="not to be trusted: it would write to"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()  # not even the good members


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (link("set/link", "/etc"), "is a link to '/etc'"),
        (link("set/link", "../../.."), "is a link to '../../..'"),
        (link("set/hard", "../outside", tarfile.LNKTYPE), "is a link to '../outside'"),
        (link("set/pipe", "", tarfile.FIFOTYPE), "is a device"),
        (link("set/device", "", tarfile.CHRTYPE), "is a device"),
    ],
    ids=["absolute", "relative", "hard", "fifo", "device"],
)
def test_links_and_devices_in_tar(tmp_path, member, message):
    archive = make_tar(tmp_path / "a.tgz", [*GOOD, member, ("set/link/evil", b"x")])
    with pytest.raises(UserError, match=message):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_links_within_a_tar_are_left_out(tmp_path):
    archive = make_tar(tmp_path / "a.tgz", [*GOOD, link("set/link", "../set/a.txt")])
    unpack(archive, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out/set").iterdir()) == ["a.txt", "deep"]


def test_links_in_zip(tmp_path):
    info = zipfile.ZipInfo("set/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc")
    with pytest.raises(UserError, match="'set/link' is a link or a device"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_link_that_was_there_is_replaced_not_followed(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    (tmp_path / "out/set").mkdir(parents=True)
    os.symlink(outside, tmp_path / "out/set/a.txt")
    unpack(make_zip(tmp_path / "a.zip", GOOD), tmp_path / "out")
    assert outside.read_text() == "mine"
    assert (tmp_path / "out/set/a.txt").read_bytes() == b"one"


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"PK\x03\x04 torn"])
def test_damaged_archives(tmp_path, content):
    (tmp_path / "a.tgz").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.tgz cannot be unpacked"):
        unpack(tmp_path / "a.tgz", tmp_path / "out")


def test_a_torn_tar(tmp_path):
    path = make_tar(tmp_path / "a.tgz", [("big", os.urandom(100_000))])
    path.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(UserError, match="cannot be unpacked"):
        unpack(path, tmp_path / "out")
