"""The rules of the house that hold for every file: the folder tree, the direction of imports, names, sizes, tests.

These are read off the source tree; what the code does is tested elsewhere.
"""

import ast
import dataclasses
import functools
import inspect
import re
import tomllib
from pathlib import Path

import pytest

from parameters import for_each_file
from tinyc import pipeline
from tinyc.diagnostics import CODES, REMARKS
from tinyc.dialects import registry
from tinyc.dialects.registry import context
from tinyc.schemes.names import SCHEME_NAMES

ROOT = Path(__file__).parent.parent
WALK = ROOT / "dialects"
PACKAGE = ROOT / "python" / "tinyc"
TESTS = ROOT / "test"

#: Layer → the layers that its `to_<next>` may lower to. A CUDA file has a host program, made by region-to-exec.
EDGES = {
    "frontend": {"tiny"},
    "tiny": {"region", "index_book", "poly"},
    "region": {"gpu", "exec"},
    "gpu": {"cuda", "nvvm", "exec", "region"},
}
#: Layer → the layers that are written in its words, and which of its modules have them: a region's body is Tiny ops,
#: the body of a statement is a region's, the CUDA printer prints GPU kernels.
WORDS = {
    "tiny": ({"frontend", "region", "gpu", "cuda", "index_book"}, {"ops", "op_verifier", "emit_steps", "verify"}),
    "region": ({"gpu", "cuda"}, {"ops"}),
    "gpu": ({"cuda"}, {"dialect", "kernel", "statements", "instructions", "shared_layout", "strided_matrix", "expand"}),
}
#: Layer → the folder of a dialect whose name upstream has taken.
FOLDER_OF = {"tgpu": "gpu"}

