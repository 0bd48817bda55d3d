"""The folder of the cache: what is kept is found again or made anew, whatever has become of its files."""

import os
import subprocess
import sys
import time

import pytest

from cache.damage import WAYS, damaged_at
from tinyc.cache.folder import CacheFolder, NewEntry, bytes_said, cache_path, open_cache, usable_cache
from tinyc.cache.keys import key_of
from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.runtime.container import MalformedModel

CONTENT = b"code" * 8


@pytest.fixture
def folder(tmp_path):
    return open_cache(tmp_path / "cache")


def keep(folder, name="k", content=CONTENT, title="a title"):
    folder.write("kind", NewEntry(key_of(name), title, {"more": 1}, {"code": memoryview(content)}))


def found(folder, name="k"):
    return folder.read("kind", key_of(name), lambda manifest, sections: (manifest["more"], bytes(sections["code"])))


def entry_file(folder):
    (path,) = folder.folder.glob("*.entry")
    return path


def test_what_is_kept_is_found_by_its_kind_and_key(folder):
    keep(folder)
    assert found(folder) == (1, CONTENT)
    assert found(folder, "another") is None
    assert folder.read("other", key_of("k"), lambda *given: given) is None


def test_the_folder_and_its_files_are_the_users_alone(folder):
    keep(folder)
    assert folder.folder.stat().st_mode & 0o777 == 0o700
    assert entry_file(folder).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", WAYS)
def test_damage_at_any_byte_is_found_and_the_entry_is_made_anew(folder, how):
    keep(folder)
    path = entry_file(folder)
    whole = path.read_bytes()
    for byte in range(len(whole)):
        path.write_bytes(damaged_at(whole, byte, how))
        with collect_remarks() as remarks:
            assert found(folder) is None, byte
        assert [each.code for each in remarks] == ["cache-entry-dropped"]
        assert not path.exists()
    keep(folder)
    assert path.read_bytes() == whole
    assert found(folder) == (1, CONTENT)


def test_an_entry_of_another_key_is_none(folder):
    keep(folder)
    path = entry_file(folder)
    path.rename(path.with_name(f"kind-{key_of('other')}.entry"))
    assert found(folder, "other") is None


def test_an_entry_that_does_not_read_is_none(folder):
    def refused(manifest, sections):
        raise MalformedModel("not this one")

    keep(folder)
    assert folder.read("kind", key_of("k"), refused) is None
    assert folder.entries() == []


