"""The user's files: what goes wrong with one is an error that names it."""

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


def unreadable_file(what: str, path: Path, error: Exception) -> TinycError:
    """The error for a file that one cannot `what`, "read" or "write"."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TinycError("UnreadableFile", f"cannot {what} the file: {reason}", Where(file=str(path)))
