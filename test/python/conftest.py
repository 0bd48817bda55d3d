"""Makes the programs of the tests of `tinyc explain` importable, and runs it: pytest's import mode adds no path."""

import sys
from pathlib import Path

import pytest

from tinyc import cli

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def explain(tmp_path, capfd):
    """Return a function that runs `tinyc explain` on a program and returns its status, lines and stderr."""
    from explain_programs import PROGRAM

    path = tmp_path / "program.json"

    def call(*arguments, program=PROGRAM):
        path.write_text(program)
        status = cli.main(["explain", str(path), *arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out.splitlines(), captured.err

    return call
