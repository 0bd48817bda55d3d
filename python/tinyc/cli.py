"""`tinyc run | compile | verify`: programs from the command line.

Results go to stdout, errors and remarks to stderr. The exit status is 0 if all went well, 1 for an error in the
program, its inputs or its numbers, 2 for a command line that does not read. No input ends in a traceback.
"""

import sys
import tempfile
import traceback
from collections.abc import Sequence

from tinyc import streams
from tinyc.cli_arguments import read
from tinyc.diagnostics import TinycError


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tinyc` with `argv` (default: the process's) and return its exit status."""
    try:
        streams.stdout().reconfigure(errors="backslashreplace")
        arguments = read(sys.argv[1:] if argv is None else argv)
        from tinyc import commands

        status = commands.COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return status
    except TinycError as error:
        sys.stderr.write(f"{error}\n")
    except BrokenPipeError:  # whoever read our output is gone
        streams.abandon_stdout()
    except OSError as error:
        sys.stderr.write(f"{streams.failure(error)}\n")
        streams.abandon_stdout()
    except KeyboardInterrupt:
        return 130
    except MemoryError as error:
        sys.stderr.write(f"error: there is not enough memory ({error}); bind smaller sizes [TC405 OutOfMemory]\n")
    except Exception as error:  # a defect of tinyc's: a sentence and a file, not a traceback
        sys.stderr.write(f"error: {_defect(error)} [TC901 InternalError]\n")
    return 1


def _defect(error: Exception) -> str:
    with tempfile.NamedTemporaryFile("w", prefix="tinyc-defect-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    return f"tinyc failed: {type(error).__name__}: {error}; what it was doing stands in {file.name}"


if __name__ == "__main__":
    sys.exit(main())
