"""A folder whose files are each kept for a key that says all that it was made of.

In: a kind of entries, and a key. Out: the manifest and the sections that were kept. Each entry is a file of
`runtime.container`, so that damage is found, and says of which key it is. A file is there whole or not at all, so any
number of processes may read and write at once; those that write the same write the same bytes.

The folder is that of TINYC_CACHE, and by default `tinyc` in the user's folder of caches. What runs is machine code, so
a folder that others may write to is not used, and an entry that is not this user's is none. Nothing is kept where
TINYC_CACHE is empty. Of what makes more than TINYC_CACHE_BYTES the entries go that were used longest ago.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from tinyc.diagnostics import TinycError, Where, remark
from tinyc.importers.files import replace_file
from tinyc.runtime.container import (
    MalformedModel,
    container_bytes,
    container_chunks,
    container_manifest,
    read_open_container,
)

FOLDER_VARIABLE, LIMIT_VARIABLE = "TINYC_CACHE", "TINYC_CACHE_BYTES"
_LIMIT_BYTES = 4 << 30
_SUFFIX = ".entry"
#: Entries, and what they are written as first. What else is in the folder is not touched.
_NAMES = re.compile(r"[a-z]+-[0-9a-f]{64}\.entry|\.[0-9a-f]{16}\.part")
#: What the manifest of a file says of it as an entry.
_ENTRY = "entry"
#: A file that a process writes is left behind by one that was killed, when it is as old as that.
_ABANDONED_SECONDS = 3600
_Result = TypeVar("_Result")
Sections = Mapping[str, memoryview]


class CacheEntry(NamedTuple):
    """A file of the folder: what it is, its size, and when it was used last, in seconds since 1970."""

    path: Path
    title: str
    size_bytes: int
    used: float


class NewEntry(NamedTuple):
    """What is to be kept: its key, what it is in words, and its content."""

    key: str
    title: str
    manifest: Mapping[str, Any]
    sections: Sections


class CacheFolder:
    """The entries in a folder, which make at most `limit_bytes`."""

    def __init__(self, folder: Path, limit_bytes: int = _LIMIT_BYTES) -> None:
        self.folder, self.limit_bytes = folder, limit_bytes

    def read(self, kind: str, key: str, made: Callable[[Mapping[str, Any], Sections], _Result]) -> _Result | None:
        """What `made` gives of an entry; None where there is none, or it is not whole, and then it is dropped."""
        path = self._path(kind, key)
        try:
            with _opened(path) as file:
                manifest, sections = read_open_container(file, path)
                if manifest.get(_ENTRY, {}).get("key") != key:
                    raise MalformedModel("it is of another key")
                result = made(manifest, sections)
                _note_use(file)
            return result
        except FileNotFoundError:
            return None
        except (MalformedModel, OSError, KeyError, TypeError, ValueError) as error:
            remark("cache-entry-dropped", Where(file=str(path)), f"the entry is not used, and made anew: {error}")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def write(self, kind: str, *entries: NewEntry) -> None:
        """Keep entries but those that are larger than all together may be; what cannot be written is a remark."""
        try:
            for each in entries:
                described = {**each.manifest, _ENTRY: {"key": each.key, "kind": kind, "title": each.title}}
                if container_bytes(described, each.sections) <= self.limit_bytes:
                    content = container_chunks(described, each.sections)
                    replace_file(self._path(kind, each.key), content, 0o600, durable=False)
            self.shrink(self.limit_bytes)
        except (OSError, ValueError) as error:
            remark("cache-not-written", Where(file=str(self.folder)), f"what was compiled is not kept: {error}")

    def entries(self) -> list[CacheEntry]:
        """All entries, those that were used last first; of the same moment, by what they are."""
        files = [(path, state) for path, state in self._files() if _is_entry(path)]
        found = [CacheEntry(path, _title(path), state.st_size, state.st_atime) for path, state in files]
        return sorted(found, key=lambda each: (-each.used, each.title))

    def shrink(self, limit_bytes: int) -> int:
        """Drop the entries that were used longest ago until all make at most so many bytes; how many there were.

        What processes that were killed left behind goes too.

        Raises:
            OSError: the folder cannot be read.
        """
        files = list(self._files())
        for path, state in files:
            if not _is_entry(path) and time.time() - state.st_mtime > _ABANDONED_SECONDS:
                path.unlink(missing_ok=True)
        entries = sorted(((state.st_atime, state.st_size, path) for path, state in files if _is_entry(path)))
        left, dropped = sum(size for _, size, _ in entries), 0
        for _, size, path in entries:
            if left <= limit_bytes:
                break
            path.unlink(missing_ok=True)
            left, dropped = left - size, dropped + 1
        return dropped

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / f"{kind}-{key}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        with os.scandir(self.folder) as found:
            for each in found:
                with contextlib.suppress(FileNotFoundError):  # another process has dropped it
                    if _NAMES.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                        yield Path(each.path), each.stat(follow_symlinks=False)


def _is_entry(path: Path) -> bool:
    return path.name.endswith(_SUFFIX)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file of this user's alone, open for reading; a link is none, no pipe is waited for, and to look is no use."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0)
    descriptor = os.open(path, os.O_RDONLY | flags)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or not _is_of_this_user(state, 0o022):
        os.close(descriptor)
        raise MalformedModel("it is not a file that this user alone may write")
    with open(descriptor, "rb") as file:
        yield file


def _is_of_this_user(state: os.stat_result, of_others: int) -> bool:
    """Whether a file is this user's, and others have none of the permissions `of_others`."""
    return state.st_uid == os.geteuid() and not state.st_mode & of_others


