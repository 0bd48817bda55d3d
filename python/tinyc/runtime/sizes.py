"""The sizes of one run: what the symbols are, and that everything the program relies on holds.

In: a program and the shapes of its inputs. Out: the symbols' values; after `check_sizes`, every extent, size and offset
of the program is one that memory can have.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.maximum import Maximum, MaximumDim
from tinyc.expr.size_equations import solve_sizes
from tinyc.runtime.arena import memory_bytes
from tinyc.runtime.program import Buffer, Grid, Program
from tinyc.vocabulary.run_key import RUN_KEY


def solve_symbols(program: Program, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The value of every symbol; of the key of random numbers, which is no size, it is 0.

    Raises:
        TinycError: `InputMismatch`: the shapes are not the declared ones, or contradict each other; `UnboundSymbol`:
            they do not tell a symbol.
    """
    declared = [buffer.shape for buffer in program.of_kind("input")]
    values = shape_symbols(zip(program.inputs, declared, shapes, strict=True))
    values |= {RUN_KEY: 0} if RUN_KEY in program.symbols else {}
    _require_values(program.symbols, values)
    return values


def shape_symbols(inputs: Iterable[tuple[str, Sequence[Dim], Sequence[int]]]) -> dict[str, int]:
    """The values of the symbols, from the name, the declared and the actual shape of each input.

    Raises:
        TinycError: `InputMismatch`: an extent is not the declared one, or two inputs contradict each other.
    """
    pairs = [
        (extent, size, f"axis {axis} of input '{name}'")
        for name, declared, actual in inputs
        for axis, (extent, size) in enumerate(zip(declared, actual, strict=True))
    ]
    try:
        return solve_sizes(pairs)
    except ExtentError as error:
        raise TinycError("InputMismatch", f"{error}") from None


def _require_values(symbols: Iterable[str], values: Mapping[str, int]) -> None:
    missing = ", ".join(f"'{name}'" for name in symbols if name not in values)
    if missing:
        raise TinycError("UnboundSymbol", f"the inputs do not tell {missing}; bind it when the program is compiled")


def check_sizes(program: Program, values: Mapping[str, int]) -> None:
    """Check the assumptions, that no extent is negative, and that the memory of one run can exist on this machine.

    What is on a device is the device's to refuse.

    Raises:
        TinycError: `AssumptionViolated`, with the sizes; `OutOfMemory`.
    """
    check_assumptions(program.assumptions, values)
    for buffer in program.buffers:
        _check_extents(buffer, values)
    needed = {"the outputs": sum(extent_value(buffer.size, values) for buffer in program.of_kind("output"))}
    if not program.is_on_device:
        needed |= {"the arena": extent_value(program.arena_bytes, values), "the ConstPool": program.pool_bytes}
    if sum(needed.values()) > memory_bytes():
        shown = ", ".join(f"{what} {size_bytes}" for what, size_bytes in needed.items())
        remedy = "use smaller inputs"
        if needed.get("the ConstPool", 0) > memory_bytes():
            remedy = "its weights and constants alone are too large, so use a machine with more memory"
        message = f"a run needs {sum(needed.values())} bytes{at_values(values)} ({shown}), and this machine has "
        raise TinycError("OutOfMemory", f"{message}{memory_bytes()} bytes of memory; {remedy}")


class RequiredMemory(NamedTuple):
    """The bytes that runs at some sizes need: the arena, the constants that are kept, and the caller's arrays."""

    arena: int
    pool: int
    inputs: int
    outputs: int


