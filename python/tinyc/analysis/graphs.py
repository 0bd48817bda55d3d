"""The functions of a module as graphs: which one is the program, what the user calls its values, what it needs."""

from collections.abc import Sequence
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.verify import functions

#: What a block hands its values to, when it is a kernel's body or the body of a statement on a GPU.
YIELDS = ("region.yield", "tgpu.yield")


def main_function(module: Any) -> Any:
    """Return the function that a module's program is.

    Raises:
        TinycError: `InvalidIr`: there is none, or several and none of them is `@main`.
    """
    return main_of(functions(module))


def main_of(candidates: Sequence[Any]) -> Any:
    """Return `@main`, or the only one of some functions.

    Raises:
        TinycError: `InvalidIr`.
    """
    found = {function.name.value: function for function in candidates}
    if "main" in found:
        return found["main"]
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise TinycError("InvalidIr", "the module has no function to run; it needs one of tensors, called @main")
    names = ", ".join(f"@{name}" for name in found)
    raise TinycError("InvalidIr", f"the module needs one function to run, called @main; it has {names}")


def needed_ops(block: Any) -> list[Any]:
    """Return the ops of a block that its `return` or yields need, in order: what is dead has no say in the numbers."""
    needed: list[Any] = []
    read: set[Any] = set()
    for op in reversed(list(block.operations)):
        if op.operation.name in ("func.return", *YIELDS) or any(each in read for each in op.operation.results):
            read.update(op.operation.operands)
            needed.append(op)
    return needed[::-1]


def is_graph(function: Any) -> bool:
    """Say whether a function is a Tiny graph: one block of Tiny ops on tensors; not a host function, not loops."""
    blocks = list(function.regions[0].blocks)
    values = [*blocks[0].arguments, *(result for op in blocks[0].operations for result in op.operation.results)]
    names = {op.operation.name for op in blocks[0].operations} - {"func.return"}
    return (
        len(blocks) == 1
        and all(name.startswith("tiny.") for name in names)
        and all(is_tensor(value.type) for value in values)
    )


def is_tensor(mlir_type: Any) -> bool:
    """Say whether a type is one of Tiny's tensor types."""
    try:
        tensor_type(mlir_type)
    except TinycError:
        return False
    return True


def input_names(function: Any) -> list[str]:
    """Return what the user calls the arguments of a function: `tiny.name`s, `arg0`, `arg1`, … where there is none."""
    return _boundary_names(function, "arg_attrs", "arg", len(function.regions[0].blocks[0].arguments))


def output_names(function: Any) -> list[str]:
    """Return what the user calls the results of a function: `tiny.name`s, `result0`, … where there is none."""
    results = function.operation.attributes["function_type"].value.results
    return _boundary_names(function, "res_attrs", "result", len(results))


def _boundary_names(function: Any, which: str, default: str, count: int) -> list[str]:
    """Return distinct names: those that are given stay as they are, the others make way."""
    attributes = function.operation.attributes
    entries = list(attributes[which]) if which in attributes else [{}] * count
    given = [each["tiny.name"].value if "tiny.name" in each else None for each in entries]
    names: list[str] = []
    for position, name in enumerate(given):
        name = wanted = name or f"{default}{position}"
        number = 0
        while name in names or (given[position] is None and name in given):
            number += 1
            name = f"{wanted}_{number}"
        names.append(name)
    return names


def value_names(function: Any) -> dict[Any, str]:
    """Return a distinct name for each value of the function's one block.

    An argument is called as the user calls it, a result by its op's node id (the name location; ``id#1`` for a second
    result); results without are `v0`, `v1`, … in order. A name that is taken already is numbered.
    """
    names = _Names()
    block = function.regions[0].blocks[0]
    for argument, name in zip(block.arguments, input_names(function), strict=True):
        names.add(argument, name)
    for op in block.operations:
        node = getattr(op.operation.location, "name_str", None)
        for position, result in enumerate(op.operation.results):
            names.add(result, f"{node}#{position}" if node and position else node)
    return names.of


class _Names:
    def __init__(self) -> None:
        self.of: dict[Any, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self._anonymous = 0

    def add(self, value: Any, wanted: str | None) -> None:
        name = wanted or self._next_anonymous()
        while name in self._taken:
            if wanted is None:
                name = self._next_anonymous()
            else:
                self._counts[wanted] = self._counts.get(wanted, 0) + 1
                name = f"{wanted}_{self._counts[wanted]}"
        self._taken.add(name)
        self.of[value] = name

    def _next_anonymous(self) -> str:
        self._anonymous += 1
        return f"v{self._anonymous - 1}"
