"""tools/setup: what it says without setting anything up."""

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def setup(*arguments):
    return subprocess.run([ROOT / "tools" / "setup", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_says_what_it_does_and_what_it_takes(flag):
    answer = setup(flag)
    assert answer.returncode == 0
    assert answer.stdout.startswith("tools/setup [EXTRA]: make .venv hold a wheel built from this tree")
    assert "PYTHON names another interpreter" in answer.stdout
    assert "set -euo" not in answer.stdout


def test_an_unknown_extra_is_refused_before_anything_is_made():
    extras = sorted(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    answer = setup("gpu")
    expected = " or ".join([", ".join(extras), "none"])
    message = f"setup: 'gpu' is no extra of pyproject.toml: expected {expected}; tools/setup --help\n"
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", message)
