"""Reading and writing the user's files: what goes wrong is an error that names the file.

In: paths. Out: bytes, texts, numpy arrays by name. In `.npz` files a bf16 array stands as uint16 of the same bits:
numpy knows no bf16 and would hand back void bytes.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import ml_dtypes
import numpy as np

from tinyc.diagnostics import TinycError, Where

BF16 = np.dtype(ml_dtypes.bfloat16)


def read(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable("read", path, error) from None


def write(path: Path, text: str, make_folders: bool = False) -> Path:
    """Write a text file; with `make_folders` the folders that it needs, too, which a dump may and a plain file not.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        if make_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable("write", path, error) from None
    return path


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a `.npz` file by name; pickled objects are refused, for they are code.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array; save it with numpy.savez under the input's name")
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise _unreadable("read", path, error) from None


def read_array(path: Path) -> np.ndarray:
    """Return the array of a `.npy` file; pickled objects are refused, for they are code.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable("read", path, error) from None


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array, of a type that numpy has, to a `.npy` file.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise _unreadable("write", path, error) from None


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to a `.npz` file, bf16 as uint16.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with path.open("wb") as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    stored = array.view(np.uint16) if array.dtype == BF16 else array
                    np.lib.format.write_array(entry, stored, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise _unreadable("write", path, error) from None


def _unreadable(what: str, path: Path, error: Exception) -> TinycError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TinycError("UnreadableFile", f"cannot {what} the file: {reason}", Where(file=str(path)))
