"""The names of kernels for Linux' `perf`, which finds those of code that no file has in a map of the process.

In: functions in memory. Out: lines of ``/tmp/perf-PID.map``, where TINYC_PERF_MAP asks for it: `perf record` and
`perf report` then show kernels by their names.

Source: Linux, tools/perf/Documentation/jit-interface.txt.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

PERF_MAP_VARIABLE = "TINYC_PERF_MAP"
_FOLDER = Path("/tmp")


def note_functions(functions: Iterable[tuple[str, int, int]]) -> None:
    """Write the names, addresses and sizes of functions to the map of this process, if it is asked for.

    A map that cannot be written is left: what runs is right without it.
    """
    if not os.environ.get(PERF_MAP_VARIABLE):
        return
    lines = "".join(f"{address:x} {size:x} {name}\n" for name, address, size in functions)
    with contextlib.suppress(OSError):
        path = _FOLDER / f"perf-{os.getpid()}.map"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(lines)
