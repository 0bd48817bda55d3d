"""The direction of imports: no module of the compiler imports itself by way of others.

All imports count, those in functions and under TYPE_CHECKING too: a reader follows them all the same. The direction is
`expr` < `vocabulary` < the op classes of the layers < `analysis` < the passes and lowerings of the layers, `explain`.
"""

import ast
import functools
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "tinyc"


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Every module of the compiler by name; `python/tinyc/dialects` is a link to the walk. The package's root is a door: it
#: imports what a user asks of it.
SOURCES = {
    module_name(path): path
    for top in (PACKAGE, PACKAGE / "dialects")
    for path in top.rglob("*.py")
    if path != PACKAGE / "__init__.py"
}


def imported_by(name: str) -> set[str]:
    """Return the modules that a module imports anywhere in its text; a package stands for its `__init__`."""
    tree = ast.parse(SOURCES[name].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from a import b` is an import of the module a.b where there is one, and of a where there is none.
            within = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {each if each in SOURCES else node.module for each in within}
    return {each for each in found if each in SOURCES} - {name}


@functools.cache
def graph() -> dict[str, set[str]]:
    """Return the modules that each module imports; to read them all takes seconds, which only these tests need."""
    return {name: imported_by(name) for name in SOURCES}


def reached(names: set[str]) -> set[str]:
    """Return what modules import, and what that imports, and so on, without themselves unless in a cycle."""
    found: set[str] = set()
    pending = [each for name in names for each in graph()[name]]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += graph()[name]
    return found


def within(*prefixes: str) -> set[str]:
    return {name for name in SOURCES if re.match(rf"tinyc\.({'|'.join(prefixes)})(\.|$)", name)}


def test_the_graph_has_the_imports_in_functions():
    assert "tinyc.analysis.isl.polyhedra" in graph()["tinyc.analysis.poly.edge"]


def test_there_is_no_cycle_of_modules():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(reversed(error.args[1])))


def test_what_lies_below_the_layers_imports_no_layer():
    assert {name for name in reached(within("expr", "vocabulary")) if name.startswith("tinyc.dialects")} == set()


#: What analyses may know of the layers.
WORDS_OF_ANALYSIS = {
    "tinyc.dialects.tiny.ops",
    "tinyc.dialects.region.ops",
    "tinyc.dialects.region.kernel",
}


def test_the_analyses_import_the_op_classes_of_tiny_and_region_only():
    known = {each for name in within("analysis") for each in graph()[name] if each.startswith("tinyc.dialects")}
    assert known <= WORDS_OF_ANALYSIS


def test_no_analysis_knows_a_pass_or_a_lowering():
    assert {
        name for name in reached(within("analysis")) if re.search(r"\.(passes|pipeline|to_\w+)(\.|$)", name)
    } == set()
