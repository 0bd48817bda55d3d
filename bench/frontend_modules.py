"""An op of the Frontend layer alone in a module: what benches measure, and what the tests of formulas run."""

from collections.abc import Mapping
from typing import Any

from tinyc.dialects.frontend import ops as frontend
from tinyc.dialects.registry import context
from tinyc.formulas.registry import result_types, schema_named
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import to_type
from tinyc.vocabulary.types import TensorType


def module_of(op: str, operands: Mapping[str, TensorType], **attributes: Any) -> ir.Module:
    """The module of one op, whose operands are inputs: `"softmax"`, or `"elementwise gelu"` with a selector.

    Raises:
        TinycError: a rule of the op.
    """
    schema = schema_named(op)
    results = result_types(schema, operands, attributes)
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            types = [to_type(each) for each in operands.values()]
            function = func.FuncOp("main", (types, [to_type(each) for each in results]))
            names = [ir.DictAttr.get({"tiny.name": ir.StringAttr.get(name)}) for name in operands]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(names)
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                given = dict(zip(operands, block.arguments, strict=True))
                func.ReturnOp(list(frontend.build_op(schema, given, attributes, results).results))
    return module
