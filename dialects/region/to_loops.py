"""Region → loops: each kernel becomes a function over memrefs in upstream scf, memref, arith and math."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.analysis.extents import Extent
from tinyc.analysis.tiled_reduction import tiled_reduction
from tinyc.codegen.elements import Elements
from tinyc.codegen.scalars import storage_type
from tinyc.dialects.region import nests
from tinyc.dialects.region.contract import is_checked, symbols_in
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.region.verify import block_of, kernels, require_materialized
from tinyc.dialects.tiny.ops import erase_unused
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import func, ir, passmanager
from tinyc.passes import Pass
from tinyc.runtime.program import STATUS_WORDS


@dataclass(frozen=True)
class RegionToLoops(Pass):
    """Lower each kernel to loops over memrefs.

    Requires:
        1. The module holds `region.kernel`s, whose outputs are all materialised in "gmem".
    Ensures:
        1. Each kernel is a `func.func` of its name. Its arguments are the inputs' and outputs' memrefs (row-major;
           bool as bytes, unsigned integers signless), a status buffer where indices come from data, the symbols as
           `index`, and the half-open range of the parallel outer loop.
        2. Movements are index arithmetic and pads are guards: no value but the outputs is stored.
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
          "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "neg"} : () -> ()
    After:
        func.func @neg(%x: memref<4xf32>, %y: memref<4xf32>, %low: index, %high: index) {
          %c1 = arith.constant 1 : index
          scf.for %i = %low to %high step %c1 {
            %0 = memref.load %x[%i] : memref<4xf32>
            %1 = arith.negf %0 : f32
            memref.store %1, %y[%i] : memref<4xf32>
          }
          return
        }
    Source: specification 003 (Lowerer).
    """

    name: ClassVar[str] = "region-to-loops"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("loops",)

    def run(self, module: Any) -> None:
        """Replace every kernel of `module`."""
        for kernel in kernels(module).values():
            erase_unused(block_of(kernel))
            _lower(kernel)
            kernel.operation.erase()
        passmanager.PassManager.parse("builtin.module(func.func(cse,loop-invariant-code-motion,cse))").run(
            module.operation
        )


def memref_type(tensor: TensorType) -> Any:
    """Return the row-major memref that holds `tensor`."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if isinstance(extent, Extent) else extent for extent in tensor.shape]
    return ir.MemRefType.get(shape, storage_type(tensor.element))


def _lower(kernel: Any) -> None:
    require_materialized(kernel)
    buffers = list(block_of(kernel).arguments)
    tensors = [held_tensor(buffer.type) for buffer in buffers]
    names = symbols_in(kernel)
    index = ir.IndexType.get()
    status = [ir.MemRefType.get([STATUS_WORDS], ir.IntegerType.get_signless(64))] if is_checked(kernel) else []
    types = [*map(memref_type, tensors), *status, *(index for _ in names), index, index]
    with ir.InsertionPoint(kernel.operation), kernel.location:
        function = func.FuncOp(kernel.operation.attributes["sym_name"].value, (types, []))
        arguments = list(function.add_entry_block().arguments)
        with ir.InsertionPoint(function.entry_block):
            _nest(kernel, _elements(buffers, names, arguments, bool(status)), *arguments[-2:])
            func.ReturnOp([])


def _elements(buffers: list[Any], names: tuple[str, ...], arguments: list[Any], checked: bool) -> Elements:
    memrefs: Mapping[Any, Any] = dict(zip(buffers, arguments, strict=False))
    symbols = dict(zip(names, arguments[len(buffers) + checked :], strict=False))
    return Elements(memrefs, symbols, arguments[len(buffers)] if checked else None)


def _nest(kernel: Any, elements: Elements, low: Any, high: Any) -> None:
    by_name = {op.operation.name: op for op in block_of(kernel).operations}
    if "tiny.scatter" in by_name:
        nests.scatter(elements, kernel, by_name["tiny.scatter"], low, high)
    elif "tiny.topk" in by_name:
        nests.topk(elements, kernel, by_name["tiny.topk"], low, high)
    elif reduction := tiled_reduction(kernel):
        nests.reduction(elements, kernel, reduction, low, high)
    else:
        nests.pointwise(elements, kernel, low, high)
