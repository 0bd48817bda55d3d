"""Work that another process does: what the native code might not survive, or writes where Python cannot read it."""

import os
import subprocess
import sys


def run_in_process(code: str, given: bytes = b"", seconds: float | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a text of Python that finds the modules that this process finds, with `given` on its stdin.

    Raises:
        subprocess.TimeoutExpired: it took longer than `seconds`.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, input=given, capture_output=True, timeout=seconds, env=environment, check=False)
