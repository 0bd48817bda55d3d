"""What stands in the body of a statement, and the code that stores what it yields."""

from typing import Any

from tinyc.codegen.elements import Elements, Index
from tinyc.dialects.region.verify import block_of, yields_of


def only(statement: Any, name: str) -> Any:
    """Return the one op called `name` in the body of a statement."""
    (found,) = (op for op in block_of(statement).operations if op.operation.name == name)
    return found


def loaded_value(load: Any) -> Any:
    """Return the value of which a `tgpu.load_tile` takes a tile."""
    return only(load, "tgpu.yield").operation.operands[0]


def outputs_of(statement: Any) -> dict[Any, Any]:
    """Return the buffer that each yielded value is written to."""
    return {each.operation.operands[0]: each.operation.operands[1] for each in yields_of(statement)}


def store(elements: Elements, yields: list[Any], index: Index) -> None:
    """Emit element `index` of the outputs of `yields`."""
    for yielding in yields:
        value, output = yielding.operation.operands
        elements.store(output, index, elements.at(value, index))
