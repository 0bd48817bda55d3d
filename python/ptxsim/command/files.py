"""The files of the command: what goes wrong with one is an error that names it.

In: paths. Out: bytes, arrays of `.npy` files; texts and arrays are written.
"""

from pathlib import Path

import numpy as np

from ptxsim.errors import FileError


def read_file(path: Path) -> bytes:
    """Read the bytes of a file.

    Raises:
        FileError.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise _failed("read", path, error) from None


def write_file(path: Path, text: str) -> None:
    """Write a text file.

    Raises:
        FileError.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _failed("write", path, error) from None


def read_array(path: Path) -> np.ndarray:
    """Read the array of a `.npy` file; pickled objects are refused, for they are code.

    Raises:
        FileError.
    """
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _failed("read", path, error) from None


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array, of a type that numpy has, to a `.npy` file.

    Raises:
        FileError.
    """
    try:
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise _failed("write", path, error) from None


def _failed(what: str, path: Path, error: Exception) -> FileError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileError(f"cannot {what} the file: {reason}", str(path))
