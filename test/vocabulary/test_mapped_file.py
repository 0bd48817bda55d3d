"""Elements in a mapped file are those that were looked at: a file that changes meanwhile is refused by name."""

import mmap
import os

import numpy as np
import pytest

from tinyc.diagnostics import TinycError
from tinyc.vocabulary import mapped_file
from tinyc.vocabulary.mapped_file import give_back_pages, map_file, once_through, require_unchanged

BYTES = np.arange(4096, dtype=np.uint8)


@pytest.fixture
def path(tmp_path):
    BYTES.tofile(tmp_path / "w")
    return tmp_path / "w"


def mapped(path, **where):
    with path.open("rb") as file:
        return map_file(file, path, **where)


def test_a_part_or_all_of_a_file_is_mapped(path):
    np.testing.assert_array_equal(mapped(path), BYTES)
    part = mapped(path, offset=100, size_bytes=9)
    np.testing.assert_array_equal(part, BYTES[100:109])
    assert (part.filename, part.offset, part.flags.writeable) == (str(path), 100, False)


#: What becomes of mapped bytes on their way to whoever reads them.
DERIVED = {
    "the bytes": lambda bytes_: bytes_,
    "a view of another type": lambda bytes_: bytes_.view(np.float32).reshape(-1, 4).T,
    "a plain array": lambda bytes_: np.asarray(bytes_.view(np.int32))[3:],
    "an array over a part": lambda bytes_: np.ndarray((2, 4), np.float32, buffer=memoryview(bytes_)[64:96]),
    "a view of one": lambda bytes_: np.frombuffer(memoryview(bytes_)[64:], np.uint16).reshape(4, -1)[::2],
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda path: os.truncate(path, 4095),
            "it has 4095 bytes now, and had 4096; compile or load the program again",
        ),
        (lambda path: os.truncate(path, 5000), "it has 5000 bytes now, and had 4096"),
        (lambda path: os.utime(path, ns=(0, path.stat().st_mtime_ns + 2 * 10**9)), "it was written to 2.000 s later"),
    ],
)
def test_a_file_that_changes_is_refused_whatever_is_made_of_it(path, derive, change, message):
    array = derive(mapped(path))
    require_unchanged(array)
    change(path)
    with pytest.raises(TinycError, match=message) as caught:
        require_unchanged(array)
    assert (caught.value.name, caught.value.where.file) == ("UnreadableFile", str(path))


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_loses_its_name_stays(path, replaced):
    array = mapped(path)
    if replaced:
        path.with_name("new").write_bytes(b"new")
        path.with_name("new").replace(path)
    else:
        path.unlink()
    require_unchanged(array)
    np.testing.assert_array_equal(array, BYTES)


def test_what_is_in_memory_has_no_file_that_changes(path):
    copies = np.array(mapped(path)), mapped(path).copy(), mapped(path) + 1, BYTES, np.frombuffer(b"ab", np.uint8)
    os.truncate(path, 0)
    for each in copies:
        require_unchanged(each)


def test_a_file_is_gone_through_once_part_by_part(path, monkeypatch):
    monkeypatch.setattr(mapped_file, "PART_BYTES", 1500)
    given_back = []
    monkeypatch.setattr(mapped_file, "give_back_pages", lambda part: given_back.append(part.size))
    words = mapped(path, offset=96).view(np.float32).reshape(10, 100)
    parts = []
    for part in once_through(words):
        assert len(given_back) == len(parts), "who asks for the next part is done with this one"
        parts.append(np.array(part))
    assert [part.size for part in parts] == given_back == [375, 375, 250]
    assert np.concatenate(parts).tobytes() == BYTES[96:].tobytes()
    assert [part.shape for part in once_through(np.float32(2).reshape(()))] == [(1,)]
    assert list(once_through(np.empty((0, 3)))) == []


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
@pytest.mark.parametrize("offset", [0, 2 * mmap.PAGESIZE + 64])
def test_pages_that_are_given_back_are_read_again(tmp_path, derive, offset):
    elements = np.random.default_rng(0).integers(0, 256, 5 * mmap.PAGESIZE, np.uint8)
    elements.tofile(tmp_path / "w")
    array, expected = derive(mapped(tmp_path / "w", offset=offset)), derive(elements[offset:])
    for _ in range(2):
        assert array.tobytes() == expected.tobytes()
        give_back_pages(array)


def test_what_is_in_no_file_keeps_its_pages():
    array = np.ones(3 * mmap.PAGESIZE, np.uint8)
    give_back_pages(array)
    assert array.all()
