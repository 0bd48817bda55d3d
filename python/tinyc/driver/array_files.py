"""The user's arrays in `.npz` files: what goes wrong is an error that names the file.

There a bf16 array stands as uint16 of the same bits: numpy knows no bf16 and would hand back void bytes.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import ml_dtypes
import numpy as np

from tinyc.importers.files import unreadable_file

BF16 = np.dtype(ml_dtypes.bfloat16)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a `.npz` file by name; pickled objects are refused, for they are code.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no .npz file; save the arrays with numpy.savez under the inputs' names")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise unreadable_file("read", path, error) from None


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
        raise unreadable_file("write", path, error) from None
