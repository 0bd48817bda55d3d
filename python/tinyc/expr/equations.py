"""Solve for symbols when a program is compiled, from its shape equations; `size_equations` does it when it is run.

`solve_shapes` takes equations between shapes (both sides of a reshape have the same number of elements) and returns
what the unknown symbols are in terms of the others; how a single equation is solved is in `shape_equation`.
"""

from collections.abc import Callable, Iterable

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.shape_equation import (
    Assignment,
    Equation,
    eliminate,
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
