"""Comparison of floating-point numbers: setp and set.

In: an instruction's modifiers. Out: its operation. Ordered operators are false where an operand is NaN, those with a
`u` are true; `num` and `nan` ask only for that. Source: PTX ISA § Comparison and selection instructions.
"""

import operator
from collections.abc import Callable

import numpy as np

from ptxsim.semantics.float_format import FORMATS, PAIRS, Format, encode, flush, halves, joined, numbers
from ptxsim.semantics.float_modifiers import FloatForm, FloatModifiers, Forms, sorted_modifiers
from ptxsim.semantics.operation import Operation, Registry

FloatComparison = Callable[[np.ndarray, np.ndarray], np.ndarray]

_ORDERED: dict[str, FloatComparison] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "ne": lambda a, b: (a < b) | (a > b),
    "num": lambda a, b: (a == a) & (b == b),
}
#: Each unordered operator is the opposite of an ordered one.
_OPPOSITES = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt", "nan": "num"}
_COMBINATIONS: dict[str, FloatComparison] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
_FTZ = FloatForm(flags=("ftz",))
_SOURCES: Forms = {
    "f32": _FTZ,
    "f64": FloatForm(),
    "f16": _FTZ,
    "f16x2": _FTZ,
    "bf16": FloatForm(),
    "bf16x2": FloatForm(),
}
#: Source type → the types of `set`'s result.
_TARGETS = {
    "f32": ("u32", "s32", "f32", "f16", "bf16"),
    "f64": ("u32", "s32", "f32", "f16", "bf16"),
    "f16": ("u16", "s16", "u32", "s32", "f16", "bf16"),
    "bf16": ("u16", "s16", "u32", "s32", "bf16"),
    "f16x2": ("f16x2", "u32", "s32"),
    "bf16x2": ("bf16x2", "u32", "s32"),
}


def _parsed(words: tuple[str, ...]) -> tuple[FloatComparison, FloatComparison | None, FloatModifiers] | None:
    """The comparison, the Boolean operator if there is one, and the rest; or None."""
    how = _COMBINATIONS.get(words[1]) if len(words) > 1 else None
    rest = sorted_modifiers(words[1 if how is None else 2 :])
    if rest is None or not words or words[0] not in {**_ORDERED, **_OPPOSITES}:
        return None
    if not rest.types or rest.types[-1] not in _SOURCES or not _SOURCES[rest.types[-1]].allows(rest):
        return None
    form = FORMATS.get(rest.types[-1]) or PAIRS[rest.types[-1]]
    return _compared(words[0], form, "ftz" in rest.flags), how, rest


def _compared(name: str, form: Format, ftz: bool) -> FloatComparison:
    """The comparison of patterns."""
    compare = _ORDERED[_OPPOSITES.get(name, name)]

    def ordered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if ftz:
            a, b = flush(form, a), flush(form, b)
        return compare(numbers(form, a), numbers(form, b))

    return (lambda a, b: np.logical_not(ordered(a, b))) if name in _OPPOSITES else ordered


def _setp(words: tuple[str, ...]) -> Operation | None:
    """`p|q`: of the comparison and its opposite; f16 and bf16 have no `q`; of a packed type, of low and high halves."""
    parsed = _parsed(words)
    if parsed is None or len(parsed[2].types) != 1:
        return None
    compare, how, modifiers = parsed
    (source,) = modifiers.types

    def both(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if source in PAIRS:
            storage = PAIRS[source].storage
            truth = compare(halves(storage, a), halves(storage, b))
            return truth[..., 0], truth[..., 1]
        truth = compare(a, b)
        return truth, np.logical_not(truth)

    results = 1 if source in ("f16", "bf16") else 2

    def compute(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> tuple[np.ndarray, ...]:
        truths = both(a, b)[:results]
        return truths if how is None else tuple(how(each, c[0]) for each in truths)

    return Operation(("pred",) * results, (source, source) if how is None else (source, source, "pred"), compute)


def _set(words: tuple[str, ...]) -> Operation | None:
    """1.0 or all bits for true; of a packed type, in each half."""
    parsed = _parsed(words)
    if parsed is None or len(parsed[2].types) != 2:
        return None
    compare, how, modifiers = parsed
    target, source = modifiers.types
    if target not in _TARGETS[source] or (target == "bf16" and "ftz" in modifiers.flags):
        return None
    packed = source in PAIRS
    true = _true(target, packed)

    def compute(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> tuple[np.ndarray, ...]:
        operands = [halves(np.uint16, each) for each in (a, b)] if packed else [a, b]
        truth = compare(*operands)
        if how is not None:
            truth = how(truth, np.asarray(c[0])[..., np.newaxis] if packed else c[0])
        result = np.where(truth, true, true.dtype.type(0))
        return (joined(np.uint32, result) if packed else result,)

    return Operation((target,), (source, source) if how is None else (source, source, "pred"), compute)


def _true(target: str, packed: bool) -> np.ndarray:
    """The pattern of true, or of one half's, without an axis."""
    form = FORMATS.get(target) or PAIRS.get(target)
    if form is not None:
        return encode(form, np.array(1.0))
    narrow = packed or target.endswith("16")
    return np.array(0xFFFF, np.uint16) if narrow else np.array(0xFFFFFFFF, np.uint32)


BUILDERS: Registry = {"setp": _setp, "set": _set}
