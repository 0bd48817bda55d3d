"""The examples in the documents are executed: console blocks as commands with their output, Python blocks as programs.

In expected output `...` stands for any text. What follows in a document sees the files that came before, and those that
it shows: a block that begins with a comment which names a file. `command_server` runs the commands of tinyc.
"""

import doctest
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import command_server
from ptxsim.clock.sass.toolchain import PROGRAM_VARIABLES, find_program

ROOT = Path(__file__).parent.parent
DOCUMENTS = (
    "README.md",
    "dialects/README.md",
    "docs/c-library.md",
    "docs/clock.md",
    "docs/explain.md",
    "docs/onnx.md",
    "docs/plan.md",
    "docs/ptxsim.md",
    "docs/tiny-json.md",
    "CONTRIBUTING.md",
)
#: The programs that the commands of a document need beside tinyc.
NEEDED = {"docs/c-library.md": ("cc",), "docs/clock.md": ("ptxas", "nvdisasm")}
#: Modules that a command needs which names them; where they are not installed, it is not run.
MODULES = ("onnxruntime",)


def _is_there(program: str) -> bool:
    return (shutil.which(program) or (program in PROGRAM_VARIABLES and find_program(program))) is not None


def _blocks(document: str, language: str) -> list[str]:
    tokens = MarkdownIt().parse((ROOT / document).read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info.strip() == language]


def _folder(document: str, folder: Path) -> Path:
    """Return the folder that a document speaks of: the examples, and the files that the document shows."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "tools").symlink_to(ROOT / "tools")
    for block in [*_blocks(document, "json"), *_blocks(document, "text"), *_blocks(document, "c")]:
        if name := re.match(r"(?://|#) (\w+\.\w+)\n", block):
            (folder / name[1]).write_text(block, encoding="utf-8")
    return folder


def _commands(block: str) -> list[tuple[str, str]]:
    """Return (command, expected output) for each line that starts with `$ `."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, expected = found[-1]
            found[-1] = (command, expected + line)
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of commands: those of tinyc are run by a server."""
    programs = tmp_path_factory.mktemp("programs")
    with command_server.start(str(programs), os.environ) as server:
        yield {**os.environ, "PATH": os.pathsep.join([str(programs), os.environ["PATH"]])}
        assert server.stdin is not None  # it is a pipe
        server.stdin.close()


def _check(command: str, expected: str, folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    output = done.stderr + done.stdout
    # doctest does not take `...` at the start of a line for an ellipsis, nor an empty text for one.
    same = doctest.OutputChecker().check_output(f"|{expected}", f"|{output}", doctest.ELLIPSIS)
    assert same, f"$ {command}\n--- expected\n{expected}\n--- got\n{output[:6000]}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_console_blocks_print_what_they_say(document: str, tmp_path: Path, environment: dict[str, str]) -> None:
    if missing := [name for name in NEEDED.get(document, ()) if not _is_there(name)]:
        pytest.skip(f"did not run: there is no {' and no '.join(missing)}")
    folder = _folder(document, tmp_path)
    for block in _blocks(document, "console"):
        for command, expected in _commands(block):
            if all(find_spec(name) is not None for name in MODULES if name in command):
                _check(command, expected, folder, environment)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_blocks_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_folder(document, tmp_path))
    names: dict[str, Any] = {"__name__": "document"}
    for block in _blocks(document, "python"):
        exec(compile(block, document, "exec"), names)


def _indented(document: str) -> list[str]:
    tokens = MarkdownIt().parse((ROOT / document).read_text(encoding="utf-8"))
    return [textwrap.dedent(token.content) for token in tokens if token.type == "code_block"]


def test_the_lit_test_that_a_newcomer_copies_passes(tmp_path: Path) -> None:
    (block,) = (each for each in _indented("CONTRIBUTING.md") if each.startswith("// RUN:"))
    path = tmp_path / "copied.mlir"
    of_another = block.replace("@main(%x", "@main(%y: tensor<4xf32>, %x")  # then %x is the second argument
    for written, passes in ((block, True), (of_another, False)):
        path.write_text(written)
        command = block.splitlines()[0].removeprefix("// RUN:").replace("%s", str(path))
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is passes, done.stderr


def test_the_pass_that_a_newcomer_copies_does_what_it_says() -> None:
    from tinyc import text
    from tinyc.dialects.registry import context

    (block,) = (each for each in _indented("CONTRIBUTING.md") if "class TinyDropCasts" in each)
    names: dict[str, Any] = {"__name__": "copied"}
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    before, after = re.findall(r"(?:Before|After):\n((?: {8}.*\n)+)", names["TinyDropCasts"].__doc__ or "")
    with context():
        module = text.parse(before)
        names["TinyDropCasts"]().run(module)
        assert str(module) == str(text.parse(after))


def test_the_error_that_a_newcomers_pass_raises_is_shown_at_its_op(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tinyc.opt import main as opt

    (block,) = (each for each in _indented("CONTRIBUTING.md") if "raise TinycError(" in each)
    before, _, raised = block.partition("\nraise ")
    (tmp_path / "own.py").write_text(
        f"from dataclasses import dataclass\nfrom tinyc.passes import Pass\n{before}\n"
        "@dataclass(frozen=True)\nclass Own(Pass):\n    name = 'own'\n    def run(self, module):\n"
        f"        op = module.body.operations[0]\n        raise {raised}"
    )
    ir = tmp_path / "ir.mlir"
    ir.write_text("module {\n  func.func private @f()\n}\n")
    assert opt.main(["--load-pass", str(tmp_path / "own.py"), "--own", str(ir)]) == 1
    shown = f"{ir}:2:3: error: what is wrong, with its values; what to do [TC309 InvalidIr]\n"
    assert capsys.readouterr().err.startswith(shown)


def test_the_grammar_has_the_word_of_each_op() -> None:
    from tinyc.dialects.gpu.statements import SCALAR_OPS, STATEMENT_OPS
    from tinyc.dialects.tiny.ops import OPS

    grammar = "\n".join(_blocks("dialects/README.md", "text"))
    words = set(re.findall(r"\w+", grammar))
    names = [*OPS, *(op.OPERATION_NAME.partition(".")[2] for op in (*STATEMENT_OPS, *SCALAR_OPS))]
    assert [name for name in names if name not in words] == []


def test_mlir_blocks_are_ir() -> None:
    """Every block of IR in the walk's README verifies, layer by layer."""
    from tinyc import text
    from tinyc.dialects.registry import context
    from tinyc.passes.runner import verify_layers

    blocks = _blocks("dialects/README.md", "mlir")
    assert len(blocks) >= 3
    with context():
        for block in blocks:
            verify_layers(text.parse(block, "dialects/README.md"))
