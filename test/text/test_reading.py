"""Reading IR text: locations, and every message of MLIR's in one error."""

import pytest

from tinyc import text
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.registry import context
from tinyc.mlir import ir


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('loc("a.mlir":3:5)', Where(None, "a.mlir", 3, 5)),
        ('loc("n3"("a.mlir":3:5))', Where("n3", "a.mlir", 3, 5)),
        ('loc("n3")', Where("n3")),
        ("loc(unknown)", Where()),
        ('loc(fused["a.mlir":3:5, "b"])', Where(None, "a.mlir", 3, 5)),
        ('loc(callsite("f" at "a.mlir":3:5))', Where(None, "a.mlir", 3, 5)),
        ('loc("a \\22quoted\\22 é"("b":1:2))', Where('a "quoted" é', "b", 1, 2)),
    ],
)
def test_where(location, place):
    with context():
        op = ir.Operation.parse(f"module {{}} {location}")
        assert text.where(op.location) == place


@pytest.mark.parametrize("source", ["module { func.func @f() { return } }", "func.func @f() { return }\n" * 1])
def test_the_file_name_is_in_the_locations(source):
    module = text.parse(source, "some/file.mlir")
    assert text.where(module.body.operations[0].location).file == "some/file.mlir"


def test_several_top_level_ops_keep_file_and_line():
    module = text.parse("func.func @f() { return }\n\nfunc.func @g() { return }\n", "some/file.mlir")
    places = [text.where(op.location) for op in module.body.operations]
    assert places == [Where(None, "some/file.mlir", 1, 1), Where(None, "some/file.mlir", 3, 1)]


def test_the_attributes_of_a_module_are_kept():
    module = text.parse('module @name attributes {x.y = "z"} {}')
    assert str(module).startswith('module @name attributes {x.y = "z"}')


def test_a_refusal_carries_the_notes():
    with pytest.raises(text.IrError) as caught:
        text.parse("func.func @f() { return }\nfunc.func @f() { return }", "a.mlir")
    error = caught.value
    assert (error.name, error.where) == ("InvalidIr", Where(None, "a.mlir", 2, 1))
    assert "redefinition of symbol" in str(error)
    notes = [(note.where.line, note.message) for note in error.diagnostics[0].notes]
    assert (1, "see existing symbol definition here") in notes


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(TinycError, match="is not UTF-8 text"):
        text.parse(b"\x80", "a.mlir")


def test_a_module_that_does_not_verify_is_refused():
    module = text.parse("func.func @f() { return }\nfunc.func @g() { return }")
    with context():
        module.body.operations[0].attributes["sym_name"] = ir.StringAttr.get("g")
    with pytest.raises(text.IrError, match="redefinition of symbol named 'g'"):
        text.verify_op(module.operation)
