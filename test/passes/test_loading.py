"""Own passes: what a file, or an installed package, has to hold, and what is said where it does not."""

import shlex
import subprocess
import sys

import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import TinycError
from tinyc.opt import main as opt
from tinyc.passes import Upstream
from tinyc.passes.loading import ENTRY_POINTS, check_names, installed_passes, load_passes
from tinyc.passes.runner import run_passes

HEAD = """\
from dataclasses import dataclass
from typing import ClassVar
from tinyc.mlir import ir
from tinyc.passes import Pass, Upstream
from tinyc.dialects.region.plan import RegionPlan
"""
MARK = """\
@dataclass(frozen=True)
class Mark(Pass):
    \"\"\"Mark the module.\"\"\"
    name: ClassVar[str] = "own-mark"
    word: str = "seen"

    def run(self, module):
        module.operation.attributes["x.mark"] = ir.StringAttr.get(self.word)
"""
#: The line that stands behind HEAD.
FIRST = HEAD.count("\n") + 1


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a file of passes and gives its path."""

    def write(*parts):
        path = tmp_path / "own.py"
        path.write_text(HEAD + "".join(parts))
        return str(path)

    return write


def refusal(action, *arguments):
    with pytest.raises(TinycError) as caught:
        action(*arguments)
    assert caught.value.name in ("InvalidPass", "UnreadableFile")
    return str(caught.value)


def test_a_pass_of_a_file_is_one_in_pipelines(written):
    (mark,) = load_passes(written(MARK))
    module = text.parse("module {}")
    pipeline.parse("cse,own-mark{word=here}", (*pipeline.PASSES, mark)).run(module)
    assert 'x.mark = "here"' in str(module)


def test_annotations_may_be_texts(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(f"from __future__ import annotations\n{HEAD}{MARK}")
    (mark,) = load_passes(str(path))
    assert mark.from_options({"word": "x"}).word == "x"


def test_two_files_of_one_name_are_two(tmp_path):
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "own.py"
        path.write_text(HEAD + MARK.replace("own-mark", f"own-{folder}"))
        found += load_passes(str(path))
    assert [each.from_options({"word": "x"}).text() for each in found] == ["own-a{word=x}", "own-b{word=x}"]


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("x = (\n", FIRST, "the file of passes cannot be loaded: SyntaxError: '(' was never closed; mend it"),
        ("import no_such\n", FIRST, "ModuleNotFoundError: No module named 'no_such'; mend it, --debug shows"),
        ("def f():\n  1 / 0\nf()\n", FIRST + 1, "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", FIRST, "SystemExit: 3"),
        ("", None, "the file defines no pass; derive a frozen dataclass from tinyc.passes.Pass"),
        ("class Base(Pass):\n  pass\n", None, "the file defines no pass"),
        (MARK.replace("@dataclass(frozen=True)\n", ""), FIRST, "the pass Mark: it is no dataclass; write @dataclass("),
        (MARK.replace('"own-mark"', '"own mark"'), FIRST, "the pass Mark: 'name' is 'own mark'; give a name such as"),
        (MARK.replace('    name: ClassVar[str] = "own-mark"\n', ""), FIRST, "the pass Mark: 'name' is None; give"),
        (MARK + '    consumes = "tiny"\n', FIRST, "the pass Mark: 'consumes' is 'tiny'; give a tuple of names"),
        (
            MARK.replace("word: str", "title: str"),
            FIRST,
            "option 'title' has the name of what every pass has; rename it",
        ),
        (MARK.replace("name: ClassVar[str]", "name: str"), FIRST, "option 'name' has the name of what every pass has"),
        (MARK.replace('word: str = "seen"', "word: tuple = ()"), FIRST, "option 'word' is of a type that text cannot"),
        (MARK.replace('word: str = "seen"', "word: list[str] | None = None"), FIRST, "option 'word' is of a type that"),
        (MARK.replace('word: str = "seen"', 'word: "Word" = 1'), FIRST, "its annotations cannot be read: name 'Word'"),
    ],
)
def test_a_file_without_passes_that_can_be_used_is_refused(written, source, line, message):
    path = written(source)
    said = refusal(load_passes, path)
    assert said.startswith(f"{path}:{line}: error: " if line else f"{path}: error: ")
    assert message in said
    assert said.endswith("[TC313 InvalidPass]")


def test_a_file_that_is_not_there_is_refused():
    assert refusal(load_passes, "no/own.py").startswith("no/own.py: error: cannot read the file: No such file")


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("region-plan", "a pass of tinyc's"),
        ("cse", "a pass of MLIR's"),
        ("affine-loop-unroll", "a pass of MLIR's"),
        ("remarks", "an option of tinyc-opt"),
        ("own-first", "the pass First in "),
    ],
)
def test_a_name_has_one_owner(written, capsys, name, owner):
    first = MARK.replace("own-mark", "own-first").replace("class Mark", "class First")
    path = written(first, MARK.replace("own-mark", name))
    assert opt.main(["--load-pass", path, "--version"]) == 1
    line = FIRST + MARK.count("\n")
    said = capsys.readouterr().err
    assert said.startswith(f"{path}:{line}: error: the pass Mark: '{name}' is the name of {owner}")
    assert "; give the pass another [TC313 InvalidPass]" in said


def test_names_of_their_own_are_taken(written):
    check_names(load_passes(written(MARK)), {"region-plan": "a pass of tinyc's"})


# A pass that fails.

FAIL = """\
def check(op):
    raise LookupError("nothing to look up")


@dataclass(frozen=True)
class Fail(Pass):
    name: ClassVar[str] = "own-fail"
    word: str = "seen"

    def run(self, module):
        for op in module.body.operations:
            {how}
