"""What the tests of the command line share."""

import pytest

from tinyc.driver import cli


@pytest.fixture
def run(capfd):
    """Return a function that runs the command line and returns its status, stdout and stderr."""

    def call(*arguments):
        status = cli.main([str(each) for each in arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call
