"""`tinyc run | compile | verify | explain | simulate`: programs and kernels from the command line.

Results go to stdout, errors and remarks to stderr. The exit status is 0 if all went well, 1 for an error in the
program, its inputs or its numbers, and for findings, 2 for a command line that does not read. No input ends in a
traceback.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from tinyc import process
from tinyc.cli_arguments import read


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tinyc` with `argv` (default: the process's) and return its exit status."""
    return process.run(lambda: _main(sys.argv[1:] if argv is None else argv))


def _main(argv: Sequence[str]) -> int:
    process.stdout().reconfigure(errors="backslashreplace")
    arguments = read(argv)
    status = _command(arguments.command)(arguments)
    sys.stdout.flush()
    return status


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """Return what does a command; only then it is imported, and MLIR only by those that need it."""
    if name == "simulate":
        from tinyc.simulator.command.simulate import simulate

        return simulate
    if name == "explain":
        from tinyc.explain import explain

        return explain
    from tinyc.commands import COMMANDS

    return COMMANDS[name]


if __name__ == "__main__":
    sys.exit(main())
