"""The modifiers of a floating-point instruction, sorted, and which of them an instruction may have.

In: the modifiers as written. Out: `FloatModifiers`, or None where a table of the ISA does not have the combination.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ptxsim.semantics.rounding import DIRECTIONS

_NUMBERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b16", "b32", "b64", "f16", "bf16", "f32", "f64")
FLOAT_TYPES = frozenset((*_NUMBERS, "f16x2", "bf16x2", "tf32", "e4m3x2", "e5m2x2"))


@dataclass(frozen=True)
class FloatModifiers:
    """Types in their order, at most one rounding, and the words that are neither, without an order."""

    types: tuple[str, ...]
    rounding: str | None
    flags: frozenset[str]


@dataclass(frozen=True)
class FloatForm:
    """What one form of an instruction allows: roundings (None: it may be left out), and flags.

    All of `required` must be there, and no two of `exclusive`.
    """

    roundings: tuple[str | None, ...] = (None,)
    flags: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()

    def allows(self, modifiers: FloatModifiers) -> bool:
        """Whether this form has these modifiers."""
        return (
            modifiers.rounding in self.roundings
            and modifiers.flags <= {*self.flags, *self.required}
            and modifiers.flags >= set(self.required)
            and len(modifiers.flags & set(self.exclusive)) <= 1
        )


#: Type → the form of the instruction on it.
Forms: TypeAlias = Mapping[str, FloatForm]


def sorted_modifiers(words: tuple[str, ...], roundings: tuple[str, ...] = DIRECTIONS) -> FloatModifiers | None:
    """The modifiers sorted, or None if one stands twice or two of them are roundings."""
    types = tuple(each for each in words if each in FLOAT_TYPES)
    rounding = [each for each in words if each in roundings]
    flags = [each for each in words if each not in FLOAT_TYPES and each not in roundings]
    if len(rounding) > 1 or len(set(flags)) < len(flags):
        return None
    return FloatModifiers(types, rounding[0] if rounding else None, frozenset(flags))


def one_type(words: tuple[str, ...], forms: Forms) -> tuple[str, FloatModifiers] | None:
    """The one type and the modifiers of an instruction, or None if `forms` does not have them."""
    modifiers = sorted_modifiers(words)
    if modifiers is None or len(modifiers.types) != 1:
        return None
    (type_name,) = modifiers.types
    form = forms.get(type_name)
    return (type_name, modifiers) if form is not None and form.allows(modifiers) else None
