"""There is one template, and one way into it: read off the source of its folder and of who imports it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "python" / "tinyc"
FOLDER = PACKAGE / "schemes" / "mma"


def _calls(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the function of each call of a function."""
    for path in sorted(folder.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            called = (each.func for each in ast.walk(function) if isinstance(each, ast.Call))
            yield from ((path.stem, function.name) for each in called if getattr(each, "id", None) == name)


def test_it_is_asked_as_one_scheme():
    found = {
        (path.relative_to(PACKAGE).as_posix(), *(each.name for each in node.names))
        for path in PACKAGE.rglob("*.py")
        if FOLDER not in path.parents
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tinyc.schemes.mma")
    }
    assert found == {("schemes/registry.py", "MmaContraction")}


@pytest.mark.parametrize(
    ("name", "callers"),
    [
        ("build_product", [("__init__", "build")]),
        # Branches by architecture and schedule: a loop of all threads, or roles; beside them what a sliced k needs.
        ("build_of_threads", [("build", "_write_product")]),
        ("build_of_warpgroups", [("build", "_write_product")]),
        ("build_zero_semaphores", [("build", "_write")]),
        ("build_of_sums", [("build", "_write")]),
    ],
)
def test_each_kernel_is_built_in_one_place(name, callers):
    assert list(_calls(FOLDER, name)) == callers


def test_kernels_are_begun_by_these_alone():
    begun = {function for _, function in _calls(FOLDER, "open_function")}
    assert begun == {"build_of_threads", "build_of_warpgroups", "build_zero_semaphores", "build_of_sums"}


def test_the_slots_that_the_template_names_exist():
    slots = {"load", "stage", "multiply", "epilogue", "store"}
    written = ast.get_docstring(ast.parse((FOLDER / "build.py").read_text("utf-8"))) or ""
    assert slots <= {line.split()[0] for line in written.splitlines() if line.strip()}
    methods = {
        node.name
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert {"load", "epilogue", "store", "_multiply"} <= methods
