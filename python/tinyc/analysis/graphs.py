"""The functions of a module as graphs: which one is the program, what the user calls its values, what it needs."""

import itertools
from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.ops import AssumeOp, Tiny
from tinyc.expr.assumption import Assumption
from tinyc.mlir import func, ir
from tinyc.mlir.names import DistinctNames
from tinyc.vocabulary.attributes import assumption_of, tensor_type

#: The attribute of an argument that is a weight: given once, not with each run.
WEIGHT = "tiny.weight"


def functions_of(module: ir.Module) -> list[func.FuncOp]:
    """The functions of a module that have a body."""
    return [op for op in module.body.operations if isinstance(op, func.FuncOp) and not op.is_external]


def main_function(module: ir.Module) -> func.FuncOp:
    """The function that a module's program is.

    Raises:
        TinycError: `InvalidIr`: there is none, or several and none of them is `@main`.
    """
    return main_of(functions_of(module))


def main_of(candidates: Sequence[func.FuncOp]) -> func.FuncOp:
    """`@main`, or the only one of some functions.

    Raises:
        TinycError: `InvalidIr`.
    """
    found = {function.sym_name.value: function for function in candidates}
    if "main" in found:
        return found["main"]
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise TinycError("InvalidIr", "the module has no function to run; it needs one of tensors, called @main")
    names = ", ".join(f"@{name}" for name in found)
    raise TinycError("InvalidIr", f"the module needs one function to run, called @main; it has {names}")


def body_block(graph: ir.OpView) -> ir.Block:
    """The first block of a function or a kernel; a Tiny graph has no other."""
    return graph.regions[0].blocks[0]


def needed_ops(block: ir.Block) -> list[ir.OpView]:
    """The ops of a block that what it returns or yields needs, in order: what is dead has no say in the numbers.

    An op that takes values and gives none hands them out of the block: a `func.return`, the yield of a kernel or of a
    statement.
    """
    needed: list[ir.OpView] = []
    read: set[ir.Value] = set()
    for op in reversed(list(block.operations)):
        if any(each in read for each in op.results) or (len(op.operands) and not len(op.results)):
            read.update(op.operands)
            needed.append(op)
    return needed[::-1]


def assumptions_of(block: ir.Block) -> list[Assumption]:
    """The relations that the `tiny.assume` ops of a block state."""
    return [assumption_of(op) for op in block.operations if isinstance(op, AssumeOp)]


def is_graph(function: func.FuncOp) -> bool:
    """Whether a function is a Tiny graph: one block of Tiny ops on tensors; not a host function, not loops."""
    if len(function.regions[0].blocks) != 1:
        return False
    block = body_block(function)
    ops = [op for op in block.operations if not isinstance(op, func.ReturnOp)]
    values = [*block.arguments, *(result for op in ops for result in op.results)]
    return all(isinstance(op, Tiny.Operation) for op in ops) and all(is_tensor(value.type) for value in values)


def is_tensor(mlir_type: ir.Type) -> bool:
    """Whether a type is one of Tiny's tensor types."""
    try:
        tensor_type(mlir_type)
    except TinycError:
        return False
    return True


def input_names(function: func.FuncOp) -> list[str]:
    """The user's names for the arguments of a function: `tiny.name`s, `arg0`, `arg1`, … where there is none."""
    return _boundary_names(function, "arg_attrs", "arg", len(body_block(function).arguments))


def output_names(function: func.FuncOp) -> list[str]:
    """The user's names for the results of a function: `tiny.name`s, `result0`, … where there is none."""
    return _boundary_names(function, "res_attrs", "result", len(function.type.results))


def _boundary_names(function: func.FuncOp, which: str, default: str, count: int) -> list[str]:
    """Distinct names: those that are given stay as they are, the others make way."""
    given = _given_names(function, which) or [None] * count
    names = DistinctNames()
    kept = [name and names.new(name) for name in given]
    return [name or names.new(f"{default}{position}") for position, name in enumerate(kept)]


def _given_names(function: func.FuncOp, which: str) -> list[str | None]:
    """The `tiny.name` of each argument or result, None where it has none; empty where no one has attributes."""
    entries = function.attributes.get(which, None)
    if not isinstance(entries, ir.ArrayAttr):
        return []
    names = (each["tiny.name"] if isinstance(each, ir.DictAttr) and "tiny.name" in each else None for each in entries)
    return [each.value if isinstance(each, ir.StringAttr) else None for each in names]


def weight_flags(function: func.FuncOp) -> list[bool]:
    """For each argument of a function whether it is declared a weight, by the attribute `tiny.weight`."""
    entries = function.attributes.get("arg_attrs", None)
    if not isinstance(entries, ir.ArrayAttr):
        return [False] * len(body_block(function).arguments)
    return [isinstance(each, ir.DictAttr) and WEIGHT in each for each in entries]


def value_names(graph: ir.OpView) -> dict[ir.Value, str]:
    """A distinct name for each tensor of the one block of a function, a kernel or a statement.

    An argument of a function is called as the user calls it, a result by its op's node id (the name location; ``id#1``
    for a second result); results without are `v0`, `v1`, … in order. A name that is taken already is numbered.
    """
    names = DistinctNames()
    found: dict[ir.Value, str] = {}
    block = body_block(graph)
    if isinstance(graph, func.FuncOp):
        for argument, name in zip(block.arguments, input_names(graph), strict=True):
            found[argument] = names.new(name)
    else:
        tensors = (argument for argument in block.arguments if is_tensor(argument.type))
        found.update((argument, names.new(f"arg{argument.arg_number}")) for argument in tensors)
    anonymous = (name for number in itertools.count() if (name := f"v{number}") not in names.taken)
    for op in block.operations:
        location = op.location
        node = location.name_str if isinstance(location, ir.NameLoc) else None
        for position, result in enumerate(op.results):
            wanted = f"{node}#{position}" if node and position else node
            found[result] = names.new(wanted or next(anonymous))
    return found