def required_memory(program: Program, given: Mapping[str, Any]) -> RequiredMemory:
    """The memory that a program needs where its symbols have the values that are given.

    Raises:
        TinycError: `InvalidExtent`: one is no size, or of no symbol; `UnboundSymbol`: one has none;
            `AssumptionViolated`.
    """
    known = [name for name in program.symbols if name != RUN_KEY]
    for name, value in given.items():
        if name not in known:
            raise TinycError("InvalidExtent", f"the program has no symbol '{name}'{suggest(name, known)}")
        if extents.natural(value) is None:
            raise TinycError("InvalidExtent", f"'{name}' is {value!r}, no size; give an integer in 0 … 2^63 - 1")
    values = {**dict.fromkeys(program.symbols, 0), **{name: int(value) for name, value in given.items()}}
    missing = [name for name in known if name not in given]
    if missing:
        message = f"the memory depends on {', '.join(map(repr, missing))}; give a size: {missing[0]}=…"
        raise TinycError("UnboundSymbol", message)
    check_assumptions(program.assumptions, values)
    inputs, outputs = (
        sum(extent_value(buffer.size, values) for buffer in program.of_kind(kind)) for kind in ("input", "output")
    )
    arena = extent_value(program.arena_bytes, values)
    return RequiredMemory(arena, program.pool_bytes, inputs, outputs)


def extent_value(dim: MaximumDim, values: Mapping[str, int]) -> int:
    """The value of an extent, or of the largest of several.

    Raises:
        TinycError: `UnboundSymbol`: the inputs do not tell a symbol; `AssumptionViolated`: a division by zero.
    """
    if isinstance(dim, int):  # a run asks for many, and most are
        return dim
    if isinstance(dim, Maximum):
        return max(extent_value(each, values) for each in dim.dims)
    _require_values(extents.symbols(dim), values)
    try:
        return extents.evaluate(dim, values)
    except ExtentError as error:
        raise TinycError("AssumptionViolated", f"{error}{at_values(values)}; give inputs of other sizes") from None


def grid_sizes(shape: Grid, values: Mapping[str, int]) -> tuple[int, int, int]:
    """A grid, CTA or cluster along x, y and z at the sizes of one run."""
    x, y, z = (extent_value(extent, values) for extent in shape)
    return x, y, z


def check_assumptions(assumptions: Iterable[Assumption], values: Mapping[str, int]) -> None:
    """Check relations between extents.

    Raises:
        TinycError: `AssumptionViolated`, for each that does not hold; `UnboundSymbol`.
    """
    errors: list[TinycError] = []
    for assumption in assumptions:
        try:
            _check_assumption(assumption, values)
        except TinycError as error:
            errors.append(error)
    if errors:
        raise TinycError.several(errors)


def _check_assumption(assumption: Assumption, values: Mapping[str, int]) -> None:
    left, right = extent_value(assumption.lhs, values), extent_value(assumption.rhs, values)
    if not assumption.relates(left, right):
        message = f"the program needs {assumption}, and that is {left} and {right}{at_values(values)}"
        advice = "give inputs whose sizes fit" + _advice_to_bind(assumption, left, right, values)
        raise TinycError("AssumptionViolated", f"{message}; {advice}", assumption.where)


def _advice_to_bind(assumption: Assumption, left: int, right: int, values: Mapping[str, int]) -> str:
    """The advice to compile for the sizes of a run: then a slice is clamped at import, an extent of 1 broadcasts."""
    symbols = (*extents.symbols(assumption.lhs), *extents.symbols(assumption.rhs))
    names = [name for name in dict.fromkeys(symbols) if name != RUN_KEY]
    if (assumption.predicate == "eq" and 1 not in (left, right)) or not names:
        return ""
    bound = ",".join(f"{name}={values[name]}" for name in names)
    return f", or, where the model clamps or broadcasts them, compile it for these: --bind {bound}"


def _check_extents(buffer: Buffer, values: Mapping[str, int]) -> None:
    for axis, extent in enumerate(buffer.shape):
        size = extent_value(extent, values)
        if size < 0:
            raise TinycError(
                "AssumptionViolated",
                f"axis {axis} of {buffer.name} would have {extent} = {size} elements{at_values(values)}; "
                "give larger inputs",
                Where(node=buffer.name),
            )


def at_values(values: Mapping[str, int]) -> str:
    """The values of the symbols behind a message: " with M = 3"; none where there are no symbols."""
    known = [f"{name} = {value}" for name, value in values.items() if name != RUN_KEY]
    return f" with {', '.join(known)}" if known else ""
