"""A program as it is written, with the name that errors call it and the folder that its files lie in. No MLIR here.

In: a path, a text or bytes, or what a command line names. Out: a `ProgramText`, which is read once, so that what is
compiled is what was looked at.
"""

import contextlib
import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import read_file, unreadable_file

_STANDARD_INPUT = "<stdin>"


@dataclass(frozen=True)
class ProgramText:
    """The text or the bytes of a program; `name` and `folder` are there where it is a file's."""

    text: str | bytes
    name: str | None = None
    folder: Path | None = None

    @property
    def content(self) -> bytes:
        """The text as bytes."""
        return self.text.encode("utf-8", "surrogatepass") if isinstance(self.text, str) else self.text

    @functools.cached_property
    def digest(self) -> bytes:
        """A hash of the content, which a key has, and by which a change is seen."""
        return hashlib.sha256(self.content).digest()

    @property
    def place(self) -> "ProgramText":
        """What it takes to `read_again`, without the content of a file."""
        return self if self.folder is None else replace(self, text=b"")

    def read_again(self) -> "ProgramText":
        """What its file has now; the same where it is no file's.

        Raises:
            TinycError: `UnreadableFile`.
        """
        if self.folder is None or self.name is None:
            return self
        return ProgramText(read_file(self.folder / Path(self.name).name), self.name, self.folder)


def program_text(source: object) -> ProgramText | None:
    """The program that is in a file, a text or bytes; None where `source` is none of these.

    Raises:
        TinycError: `UnreadableFile`.
    """
    is_blank = isinstance(source, str) and not source.strip()
    if is_path(source) and not is_blank:
        return _of_file(Path(source))
    if isinstance(source, str | bytes):
        return ProgramText(source)
    return source if isinstance(source, ProgramText) else None


def program_argument(argument: str) -> ProgramText:
    """The program that a command line names: a file, or `-`, which is standard input.

    Raises:
        TinycError: `UnreadableFile`, with `<stdin>` for the file.
    """
    if argument != "-":
        return _of_file(Path(argument))
    try:
        if sys.stdin is None:  # as Python has it where the process began without one
            raise OSError("it is closed")
        return ProgramText(sys.stdin.buffer.read(), _STANDARD_INPUT)
    except (OSError, ValueError) as error:
        raise unreadable_file("read", Path(_STANDARD_INPUT), error) from None


def _of_file(path: Path) -> ProgramText:
    return ProgramText(read_file(path), str(path), Path(os.path.abspath(path)).parent)


def shown_argument(argument: str) -> str:
    """The name of the program that a command line names, for people."""
    return _STANDARD_INPUT if argument == "-" else argument


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether `source` names a file: a text is told from a path by its braces, since every program has some."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and not {"{", "\n"} & set(source))


@contextlib.contextmanager
def in_file(file: str | None) -> Iterator[None]:
    """Let an error that is raised inside, and knows no file, be one of `file`."""
    try:
        yield
    except TinycError as error:
        for each in (error, *error.errors):
            each.where = each.where.completed(Where(file=file))
        raise
