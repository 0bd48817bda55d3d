"""The user's files: what goes wrong with one is an error that names it."""

import contextlib
import contextvars
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from tinyc.diagnostics import TinycError, Where


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable_file("read", path, error) from None


def write_file(path: Path, text: str, make_folders: bool = False) -> Path:
    """Write a text file; with `make_folders` the folders that it needs, too, which a dump may and a plain file not.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        if make_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise unreadable_file("write", path, error) from None
    return path


def replace_file(
    path: Path, chunks: Iterable[bytes | memoryview], permissions: int = 0o666, durable: bool = True
) -> None:
    """Write a file, all of it or nothing: one beside it takes its place when it is complete.

    One that is `durable` outlives a power failure from then on; writing another one is faster.

    A link stays, and what it refers to is replaced. A file that is there keeps its permissions; a new one has
    `permissions`, as far as the process' umask lets it. What is no file, such as a pipe, is written to.

    Raises:
        OSError: it cannot be written.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as file:
            file.writelines(chunks)
        return
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{os.urandom(8).hex()}.part")  # as short as it may be: names have at most 255 bytes
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.writelines(chunks)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(target)
        if durable:
            _sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _sync_folder(folder: Path) -> None:
    """Let a new name outlive a power failure, where the file system can say so of a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.fsync(descriptor)
    os.close(descriptor)


#: Which file a path means, and whether it has been written to since: device, node, size, time.
FileState = tuple[int, int, int, int]
_collected: contextvars.ContextVar[dict[Path, FileState] | None] = contextvars.ContextVar("files", default=None)


def file_state(path: Path) -> FileState:
    """What a path means now.

    Raises:
        OSError: nothing.
    """
    state = path.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


@contextlib.contextmanager
def collect_files() -> Iterator[dict[Path, FileState]]:
    """Collect the files that a program refers to, such as those of its weights, and what they were when it was read."""
    found: dict[Path, FileState] = {}
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def note_file(path: Path) -> None:
    """Tell whoever collects them that a program refers to a file."""
    found = _collected.get()
    if found is not None and path not in found:
        with contextlib.suppress(OSError):  # whoever reads it says why it cannot
            found[path] = file_state(path)


def unreadable_file(what: str, path: Path, error: Exception) -> TinycError:
    """The error for a file that one cannot `what`, "read" or "write"."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TinycError("UnreadableFile", f"cannot {what} the file: {reason}", Where(file=str(path)))
