"""What tensor cores multiply: element types and the shape of one instruction, on each architecture.

In: a matrix product, a target, a precision. Out: the `MatrixUnit` that computes it, or why none does.
"""

from dataclasses import dataclass

from tinyc.analysis.candidate import MatrixProduct
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class MatrixUnit:
    """One matrix instruction of a warp (`mma.sync`) or a warpgroup (`wgmma`), and what it multiplies.

    `factor` is the element type of both operands, `accumulator` that of the sums. `rows` is the instruction's M,
    `depth` its K, in elements; its N is 8 for `mma.sync`, for `wgmma` a multiple of 8 up to 256. `threads` are those of
    the unit that executes it. `transposes` says that an operand may lie in shared memory with either side contiguous;
    otherwise k is the contiguous one.
    """

    factor: ElementType
    accumulator: ElementType
    rows: int
    depth: int
    threads: int
    transposes: bool

    @property
    def is_wgmma(self) -> bool:
        """Whether warpgroups multiply from shared memory, asynchronously."""
        return self.rows == 64

    def admits(self, rows: int, columns: int) -> bool:
        """Whether an accumulator tile of a unit may have so many rows and columns."""
        return rows % self.rows == 0 and self.admits_columns(columns)

    def admits_columns(self, columns: int) -> bool:
        """Whether an accumulator tile of a unit may have so many columns. Source: PTX ISA, wgmma.mma_async, shapes."""
        if not self.is_wgmma:
            return columns % 8 == 0
        if self.factor.is_integer and columns > 24 and columns != 32:
            return columns % 16 == 0 and columns <= 256
        return columns % 8 == 0 and columns <= 256


#: Element type of the factors → that of the sums, and the bytes of k of one instruction.
_SUMS = {
    ElementType.I8: ElementType.I32,
    ElementType.F16: ElementType.F32,
    ElementType.BF16: ElementType.F32,
    ElementType.F32: ElementType.F32,
}
_DEPTH_BYTES = 32


def has_wgmma(target: Target) -> bool:
    """Whether a target has `wgmma`, TMA, clusters and `setmaxnreg`."""
    return target.is_architecture_specific and target.compute_capability[0] == 9


def matrix_unit(product: MatrixProduct, target: Target, precision: str = "ieee") -> MatrixUnit | str:
    """The unit for a product, by the narrowest type that holds both operands' elements; or why there is none.

    f32 is multiplied where `precision` is "tf32" only, and then nothing else is.
    """
    held = [each.exact or (each.element,) for each in (product.lhs, product.rhs)]
    common = [element for element in _SUMS if all(element in each for each in held)]
    if not common:
        left, right = (" or ".join(each) for each in held)
        return f"tensor cores multiply f16, bf16, i8 or, as tf32, f32 by the same, and it multiplies {left} by {right}"
    fitting = [element for element in common if _SUMS[element] == product.accumulator]
    if not fitting:
        sums = " or ".join(dict.fromkeys(_SUMS[element] for element in common))
        return f"tensor cores sum products of {common[0]} in {sums}, and it sums them in {product.accumulator}"
    is_asked = precision == "tf32"
    chosen = next((element for element in fitting if (element is ElementType.F32) == is_asked), None)
    if chosen is None:
        if is_asked:
            return f"'precision' tf32 is for factors in f32, and they are in {fitting[0]}"
        return 'tensor cores round f32 to tf32, which a plan has to ask for: "precision": "tf32"'
    wgmma = has_wgmma(target)
    return MatrixUnit(
        factor=chosen,
        accumulator=_SUMS[chosen],
        rows=64 if wgmma else 16,
        depth=_DEPTH_BYTES // chosen.size_bytes,
        threads=128 if wgmma else 32,
        # ldmatrix and wgmma transpose 16 bits; of 32 bits warps load each register from where its element is.
        transposes=chosen.bits == 16 or (chosen.bits == 32 and not wgmma),
    )
