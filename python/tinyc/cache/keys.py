"""What a result depends on beside what it is made of: the versions of the packages, tinyc's own sources, the machine.

Out: texts that are other ones where a result might be. An edit of a source makes all programs anew, so that no stale
one is run while tinyc is worked on.
"""

import contextlib
import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import tinyc
from tinyc.runtime.cpu_features import machine_identity

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
def compiler_state() -> str:
    """The versions of tinyc, Python and the packages, which bindings are used, and the state of tinyc's sources."""
    bindings = os.environ.get("TINYC_MLIR", "")
    return "\n".join((f"tinyc {tinyc.__version__}", sys.version, *package_versions(), bindings, _state_of_sources()))


@functools.cache
def package_versions(name: str = "") -> tuple[str, ...]:
    """The names and versions of the packages that are installed, or of one, as their folders of metadata are called."""
    found: set[str] = set()
    for folder in sys.path:
        with contextlib.suppress(OSError):  # not all are there
            found.update(each for each in os.listdir(folder or ".") if each.endswith(".dist-info"))
    return tuple(sorted(each for each in found if each.startswith(name and f"{name}-")))


def machine_state() -> str:
    """The CPU that code is made for where no other one is asked for."""
    return machine_identity()


def _state_of_sources() -> str:
    """A hash of the sizes of all source files and of when each was written."""
    return key_of(*(part for root in _SOURCES for part in _sources_in(root.name, str(root))))


def _sources_in(shown: str, folder: str) -> Iterator[str]:
    """The source files in a folder and below, in order; the walk is behind a link."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda each: each.name)
    for each in entries:
        if each.is_dir():
            yield from _sources_in(f"{shown}/{each.name}", each.path)
        elif each.name.endswith(".py"):
            state = each.stat()
            yield f"{shown}/{each.name} {state.st_size} {state.st_mtime_ns}"
