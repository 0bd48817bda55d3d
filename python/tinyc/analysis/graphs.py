"""The Tiny graphs of a module, and names for their values, as the side tables print them."""

from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import tensor_type


def is_graph(function: Any) -> bool:
    """Say whether a function is a Tiny graph: one block of Tiny ops on tensors; not a host function, not loops."""
    blocks = list(function.regions[0].blocks)
    values = [*blocks[0].arguments, *(result for op in blocks[0].operations for result in op.operation.results)]
    names = {op.operation.name for op in blocks[0].operations} - {"func.return"}
    return (
        len(blocks) == 1
        and all(name.startswith("tiny.") for name in names)
        and all(_is_tensor(value.type) for value in values)
    )


def _is_tensor(mlir_type: Any) -> bool:
    try:
        tensor_type(mlir_type)
    except TinycError:
        return False
    return True


def value_names(function: Any) -> dict[Any, str]:
    """Return a distinct name for each value of the function's one block.

    An argument is called by its `tiny.name`, a result by its op's node id (the name location; ``id#1`` for a second
    result); values without either are `v0`, `v1`, … in order. A name that is taken already is numbered.
    """
    names = _Names()
    block = function.regions[0].blocks[0]
    attributes = function.operation.attributes
    given = list(attributes["arg_attrs"]) if "arg_attrs" in attributes else [{}] * len(block.arguments)
    for argument, each in zip(block.arguments, given, strict=True):
        names.add(argument, each["tiny.name"].value if "tiny.name" in each else None)
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