def _note_use(file: BinaryIO) -> None:
    """Say in the time of its last access, which is not that of its content, that a file was used now."""
    with contextlib.suppress(OSError):  # where it can be read only
        os.utime(file.fileno(), ns=(time.time_ns(), os.fstat(file.fileno()).st_mtime_ns))


def _title(path: Path) -> str:
    """What an entry is, in words."""
    try:
        with _opened(path) as file:
            return str(container_manifest(file)[_ENTRY]["title"])
    except (MalformedModel, OSError, KeyError, TypeError, ValueError) as error:
        return f"damaged: {error}"


# --- the folder of the environment ------------------------------------------------------------------------------------


def cache_path() -> Path | None:
    """The folder that the environment says, or the user's; None where nothing is to be kept.

    Raises:
        TinycError: `UnreadableFile`: the user has no home.
    """
    said = os.environ.get(FOLDER_VARIABLE)
    if said is None:
        from platformdirs import user_cache_path

        try:
            return user_cache_path("tinyc", appauthor=False)
        except RuntimeError:  # as pathlib says it
            message = f"this user has no home for a cache; name a folder by {FOLDER_VARIABLE}"
            raise TinycError("UnreadableFile", message) from None
    return Path(said) if said.strip() else None


def usable_cache() -> CacheFolder | None:
    """The entries that are used and made; None where nothing is to be kept, or the folder is not the user's alone.

    Raises:
        TinycError: `InvalidOption`: TINYC_CACHE_BYTES is no number.
    """
    try:
        folder = cache_path()
        return None if folder is None else open_cache(folder)
    except TinycError as error:
        if error.name != "UnreadableFile":
            raise
        remark("cache-unused", error.where, f"the cache is not used: {error.message}")
        return None


def open_cache(folder: Path) -> CacheFolder:
    """The entries in a folder, which is made where it is not there.

    Raises:
        TinycError: `UnreadableFile`: it is no folder of this user alone; `InvalidOption`: TINYC_CACHE_BYTES is no
            number of bytes.
    """
    why = _made_private(folder)
    if why is not None:
        raise TinycError("UnreadableFile", why, Where(file=str(folder)))
    return CacheFolder(folder, _limit())


def _made_private(folder: Path) -> str | None:
    """Make the folder where it is not there; the reason why it is not used, if there is one."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except (OSError, ValueError) as error:
        return f"{error}; name another one by {FOLDER_VARIABLE}"
    if stat.S_ISLNK(state.st_mode):
        return f"it is a link; name the folder that it leads to by {FOLDER_VARIABLE}"
    if not stat.S_ISDIR(state.st_mode) or not _is_of_this_user(state, 0o077):
        return f"it is not a folder of this user alone; chmod 700 it, or name another one by {FOLDER_VARIABLE}"
    return None


def _limit() -> int:
    said = os.environ.get(LIMIT_VARIABLE, str(_LIMIT_BYTES))
    try:
        return bytes_said(said)
    except ValueError:
        message = f"{LIMIT_VARIABLE} is {said!r}; it is a number of bytes, such as 4294967296 or 4G"
        raise TinycError("InvalidOption", message) from None


def bytes_said(text: str) -> int:
    """The bytes that a text such as 4294967296, 512M or 4G says.

    Raises:
        ValueError: it is no such text.
    """
    shifts = {"K": 10, "M": 20, "G": 30, "T": 40}
    digits, shift = (text[:-1], shifts[text[-1].upper()]) if text[-1:].upper() in shifts else (text, 0)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ValueError(text)
    return int(digits) << shift
