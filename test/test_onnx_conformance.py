"""tools/onnx-conformance and the examples of models: what they say where onnx, or what is asked for, is not there."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools" / "onnx-conformance"


def refusal(monkeypatch, *arguments):
    """Run the tool in this process; its exit status, or the message that it ends with."""
    monkeypatch.setattr(sys, "argv", [str(TOOL), *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(TOOL), run_name="__main__")
    return caught.value.code


def test_a_pattern_that_does_not_read_is_refused(monkeypatch, capsys):
    assert refusal(monkeypatch, "--only", "[") == 2
    told = (
        "argument --only: '[' is no regular expression: unterminated character set at position 0; write it as Python's"
    )
    assert told in capsys.readouterr().err


def test_a_pattern_that_no_test_matches_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("node_tests.load_model_tests", lambda kind: [SimpleNamespace(name="test_relu")])
    assert refusal(monkeypatch, "--only", "nosuch") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "argument --only: no test has a name that 'nosuch' matches; they are called as test_relu is" in captured.err


def test_where_onnx_is_not_installed_they_say_how_to(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "are in the package onnx (" in (told := refusal(monkeypatch))
    assert "; tools/setup onnx, then .venv/bin/python " in told
    for example in (ROOT / "examples" / "models").glob("*.py"):
        with pytest.raises(SystemExit) as caught:
            runpy.run_path(str(example), run_name="__main__")
        assert str(caught.value.code).startswith("models are written by the package onnx (")
        assert str(caught.value.code).endswith("; tools/setup onnx, or pip install onnx")
