"""LLVM modules to objects by several processes, since in one process llvmlite compiles one module at a time.

In: LLVM IR of several modules. Out: their objects. This process and others take the modules from one queue, the long
ones first, until there are none left. The others are started where that is worth their start; what one of them has not
made, for whatever reason, is compiled here, and so tells here what is wrong with it.

The queue is a pipe that has the numbers of the modules. The others are new interpreters and no copies of this process:
they need nothing of its `__main__`, and it may have threads.
"""

import contextlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

from tinyc.diagnostics import InternalError, TinycError, progress
from tinyc.runtime.jit import ObjectFile, compile_object
from tinyc.runtime.threads import cpu_count

#: Bytes of LLVM IR for which LLVM takes 0.2 s to 0.6 s, and so longer than a process takes to start.
_WORTH_A_PROCESS_BYTES = 50_000
#: The bytes of a number in the queue.
_NUMBER_BYTES = 4
#: What another process runs: its arguments are two files, and where this process finds modules of Python.
_CODE = "import sys; sys.path[:] = sys.argv[3:]; import tinyc.runtime.compile_processes as it; it.serve(*sys.argv[1:3])"
#: Objects by the numbers of their modules.
_Made = dict[int, ObjectFile]


def compile_objects(modules: Sequence[str], cpu: str | None = None) -> list[ObjectFile]:
    """The objects of modules, for a CPU as `compile_object` takes it; raises as that."""
    order = sorted(range(len(modules)), key=lambda at: -len(modules[at]))
    queued = [modules[at] for at in order]
    made = _made_by_several(queued, cpu)
    made |= _compiled((number for number in range(len(queued)) if number not in made), queued, cpu)
    return [made[number] for _, number in sorted(zip(order, range(len(order)), strict=True))]


def serve(work: str, output: str) -> None:
    """Compile what standard input has the numbers of, of the modules in the file `work`: what another process does."""
    modules, cpu = pickle.loads(Path(work).read_bytes())
    made: _Made = {}
    for number in _numbers_in(sys.stdin.fileno()):
        with contextlib.suppress(InternalError, TinycError):  # told where it is compiled again
            made |= _compiled([number], modules, cpu)
    Path(output).write_bytes(pickle.dumps(made))


def _compiled(numbers: Iterable[int], modules: Sequence[str], cpu: str | None) -> _Made:
    made: _Made = {}
    for number in numbers:
        progress("LLVM, unit", number + 1, len(modules))
        made[number] = compile_object(modules[number], cpu)
    return made


def _made_by_several(modules: Sequence[str], cpu: str | None) -> _Made:
    """What this process and others make of the modules, by turns; nothing where others are not worth their start."""
    others = min(cpu_count(), len(modules), sum(map(len, modules)) // _WORTH_A_PROCESS_BYTES) - 1
    # The program that has embedded Python may be its executable.
    if others < 1 or not re.fullmatch(r"python[\d.]*t?", Path(sys.executable or "").name):
        return {}
    with contextlib.ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            work, outputs = folder / "work", [folder / f"{number}" for number in range(others)]
            work.write_bytes(pickle.dumps((modules, cpu)))
            queue = stack.enter_context(_queue(len(modules)))
            processes = [stack.enter_context(_process(queue, work, output)) for output in outputs]
        except OSError:  # there is no room for a file, or for a process
            return {}
        made = _compiled(_numbers_in(queue), modules, cpu)
        for process, output in zip(processes, outputs, strict=True):
            if not process.wait():
                made |= pickle.loads(output.read_bytes())
        return made


@contextlib.contextmanager
def _queue(count: int) -> Generator[int]:
    """A pipe of the numbers below `count`, as many as it holds; who reads it waits for no more."""
    reading, writing = os.pipe()
    try:
        for end in (reading, writing):
            os.set_blocking(end, False)
        os.write(writing, b"".join(number.to_bytes(_NUMBER_BYTES) for number in range(count)))
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _numbers_in(queue: int) -> Iterator[int]:
    """Yield the numbers that this process takes, until there are none left; each is read as a whole."""
    with contextlib.suppress(BlockingIOError):
        while len(read := os.read(queue, _NUMBER_BYTES)) == _NUMBER_BYTES:
            yield int.from_bytes(read)


@contextlib.contextmanager
def _process(queue: int, work: Path, output: Path) -> Generator["subprocess.Popen[bytes]"]:
    """Another process, which has ended when the context is left."""
    process = subprocess.Popen(
        [sys.executable, "-IB", "-c", _CODE, work, output, *sys.path],
        stdin=queue,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
