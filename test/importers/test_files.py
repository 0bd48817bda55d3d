"""The user's files: one is replaced as a whole or not at all, and stays what it is, a link or a pipe."""

import os
import stat
import threading

import pytest

from tinyc.importers.files import replace_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.tinyc"
    path.write_bytes(b"old")
    return path


def test_a_file_has_all_chunks_and_nothing_is_left_beside_it(file):
    replace_file(file, [b"new", memoryview(b"er")])
    replace_file(file.with_name("other"), [b"one"])
    assert {each.name: each.read_bytes() for each in file.parent.iterdir()} == {"m.tinyc": b"newer", "other": b"one"}


def test_a_file_that_cannot_be_completed_leaves_the_old_one(file, monkeypatch):
    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        replace_file(file, [b"new"])
    assert file.read_bytes() == b"old"
    assert os.listdir(file.parent) == ["m.tinyc"], "no part is left behind"


@pytest.mark.parametrize("exists", [True, False])
def test_what_a_link_refers_to_is_replaced(file, tmp_path, exists):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, [b"new"])
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_permissions(file, permissions):
    file.chmod(permissions)
    replace_file(file, [b"new"])
    assert stat.S_IMODE(file.stat().st_mode) == permissions


@pytest.mark.parametrize("permissions", [0o666, 0o777])
def test_a_new_file_has_those_that_the_umask_lets_it_have(tmp_path, permissions):
    mask = os.umask(0o027)
    try:
        replace_file(tmp_path / "new", [b"new"], permissions)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == permissions & ~0o027


def test_a_pipe_is_written_to(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    thread.start()
    replace_file(pipe, [b"a", b"b"])
    thread.join(10)
    assert found == [b"ab"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_longest_name_is_written(tmp_path):
    replace_file(tmp_path / ("m" * 255), [b"new"])
    assert os.listdir(tmp_path) == ["m" * 255]


def test_the_folder_is_synchronised_behind_the_file(file, monkeypatch):
    synchronised = []
    monkeypatch.setattr(os, "fsync", lambda each: synchronised.append(stat.S_IFMT(os.fstat(each).st_mode)))
    replace_file(file, [b"new"])
    assert synchronised == [stat.S_IFREG, stat.S_IFDIR]
