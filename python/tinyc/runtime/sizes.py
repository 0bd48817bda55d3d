"""The sizes of one run: what the symbols are, and that everything the program relies on holds.

In: a program and the shapes of its inputs. Out: the symbols' values; after `check`, every extent, size and offset of
the program is one that memory can have.
"""

from collections.abc import Mapping, Sequence

from tinyc.analysis import equations, extents
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.diagnostics import TinycError, Where
from tinyc.runtime.arena import memory_bytes
from tinyc.runtime.program import Assumption, Buffer, Program


def solve(program: Program, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """Return the value of every symbol.

    Raises:
        TinycError: `InputMismatch`: the shapes are not the declared ones, or contradict each other; `UnboundSymbol`:
            they do not tell a symbol.
    """
    pairs = [
        (extent, size, f"axis {axis} of input '{name}'")
        for name, buffer, shape in zip(program.inputs, program.of_kind("input"), shapes, strict=True)
        for axis, (extent, size) in enumerate(zip(buffer.shape, shape, strict=True))
    ]
    try:
        values = equations.solve(pairs)
    except ExtentError as error:
        raise TinycError("InputMismatch", f"{error}") from None
    missing = [name for name in program.symbols if name not in values]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise TinycError("UnboundSymbol", f"the inputs do not tell {names}; bind it when the program is compiled")
    return values


def check(program: Program, values: Mapping[str, int]) -> None:
    """Check the assumptions, that no extent is negative, and that the memory of one run can exist.

    Raises:
        TinycError: `AssumptionViolated`, with the sizes; `OutOfMemory`.
    """
    for assumption in program.assumptions:
        _check_assumption(assumption, values)
    for buffer in program.buffers:
        _check_extents(buffer, values)
    fresh = sum(evaluate(buffer.size, values) for buffer in program.of_kind("output"))
    needed = fresh + evaluate(program.arena_bytes, values)
    if needed > memory_bytes():
        raise TinycError(
            "OutOfMemory",
            f"the outputs and the arena need {needed} bytes{_at(values)}, and this machine has {memory_bytes()} bytes "
            "of memory; use smaller inputs",
        )


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """Return the value of an extent.

    Raises:
        TinycError: `AssumptionViolated`: a division by zero.
    """
    try:
        return extents.evaluate(dim, values)
    except ExtentError as error:
        raise TinycError("AssumptionViolated", f"{error}{_at(values)}; give inputs of other sizes") from None


def _check_assumption(assumption: Assumption, values: Mapping[str, int]) -> None:
    left, right = evaluate(assumption.lhs, values), evaluate(assumption.rhs, values)
    if left == right or (assumption.predicate == "le" and left < right):
        return
    raise TinycError(
        "AssumptionViolated",
        f"the program needs {assumption}, and that is {left} and {right}{_at(values)}; give inputs whose sizes fit",
    )


def _check_extents(buffer: Buffer, values: Mapping[str, int]) -> None:
    for axis, extent in enumerate(buffer.shape):
        size = evaluate(extent, values)
        if size < 0:
            raise TinycError(
                "AssumptionViolated",
                f"axis {axis} of {buffer.name} would have {extent} = {size} elements{_at(values)}; give larger inputs",
                Where(node=buffer.name),
            )


def _at(values: Mapping[str, int]) -> str:
    return f" with {', '.join(f'{name} = {value}' for name, value in values.items())}" if values else ""
