"""Other checkouts of tinyc: processes that a bench asks by turns with its own, so that all meet the same machine.

A worker is a script of this folder. It imports the tinyc of the checkout, and the tests of it; from this folder it may
import what needs no newer tinyc than that, so it does not import `figures`. Another interpreter's imports no tinyc.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TREE = Path(__file__).parent.parent


class Checkout:
    """A process of a worker; questions and answers are what JSON holds."""

    def __init__(self, tree: Path, worker: str, *arguments: str, interpreter: Path = Path(sys.executable)) -> None:
        path = os.pathsep.join(str(tree / folder) for folder in ("python", "test"))
        command = [interpreter, Path(__file__).with_name(worker), *arguments]
        environment = {**os.environ, "PYTHONPATH": path}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, question: Any) -> Any:
        """Ask, and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(question)}\n")
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self._process.args!r} has ended; see above for why")
        return json.loads(answer)


def answer_with(work: Callable[[Any], Any]) -> None:
    """Answer every question on the standard input: what a worker does."""
    for line in sys.stdin:
        print(json.dumps(work(json.loads(line))), flush=True)


def processor_seconds() -> float:
    """What this process and those that it has ended have taken of processors."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
