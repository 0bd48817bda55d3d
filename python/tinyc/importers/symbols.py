"""What the symbols of a Tiny JSON program stand for: bound by the user, solved from shape equations, or left open.

In: the arguments of all nodes, the written shapes' equations and `bind`. Out: `Sizes`, which rewrites an extent as
written into one of the symbols that the inputs tell at run time, and knows which symbols nothing tells.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError, Where, remark
from tinyc.expr import equations, extents
from tinyc.expr.extents import MAX_EXTENT, Dim, ExtentError
from tinyc.expr.shape_equation import Equation

#: Arguments that hold extents, and arguments that must be numbers once the symbols are known.
EXTENT_KEYS = ("shape", "lo", "hi")
NUMBER_KEYS = ("pad", "step", "kernel", "stride", "dilation", "k")


class Sizes:
    """The value of every symbol that has one; `told` are the symbols that the inputs tell at run time.

    `conditions` are the extents that must be equal, in pairs, for the bound symbols to fit the inputs.
    """

    def __init__(
        self, values: Mapping[str, Dim], inputs: Iterable[Dim], conditions: Iterable[tuple[Dim, Dim]] = ()
    ) -> None:
        self.values = values
        self.conditions = tuple(conditions)
        self._shapes: dict[tuple[Dim, ...], tuple[Dim, ...]] = {}
        shape = self.shape(tuple(inputs))
        self.told = {name for dim in shape for name in extents.symbols(dim)} - set(equations.undetermined(shape))

    def shape(self, written: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """Extents with every symbol replaced that has a value.

        Raises:
            TinycError: `InvalidExtent` for an extent that has no value, such as a division by zero.
        """
        known = self._shapes.get(written)
        if known is None:
            try:
                known = tuple(extents.substitute(dim, self.values) for dim in written)
            except ExtentError as error:
                raise TinycError("InvalidExtent", str(error)) from None
            self._shapes[written] = known
        return known

    def is_told(self, written: tuple[Dim, ...]) -> bool:
        """Whether `bind`, the equations and the inputs together tell these extents."""
        return all(self.told.issuperset(extents.symbols(dim)) for dim in self.shape(written))

    def untold(self, written: tuple[Dim, ...]) -> list[str]:
        """The symbols written in these extents that neither `bind` nor the equations nor the inputs tell."""
        names = dict.fromkeys(name for dim in written for name in extents.symbols(dim))
        return [name for name in names if name not in self.values and name not in self.told]

    def unbound(self, written: tuple[Dim, ...]) -> list[str]:
        """The symbols of extents, as written, that are not numbers."""
        names = dict.fromkeys(name for dim in written for name in extents.symbols(dim))
        return [name for name in names if not isinstance(self._value(name), int)]

    def _value(self, name: str) -> Dim:
        return self.values.get(name, extents.symbol(name))


def dims_of(arguments: Mapping[str, Any], keys: Sequence[str]) -> tuple[Dim, ...]:
    """The extents that stand under some keys of a node's arguments, in one list."""
    dims: list[Dim] = []
    for key in keys:
        value = arguments.get(key, ())
        for entry in value if isinstance(value, tuple) else (value,):
            dims += entry if isinstance(entry, tuple) else (entry,)
    return tuple(dims)


def check_bind(
    bind: Mapping[str, int], symbols: Iterable[str], where: Where
) -> tuple[dict[str, int], list[TinycError]]:
    """`bind` as plain ints, and what is wrong with it: unknown names, or values that are not extents."""
    bound, errors = {}, []
    known = list(symbols)
    for name, value in bind.items():
        try:
            size = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            size = -1
        if name not in known:
            names = f"its symbols are {', '.join(known)}" if known else "it has no symbols"
            errors.append(TinycError("UnboundSymbol", f"bind names '{name}', which the program lacks; {names}", where))
        elif not 0 <= size <= MAX_EXTENT:
            message = f"bind gives '{name}' the value {value!r}; an extent is an integer from 0 to 2^63 - 1"
            errors.append(TinycError("InvalidExtent", message, where))
        else:
            bound[name] = size
    return bound, errors


def program_sizes(
    symbols: Iterable[str],
    inputs: Sequence[Dim],
    written: Iterable[Equation],
    bind: Mapping[str, int],
    numbers: Iterable[str],
    where: Where,
) -> tuple[Sizes, list[TinycError]]:
    """The sizes of a program with these symbols, input extents and equations, and what has no value.

    `numbers` are the symbols that must be bound, such as those of a stride. Any other bound symbol that the equations
    give in terms of the inputs has that value, so that the axes correspond as they do unbound; that it is the bound
    number becomes a condition.
    """
    fixed = bind.keys() & set(numbers)
    told = {name for dim in inputs for name in extents.symbols(dim)} - fixed
    unknown = [name for name in symbols if name not in told and name not in fixed]
    solution = equations.solve_shapes(written, unknown, told, bind.keys() - fixed)
    given, conditions, errors = _general(solution.conditions, bind, where)
    values = dict(given)
    for name, value in solution.values.items():
        try:
            values[name] = extents.substitute(value, given)
        except ExtentError as error:
            errors.append(TinycError("InvalidExtent", f"symbol '{name}' = {value} has no value: {error}", where))
            continue
        message = f"the shape equations give '{name}' = {values[name]}"
        remark("symbol-solved", where, message, symbol=name, extent=str(values[name]))
    return Sizes(values, inputs, conditions), errors


def _general(
    conditions: Iterable[tuple[Dim, Dim]], bind: Mapping[str, int], where: Where
) -> tuple[dict[str, Dim], list[tuple[Dim, Dim]], list[TinycError]]:
    """`bind` with what the inputs tell of a symbol in its place, the conditions left, and those that fail."""
    given: dict[str, Dim] = dict(bind)
    left_over: list[tuple[Dim, Dim]] = []
    errors = []
    for left, right in conditions:
        try:
            a, b = extents.substitute(left, bind), extents.substitute(right, bind)
        except ExtentError:  # a symbol without a value is reported where it is used
            continue
        if isinstance(a, int) and isinstance(b, int) and a != b:
            message = f"the shape equations say {left} == {right}, and bind makes that {a} == {b}; bind sizes that fit"
            errors.append(TinycError("AxisSizeMismatch", message, where))
        elif a != b:
            left_over.append((a, b))
            given.update({str(side): value for side, value in ((left, b), (right, a)) if str(side) in bind})
    return given, left_over, errors
