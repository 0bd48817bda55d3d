"""`tinyc run | compile | verify | explain | bench | cache | simulate | time`: programs and kernels by command.

Results go to stdout, errors and remarks to stderr. The exit status is 0 if all went well, 1 for an error in the
program, its inputs or its numbers, and for findings, 2 for a command line that does not read and for what `simulate`
and `time` cannot run, 130 for Ctrl-C.
No input ends in a traceback.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tinyc.driver.arguments import DEFAULT_TARGET, read_command_line
from tinyc.driver.exit_status import exit_status, standard_output
from tinyc.driver.progress import shown_progress
from tinyc.runtime.container import is_container


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tinyc` with `argv` (default: the process's) and return its exit status."""
    given = sys.argv[1:] if argv is None else argv
    of_kernels = {"simulate": _simulate, "time": _time}.get("".join(given[:1]))
    # Findings are status 1 of `simulate`, so that what keeps it from running is told apart.
    return exit_status(lambda: _main(given, of_kernels), failed=2 if of_kernels else 1)


def _main(argv: Sequence[str], of_kernels: Callable[[Sequence[str]], int] | None) -> int:
    standard_output().reconfigure(errors="backslashreplace")
    status = of_kernels(argv[1:]) if of_kernels else _run(read_command_line(argv))
    sys.stdout.flush()
    return status


def _simulate(argv: Sequence[str]) -> int:
    """`tinyc simulate`, which is ptxsim's command with tinyc's errors: numpy is loaded for it, MLIR is not."""
    from tinyc.simulator import simulate

    return simulate(argv, shown_progress)


def _time(argv: Sequence[str]) -> int:
    """`tinyc time`, which is ptxsim's, too."""
    from tinyc.simulator import time_kernels

    return time_kernels(argv, shown_progress)


def _run(arguments: argparse.Namespace) -> int:
    """Run a command, which is imported only then, and MLIR only by those that need it."""
    if arguments.command == "run" and is_container(Path(arguments.program)):
        from tinyc.driver.running import run_saved

        return run_saved(arguments)
    if arguments.command == "cache":
        from tinyc.driver.caching import cache_command

        return cache_command(arguments)
    arguments.target = arguments.target or DEFAULT_TARGET
    with shown_progress("tinyc"):  # MLIR and LLVM are hundreds of megabytes, which a cold disk takes seconds for
        command = _compiler_command(arguments.command)
    return command(arguments)


def _compiler_command(name: str) -> Callable[[argparse.Namespace], int]:
    """A command that needs the compiler, which is imported for it."""
    if name == "explain":
        from tinyc.explain import explain

        return explain
    if name == "bench":
        from tinyc.driver.benching import bench_command

        return bench_command
    if name == "verify":
        from tinyc.driver.verifying import verify_command

        return verify_command
    from tinyc.driver.commands import compile_command, run_command

    return run_command if name == "run" else compile_command


if __name__ == "__main__":
    sys.exit(main())