FOLDERS = {
    "analysis",
    "cache",
    "c_library",
    "codegen",
    "dialects",
    "driver",
    "executors",
    "explain",
    "expr",
    "formulas",
    "fusion",
    "importers",
    "mlir",
    "opt",
    "passes",
    "plan",
    "runtime",
    "schemes",
    "target",
    "text",
    "vocabulary",
}
#: What a user imports, and little else.
MODULES = {"__init__", "__main__", "diagnostics", "onnx_backend", "pipeline", "simulator"}
LAYERS = {"frontend", "tiny", "index_book", "poly", "region", "gpu", "cuda", "exec", "nvvm"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
#: Folders of tests that mirror no source: whole programs, on every target.
UNMIRRORED = {"run"}
#: A word that also names a scheme → where it stands for something else, and for what.
WORDS_BESIDE_SCHEMES = {
    "elementwise": (
        ("python/tinyc/executors/frontend/*.py", "python/tinyc/formulas/*.py"),
        "an op of the Frontend layer",
    ),
    "mma": (
        ("dialects/gpu/fragment_layout.py", "dialects/gpu/statements/mma_sync.py"),
        "the PTX instruction `mma.sync`, and the layout of its fragments",
    ),
    "scan": (
        (
            "python/tinyc/analysis/patterns/classification.py",
            "python/tinyc/analysis/poly/*.py",
            "python/tinyc/analysis/poly_core/*.py",
            "python/tinyc/explain/*.py",
            "python/tinyc/fusion/graph.py",
        ),
        "a reduction that keeps its partial results, as analyses class it",
    ),
}
#: Files whose texts name ops because they are data: tables, and the one op that ends every body.
TABLES_OF_OPS = {
    "dialects/nvvm/whitelist.py",
    "python/tinyc/mlir/bodies.py",
    "python/tinyc/vocabulary/elementwise/unary.py",
}
#: What a layer has beside its contract and `verify.py`: cuda's and nvvm's ops are upstream's.
ROOMS = {"nvvm": {"verify.py", "to_ptx.py"}, "cuda": {"printer", "main"}, "gpu": {"verify.py", "statements"}}


def sources(folder):
    """Return the Python files under `folder`, those behind the symlink to the dialects not counted twice."""
    return sorted(path for path in folder.rglob("*.py") if "dialects" not in path.relative_to(folder).parts)


SOURCES = [*sources(WALK), *sources(PACKAGE)]
TEST_FILES = sorted(path for suffix in ("*.py", "*.mlir") for path in TESTS.rglob(suffix))


@functools.cache
def tree(path):
    """Return the syntax of a file, which nobody changes."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path):
    """Return the modules of tinyc that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(name for name in found if name.split(".")[0] == "tinyc")


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def each_source(*folders):
    chosen = [path for path in SOURCES if not folders or any(folder in path.parents for folder in folders)]
    return for_each_file(chosen, ROOT)


def test_the_package_follows_the_symlink_to_the_walk():
    link = PACKAGE / "dialects"
    assert link.is_symlink()
    assert link.readlink() == Path("../../dialects")


def test_the_folders_are_those_of_the_design():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == FOLDERS
    assert {path.stem for path in PACKAGE.glob("*.py")} == MODULES
    assert {path.name for path in WALK.iterdir() if path.is_dir() and path.name != "__pycache__"} == LAYERS


def test_the_words_that_layers_share_are_modules():
    missing = [
        f"{layer}/{module}"
        for layer, (_, modules) in WORDS.items()
        for module in modules
        if not ((WALK / layer / f"{module}.py").exists() or (WALK / layer / module).is_dir())
    ]
    assert missing == []
    assert {user for users, _ in WORDS.values() for user in users} | {*EDGES} <= LAYERS


def mirrored(folder):
    """Whether a folder of tests has the name of what it tests, a folder or a module."""
    relative = folder.relative_to(TESTS)
    roots = {"ptxsim": PACKAGE.parent, "bench": TESTS.parent}
    source = roots.get(relative.parts[0], PACKAGE) / relative
    return source.is_dir() or source.with_suffix(".py").exists()


def test_the_tests_mirror_the_sources():
    tests = [path for path in TEST_FILES if path.name.startswith("test_") or path.suffix == ".mlir"]
    folders = {path.parent for path in tests if "Inputs" not in path.parts and path.parent != TESTS}
    assert {str(folder.relative_to(TESTS)) for folder in folders if not mirrored(folder)} == UNMIRRORED


@pytest.mark.parametrize("layer", sorted(path.parent.name for path in WALK.glob("*/__init__.py")))
def test_a_layer_states_its_contract(layer):
    contract = ast.get_docstring(tree(WALK / layer / "__init__.py"))
    assert contract is not None
    assert {"Here:", "Gone:"} <= set(re.findall(r"\b\w+:", contract)), "what holds here, what is gone"
    assert re.search(r"^    \S", contract, re.MULTILINE), "an example"
    assert ROOMS.get(layer, {"ops.py", "verify.py"}) <= {path.name for path in (WALK / layer).iterdir()}


def test_every_folder_of_sources_is_a_package():
    assert [folder for folder in {path.parent for path in SOURCES} if not (folder / "__init__.py").exists()] == []


@each_source(WALK)
def test_a_layer_imports_the_next_only_where_it_lowers_to_it(path):
    if path.parent == WALK:
        return
    layer = path.relative_to(WALK).parts[0]
    for name in imports(path):
        parts = name.split(".")
        if parts[:2] != ["tinyc", "dialects"] or len(parts) < 3 or parts[2] == layer:
            continue
        if (WALK / f"{parts[2]}.py").exists():
            assert parts[2] != "registry", "the registry imports the layers"
            continue
        users, modules = WORDS.get(parts[2], (set(), set()))
        lowers = any(part.startswith("to_") for part in path.relative_to(WALK).parts)
        if not (lowers and parts[2] in EDGES.get(layer, ())):
            assert layer in users, f"{name}: only a lowering imports another layer"
            assert len(parts) == 3 or parts[3] in modules, f"{name}: not what {layer} is written in"


@each_source(PACKAGE / "analysis")
def test_an_analysis_imports_no_pass(path):
    forbidden = re.compile(r"tinyc\.(passes|pipeline|runtime|dialects\.\w+\.to_|mlir\.(passmanager|rewrite))")
    assert [name for name in imports(path) if forbidden.match(name)] == []


def modules(package):
    """Return the modules and packages that stand in a package."""
    return {path.stem for path in package.glob("*.py")} - {"__init__"} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }


#: Packages that nobody reads through without being told where to begin; docs/design.md draws tinyc itself.
PACKAGES_WITH_AN_ORDER = sorted({path.parent for path in SOURCES if len(modules(path.parent)) >= 5} - {PACKAGE})


