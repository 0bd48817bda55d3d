"""What the symbols of a Tiny JSON program stand for: bound by the user, solved from shape equations, or left open.

A bound symbol is its number wherever it stands (`bound_arguments`), before anything else is asked. Of the others the
written shapes' equations tell some: `Sizes` rewrites an extent as written into one of the symbols that the inputs tell
at run time, and knows which symbols nothing tells.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.expr import equations, extents
from tinyc.expr.extents import MAX_EXTENT, Dim, ExtentError
from tinyc.expr.shape_equation import Equation
from tinyc.expr.size_equations import undetermined

#: Arguments that hold extents, and arguments that must be numbers once the symbols are known.
EXTENT_KEYS = ("shape", "lo", "hi")
NUMBER_KEYS = ("pad", "step", "kernel", "stride", "dilation", "k")


class Sizes:
    """What the extents of the inputs and the equations between written shapes tell of a program's symbols.

    `values` has the value of every symbol that the equations give, `told` are the symbols that the inputs tell at run
    time.
    """

    def __init__(self, symbols: Iterable[str], inputs: Iterable[Dim], written: Iterable[Equation]) -> None:
        self._symbols, self._inputs, self._written = tuple(symbols), tuple(inputs), tuple(written)
        told = {name for dim in self._inputs for name in extents.symbols(dim)}
        unknown = [name for name in self._symbols if name not in told]
        self.values = equations.solve_shapes(self._written, unknown, told)
        self._shapes: dict[tuple[Dim, ...], tuple[Dim, ...]] = {}
        shape = self.shape(self._inputs)
        self.told = {name for dim in shape for name in extents.symbols(dim)} - set(undetermined(shape))

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

    def to_bind(self) -> list[str]:
        """Symbols to bind so that all are told: one that is not, then one that then still is not, and so on."""
        needed: list[str] = []
        sizes = self
        while True:
            left = [name for name in self._symbols if name not in needed and sizes.untold((extents.symbol(name),))]
            if not left:
                return needed
            needed.append(left[0])
            sizes = Sizes(self._symbols, [*self._inputs, *map(extents.symbol, needed)], self._written)

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
        size = extents.natural(value)
        if name not in known:
            names = f"its symbols are {', '.join(known)}" if known else "it has no symbols"
            errors.append(TinycError("UnboundSymbol", f"bind names '{name}', which the program lacks; {names}", where))
        elif size is None:
            message = f"bind gives '{name}' the value {value!r}; an extent is an integer from 0 to 2^63 - 1"
            errors.append(TinycError("InvalidExtent", message, where))
        else:
            bound[name] = size
    return bound, errors


def bound_arguments(arguments: Mapping[str, Any], bind: Mapping[str, int]) -> dict[str, Any]:
    """A node's arguments with the values of symbols in the place of their names.

    Raises:
        TinycError: `InvalidExtent` for an extent that has no value, or one that no axis can have.
    """

    def bound(dim: Dim) -> Dim:
        try:
            return extents.substitute(dim, bind)
        except ExtentError as error:
            raise TinycError("InvalidExtent", f"{dim}: {error}; bind other sizes") from None

    found = with_dims(arguments, bound) if bind else dict(arguments)
    for written, dim in zip(dims_of(arguments, EXTENT_KEYS), dims_of(found, EXTENT_KEYS), strict=True):
        if isinstance(dim, int) and not 0 <= dim <= MAX_EXTENT:
            raise TinycError("InvalidExtent", f"the extent {written} is {dim}, and must be one of 0 … 2^63 - 1")
    return found


def with_dims(arguments: Mapping[str, Any], change: Callable[[Dim], Dim]) -> dict[str, Any]:
    """A node's arguments with `change` of each extent and number in its place."""

    def changed(value: Any) -> Any:
        return tuple(map(changed, value)) if isinstance(value, tuple) else change(value)

    keys = (key for key in (*EXTENT_KEYS, *NUMBER_KEYS) if key in arguments)
    return {**arguments, **{key: changed(arguments[key]) for key in keys}}
