"""Instructions of a CPU that add the products of neighbours: of a word of 32 bits, two bf16 or four bytes of a sum.

A feature of a CPU, as LLVM calls it, is how a kernel says in which form it multiplies.
"""

from dataclasses import dataclass
from functools import cached_property

from tinyc.vocabulary.element_type import ElementType

#: Sides of a tile register: its rows, and the words of a row.
TILE_SIDE = 16
#: Tiles of sums that a micro-kernel has below each other, at most, and beside each other: in half of the registers.
TILES_ACROSS = 2
_WORD_BYTES = 4
_SIGNS = {ElementType.I8: "s", ElementType.UI8: "u"}


@dataclass(frozen=True)
class DotForm:
    """What multiplies words of elements of these types: the instructions of `feature`, in registers of so many bytes.

    `signs` are the integers that the left and the right operand may be; where theirs are not among them, the left one
    is taken with its signs turned around, and what this adds to a sum is taken off. Tile registers have `TILE_SIDE`
    rows of `register_bytes`.
    """

    feature: str
    elements: tuple[ElementType, ...]
    register_bytes: int
    signs: tuple[str, ...] = ()
    in_tiles: bool = False

    @property
    def group(self) -> int:
        """The elements of a word."""
        return _WORD_BYTES // self.elements[0].size_bytes

    @property
    def step(self) -> int:
        """The words that an instruction has of each row."""
        return TILE_SIDE if self.in_tiles else 1

    @property
    def step_products(self) -> int:
        """The products that an instruction adds to each sum."""
        return self.group * self.step

    @property
    def tile_kernel_rows(self) -> int | None:
        """The rows of a micro-kernel in tile registers, at most; None where it is one of vectors."""
        return TILES_ACROSS * TILE_SIDE if self.in_tiles else None

    def words(self, products: int) -> int:
        """The words of a line of so many products, filled up to whole steps."""
        return -(-products // self.step_products) * self.step


_BYTES = (ElementType.I8, ElementType.UI8)
_ALL, _MIXED = ("ss", "su", "us", "uu"), ("us", "su")
#: Feature → form; of several that a CPU has for a product the first one is taken.
DOT_FORMS = {
    each.feature: each
    for each in (
        DotForm("amx-int8", _BYTES, 64, _ALL, in_tiles=True),
        DotForm("avx512vnni", _BYTES, 64, _MIXED),
        DotForm("avxvnniint8", _BYTES, 32, _ALL),
        DotForm("avxvnni", _BYTES, 32, _MIXED),
        DotForm("amx-bf16", (ElementType.BF16,), 64, in_tiles=True),
        DotForm("avx512bf16", (ElementType.BF16,), 64),
    )
}


@dataclass(frozen=True)
class DotProduct:
    """Products of a form, of operands of the element types `left` and `right`."""

    form: DotForm
    left: ElementType
    right: ElementType

    @property
    def is_of_floats(self) -> bool:
        """Whether they are of bf16."""
        return self.left.is_float

    @property
    def turns_signs(self) -> bool:
        """Whether the left operand is taken with its signs turned around: 128 more than it is, or less if unsigned."""
        return not self.is_of_floats and f"{_SIGNS[self.left]}{_SIGNS[self.right]}" not in self.form.signs

    @property
    def _signs(self) -> str:
        """The signs of the operands as they are multiplied."""
        left = _SIGNS[self.left]
        return ("s" if left == "u" else "u") + _SIGNS[self.right] if self.turns_signs else left + _SIGNS[self.right]

    @cached_property
    def intrinsic(self) -> str:
        """LLVM's name of the instruction."""
        bits = self.form.register_bytes * 8
        if self.is_of_floats:
            return "llvm.x86.tdpbf16ps.internal" if self.form.in_tiles else f"llvm.x86.avx512bf16.dpbf16ps.{bits}"
        signs = self._signs
        if self.form.in_tiles:
            return f"llvm.x86.tdpb{signs}d.internal"
        if signs in _MIXED:
            return f"llvm.x86.avx512.vpdpbusd.{bits}"
        return f"llvm.x86.avx2.vpdpb{signs}d.{bits}"

    @property
    def takes_right_first(self) -> bool:
        """Whether the instruction takes the right operand before the left one: the unsigned one comes first."""
        return not self.form.in_tiles and not self.is_of_floats and self._signs == "su"