def test_an_entry_that_others_may_write_or_a_link_is_none(folder, tmp_path):
    keep(folder)
    path = entry_file(folder)
    path.chmod(0o666)
    assert found(folder) is None
    keep(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert found(folder) is None
    os.mkfifo(path)
    assert found(folder) is None


def test_a_folder_that_others_may_read_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYC_CACHE", str(tmp_path))
    tmp_path.chmod(0o755)
    with collect_remarks() as remarks:
        assert usable_cache() is None
    assert [(each.code, "chmod 700" in each.message) for each in remarks] == [("cache-unused", True)]
    with pytest.raises(TinycError, match="not a folder of this user alone"):
        open_cache(tmp_path)


def test_a_folder_that_cannot_be_made_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TINYC_CACHE", str(tmp_path / "file" / "cache"))
    assert usable_cache() is None


def test_what_cannot_be_written_is_a_remark(folder):
    folder.folder.rmdir()
    with collect_remarks() as remarks:
        keep(folder)
    assert [each.code for each in remarks] == ["cache-not-written"]


def test_the_environment_says_where_and_how_much(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYC_CACHE", "")
    assert (cache_path(), usable_cache()) == (None, None)
    monkeypatch.setenv("TINYC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TINYC_CACHE_BYTES", "2K")
    assert usable_cache().limit_bytes == 2048
    monkeypatch.setenv("TINYC_CACHE_BYTES", "much")
    with pytest.raises(TinycError, match="TINYC_CACHE_BYTES is 'much'"):
        usable_cache()
    monkeypatch.delenv("TINYC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_path() == tmp_path / "tinyc"


@pytest.mark.parametrize(("text", "size_bytes"), [("0", 0), ("12", 12), ("3k", 3072), ("1M", 1 << 20), ("2G", 2 << 30)])
def test_sizes_are_said_in_bytes_and_multiples(text, size_bytes):
    assert bytes_said(text) == size_bytes


@pytest.mark.parametrize("text", ["", "G", "-1", "1.5M", "1e3", "9" * 30, "٣"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        bytes_said(text)


def test_the_entries_that_were_used_longest_ago_go_first(folder):
    for k, key in enumerate("abc"):
        keep(folder, key)
        os.utime(folder.folder / f"kind-{key_of(key)}.entry", (k, k))
    assert found(folder, "a") is not None  # used now
    assert (folder.folder / f"kind-{key_of('a')}.entry").stat().st_mtime == 0, "who has it mapped sees no change"
    size = folder.entries()[0].size_bytes
    assert folder.shrink(2 * size) == 1
    assert [found(folder, key) is not None for key in "abc"] == [True, False, True]
    assert folder.shrink(0) == 2
    assert folder.entries() == []


def test_a_folder_holds_no_more_than_its_limit(tmp_path):
    folder = CacheFolder(open_cache(tmp_path / "cache").folder, limit_bytes=2000)
    for key in "abcdef":
        keep(folder, key)
    assert 0 < sum(each.size_bytes for each in folder.entries()) <= 2000
    keep(folder, "g", bytes(3000))
    assert found(folder, "g") is None
    assert found(folder, "f") is not None, "what is too large drops no other one"


def test_what_a_process_left_behind_goes_once_it_is_old(folder):
    paths = [folder.folder / name for name in (f".{16 * '0'}.part", f".{16 * '1'}.part")]
    for path in paths:
        path.write_bytes(b"")
    hours_ago = time.time() - 7200
    os.utime(paths[0], (hours_ago, hours_ago))
    keep(folder)
    assert [path.exists() for path in paths] == [False, True]


def test_what_is_not_its_own_is_not_touched(folder):
    names = ["movie.mkv.part", "ledger.entry", "kind-k.entry", "notes.txt"]
    for name in names:
        (folder.folder / name).write_text("mine")
        os.utime(folder.folder / name, (0, 0))
    keep(folder)
    assert folder.shrink(0) == 1
    assert sorted(path.name for path in folder.folder.iterdir()) == sorted(names)


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def homeless(*given, **options):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("TINYC_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", homeless)
    with collect_remarks() as remarks:
        assert usable_cache() is None
    assert [(each.code, "no home" in each.message) for each in remarks] == [("cache-unused", True)]


def test_what_can_only_be_read_is_used(folder, monkeypatch):
    keep(folder)

    def refused(*given, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refused)
    assert found(folder) == (1, CONTENT)


def test_a_link_to_a_folder_is_told_apart(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder.folder)
    with pytest.raises(TinycError, match="it is a link"):
        open_cache(tmp_path / "link")


def test_entries_say_what_they_are(folder):
    keep(folder, title="softmax.json, compiled for cpu")
    path = entry_file(folder)
    (entry,) = folder.entries()
    assert (entry.title, entry.size_bytes) == ("softmax.json, compiled for cpu", path.stat().st_size)
    path.write_bytes(b"nothing")
    assert folder.entries()[0].title.startswith("damaged: ")


#: Keeps, reads and drops the same few entries, beside other processes, and says what was found wrongly.
MANY_TIMES = """
import os, sys
from pathlib import Path
from tinyc.cache.folder import NewEntry, open_cache

folder, wrong = open_cache(Path(sys.argv[1])), []
for k in range(150):
    key = "abc"[k % 3] * 64
    content = key.encode() * 80
    found = folder.read("kind", key, lambda manifest, sections: bytes(sections["code"]))
    if found not in (None, content):
        wrong.append((key, found[:9]))
    folder.write("kind", NewEntry(key, "a title", {}, {"code": memoryview(content)}))
    if k % 50 == os.getpid() % 50:
        folder.shrink(6000)
print(wrong)
"""


def test_eight_processes_use_it_at_once(tmp_path):
    command = [sys.executable, "-c", MANY_TIMES, tmp_path / "cache"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert [each.communicate()[0] for each in running] == ["[]\n"] * 8
    assert {each.returncode for each in running} == {0}
    assert not list((tmp_path / "cache").glob("*.part"))
