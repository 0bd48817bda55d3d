"""The standard output of the commands: where it cannot be written to, that is said once, and nothing else."""

import os
import sys
from typing import Any

from tinyc.diagnostics import TinycError


def stdout() -> Any:
    """Return the stream.

    Raises:
        TinycError: `UnreadableFile`: the process was started without one.
    """
    if sys.stdout is None:
        raise TinycError("UnreadableFile", "the standard output is closed; leave it open, or send it to a file")
    return sys.stdout


def abandon_stdout() -> None:
    """Forget what is still to be written, so that Python does not try to flush it again at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def failure(error: OSError) -> TinycError:
    """Return the error for a stream that failed: a full disk, a closed descriptor."""
    return TinycError("UnreadableFile", f"input or output failed: {error.strerror or error}")
