"""How a command ends, whatever happens: an exit status, and on stderr one sentence for what went wrong.

In: the work of a command, which returns its exit status. Never out, unless it is asked for: a traceback.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from io import TextIOWrapper
from typing import cast

from tinyc.diagnostics import InternalError, TinycError

#: The exit status of a command that Ctrl-C has stopped, as shells give it: 128 and the signal's number.
INTERRUPTED = 130


def exit_status(work: Callable[[], int], debug: bool = False, failed: int = 1) -> int:
    """Do `work` and return its exit status: `failed` for an error, `INTERRUPTED` for an interrupt.

    A defect of tinyc's is a sentence, and a file that says what it was doing; with `debug` stderr says that.
    """
    try:
        return work()
    except TinycError as error:
        sys.stderr.write(f"{error}\n")
        say_how_to_repeat(error, debug)
    except BrokenPipeError:  # whoever read our output is gone
        _abandon_stdout()
    except OSError as error:
        sys.stderr.write(f"{_failure(error)}\n")
        _abandon_stdout()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except MemoryError as error:
        message = f"there is not enough memory ({error}); use smaller sizes"
        sys.stderr.write(f"{TinycError('OutOfMemory', message)}\n")
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        sys.stderr.write(f"{_defect(error)}\n")
    return failed


def _defect(error: Exception) -> InternalError:
    with tempfile.NamedTemporaryFile("w", prefix="tinyc-defect-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    return InternalError(f"tinyc failed: {type(error).__name__}: {error}; what it was doing stands in {file.name}")


def say_how_to_repeat(error: TinycError, debug: bool = False) -> None:
    """Write to stderr the command that repeats the failure, where a pass of MLIR's has failed.

    With `debug`, the traceback stands before it of what a user's own code, or a pass, has raised.
    """
    if debug and error.__cause__ is not None:
        traceback.print_exception(error.__cause__)
    if error.reproducer is not None:
        sys.stderr.write(f"note: to repeat it: {error.reproducer.save()}\n")


def standard_output() -> TextIOWrapper:
    """The stream that results go to.

    Raises:
        TinycError: `UnreadableFile`: the process was started without one.
    """
    if sys.stdout is None:
        raise TinycError("UnreadableFile", "the standard output is closed; leave it open, or send it to a file")
    return cast(TextIOWrapper, sys.stdout)  # of which `typeshed` says only that it is a TextIO


def _abandon_stdout() -> None:
    """Forget what is still to be written, so that Python does not try to flush it again at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failure(error: OSError) -> TinycError:
    """The error for a stream that failed: a full disk, a closed descriptor."""
    return TinycError("UnreadableFile", f"input or output failed: {error.strerror or error}")
