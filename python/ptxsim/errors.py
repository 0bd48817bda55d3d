"""What is wrong with what a user gave the simulator: PTX, a launch, a file. One exception class for each.

Raised everywhere in the package, caught by the command and by whoever calls it. What a kernel does wrong while it runs
is a finding of the report (`report`), never an exception.
"""

import difflib
from collections.abc import Iterable

#: A message may have several lines.
_LINES = "\n\t"
#: How many names a message lists.
_SHOWN_NAMES = 40


class PtxsimError(Exception):
    """An error that the user can cause and mend: `message` says what, with which values, and what to do.

    `file` is the file that it is about, None where it is about none.
    """

    def __init__(self, message: str, file: str | None = None) -> None:
        self.message = message
        self.file = file

    @property
    def place(self) -> str:
        """The file, and the position in it where there is one: "kernel.ptx:6:3"."""
        return self.file or ""

    def __str__(self) -> str:
        place = f"{printable(self.place)}: " if self.place else ""
        return f"{place}error: {printable(self.message, _LINES)}"


class PtxError(PtxsimError):
    """PTX text that is malformed, or that the simulator does not know; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int, file: str | None = None) -> None:
        super().__init__(message, file)
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """The file where it is known, line and column: "kernel.ptx:6:3"."""
        return ":".join(str(each) for each in (self.file, self.line, self.column) if each is not None)


class TextError(PtxsimError):
    """What is given as PTX is not text."""


class InputError(PtxsimError):
    """A launch that does not fit its kernel, or that says what there is not: a shape, an argument, a check, a name."""


class FileError(PtxsimError):
    """A file that cannot be read or written."""


class MetadataError(PtxsimError):
    """A file that is not what Triton writes beside a kernel's PTX."""


class MemoryShortage(PtxsimError):
    """Arrays that this machine has no memory for."""


def printable(text: str, kept: str = "") -> str:
    """Escape what is not a printable character, but for those in `kept`: names come from files."""
    return "".join(
        each if each.isprintable() or each in kept else each.encode("unicode_escape").decode("ascii") for each in text
    )


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the names that are like it, or all (the first of many)."""
    names = list(known)
    close = difflib.get_close_matches(name, names)
    if close:
        return f"; did you mean {' or '.join(repr(each) for each in close)}?"
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN_NAMES else ""
    return f"; there are {', '.join(names[:_SHOWN_NAMES])}{more}" if names else "; there are none"
