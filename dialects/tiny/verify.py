"""What holds in the Tiny layer as a whole, beyond what each op's verifier sees.

A Tiny function is one block of Tiny ops; its arguments and results carry distinct, non-empty `tiny.name`s; each
relation between extents that an op relies on stands as a `tiny.assume` in the same block.
"""

from collections.abc import Iterator

from tinyc.analysis.graphs import WEIGHT, assumptions_of, functions_of
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.op_verifier import infer_op
from tinyc.dialects.tiny.ops import AssumeOp, TinyOp
from tinyc.expr.assumption import Assumption
from tinyc.mlir import func, ir
from tinyc.mlir.verifying import Violation, report_violations
from tinyc.vocabulary.attributes import tensor_type


def verify(module: ir.Module) -> bool:
    """Check every function of the layer; report each violation at its location and return whether there was none."""
    return report_violations(violations(module))


def violations(module: ir.Module) -> Iterator[Violation]:
    """Yield each violation in `module`."""
    for function in functions_of(module):
        if not _has_tiny(function):
            continue
        yield from _names(function)
        if len(function.regions[0].blocks) != 1:
            yield function.location, f"function @{function.name.value} must be a single block: Tiny has no control flow"
            continue
        yield from _types(function)
        yield from _missing_assumptions(function.regions[0].blocks[0])


def _has_tiny(function: func.FuncOp) -> bool:
    ops = (op for block in function.regions[0].blocks for op in block.operations)
    return any(isinstance(op, TinyOp | AssumeOp) for op in ops) or any(
        "tiny.name" in attributes for attributes in _attributes(function, "arg_attrs")
    )


def _attributes(function: func.FuncOp, which: str) -> list[ir.DictAttr]:
    found = function.attributes.get(which)
    return [each for each in found if isinstance(each, ir.DictAttr)] if isinstance(found, ir.ArrayAttr) else []


def _names(function: func.FuncOp) -> Iterator[Violation]:
    for which, what in (("arg_attrs", "argument"), ("res_attrs", "result")):
        seen: set[str] = set()
        for position, attributes in enumerate(_attributes(function, which)):
            if WEIGHT in attributes and not isinstance(attributes[WEIGHT], ir.UnitAttr):
                yield function.location, f"{what} {position}: {WEIGHT} {attributes[WEIGHT]} must stand without a value"
            if "tiny.name" not in attributes:
                continue
            name = attributes["tiny.name"]
            if not isinstance(name, ir.StringAttr) or not name.value or name.value in seen:
                yield function.location, f"{what} {position}: tiny.name {name} must be a distinct, non-empty string"
                continue
            seen.add(name.value)


def _types(function: func.FuncOp) -> Iterator[Violation]:
    for value in function.arguments:
        try:
            tensor_type(value.type)
        except TinycError as error:
            yield function.location, f"argument {value.arg_number}: {error.message} [{error.code} {error.name}]"


def _missing_assumptions(block: ir.Block) -> Iterator[Violation]:
    stated = set(assumptions_of(block))
    for op in block.operations:
        if isinstance(op, TinyOp):
            for needed in infer_op(op).assumptions:
                if needed not in stated:
                    yield op.location, f"'{op.name}' {unstated(needed)}"


def unstated(needed: Assumption) -> str:
    """The message about an op that relies on `needed` where nothing states it."""
    sides = f'lhs = "{needed.lhs}", predicate = "{needed.predicate}", rhs = "{needed.rhs}"'
    return f'relies on {needed}, which nothing states; add "tiny.assume"() {{{sides}}}'
