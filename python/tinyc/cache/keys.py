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
    found = sorted(_source_states())
    if any(written > _IMPORTED_NS for _, _, written in found):
        return None
    return key_of(*(f"{name} {size} {written}" for name, size, written in found))


def _source_states() -> list[tuple[str, int, int]]:
    """The source files in all folders and below, with their sizes and times; the walk is behind a link."""
    found: list[tuple[str, int, int]] = []
    folders = [(root.name, str(root)) for root in _SOURCES]
    while folders:
        shown, folder = folders.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as listed:
            for each in listed:
                name = each.name
                with contextlib.suppress(OSError):  # gone meanwhile
                    if name.endswith(".py") and not name.startswith("."):
                        state = each.stat()
                        found.append((f"{shown}/{name}", state.st_size, state.st_mtime_ns))
                    elif not name.startswith((".", "__pycache__")) and each.is_dir():
                        folders.append((f"{shown}/{name}", each.path))
    return found
