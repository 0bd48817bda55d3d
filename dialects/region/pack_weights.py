"""Weights of products on a CPU in the order in which they are multiplied: packed once, by kernels of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.analysis.cpu_product import CpuProduct, RightMatrix
from tinyc.analysis.loop_nest import loop_nest
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.region.launches import (
    call_kernel,
    kept_operands,
    kernel_calls,
    kernel_of,
    launch_of,
    replace_call,
)
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import Shape
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class RegionPackWeights(Pass):
    """Keep the weights of products in panels of columns, so that no run packs them.

    Requires:
        1. The module holds `region.kernel`s for a CPU, and host functions that launch them.
    Ensures:
        1. A product (`analysis.cpu_product`) that packs a right operand, which is a matrix in memory, for each tile
           reads it as `[panel][product][column of the panel]`, if in every launch it depends on weights and constants
           alone. A kernel in front of the launch makes that of it, once for all that read it.
        2. Columns are filled up with zeros, and a panel of zeros is behind the last one: wide vectors read two.
        3. Where the product multiplies words (`dot`), a panel has the neighbours of a word beside each other: it is
           `[panel][word][column][neighbour]`, filled up with products of zeros to whole steps of the instruction.
        4. A kernel that has alternatives for sizes, or is one, stays: these do not read the same.
    Before:
        !b = !region.memref<tensor<64x64xf32>, [64, 1], 64 : i64, true> !t = tensor<64x64xf32> !p = tensor<64x64x64xf32>
        "region.kernel"() ({ ^bb0(%x: !b, %w: !b, %y: !b): %0 = "region.read"(%x) : (!b) -> !t
        %1 = "region.read"(%w) : (!b) -> !t %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0,2>} : (!t) -> !p
        %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
        %4 = "tiny.mul"(%2, %3) : (!p,!p) -> !p %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"} : (!p) -> !t
        "region.yield"(%5, %y) {materialize = "gmem"} : (!t,!b) -> () omp.terminator }) {sym_name = "matmul"} : () -> ()
        func.func @main(%x: !t, %w: !t {tiny.weight}) -> !t { %k = "region.launch"() {kernel = @matmul}
          : () -> ((!t, !t) -> !t)   %0 = call_indirect %k(%x, %w) : (!t, !t) -> !t   return %0 : !t }
    After:
        !b = !region.memref<tensor<64x64xf32>, [64, 1], 128 : i64, true>  !t = tensor<64x64xf32>  !m = tensor<64x80xf32>
        !panels = !region.memref<tensor<64x80xf32>, [80, 1], 128 : i64, true>
        "region.kernel"() ({ ^bb0(%w: !b, %p: !panels): %0 = "region.read"(%w) : (!b) -> !t
          %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (!t) -> !t
          %2 = "tiny.pad"(%1) {hi = array<i64: 0, 16>, lo = array<i64: 0, 0>, value = 0.0 : f32} : (!t) -> !m
          "region.yield"(%2, %p) {materialize = "gmem"} : (!m, !panels) -> ()
          omp.terminator }) {panels = array<i64: 1>, sym_name = "pack"} : () -> ()
        …
    Source: specification 003 (pack); Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication".
    """

    name: ClassVar[str] = "region-pack-weights"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def run(self, module: ir.Module) -> None:
        """Pack the weights of every kernel of `module` that takes them so."""
        calls, kept = kernel_calls(module), kept_operands(module, kernels_of(module))
        found = _packed_operands(module, kept)
        packed = {name: each for name, each in found.items() if each[1].position in kept.get(name, ())}
        packs = _Packs(module)
        for kernel, operand in packed.values():
            _read_panels(kernel, operand)
        for call in calls:
            if kernel_of(call) in packed:
                packs.launch(call, *packed[kernel_of(call)])


@dataclass(frozen=True)
class _Operand:
    """The operand of a kernel that it reads in panels, by its position."""

    position: int
    matrix: RightMatrix


def _packed_operands(module: ir.Module, kept: Mapping[str, frozenset[int]]) -> dict[str, tuple[Kernel, _Operand]]:
    """The kernels by name that would be given a matrix in panels, and which operand that is."""
    found: dict[str, tuple[Kernel, _Operand]] = {}
    for name, kernel in kernels_of(module).items():
        product = loop_nest(kernel.op, kept.get(name, frozenset()))
        if isinstance(product, CpuProduct):
            packed = product.right_matrix
            if packed is not None and len(list(packed[0].uses)) == 1:
                buffer, matrix = packed
                found[name] = kernel, _Operand(list[ir.Value](kernel.buffers).index(buffer), matrix)
    return found


# --- the kernel that multiplies ---------------------------------------------------------------------------------------


def _panels_of(matrix: RightMatrix) -> TensorType:
    """What holds the panels of a matrix, and one of zeros."""
    panels = -(-matrix.columns // region.PANEL_COLUMNS) + 1
    return TensorType(matrix.element, (matrix.whole_products, panels * region.PANEL_COLUMNS))


def _mark_panels(kernel: region.KernelOp, position: int, matrix: RightMatrix) -> None:
    """Say that a buffer of a kernel has the panels of a matrix."""
    kernel.attributes[region.PANELS] = ir.DenseI64ArrayAttr.get([position])
    if matrix.group > 1:
        i64 = ir.IntegerType.get_signless(64)
        kernel.attributes[region.PANEL_GROUP] = ir.IntegerAttr.get(i64, matrix.group)


def _read_panels(kernel: Kernel, operand: _Operand) -> None:
    """Let a kernel read a matrix in panels; what it computes of it stays as it is."""
    matrix, buffer = operand.matrix, kernel.buffers[operand.position]
    (read,) = [use.owner for use in buffer.uses]
    assert isinstance(read, region.ReadOp)  # nothing else reads a buffer
    held, panels = tensor_type(read.output.type), _panels_of(matrix)
    buffer.set_type(region.memref_type(panels))
    _mark_panels(kernel.op, operand.position, matrix)
    with ir.InsertionPoint(read), read.location:
        value = region.ReadOp(buffer, to_type(panels)).output
        value = _moved(value, "shrink", {"lo": (0, 0), "hi": (matrix.products, matrix.columns), "step": (1, 1)})
        if matrix.is_transposed:
            value = _moved(value, "permute", {"perm": (1, 0)})
        value = _reshaped(value, held.shape)
    read.output.replace_all_uses_with(value)
    read.erase()


# --- the kernel that packs --------------------------------------------------------------------------------------------


class _Packs:
    """The kernels that pack, one for all matrices of a form, and what they have made of which value."""

    def __init__(self, module: ir.Module) -> None:
        self._names = DistinctNames(declared_symbols(module.body))
        self._kernels: dict[tuple[TensorType, RightMatrix], Kernel] = {}
        self._made: dict[tuple[ir.Value, RightMatrix], ir.Value] = {}

    def launch(self, call: func.CallIndirectOp, kernel: Kernel, operand: _Operand) -> None:
        """Launch a kernel with the panels of its operand in the place of the matrix."""
        operands, launch = list(call.callee_operands), launch_of(call)
        with ir.InsertionPoint(kernel.op), kernel.location:
            pack = self._kernel(tensor_type(operands[operand.position].type), operand.matrix)
        with ir.InsertionPoint(call), call.location:
            made = operands[operand.position], operand.matrix
            if made not in self._made:
                (self._made[made],) = call_kernel(pack, [operands[operand.position]]).results
            operands[operand.position] = self._made[made]
            with launch.location:
                replacing = call_kernel(kernel, operands)
        replacing.location = call.location
        new_launch = launch_of(replacing)
        for old_op, new_op in ((call, replacing), (launch, new_launch)):
            for name in old_op.attributes:
                new_op.attributes[name] = old_op.attributes[name]
        replace_call(call, replacing.results)

    def _kernel(self, held: TensorType, matrix: RightMatrix) -> Kernel:
        """The kernel that makes the panels of a matrix, which a tensor is."""
        if (held, matrix) not in self._kernels:
            kernel = region.KernelOp(ir.StringAttr.get(self._names.new("pack")))
            panels, here = _panels_of(matrix), ir.Location.unknown()
            _mark_panels(kernel, 1, matrix)
            buffers = [region.memref_type(each) for each in (held, panels)]
            block = kernel.body.blocks.append(*buffers, arg_locs=[here, here])
            with ir.InsertionPoint(block):
                source, target = block.arguments
                shape = (matrix.columns, matrix.products) if matrix.is_transposed else (matrix.products, matrix.columns)
                value = _reshaped(region.ReadOp(source, to_type(held)).output, shape)
                if matrix.is_transposed:
                    value = _moved(value, "permute", {"perm": (1, 0)})
                more = matrix.whole_products - matrix.products, panels.shape[1] - matrix.columns
                value = _moved(value, "pad", {"lo": (0, 0), "hi": more, "value": 0})
                region.YieldOp(value, target, ir.StringAttr.get("gmem"))
                end_body()
            self._kernels[held, matrix] = Kernel(kernel)
        return self._kernels[held, matrix]


def _moved(value: ir.Value, op: str, arguments: Mapping[str, Any]) -> ir.Value:
    """Emit a movement of a value."""
    return tiny.build(op, [value], arguments).results[0]


def _reshaped(value: ir.Value, shape: Shape) -> ir.Value:
    """Emit a value in another shape, if it is another one."""
    return value if tensor_type(value.type).shape == shape else _moved(value, "reshape", {"shape": shape})