"""
SOURCE = "func.func @f() {\n  return\n}\n"


def failing(written, how):
    return written(FAIL.format(how=how))


def failure(path, source=SOURCE):
    (fail,) = load_passes(path)
    with pytest.raises(TinycError) as caught:
        run_passes(text.parse(source, "a.mlir"), [Upstream("cse"), fail()])
    return caught.value


@pytest.mark.parametrize(
    ("how", "place", "line"),
    [
        ("check(op)", "a.mlir:1:1: ", FIRST + 1),
        ('raise LookupError("nothing to look up")', "a.mlir:1:1: ", FIRST + 11),
        ("inner = op.regions[0].blocks[0].operations[0]; check(inner)", "a.mlir:2:3: ", FIRST + 1),
        ("op.erase(); check(op)", "", FIRST + 1),
        ("op = None; check(op)", "", FIRST + 1),
    ],
)
def test_a_failure_says_the_line_of_the_file_and_the_op_in_hand(written, how, place, line):
    path = failing(written, how)
    said = str(failure(path))
    what = "LookupError: nothing to look up"
    assert said.startswith(f"{place}error: pass 'own-fail' failed: {what}, raised at {path}:{line}; --debug")
    assert said.endswith("[TC314 FailedPass]")


def test_what_a_pass_breaks_is_its_own_fault(written):
    path = failing(written, 'op.attributes["function_type"] = ir.TypeAttr.parse("() -> i32")')
    error = failure(path)
    assert error.name == "FailedPass"
    assert "pass 'own-fail' failed: the IR that it made does not verify: " in error.message


def test_what_a_pass_refuses_is_no_failure(written):
    path = failing(written, "from tinyc.diagnostics import TinycError; raise TinycError('NonScop', 'not for me')")
    error = failure(path)
    assert (error.name, error.message) == ("NonScop", "not for me")


def tinyc_opt(*arguments, cwd=None):
    command = [sys.executable, "-m", "tinyc.opt.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_its_reproducer_runs_and_fails_again(written, tmp_path):
    path = failing(written, "check(op)")
    (tmp_path / "a.mlir").write_text(SOURCE)
    flags = ["--cse", "--own-fail=word='a b'", "a.mlir"]
    first = tinyc_opt("--load-pass", "own.py", *flags, cwd=tmp_path)
    assert first.returncode == 1
    before, _, rest = first.stderr.partition("; to repeat it: tinyc-opt ")
    command = rest.rpartition(" [TC314 FailedPass]")[0]
    again = tinyc_opt(*shlex.split(command))  # from another folder
    assert again.returncode == 1
    assert again.stderr.partition("; to repeat it: ")[0] == before.replace("at own.py", f"at {path}")
    assert before.startswith("a.mlir:1:1: error: pass 'own-fail' failed: LookupError: nothing to look up")


@pytest.mark.parametrize("flag", ["--debug", "-debug"])
def test_the_traceback_is_there_for_who_asks(written, tmp_path, flag):
    (tmp_path / "a.mlir").write_text(SOURCE)
    for how, raised in (
        ("check(op)", "LookupError: nothing"),
        ("pass\nimport no_such", "ModuleNotFoundError: No module"),
    ):
        arguments = ["--load-pass", failing(written, how), "--own-fail", str(tmp_path / "a.mlir")]
        for asked in (False, True):
            said = tinyc_opt(*arguments, *[flag] * asked).stderr
            assert raised in said
            assert ("Traceback (most recent call last)" in said) == asked


# Installed passes.


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package with a module `own_package` and an entry point."""

    def install(value, source):
        (tmp_path / "own_package.py").write_text(source)
        info = tmp_path / "own_package-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\nmine = {value}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "own_package", raising=False)

    return install


@pytest.mark.parametrize("value", ["own_package", "own_package:Mark"])
def test_an_entry_point_is_a_pass_or_a_module_of_passes(install, capsys, tmp_path, value):
    install(value, HEAD + MARK)
    assert [each.name for each in installed_passes()] == ["own-mark"]
    (tmp_path / "a.mlir").write_text(SOURCE)
    assert opt.main(["--own-mark=word=there", str(tmp_path / "a.mlir")]) == 0
    assert 'x.mark = "there"' in capsys.readouterr().out


def test_without_installed_passes_there_are_none():
    assert installed_passes() == []


def test_a_failing_one_repeats_without_its_file(install):
    install("own_package:Fail", HEAD + FAIL.format(how="check(op)"))
    (fail,) = installed_passes()
    with pytest.raises(TinycError, match="to repeat it: tinyc-opt --run-reproducer") as caught:
        run_passes(text.parse(SOURCE, "a.mlir"), [fail()])
    assert "own_package.py:" in caught.value.message


@pytest.mark.parametrize(
    ("value", "source", "message"),
    [
        ("own_package:Nothing", HEAD, "it cannot be loaded: AttributeError: "),
        ("own_package:HEAD", "HEAD = 1\n", "it is neither a pass nor a module of passes; derive a frozen dataclass"),
        ("own_package", "import no_such\n", "ModuleNotFoundError: No module named 'no_such'; mend it or uninstall it"),
    ],
)
def test_a_broken_entry_point_is_an_error_that_names_its_package(install, value, source, message):
    install(value, source)
    said = refusal(installed_passes)
    assert said.startswith(f"error: the entry point 'mine = {value}' of own-package: ")
    assert message in said


def test_an_installed_pass_and_one_of_a_file_do_not_share_a_name(install, written, capsys):
    install("own_package:Mark", HEAD + MARK)
    assert opt.main(["--load-pass", written(MARK), "--version"]) == 1
    assert "'own-mark' is the name of the pass Mark in " in capsys.readouterr().err
