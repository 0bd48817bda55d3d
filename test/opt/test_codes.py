"""An error shows one code, whoever found it, in what the tools print and in Python."""

import re
import shlex
from pathlib import Path

import pytest

from tinyc import text
from tinyc.diagnostics import TinycError, Where
from tinyc.opt import main as opt
from tinyc.passes.runner import verify_contracts

TESTS = Path(__file__).parents[1]
CODE = re.compile(r"\[TC\d+ \w+\]")


def commands(path):
    """The arguments of the calls that a lit test has `tinyc-opt` refuse, of those that take no other file."""
    for fails, call in re.findall(r"// RUN: (not )?tinyc-opt ([^|]*?) *(?:[|<>]|2>|$)", path.read_text(), re.MULTILINE):
        arguments = shlex.split(call.replace("%s", str(path)))
        if (fails or "--verify-diagnostics" in arguments) and not any("%" in each for each in arguments):
            yield [each for each in arguments if each != "--verify-diagnostics"]


#: The lit tests of what is refused, and those in which the text is, before any pass.
REFUSED = [path for path in sorted(TESTS.rglob("*invalid*.mlir")) if list(commands(path))]
MALFORMED = [path for path in REFUSED if ["--split-input-file", str(path)] in commands(path)]


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: str(path.relative_to(TESTS)))
def test_what_tinyc_opt_prints_shows_a_code_at_most_once(path, capsys):
    for arguments in commands(path):
        opt.main(arguments)
        said = capsys.readouterr().err
        assert re.search("^(.*: )?error: ", said, re.MULTILINE)
        assert [line for line in said.split("\n") if len(CODE.findall(line)) > 1] == []


@pytest.mark.parametrize("path", MALFORMED, ids=lambda path: str(path.relative_to(TESTS)))
def test_an_error_in_python_shows_its_code_once(path):
    lines: list[str] = []
    for piece in path.read_text(encoding="utf-8").split("// -----"):
        try:
            verify_contracts(text.parse(piece))
        except TinycError as error:
            lines += [str(each) for each in error.errors]
    assert lines
    assert [line for line in lines if len(CODE.findall(line)) != 1] == []


def test_the_code_of_a_rule_is_that_of_the_error():
    with pytest.raises(TinycError) as caught:
        text.parse('%0 = "tiny.const"() {value = 1 : i32} : () -> tensor<4xf32>', "a.mlir")
    assert (caught.value.name, caught.value.where) == ("DtypeMismatch", Where(None, "a.mlir", 1, 6))
    assert str(caught.value).endswith(" [TC102 DtypeMismatch]")
    assert "TC102" not in caught.value.message
    with pytest.raises(TinycError) as caught:
        text.parse('"x.y"() : () -> ()')
    assert str(caught.value).endswith(" [TC309 InvalidIr]")


def test_an_error_without_a_place_names_none(capsys):
    arguments = ["--split-input-file", "--region-to-exec"]
    assert opt.main([*arguments, str(TESTS / "dialects" / "region" / "to_exec_invalid.mlir")]) == 1
    assert capsys.readouterr().err.startswith("error: the module has no function to run; ")
