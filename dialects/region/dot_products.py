"""What a CPU multiplies by: instructions that add the products of neighbours, where a kernel is a product of such."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.loop_choices import NO_CHOICES
from tinyc.analysis.loop_nest import planned_nest
from tinyc.diagnostics import remark
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.passes import Pass
from tinyc.runtime.cpu_features import level_features
from tinyc.target import DEFAULT_CPU, DOT_FORMS, DotForm, DotProduct
from tinyc.vocabulary.attributes import tensor_type


@dataclass(frozen=True)
class RegionDotProducts(Pass):
    """Decide which products of bf16 and of bytes are multiplied by words of neighbours, and by which instructions.

    Requires:
        1. The module holds `region.kernel`s.
    Ensures:
        1. A kernel that is a product (`analysis.cpu_product`) of bf16, or of bytes whose sums are i32, has the feature
           of `cpu` by whose instructions it is multiplied in `dot`: AMX, else VNNI or AVX512-BF16
           (`target.dot_products`). So has one whose operands are casts of those.
        2. Where the CPU has no such feature all stays as it is: operands are widened, and multiplied in vectors.
    Before {cpu="x86-64-v4+amx"}:
        !a = !region.memref<tensor<32x64xbf16>, [64, 1], 128 : i64, true> !p = tensor<32x32x64xbf16>
        !t = tensor<32x64xbf16>  !y = !region.memref<tensor<32x32xbf16>, [32, 1], 128 : i64, true>
        "region.kernel"() ({ ^bb0(%a: !a, %b: !a, %y: !y): %0 = "region.read"(%a) : (!a) -> !t
          %1 = "region.read"(%b) : (!a) -> !t  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>}
          : (!t) -> !p  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
          %4 = "tiny.mul"(%2, %3) : (!p, !p) -> !p  %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"}
          : (!p) -> tensor<32x32xbf16>  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<32x32xbf16>, !y) -> ()
          omp.terminator }) {sym_name = "matmul"} : () -> ()
    After:
        !a = !region.memref<tensor<32x64xbf16>, [64, 1], 128 : i64, true> !p = tensor<32x32x64xbf16>
        !t = tensor<32x64xbf16>  !y = !region.memref<tensor<32x32xbf16>, [32, 1], 128 : i64, true>
        "region.kernel"() ({ ^bb0(%a: !a, %b: !a, %y: !y): %0 = "region.read"(%a) : (!a) -> !t
          %1 = "region.read"(%b) : (!a) -> !t  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>}
          : (!t) -> !p  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
          %4 = "tiny.mul"(%2, %3) : (!p, !p) -> !p  %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"}
          : (!p) -> tensor<32x32xbf16>  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<32x32xbf16>, !y) -> ()
          omp.terminator }) {dot = "amx-bf16", sym_name = "matmul"} : () -> ()
    Source: Intel, "Architecture Instruction Set Extensions": TDPBF16PS, TDPBSSD, VDPBF16PS, VPDPBUSD.
    """

    cpu: str = field(
        default=DEFAULT_CPU,
        metadata={"doc": "the CPU that multiplies: host, or a level of x86-64 and what it has more, as in v4+amx"},
    )

    name: ClassVar[str] = "region-dot-products"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def run(self, module: ir.Module) -> None:
        """Decide it for every kernel of `module`."""
        features = level_features(self.cpu)
        forms = [form for feature, form in DOT_FORMS.items() if feature in features]
        for kernel in kernels_of(module).values():
            if region.DOT in kernel.op.attributes:
                del kernel.op.attributes[region.DOT]  # of another CPU
            if not forms:
                continue
            product = planned_nest(kernel.op, NO_CHOICES) if _has_narrow_elements(kernel) else None
            dot = _dot_product(product, forms) if isinstance(product, CpuProduct) else None
            if dot is not None:
                kernel.op.attributes[region.DOT] = ir.StringAttr.get(dot.form.feature)
                shown = f"{dot.left.value} by {dot.right.value} in words of {dot.form.group}, by {dot.form.feature}"
                message = f"@{kernel.name} multiplies {shown}"
                remark("dot-product", where(kernel.location), message, kernel=kernel.name, feature=dot.form.feature)


def _dot_product(product: CpuProduct, forms: Sequence[DotForm]) -> DotProduct | None:
    """How a product is multiplied in the first of some forms that is for it."""
    found = (product.reads.in_words(form, product.left, product.right) for form in forms)
    return next(filter(None, found), None)


def _has_narrow_elements(kernel: Kernel) -> bool:
    """Whether a kernel has any elements that such instructions multiply."""
    narrow = {element for form in DOT_FORMS.values() for element in form.elements}
    return any(tensor_type(result.type).element in narrow for op in kernel.body for result in op.results)
