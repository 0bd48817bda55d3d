"""What MLIR says of its own passes: a line on each, and on each of its options.

The bindings have no door for that, but the library behind them has the list that `mlir-opt --help` prints. It goes to
the standard output of C++, so a process of its own prints it.
"""

import ctypes
import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tinyc.mlir import PROVIDER, fresh_context
from tinyc.mlir.processes import run_in_process

#: `mlir::printRegisteredPasses()`, as the library exports it.
_PRINT = "_ZN4mlir21printRegisteredPassesEv"
_PRINTER = "from tinyc.mlir import pass_help; pass_help.print_registered()"
_PASS = re.compile(r"  --(\S+) +- +(.*)")
_OPTION = re.compile(r"    --?(\w[\w-]*).*? +- +(.*)")
_CHOICE = re.compile(r"    =(\S+)(?: +- +(.*))?")


@dataclass(frozen=True)
class PassHelp:
    """What a pass of MLIR's does, its options with what they do, and the values that an option chooses from."""

    summary: str
    options: tuple[tuple[str, str], ...] = ()


@cache
def upstream_passes() -> dict[str, PassHelp]:
    """MLIR's own passes by name; none where the library does not export its list."""
    done = run_in_process(_PRINTER)
    return _read(done.stdout.decode()) if done.returncode == 0 else {}


def print_registered() -> None:
    """What the printing process does; it fails where the library has no such function."""
    fresh_context()  # which registers the passes
    libraries = importlib.import_module(f"{PROVIDER}._mlir_libs").__path__
    library = ctypes.CDLL(str(Path(libraries[0]) / "libMLIRPythonCAPI.so"))
    list_passes = library[_PRINT]
    list_passes.restype = None
    list_passes()


def _read(listed: str) -> dict[str, PassHelp]:
    found: dict[str, PassHelp] = {}
    name = ""
    for line in listed.splitlines():
        if (named := _PASS.fullmatch(line)) is not None:
            name = named[1]
            found[name] = PassHelp(named[2])
        elif (option := _OPTION.fullmatch(line)) is not None or (option := _CHOICE.fullmatch(line)) is not None:
            before = found[name]
            written = f"{option[1]}=…" if option.re is _OPTION else f"  {option[1]}"
            found[name] = PassHelp(before.summary, (*before.options, (written, option[2] or "")))
    return found
