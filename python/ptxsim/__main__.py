"""`ptxsim`, `python -m ptxsim`: runs and checks a kernel of a PTX file from the command line, or times it.

Results go to stdout, errors to stderr. The exit status is 0 if all went well, 1 for findings and for an array that
is not as expected, 2 for what cannot be run: a wrong argument, file or launch; 130 for an interrupt.
"""

import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from ptxsim.command.arguments import read_command_line
from ptxsim.command.simulate import simulate
from ptxsim.errors import PtxsimError

#: The exit status where nothing could be run, or its results not be written.
CANNOT_RUN = 2
#: The word that asks for a kernel's time.
TIME = "time"


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ptxsim` with `argv` (default: the process's); the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if argv is None else argv)
    work = _timing(given[1:]) if given[:1] == [TIME] else partial(simulate, read_command_line(given))
    try:
        status = work()
        sys.stdout.flush()
        return status
    except PtxsimError as error:
        sys.stderr.write(f"{error}\n")
    except BrokenPipeError:  # whoever read our output is gone; Python is not to flush it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError as error:
        sys.stderr.write(f"error: there is not enough memory ({error}); use smaller sizes\n")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    return CANNOT_RUN


def _timing(argv: Sequence[str]) -> Callable[[], int]:
    """`ptxsim time`, which is imported only then; a PTX file of that name is ./time."""
    from ptxsim.command.time_arguments import read_time_line
    from ptxsim.command.time_kernels import time_kernels

    return partial(time_kernels, read_time_line(argv))


if __name__ == "__main__":
    sys.exit(main())
