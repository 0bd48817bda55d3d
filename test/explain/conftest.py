"""What the tests of `tinyc explain` share: a way to run it on a program."""

import pytest

from analysis_programs.explain_programs import PROGRAM
from tinyc.driver import cli


@pytest.fixture
def explain(tmp_path, capfd):
    """Return a function that runs `tinyc explain` on a program and returns its status, lines and stderr."""
    path = tmp_path / "program.json"

    def call(*arguments, program=PROGRAM):
        path.write_text(program)
        status = cli.main(["explain", str(path), *arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out.splitlines(), captured.err

    return call
