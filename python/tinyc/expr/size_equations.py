"""Solve for symbols when a program is run: extents, and what they are in numbers.

`solve_sizes` takes extents with their actual values and returns the value of each symbol. Pure Python: the runtime
uses it, without what `equations` needs to solve those of a program.
"""

from collections.abc import Iterable, Mapping, Sequence

from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, ExtentError


def linear_in(dim: Dim, name: str) -> tuple[Dim, Dim] | None:
    """(a, b) with ``dim == a * name + b``, or None where `dim` is not linear in that symbol."""
    factor: Dim = 0
    offset: Dim = 0
    for monomial, coefficient in dim.terms if isinstance(dim, Extent) else (((), dim),):
        term = Extent(((monomial, coefficient),)) if monomial else coefficient
        if name not in extents.symbols(term):
            offset = offset + term
            continue
        quotient = extents.divide(term, extents.symbol(name))
        if quotient is None or name in extents.symbols(quotient):
            return None
        factor = factor + quotient
    return (factor, offset) if factor != 0 else None


def undetermined(dims: Sequence[Dim]) -> tuple[str, ...]:
    """The symbols of `dims` that their actual values would not tell."""
    known: set[str] = set()
    pending = list(dict.fromkeys(dims))
    while True:
        waiting: list[Dim] = []
        for dim in pending:
            missing = [name for name in extents.symbols(dim) if name not in known]
            if len(missing) == 1 and linear_in(dim, missing[0]):
                known.add(missing[0])
            elif missing:
                waiting.append(dim)
        if len(waiting) == len(pending):
            return tuple(dict.fromkeys(name for dim in waiting for name in extents.symbols(dim) if name not in known))
        pending = waiting


def solve_sizes(pairs: Iterable[tuple[Dim, int, str]]) -> dict[str, int]:
    """The value of each symbol from (extent, actual size, description) triples, such as the inputs' axes.

    Each extent is solved for the one symbol that it still misses, in whatever order that works.

    Raises:
        ExtentError: the sizes contradict each other, are not multiples of what they should be, or leave a symbol open;
            the message names the descriptions.
    """
    values: dict[str, int] = {}
    origins: dict[str, str] = {}
    every = waiting = list(pairs)
    while waiting:
        pending, waiting = waiting, [pair for pair in waiting if not _solve_pair(*pair, values, origins)]
        if len(waiting) == len(pending):
            break
    _require_values(every, values)
    return values


def _require_values(pairs: Iterable[tuple[Dim, int, str]], values: Mapping[str, int]) -> None:
    """Check that every symbol has a value; ``0 == G*0`` gives none to G."""
    open_ = {
        name: f"{description} has the extent {dim}"
        for dim, _, description in pairs
        for name in extents.symbols(dim)
        if name not in values
    }
    if open_:
        names, places = ", ".join(f"'{name}'" for name in sorted(open_)), "; ".join(dict.fromkeys(open_.values()))
        raise ExtentError(f"the sizes leave {names} open ({places}); bind them at compile time")


def _solve_pair(dim: Dim, actual: int, description: str, values: dict[str, int], origins: dict[str, str]) -> bool:
    """Enter the symbol that one extent tells, or check it where nothing is missing; False: too much is missing yet."""
    rest = extents.substitute(dim, values)
    if isinstance(rest, int):
        if rest != actual:
            known = [f"{name} = {values[name]} from {origins[name]}" for name in extents.symbols(dim)]
            reason = f"its extent {dim} must be {rest} ({', '.join(known)})" if known else f"the program says {dim}"
            raise ExtentError(f"{description} has {actual} elements, but {reason}")
        return True
    missing = extents.symbols(rest)
    parts = linear_in(rest, missing[0]) if len(missing) == 1 else None
    if parts is None:
        return False
    factor, offset = parts
    assert isinstance(factor, int)
    assert isinstance(offset, int)
    value, remainder = divmod(actual - offset, factor)
    if remainder or value < 0:
        known = [f"{name} = {values[name]} from {origins[name]}" for name in extents.symbols(dim) if name in values]
        given = f" ({', '.join(known)})" if known else ""
        raise ExtentError(
            f"{description} has {actual} elements, but its extent {dim}{given} is that for no {missing[0]}"
        )
    values[missing[0]], origins[missing[0]] = value, description
    return True
