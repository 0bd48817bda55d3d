"""The rules of the simulator's source: it stands alone, no import goes in a circle, a name means one thing.

It imports nothing of tinyc, and what it needs are numpy and ml_dtypes.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import ptxsim
from parameters import for_each_file

PACKAGE = Path(ptxsim.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
NEEDED = {"ml_dtypes", "numpy"}
#: What several files of a kind define: `engine.handlers` and `semantics` collect them.
INTERFACES = {"BUILDERS", "HANDLERS"}

each_source = for_each_file(SOURCES, PACKAGE)


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path) for path in SOURCES}


def imported(path):
    """The modules that a file imports, wherever it does, also where only types are checked."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports say the whole name"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= whole & MODULES or {node.module}
    return found


def public_names(path):
    """The public names that a file defines at its top level."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


@each_source
def test_a_source_imports_the_simulator_numpy_and_ml_dtypes_only(path):
    packages = {name.partition(".")[0] for name in imported(path)}
    assert packages <= {"ptxsim"} | NEEDED | set(sys.stdlib_module_names)


def test_importing_all_of_the_simulator_loads_nothing_of_tinyc():
    command = f"""
import importlib, sys
for name in {sorted(MODULES)}:
    importlib.import_module(name)
print(*{{name.partition(".")[0] for name in sys.modules}} & {{"tinyc", "numba_cuda_mlir", "islpy", "llvmlite"}})
"""
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_no_import_goes_in_a_circle():
    TopologicalSorter({module_of(path): imported(path) & MODULES for path in SOURCES}).prepare()


def test_no_folder_imports_one_that_imports_it():
    graph = defaultdict(set)
    for path in SOURCES:
        folder = path.relative_to(PACKAGE).parts[0]
        others = {name.split(".")[1] for name in imported(path) & MODULES if "." in name}
        if (PACKAGE / folder).is_dir():
            graph[folder] |= {other for other in others if (PACKAGE / other).is_dir()} - {folder}
    TopologicalSorter(graph).prepare()


def test_a_public_name_means_one_thing():
    places = defaultdict(list)
    for path in SOURCES:
        for name in public_names(path):
            places[name].append(module_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1 and name not in INTERFACES} == {}


@each_source
def test_a_source_reads_well(path):
    assert path.read_text(encoding="utf-8").count("\n") <= 400, "split it"
    assert ast.get_docstring(tree(path)), "what it is, what comes in, what goes out"
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)]
    assert [each.name for each in functions if (each.end_lineno or 0) - each.lineno > 60] == []


def test_the_tests_stand_in_the_folders_of_what_they_test():
    here = Path(__file__).parent
    folders = {path.parent.relative_to(PACKAGE) for path in SOURCES}
    assert {path.parent.relative_to(here) for path in here.rglob("test_*.py")} <= folders
