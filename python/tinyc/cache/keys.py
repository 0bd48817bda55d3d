"""What a result depends on beside what it is made of: the versions of the packages, tinyc's own sources, the machine.

Out: texts that are other ones where a result might be. An edit of a source makes all programs anew, so that no stale
one is run while tinyc is worked on.
"""

import contextlib
import functools
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import tinyc

#: When this module was imported, and with it what compiles, or before that.
_IMPORTED_NS = time.time_ns()
_PACKAGE = Path(tinyc.__file__).parent
#: The folders that the compiler is in: the simulator has the clock that prices plans.
_SOURCES = (_PACKAGE, _PACKAGE.parent / "ptxsim")


def key_of(*parts: str | bytes) -> str:
    """The key of all that a result depends on."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@functools.cache
def compiler_state() -> str | None:
    """The versions of tinyc, Python and the packages, and the state of tinyc's sources.

    None where that does not say what compiles: sources have been written to since they were imported, or the bindings
    are not those of a package.
    """
    sources = sources_state()
    if sources is None or os.environ.get("TINYC_MLIR"):
        return None
    return "\n".join((f"tinyc {tinyc.__version__}", sys.version, *package_versions(), sources))


@functools.cache
def package_versions(name: str = "") -> tuple[str, ...]:
    """The names and versions of the packages that are installed, or of one, as their folders of metadata are called."""
    found: set[str] = set()
    for folder in sys.path:
        with contextlib.suppress(OSError):  # not all are there
            found.update(each for each in os.listdir(folder or ".") if each.endswith(".dist-info"))
    return tuple(sorted(each for each in found if each.startswith(name and f"{name}-")))


@functools.cache
def sources_state() -> str | None:
    """A hash of the sizes of all source files and of when each was written; None where one was since they are used."""
    found = sorted(part for root in _SOURCES for part in _sources_in(root.name, str(root)))
    if any(written > _IMPORTED_NS for _, _, written in found):
        return None
    return key_of(*(f"{name} {size} {written}" for name, size, written in found))


def _sources_in(shown: str, folder: str) -> Iterator[tuple[str, int, int]]:
    """The source files in a folder and below, with their sizes and times; the walk is behind a link."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for each in found:
            if each.name.startswith((".", "__pycache__")):
                continue
            with contextlib.suppress(OSError):  # gone meanwhile
                if each.is_dir():
                    yield from _sources_in(f"{shown}/{each.name}", each.path)
                elif each.name.endswith(".py"):
                    state = each.stat()
                    yield f"{shown}/{each.name}", state.st_size, state.st_mtime_ns