@pytest.mark.parametrize("package", PACKAGES_WITH_AN_ORDER, ids=names(PACKAGES_WITH_AN_ORDER))
def test_a_reading_order_names_each_module_of_its_package(package):
    text = ast.get_docstring(tree(package / "__init__.py")) or ""
    _, found, order = text.partition("eading order")
    assert found, "say where to begin"
    rows = re.findall(r"^    (\w+(?:, \w+)*)(?:  |$)", order, re.MULTILINE)
    assert sorted(name for row in rows for name in row.split(", ")) == sorted(modules(package))


@each_source(PACKAGE / "runtime")
def test_what_runs_programs_imports_no_dialect(path):
    assert [name for name in imports(path) if re.match(r"tinyc\.(dialects|mlir)\b", name)] == []


@each_source()
def test_nothing_imports_the_command_lines(path):
    assert [
        name
        for name in imports(path)
        if re.match(r"tinyc\.(opt|driver\.cli)\b", name) and "opt" not in path.parts and path.stem != "__main__"
    ] == []


@each_source()
def test_only_one_module_names_the_bindings(path):
    if path.parent.name != "mlir":
        assert re.search(r"numba_cuda_mlir|^\s*(from|import) mlir\b", path.read_text(), re.MULTILINE) is None


@each_source()
def test_a_file_reads_well(path):
    text = path.read_text(encoding="utf-8")
    assert path.stem not in VAGUE
    assert text.count("\n") <= 400, "split it"
    if text:
        assert ast.get_docstring(tree(path)), "what it is, what comes in, what goes out"
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno > 60] == []


