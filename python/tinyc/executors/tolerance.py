"""How far two values may be apart; how far those of a program may be, `rounding` derives. No MLIR here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """`|actual - expected| <= atol + rtol * |expected|`; both 0 means equal."""

    rtol: float = 0.0
    atol: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the values must be equal."""
        return self.rtol == 0 and self.atol == 0

    def __str__(self) -> str:
        return "exact" if self.exact else f"rtol {self.rtol:.2g}, atol {self.atol:.2g}"
