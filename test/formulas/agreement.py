"""An op of the Frontend layer on arrays, by each way that there is: what the tests of formulas share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tinyc
from tinyc.dialects.frontend import ops as frontend
from tinyc.dialects.registry import context
from tinyc.executors import reference
from tinyc.executors.elements import element_of
from tinyc.formulas.registry import find_schema, result_types
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import to_type
from tinyc.vocabulary.types import TensorType


def module_of(op: str, operands: Mapping[str, TensorType], **attributes: Any) -> ir.Module:
    """The module of one op: `"softmax"`, or `"elementwise gelu"` with a selector."""
    name, _, choice = op.partition(" ")
    schema = find_schema(name, choice or None)
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
                made = frontend.build_op(schema, dict(zip(operands, block.arguments, strict=True)), attributes, results)
                func.ReturnOp(list(made.results))
    return module


def results_of(op: str, operands: Mapping[str, np.ndarray], target: str = "cpu", **attributes: Any) -> list[np.ndarray]:
    """The results of an op that has been compiled for a target, `"frontend"` for the numpy of its own layer."""
    module = module_of(
        op, {name: TensorType(element_of(x.dtype), x.shape) for name, x in operands.items()}, **attributes
    )
    if target == "frontend":
        return list(reference.evaluate_module(module, operands).values())
    return list(tinyc.compile(module, target).run_named(operands).values())


def assert_op_agrees(
    op: str,
    operands: Mapping[str, np.ndarray],
    expected: Sequence[np.ndarray] | np.ndarray | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **attributes: Any,
) -> None:
    """Assert that the CPU gives what numpy gives at the Frontend layer, and both what is `expected`."""
    reference_results = results_of(op, operands, "frontend", **attributes)
    found = results_of(op, operands, "cpu", **attributes)
    pairs = list(zip(found, reference_results, strict=True))
    if expected is not None:
        listed = [expected] if isinstance(expected, np.ndarray) else list(expected)
        pairs += zip(reference_results, listed, strict=True)
    for one, other in pairs:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        wide = np.float64 if one.dtype.kind == "f" or one.dtype.name == "bfloat16" else one.dtype
        np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol=rtol, atol=atol)