def parameters(path):
    """Return the parameters of a file's functions, `self` and `cls` aside."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            starred = [each for each in (given.vararg, given.kwarg) if each is not None]
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *starred]
            yield from (each for each in every if each.arg not in ("self", "cls"))


@pytest.mark.parametrize("folder", [WALK, PACKAGE / "analysis", PACKAGE / "codegen", PACKAGE / "schemes"])
def test_a_parameter_has_a_type(folder):
    annotations = [each.annotation for path in sources(folder) for each in parameters(path)]
    untyped = [each for each in annotations if each is None or ast.unparse(each) == "Any"]
    assert len(untyped) <= 0.01 * len(annotations)


def test_the_layers_and_what_they_stand_on_are_checked_strictly():
    pyright = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pyright"]
    assert "python/tinyc/dialects" in pyright["include"], "it follows no symlink by itself"
    strict = {Path(each).name for each in pyright["strict"]}
    assert strict >= {"dialects", "analysis", "codegen", "plan", "schemes", "expr", "vocabulary"}
    assert all((ROOT / each).is_dir() for each in pyright["strict"])


@pytest.mark.parametrize("each", pipeline.PASSES, ids=lambda each: each.name)
def test_a_pass_has_one_name_in_four_places(each):
    layer, verb, *package = each.__module__.removeprefix("tinyc.dialects.").split(".")
    assert package in ([], ["lowering"]), "the pass of a package is in lowering.py"
    assert each.name == f"{layer}-{verb}".replace("_", "-")
    assert each.__name__ == "".join(part.capitalize() for part in each.name.split("-"))
    test = TESTS / "dialects" / layer / f"{verb}.mlir"
    assert test.exists()
    assert re.search(rf"RUN:.*{each.name}\b", test.read_text(encoding="utf-8"))


@pytest.mark.parametrize("each", pipeline.PASSES, ids=lambda each: each.name)
def test_a_pass_says_what_it_requires_ensures_and_does(each):
    headings = re.findall(r"^\s*(\w+)(?: \{.*\})?:$", each.__doc__ or "", re.MULTILINE)
    assert [heading for heading in headings if heading in ("Requires", "Ensures", "Before", "After")] == [
        "Requires",
        "Ensures",
        "Before",
        "After",
    ]


@pytest.mark.parametrize("each", pipeline.PASSES, ids=lambda each: each.name)
def test_the_example_of_a_pass_is_short(each):
    blocks = re.split(
        r"^    (?=\w+(?: \{.*\})?:(?: |$))", inspect.getdoc(each).replace("\n", "\n    "), flags=re.MULTILINE
    )
    examples = [block for block in blocks if block.startswith(("Before", "After"))]
    assert [block for block in examples if len(block.strip().splitlines()) > 1 + 10] == []


@functools.cache
def texts(path):
    """Return the texts of a file's code; one that is a statement is a docstring."""
    nodes = list(ast.walk(tree(path)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return tuple(node.value for node in constants if isinstance(node.value, str))


def spelt_ops(path):
    """Return the names of ops that a file spells as texts."""
    return [each for each in texts(path) if context().is_registered_operation(each)]


@each_source()
def test_ops_are_spelt_by_their_classes(path):
    if str(path.relative_to(ROOT)) not in TABLES_OF_OPS:
        assert spelt_ops(path) == [], "use the op's class"


def spelt_schemes(path):
    """Return the names of schemes that a file's texts hold: one of several words anywhere, a plain word by itself."""
    held = texts(path)
    return {
        name
        for name in SCHEME_NAMES
        if name in held or ("_" in name and any(re.search(rf"\b{name}\b", each) for each in held))
    }


def test_nothing_outside_the_folder_and_the_list_names_a_scheme():
    schemes = PACKAGE / "schemes"
    spelt = {
        (name, path.relative_to(ROOT))
        for path in SOURCES
        if schemes not in path.parents
        for name in spelt_schemes(path)
    }
    excused = [(name, where) for name, (places, _) in WORDS_BESIDE_SCHEMES.items() for where in places]
    assert {each for each in spelt if not any(each[0] == name and each[1].match(at) for name, at in excused)} == set()
    assert [each for each in excused if not any(each[0] == name and at.match(each[1]) for name, at in spelt)] == []


@each_source()
def test_a_scheme_is_imported_by_its_folder_and_the_list_only(path):
    schemes = PACKAGE / "schemes"
    for folder in (each.name for each in schemes.iterdir() if (each / "__init__.py").exists()):
        if schemes / folder not in path.parents and path != schemes / "registry.py":
            assert not any(name.startswith(f"tinyc.schemes.{folder}") for name in imports(path))


@pytest.mark.parametrize("each", pipeline.PASSES, ids=lambda each: each.name)
def test_every_option_of_a_pass_has_a_line_of_help(each):
    assert [field.name for field in dataclasses.fields(each) if not field.metadata.get("doc")] == []


def operations():
    context()  # loads the dialects
    return sorted(
        f"{layer.name}.{op._op_name.removeprefix(layer.name + '.')}"
        for layer in registry.layers()
        for op in layer.dialect.operations
    )


@pytest.mark.parametrize("operation", operations())
def test_an_op_has_a_round_trip_and_an_invalid_test(operation):
    layer = operation.partition(".")[0]
    folder = TESTS / "dialects" / FOLDER_OF.get(layer, layer)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.rglob("*.mlir")}
    spelt = {stem for stem, text in texts.items() if re.search(rf'^[^/]*"{operation}"', text, re.MULTILINE)}
    assert [stem for stem in spelt if "--verify-roundtrip" in texts[stem]], "no round trip"
    invalid = rf"expected-error.*\n(\s*//.*\n)*[^/\n]*\"{operation}\"|expected-error.*'{operation}'"
    assert [stem for stem in spelt if re.search(invalid, texts[stem])], "no invalid test"


@functools.cache
def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in CODES if name != "InternalError"])
def test_an_error_code_is_raised_and_tested(name):
    assert any(f'"{name}"' in text(path) for path in SOURCES if path.name != "diagnostics.py"), "not raised"
    spelt = re.compile(rf"\b({name}|{CODES[name]})\b")
    assert any(spelt.search(text(path)) for path in TEST_FILES if path != Path(__file__)), "not tested"


def remark_codes():
    calls = (node for path in SOURCES for node in ast.walk(tree(path)) if isinstance(node, ast.Call))
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "remark"]
    assert all(isinstance(call.args[0], ast.Constant) for call in named), "a remark's code is written where it is made"
    return {call.args[0].value for call in named}


def test_the_table_of_remarks_has_those_that_are_made():
    assert remark_codes() == set(REMARKS)


def test_every_lit_test_says_how_to_run_it_and_what_it_states():
    for path in (path for path in TEST_FILES if path.suffix == ".mlir" and "Inputs" not in path.parts):
        text = path.read_text(encoding="utf-8")
        assert "RUN:" in text, path
        assert text.startswith("//"), f"{path}: the first line says what is tested"
