"""The values of the command's options: what argparse calls for each, with errors that say how it is written.

In: the text of a value. Out: the value.
"""

import argparse
import math
from pathlib import Path

_LAST = "last"


def seed_option(text: str) -> int:
    """The seed of `--seed`."""
    if not _is_number(text, 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a non-negative integer")
    return int(text)


def extents_option(text: str) -> tuple[int, int, int]:
    """What `X[,Y[,Z]]` says."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3 or not all(_is_number(part, 10) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as X, X,Y or X,Y,Z")
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def clusters_option(text: str) -> tuple[int | None, ...]:
    """Numbers of clusters, None for the last."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part == _LAST or _is_number(part, 20) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as numbers of clusters, as in 0,5,{_LAST}")
    return tuple(None if part == _LAST else int(part) for part in parts)


def bytes_option(text: str) -> int:
    """A number of bytes."""
    if not _is_number(text, 10):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes")
    return int(text)


def checks_option(text: str) -> tuple[str, ...]:
    """The names of checks; "none" is none."""
    return () if text == "none" else tuple(check.strip() for check in text.split(","))


def save_option(text: str) -> tuple[str, Path]:
    """A name and a file: `NAME=FILE.npy`."""
    name, equals, path = text.partition("=")
    if not name or not equals or not path.endswith(".npy"):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as NAME=FILE.npy")
    return name, Path(path)


def tolerance_option(text: str) -> float:
    """A tolerance."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no tolerance: a number from 0 on")
    return value


def set_option(text: str) -> tuple[str, str]:
    """A variable and what it starts with: `VAR=ARG`."""
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r} does not read as VAR=ARG, as in scale=f32:0.5")
    return name, value


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits


def count_option(text: str) -> int:
    """A number of things, from 1 on."""
    if not _is_number(text, 9) or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of them; give an integer from 1 on")
    return int(text)
