"""Solve for symbols: from the shape equations of a program when it is compiled, from actual extents when it is run.

`solve_shapes` takes equations between shapes (both sides of a reshape have the same number of elements) and returns
what the unknown symbols are in terms of the others; how a single equation is solved is in `shape_equation`.
`solve_sizes` takes extents with their actual values and returns the value of each symbol. Pure Python: the runtime
uses it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tinyc.expr import extents
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.shape_equation import (
    Assignment,
    Equation,
    eliminate,
    linear_in,
    redefine,
    solve_exactly,
    solve_single,
)

#: Passes over the unsolved equations; each solves whole chains, so that a program needs two or three.
_MAX_ROUNDS = 100


def solve_shapes(equations: Iterable[Equation], unknown: Iterable[str], inputs: Iterable[str]) -> dict[str, Dim]:
    """The values of symbols, free of symbols that have one themselves, as far as the equations tell.

    `unknown` are the symbols to solve for; `inputs` those that the inputs' shapes tell and that may be redefined: an
    equation ``Cin_total = G*Cin`` with an unknown ``G`` redefines ``Cin_total``, so that every extent stays a
    polynomial and ``G`` follows from the inputs at run time.
    """
    return _Solver(equations, set(unknown), set(inputs)).run()


class _Solver:
    """Rounds over the equations: what has one value is solved first, then the rest."""

    def __init__(self, equations: Iterable[Equation], unknown: set[str], inputs: set[str]) -> None:
        self.unknown, self.inputs = unknown, inputs
        self.solution: dict[str, Dim] = {}
        self.known: list[Equation] = []  # without unknowns
        self.pending: list[Equation] = [each for each in dict.fromkeys(equations) if unknown & each.symbols()]

    def run(self) -> dict[str, Dim]:
        for _ in range(_MAX_ROUNDS):
            self.pending.sort(key=lambda equation: len(equation.symbols() & self.inputs))  # what numbers tell
            if not (
                self._solve_singles(solve_exactly)
                or self._settle()
                or self._solve_singles(lambda equation, name: solve_single(equation, name, self.inputs))
                or self._eliminate()
            ):
                break
        closed: dict[str, Dim] = {}
        for name in reversed(self.solution):  # a value has only symbols that were solved later
            closed[name] = extents.substitute(self.solution[name], closed)
        return closed

    def _reduced(self, equation: Equation) -> Equation:
        while any(name in self.solution for name in equation.symbols()):
            equation = equation.substituted(self.solution)
        return equation

    def _assign(self, assignment: tuple[str, Dim]) -> None:
        name, value = assignment
        self.solution[name] = value
        if name in self.inputs:  # redefined: the symbols of its value are now what the inputs tell
            self.inputs.remove(name)
            told = set(extents.symbols(value)) & self.unknown
            if len(told) == 1:
                self.inputs |= told
                self.unknown -= told
        self.unknown.discard(name)

    def _solve_singles(self, solve_one: Callable[[Equation, str], Assignment | None]) -> bool:
        before, pending, self.pending = len(self.solution), self.pending, []
        for equation in pending:
            equation = self._reduced(equation)
            names = equation.unknowns(self.unknown)
            assignment = solve_one(equation, next(iter(names))) if len(names) == 1 else None
            if assignment:
                self._assign(assignment)
            else:
                (self.pending if names else self.known).append(equation)
        return len(self.solution) > before

    def _settle(self) -> bool:
        """Use the equations without unknowns to redefine an input's symbol, where a product gives it."""
        before, known, self.known = len(self.solution), self.known, []
        for equation in map(self._reduced, known):
            assignment = redefine(equation, self.inputs)
            if assignment:
                self._assign(assignment)
            else:
                self.known.append(equation)
        return len(self.solution) > before

    def _eliminate(self) -> bool:
        before, pending, self.pending = len(self.solution), self.pending, []
        for equation in pending:
            equation = self._reduced(equation)
            assignment = eliminate(equation, self.unknown, self.inputs)
            if assignment:
                self._assign(assignment)
            else:
                self.pending.append(equation)
        return len(self.solution) > before


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
