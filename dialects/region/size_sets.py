"""Sets of sizes that runs are expected to have: sizes of symbols, and classes of sizes, which are bounded.

In: the option `sizes` as text, "M=1;M<=64,N=128", or as Python has it, [{"M": 1}, {"M": "<=64", "N": 128}]. Out:
`SizeSet`s, of which the first one that a run has decides.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import MAX_EXTENT, natural

#: How many sets of sizes there may be: each is code of its own for every kernel.
MAX_SETS = 16
SIZES_FORM = "write sizes of symbols, M=128,N=64, or what they are at most, M<=64; several sets are separated by ';'"
_AT_MOST = "<="


@dataclass(frozen=True)
class SizeSet:
    """Sizes of symbols that are `known`, and `limits`: what the sizes of others are at most."""

    known: Mapping[str, int] = field(default_factory=dict[str, int])
    limits: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that it says something of."""
        return (*self.known, *self.limits)

    @property
    def guards(self) -> tuple[Assumption, ...]:
        """The limits as relations between extents."""
        return tuple(Assumption(extents.symbol(name), "le", limit) for name, limit in self.limits.items())

    @property
    def values(self) -> dict[str, int | str]:
        """What it says, as Python has it."""
        return {**self.known, **{name: f"{_AT_MOST}{limit}" for name, limit in self.limits.items()}}

    def of(self, symbols: Collection[str]) -> "SizeSet":
        """What it says of some symbols."""
        known, limits = (
            {name: size for name, size in sizes.items() if name in symbols} for sizes in (self.known, self.limits)
        )
        return SizeSet(known, limits)

    def covers(self, other: "SizeSet") -> bool:
        """Whether every run that has the sizes of `other` has these."""
        most = {**other.limits, **other.known}
        has_known = all(other.known.get(name) == size for name, size in self.known.items())
        return has_known and all(most.get(name, limit + 1) <= limit for name, limit in self.limits.items())

    def shown(self, known: str, limit: str) -> list[str]:
        """A text for each symbol: of those forms, in which its name and the number are filled in."""
        known_first = [(known, self.known), (limit, self.limits)]
        return [form.format(name, size) for form, sizes in known_first for name, size in sizes.items()]

    def __str__(self) -> str:
        return ",".join(self.shown("{}={}", "{}" + _AT_MOST + "{}"))


def size_sets(text: str) -> list[SizeSet]:
    """Sets of sizes, as `sizes_text` writes them.

    Raises:
        TinycError: `InvalidOption`.
    """
    return _in_order(read_set(part) for part in filter(None, (part.strip() for part in text.split(";"))))


def sizes_text(sets: Iterable[SizeSet]) -> str:
    """Sets of sizes as text that `size_sets` reads."""
    return ";".join(map(str, sets))


def read_set(text: str) -> SizeSet:
    """One set of sizes, "M=1,N<=64".

    Raises:
        TinycError: `InvalidOption`.
    """
    given: dict[object, object] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        relation = _AT_MOST if _AT_MOST in part else "="
        name, _, number = (piece.strip() for piece in part.partition(relation))
        value = int(number) if number.isdecimal() and len(number) < 20 else None
        if not name or name[-1] in "<>!=" or value is None or name in given:
            raise TinycError("InvalidOption", f"'sizes' has '{part}', which reads as no size; {SIZES_FORM}")
        given[name] = f"{_AT_MOST}{value}" if relation == _AT_MOST else value
    return size_set(given)


def size_set(given: Mapping[object, object]) -> SizeSet:
    """One set of sizes, as Python has it: {"M": 1, "N": "<=64"}.

    Raises:
        TinycError: `InvalidOption`, `InvalidExtent`.
    """
    known: dict[str, int] = {}
    limits: dict[str, int] = {}
    for name, value in given.items():
        digits = value.removeprefix(_AT_MOST).strip() if isinstance(value, str) else ""
        is_limit = isinstance(value, str) and value.startswith(_AT_MOST) and digits.isdecimal() and len(digits) < 20
        size = natural(int(digits) if is_limit else value, MAX_EXTENT)
        if not isinstance(name, str) or size is None:
            message = f"'sizes' has {name} = {value!r}; give an integer in 0 … 2^63 - 1, or what it is at most, '<=64'"
            raise TinycError("InvalidExtent", message)
        if is_limit and size == 0:
            message = f"'sizes' has {name}<=0, which leaves the size 0, and nothing to compute; give a larger one"
            raise TinycError("InvalidOption", message)
        (limits if is_limit else known)[name] = size
    return SizeSet(known, limits)


def _in_order(sets: Iterable[SizeSet]) -> list[SizeSet]:
    """The sets, equal ones once.

    Raises:
        TinycError: `InvalidOption`: there are too many, or one of them never decides.
    """
    found: list[SizeSet] = []
    for each in sets:
        if each in found or not each.symbols:
            continue
        earlier = next((other for other in found if other.covers(each)), None)
        if earlier is not None:
            message = f"'sizes' has {each} behind {earlier}, which holds wherever it does; put it in front"
            raise TinycError("InvalidOption", message)
        found.append(each)
    if len(found) > MAX_SETS:
        raise TinycError("InvalidOption", f"'sizes' has {len(found)} sets, and {MAX_SETS} is the limit; leave some out")
    return found


def own_sets(sets: Sequence[SizeSet], symbols: Collection[str]) -> list[SizeSet]:
    """What sets say of some symbols: those that may decide, in their order."""
    found: list[SizeSet] = []
    for own in (each.of(symbols) for each in sets):
        if own.symbols and not any(earlier.covers(own) for earlier in found):
            found.append(own)
    return found
