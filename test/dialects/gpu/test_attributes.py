"""The verifier of statements takes or refuses, at a place, whatever stands for an attribute of an emitted kernel."""

from pathlib import Path

import pytest

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.registry import context
from tinyc.mlir import ir
from tinyc.mlir.bodies import ops_inside
from tinyc.mlir.fields import field_kinds
from tinyc.passes.runner import verify_layers
from tinyc.text import IrError, parse

HERE = Path(__file__).parent
#: Emitted kernels: products by warps and by warpgroups, of fragments, of slices of k.
KERNELS = ("round_trip_warps", "round_trip_warpgroups", "round_trip_fragments", "round_trip_slices")
#: A value of each kind, and lists of other lengths; numbers that are far too small or too large.
VALUES = (
    *("unit", "true", "5 : i64", "-16 : i64", "9223372036854775807 : i64", "7 : i128", "0.5 : f32", '"Q"', "@k", "i64"),
    *("[]", "[0]", '["Q"]', '["rows"]', '[["Q", "Q"]]', "[[0, 0], [-1, -8]]", "[unit]", "{}"),
    *("array<i64>", "array<i64: -64, 64>", "array<i64: 0, 0>", "array<i64: 9, 9, 9>", "array<i32: 2, 2>"),
)


@pytest.mark.parametrize("name", KERNELS)
def test_an_attribute_of_any_kind_is_taken_or_refused_at_its_statement(name):
    module = parse((HERE / f"{name}.mlir").read_text(encoding="utf-8"))
    with context():
        values = [ir.Attribute.parse(value) for value in VALUES]
        statements = {type(op): op for op in ops_inside(module.operation) if isinstance(op, TgpuOp)}  # one of each
        for op in statements.values():
            for attribute in list(op.attributes):
                refused = [error for value in values if (error := refusal(module, op, attribute, value)) is not None]
                assert all(each.where.line for error in refused for each in error.diagnostics), op.operation.name
                assert refused or attribute not in field_kinds(type(op)), (op.operation.name, attribute)
        verify_layers(module)


def refusal(module, op, name, value):
    """The error of the module with a value as an attribute of an op, or None."""
    given = op.attributes[name]
    op.attributes[name] = value
    try:
        verify_layers(module)
    except IrError as error:
        return error
    finally:
        op.attributes[name] = given
    return None
