"""`mma.sync.aligned`: D = A · B + C over the registers of a warp.

In: the modifiers. Out: a `WarpMma`: how many registers each operand has, and D's registers from those of A, B and C,
batched over warps. A is in rows, B in columns (`.row.col`), the only order that these shapes have.

Source: PTX ISA §9.7.14.5.
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.matrix import fragments
from ptxsim.matrix.arithmetic import fused_chain, multiply_accumulate
from ptxsim.matrix.elements import ELEMENTS, pack, unpack
from ptxsim.matrix.families import Types, take_types
from ptxsim.matrix.fragments import Fragment
from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape


@dataclass(frozen=True)
class WarpMma:
    """One `mma`: its shape and types; integers may saturate, `rounding` is of f64 only."""

    shape: MatrixShape
    types: Types
    saturating: bool
    rounding: str

    @property
    def register_bits(self) -> int:
        """The width of every register: 64 for f64, else 32."""
        return 64 if self.types.result == "f64" else 32

    @property
    def a_registers(self) -> int:
        """How many registers of a lane hold A."""
        return self._registers(self._a, self.types.a)

    @property
    def b_registers(self) -> int:
        """How many registers of a lane hold B."""
        return self._registers(self._b, self.types.b)

    @property
    def d_registers(self) -> int:
        """How many registers of a lane hold D; as many hold C."""
        return self._registers(self._d, self.types.result)

    def compute(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The registers of D.

        Shapes: a, b, c and the result [..., 32, registers], uint32 (uint64 for f64): bit patterns.
        """
        a_bits = self._a.matrix(unpack(a, ELEMENTS[self.types.a].bits))
        b_bits = self._b.matrix(unpack(b, ELEMENTS[self.types.b].bits))
        c_bits = self._d.matrix(unpack(c, ELEMENTS[self.types.result].bits))
        return pack(self._d.distributed(self._product(a_bits, b_bits, c_bits)))

    def defined(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The registers of D that have only products of defined registers of A and B, C aside.

        Shapes: a, b and the result [..., 32, registers] bool.
        """
        rows = np.all(self._a.matrix(_of_elements(a, self._a)), axis=-1)
        columns = np.all(self._b.matrix(_of_elements(b, self._b)), axis=-2)
        elements = self._d.distributed(rows[..., :, None] & columns[..., None, :])
        return np.all(elements.reshape(*elements.shape[:-1], self.d_registers, -1), axis=-1)

    def _product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """D [..., m, n] for A [..., m, k], B [..., k, n] and C [..., m, n], all bit patterns."""
        if self.types.result == "f64":
            return fused_chain(a, b, c, self.rounding)
        a_numbers, b_numbers = ELEMENTS[self.types.a].numbers(a), ELEMENTS[self.types.b].numbers(b)
        return multiply_accumulate(a_numbers, b_numbers, c, self.types.result, self.saturating)

    def _registers(self, fragment: Fragment, element: str) -> int:
        return fragment.elements * ELEMENTS[element].bits // self.register_bits

    @property
    def _a(self) -> Fragment:
        return fragments.multiplicand_a(self.shape.m, self.shape.k, ELEMENTS[self.types.a].bits)

    @property
    def _b(self) -> Fragment:
        return fragments.multiplicand_b(self.shape.k, ELEMENTS[self.types.b].bits)

    @property
    def _d(self) -> Fragment:
        return fragments.accumulator(self.shape.m, self.shape.n)


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
    if shape not in family.mma_shapes:
        known = ", ".join(f".{known}" for known in family.mma_shapes)
        modifiers.refuse(f".{types.a} has no shape .{shape} that the simulator models; it has {known}")
    saturating = types.result == "s32" and modifiers.has("satfinite")
    rounding = modifiers.ordered(("rn", "rz", "rm", "rp")) if types.result == "f64" else ()
    if len(rounding) > 1:
        modifiers.refuse("has more than one rounding")
    modifiers.finish()
    return WarpMma(shape, types, saturating, *(rounding or ("rn",)))
