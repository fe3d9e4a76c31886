"""Downloads from a local server that drops connections, lies, and serves damaged files."""

import hashlib

import pytest

from pacbench.data import fetch as fetching
from pacbench.data.base import Source
from pacbench.data.fetch import fetch
from pacbench.errors import UserError

CONTENT = bytes(range(256)) * 4000
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


def source(url, md5=MD5, archive=False):
    return Source(url, md5, archive)


def test_a_file_is_downloaded_once(tmp_path, serve):
    url, requests = serve(CONTENT)
    path = fetch(source(url), tmp_path / "new")
    assert path == tmp_path / "new/file.bin"
    assert path.read_bytes() == CONTENT
    fetch(source(url), tmp_path / "new")
    assert requests == [None]
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["file.bin"]


def test_a_dropped_connection_goes_on_where_it_stopped(tmp_path, serve):
    url, requests = serve(CONTENT, drop_after=300_000)
    assert fetch(source(url), tmp_path, pause=0).read_bytes() == CONTENT
    assert requests == [None, "bytes=300000-", "bytes=600000-", "bytes=900000-"]


def test_an_interrupted_download_goes_on_in_the_next_run(tmp_path, serve):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:777])
    url, requests = serve(CONTENT)
    assert fetch(source(url), tmp_path).read_bytes() == CONTENT
    assert requests == ["bytes=777-"]


def test_a_part_that_is_already_whole(tmp_path, serve):
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    url, _ = serve(CONTENT)
    assert fetch(source(url), tmp_path).read_bytes() == CONTENT


def test_a_server_without_ranges_begins_anew(tmp_path, serve):
    (tmp_path / "file.bin.part").write_bytes(b"something else")
    url, _ = serve(CONTENT, ranges=False)
    assert fetch(source(url), tmp_path).read_bytes() == CONTENT


def test_a_damaged_file_is_removed_and_said(tmp_path, serve):
    damaged = CONTENT[:-1] + b"?"
    url, _ = serve(damaged)
    with pytest.raises(UserError, match=r"file\.bin\.part is damaged: its md5 is .* --url"):
        fetch(source(url), tmp_path)
    assert list(tmp_path.iterdir()) == []
    url, _ = serve(CONTENT)  # the next try is clean
    assert fetch(source(url), tmp_path).read_bytes() == CONTENT


def test_a_damaged_file_that_was_there_is_left_to_the_user(tmp_path):
    (tmp_path / "file.bin").write_bytes(b"old")
    with pytest.raises(UserError, match=r"file\.bin is damaged: .* Remove it and fetch it again"):
        fetch(source("http://127.0.0.1:9/file.bin"), tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == b"old"


def test_a_server_that_drops_and_knows_no_ranges_is_given_up(tmp_path, serve):
    url, requests = serve(CONTENT, drop_after=1000, ranges=False)
    with pytest.raises(UserError, match="gave nothing new in 5 tries: the connection was closed"):
        fetch(source(url), tmp_path, pause=0)
    assert len(requests) == 1 + fetching.ATTEMPTS


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"the folder .*deeper cannot be made"):
        fetch(source("http://127.0.0.1:9/file.bin"), tmp_path / "file/deeper")


def test_a_server_that_recovers(tmp_path, serve):
    url, requests = serve(CONTENT, errors=(503, 500))
    assert fetch(source(url), tmp_path, pause=0).read_bytes() == CONTENT
    assert len(requests) == 3


def test_a_server_that_does_not(tmp_path, serve):
    url, requests = serve(CONTENT, errors=[503] * 50)
    with pytest.raises(UserError, match=r"gave nothing new in 5 tries: 503 .* goes on from there"):
        fetch(source(url), tmp_path, pause=0)
    assert len(requests) == fetching.ATTEMPTS


def test_a_wrong_address_is_said_at_once(tmp_path, serve):
    url, requests = serve(CONTENT, errors=[404])
    with pytest.raises(UserError, match="answers 404"):
        fetch(source(url), tmp_path)
    assert len(requests) == 1


def test_nobody_listens(tmp_path):
    with pytest.raises(UserError, match=r"gave nothing new in 5 tries: .*refused"):
        fetch(source("http://127.0.0.1:9/file.bin"), tmp_path, pause=0)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://host/file", "nonsense"])
def test_only_http(tmp_path, url):
    with pytest.raises(UserError, match="only http:// and https:// addresses"):
        fetch(source("http://127.0.0.1:9/file.bin"), tmp_path, mirror=url)


def test_a_mirror_is_asked_instead(tmp_path, serve):
    url, requests = serve(CONTENT)
    path = fetch(source("http://127.0.0.1:9/original.bin"), tmp_path, mirror=url)
    assert path.name == "original.bin"
    assert len(requests) == 1
