"""`mma.sync.aligned` and `wmma.mma`: D = A · B + C over the registers of a warp.

In: the modifiers. Out: a `WarpMma`: how many registers each operand has, and D's registers from those of A, B and C,
batched over warps. A of `mma` is in rows, B in columns (`.row.col`), the only order that its shapes have.

Source: PTX ISA §9.7.14.5 (mma), §9.7.14.4.5 (wmma.mma).
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.matrix.arithmetic import fused_chain, multiply_accumulate
from ptxsim.matrix.elements import ELEMENTS, pack, unpack
from ptxsim.matrix.families import Types, require_shape, take_types
from ptxsim.matrix.fragments import Fragment, Fragments, mma_fragments
from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape


@dataclass(frozen=True)
class WarpMma:
    """One product: shape, types and layouts; integers may saturate, `rounding` is of f64 only.

    `bitwise` is what single bits do in the place of multiplication, "xor" or "and".
    """

    shape: MatrixShape
    types: Types
    layouts: Fragments
    saturating: bool
    rounding: str
    bitwise: str = ""

    @property
    def register_bits(self) -> int:
        """The width of every register: 64 for f64, else 32."""
        return 64 if self.types.result == "f64" else 32

    @property
    def a_registers(self) -> int:
        """How many registers of a lane hold A."""
        return self._registers(self.layouts.a, self.types.a)

    @property
    def b_registers(self) -> int:
        """How many registers of a lane hold B."""
        return self._registers(self.layouts.b, self.types.b)

    @property
    def c_registers(self) -> int:
        """How many registers of a lane hold C."""
        return self._registers(self.layouts.d, self.types.c)

    @property
    def d_registers(self) -> int:
        """How many registers of a lane hold D."""
        return self._registers(self.layouts.d, self.types.result)

    def compute(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The registers of D.

        Shapes: a, b, c and the result [..., 32, registers], uint32 (uint64 for f64): bit patterns.
        """
        a_bits = self.layouts.a.matrix(unpack(a, ELEMENTS[self.types.a].bits))
        b_bits = self.layouts.b.matrix(unpack(b, ELEMENTS[self.types.b].bits))
        c_bits = self.layouts.d.matrix(unpack(c, ELEMENTS[self.types.c].bits))
        return pack(self.layouts.d.distributed(self._product(a_bits, b_bits, c_bits)))

    def defined(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The registers of D that follow from defined registers of A, B and C only.

        Shapes: a, b, c and the result [..., 32, registers] bool.
        """
        rows = np.all(self.layouts.a.matrix(_of_elements(a, self.layouts.a)), axis=-1)
        columns = np.all(self.layouts.b.matrix(_of_elements(b, self.layouts.b)), axis=-2)
        products = rows[..., :, None] & columns[..., None, :]
        elements = self.layouts.d.distributed(products) & _of_elements(c, self.layouts.d)
        return np.all(elements.reshape(*elements.shape[:-1], self.d_registers, -1), axis=-1)

    def _product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """D [..., m, n] for A [..., m, k], B [..., k, n] and C [..., m, n], all bit patterns."""
        if self.types.result == "f64":
            return fused_chain(a, b, c, self.rounding)
        a, b, c = (
            ELEMENTS[element].numbers(bits)
            for element, bits in ((self.types.a, a), (self.types.b, b), (self.types.c, c))
        )
        if self.bitwise == "xor":  # the bits of a that b has not, and the other way round
            a, b = np.concatenate((a, 1 - a), axis=-1), np.concatenate((1 - b, b), axis=-2)
        return multiply_accumulate(a, b, c, self.types.result, self.saturating)

    def _registers(self, fragment: Fragment, element: str) -> int:
        return fragment.elements * ELEMENTS[element].bits // self.register_bits


def _of_elements(registers: np.ndarray, fragment: Fragment) -> np.ndarray:
    """For each element what is so of its register."""
    return np.repeat(registers, fragment.elements // registers.shape[-1], axis=-1)


def parse_mma(words: tuple[str, ...]) -> WarpMma:
    """The `mma` that the modifiers name.

    Raises:
        UnknownInstruction: the ISA has none such, or the simulator does not model it (sparse, block-scaled, 4-bit and
            1-bit forms, and m8n8k4 of f16, which is of sm_70).
    """
    modifiers = MatrixModifiers("mma", words)
    modifiers.require("sync", "aligned")
    shape = modifiers.shape()
    if modifiers.ordered(("row", "col")) != ("row", "col"):
        modifiers.refuse("A must be '.row' and B '.col'")
    types, family = take_types(modifiers, with_c=True)
    require_shape(modifiers, shape, types.a, family.mma_shapes)
    saturating, rounding = take_output_options(modifiers, types)
    modifiers.finish()
    return WarpMma(shape, types, mma_fragments(shape, ELEMENTS[types.a].bits), saturating, rounding)


def take_output_options(modifiers: MatrixModifiers, types: Types) -> tuple[bool, str]:
    """Take `.satfinite`, which integers may have, and the rounding that f64 may have."""
    saturating = types.result == "s32" and types.a != "b1" and modifiers.has("satfinite")
    rounding = modifiers.ordered(("rn", "rz", "rm", "rp")) if types.result == "f64" else ()
    if len(rounding) > 1:
        modifiers.refuse("has more than one rounding")
    return saturating, rounding[0] if rounding else "rn"
