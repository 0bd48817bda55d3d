"""The words of the house: a public name has one home, and the code speaks the glossary's language and no other.

A reader who meets a name should know which thing it is without looking at the imports, and should find the field's word
for it. The glossary is the table in `dialects/README.md`.
"""

import ast
import functools
import re
from collections import defaultdict

import pytest

from parameters import for_each_file
from test_structure import ROOT, SOURCES, WALK, sources, tree

PTXSIM = sources(ROOT / "python" / "ptxsim")
PACKAGES = {"tinyc": SOURCES, "ptxsim": PTXSIM}
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *WALK.rglob("*.md"), *ROOT.glob("bench/*.py")]

AN_OP = "an op's class is called as the op, and its dialect stands before it: `tiny.ViewOp`, `poly.ViewOp`"
OF_INSTRUCTIONS = tuple(
    f"python/ptxsim/{mechanism}.py"
    for mechanism in ("copies/*", "engine/handlers", "instructions/*", "matrix/*", "mbarrier/*", "wgmma/*")
)
#: A name that several modules define on purpose → where they are, and who asks each of them for it.
INTERFACES = {
    **dict.fromkeys(("AssumeOp", "KernelOp", "NonScopOp", "ViewOp"), (("dialects/*/ops.py",), AN_OP)),
    **dict.fromkeys(("TopkOp", "YieldOp"), (("dialects/*/ops.py", "dialects/gpu/statements/*.py"), AN_OP)),
    "verify": (("dialects/*/verify.py",), "what holds in a layer as a whole: `registry.py` lists it with the layer"),
    "expand": (("dialects/gpu/expand/*.py",), "what a statement is for one thread: `--gpu-expand` asks by its class"),
    "lower": (("dialects/gpu/to_nvvm/*.py",), "what a scalar op is in `llvm`: `--gpu-to-nvvm` asks by its class"),
    "text": (("dialects/cuda/printer/ops/*.py",), "what a scalar op is in C++: the printer asks by its class"),
    "expression": (("dialects/cuda/printer/ops/*.py",), "what one without effects is: the printer asks by its class"),
    "CALLED_FUNCTIONS": (("dialects/cuda/printer/ops/*.py",), "the C++ functions that the `text` beside it calls"),
    "compute": (("dialects/cuda/main/reference/*.py",), "what a statement is on the host: asked for by its class"),
    "ROWS": (("python/tinyc/vocabulary/elementwise/*.py",), "the rows of a file; those of all files in the package"),
    "RULES": (
        ("python/tinyc/vocabulary/infer/*.py", "python/tinyc/importers/onnx/patterns/*.py"),
        "the rules of a file; those of all files in the package, and in `patterns/fusion.py`",
    ),
    "FORMULAS": (("python/tinyc/formulas/*.py",), "the formulas of a family; `registry.py` puts them together"),
    "IN_NUMPY": (("python/tinyc/executors/frontend/*.py",), "the numpy of a family; `evaluation.py` puts it together"),
    "HANDLERS": (
        (*OF_INSTRUCTIONS, "python/tinyc/importers/onnx/handlers/*.py"),
        "the opcodes of a file, the op types of a family; `engine/handlers.py`, `handlers/registry.py` put them in one",
    ),
    "log": (
        ("python/tinyc/codegen/software_math/log.py", "python/tinyc/formulas/elementwise.py"),
        "the natural logarithm, of an element in code and of a value as a formula",
    ),
    "main": (("python/tinyc/driver/cli.py", "python/tinyc/opt/main.py"), "a command of `pyproject.toml`"),
    "parse": (
        ("python/tinyc/text/reading.py", "python/tinyc/pipeline.py"),
        "promised to users: `text.parse` reads IR, `pipeline.parse` a pipeline",
    ),
    "load": (
        ("python/tinyc/driver/load.py", "python/tinyc/simulator.py"),
        "promised to users: `tinyc.load` reads a model, `simulator.load` PTX",
    ),
    "BUILDERS": (("python/ptxsim/semantics/*.py",), "the opcodes of a file; the engine puts them together"),
}


def defined(node):
    """Yield the names that a module's text gives a meaning at its top; what it imports, deferred or not, has one."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Assign() if "Deferred(" in ast.unparse(node.value):
            return
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from defined(child)


@functools.cache
def homes(package):
    """Return every public name that several modules of a package define, with these modules."""
    found = defaultdict(set)
    for path in PACKAGES[package]:
        for name in defined(tree(path)):
            if not name.startswith("_"):
                found[name].add(path.relative_to(ROOT))
    return {name: modules for name, modules in found.items() if len(modules) > 1}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_name_is_defined_in_one_module(package):
    twins = {
        name: sorted(str(module) for module in modules)
        for name, modules in homes(package).items()
        if not all(any(module.match(where) for where in INTERFACES.get(name, ([], ""))[0]) for module in modules)
    }
    assert twins == {}, "say what each of them is, make it private, or list the interface that it is a member of"


@pytest.mark.parametrize("name", INTERFACES)
def test_an_interface_has_several_members(name):
    members = {module for package in PACKAGES for module in homes(package).get(name, ())}
    assert [where for where in INTERFACES[name][0] if not any(module.match(where) for module in members)] == []


def glossary():
    """Return the rows of the glossary: a term, what it means, and the words that it stands in place of."""
    text = (WALK / "README.md").read_text(encoding="utf-8").partition("## Glossary")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {term: [word for word in instead.split(", ") if word] for term, _, instead in rows[2:]}


GLOSSARY = glossary()
OTHERS = {word: term for term, instead in GLOSSARY.items() for word in instead}
#: Words that are not ours to choose: the specification's, of a buffer between two blocks, and those of ONNX and CUDA.
PROMISED = re.compile("smem_ring|data_?type|DataType|DATA_TYPE")


def found(term, text):
    """Return whether a text, in lower case, says a term, in whatever form: `circular buffers`, `circular_buffer`."""
    words = re.split("[ -]", term.lower())
    if words[0] not in text:  # most are not, and that is found in no time
        return None
    spelt = r"[\s_-]*(?:#:?\s+|//\s+)?".join(map(re.escape, words))
    return re.search(rf"(?<![a-z]){spelt}(?:s|es|d|ed|ing)?(?![a-z])", text)


def prose(path):
    """Return a file's text in lower case, without the glossary, which has the words that it replaces."""
    text = path.read_text(encoding="utf-8")
    return PROMISED.sub("", text.partition("## Glossary")[0] if path == WALK / "README.md" else text).lower()


def test_the_glossary_is_in_order_and_says_what_it_replaces():
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)
    assert {"CTA", "circular buffer", "deadlock"} <= set(OTHERS.values())


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_of_the_glossary_is_a_word_of_the_code(term):
    assert any(found(term, prose(path)) for path in [*SOURCES, *PTXSIM])


def test_the_terms_that_the_style_names_are_in_the_glossary():
    style = (ROOT / "docs" / "style.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"as the glossary of .*? has them: (.*?)\.", style, re.DOTALL)
    assert set(re.split(r",\s+", listed)) - GLOSSARY.keys() == set()


@for_each_file([*SOURCES, *PTXSIM, *DOCUMENTS], ROOT)
def test_no_other_word_stands_in_place_of_the_glossarys(path):
    text = prose(path)
    assert {word: f"say {term}" for word, term in OTHERS.items() if found(word, text)} == {}
