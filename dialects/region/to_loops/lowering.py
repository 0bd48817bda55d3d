"""Region → loops: each kernel becomes a function over memrefs in upstream scf, memref, arith and math."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.graphs import functions_of
from tinyc.analysis.loop_nest import BlockNest, OrderedNest, ScanNest, StepNest
from tinyc.codegen.scalars import storage_type
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.region.to_loops import nests
from tinyc.dialects.region.to_loops.attention_tiles import attention_nest
from tinyc.dialects.region.to_loops.index_loads import hoist_index_loads
from tinyc.dialects.region.to_loops.known_extents import KnownExtents
from tinyc.dialects.region.to_loops.loop_elements import LoopElements
from tinyc.dialects.region.to_loops.loop_hints import LoopHints, interleave_functions
from tinyc.dialects.region.to_loops.product_tiles import product_nest
from tinyc.dialects.region.to_loops.splits import MAX_CHOICES, choose_loops, overlap_vectors, split_loops
from tinyc.dialects.region.to_loops.steps import block_nest, step_nest
from tinyc.dialects.region.verify import require_materialized
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.extents import Dim, Extent
from tinyc.mlir import func, ir, passmanager
from tinyc.mlir.locations import here
from tinyc.passes import Pass
from tinyc.runtime.program import STATUS_WORDS
from tinyc.target import DEFAULT_CPU, VectorUnit, vector_unit_of
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class RegionToLoops(Pass):
    """Lower each kernel to loops over memrefs.

    Requires:
        1. The module holds `region.kernel`s, whose outputs are all materialised in "gmem".
    Ensures:
        1. Each kernel is a `func.func` of its name. Its arguments are the inputs' and outputs' memrefs (row-major;
           bool as bytes, unsigned integers signless), a status buffer where indices come from data, the symbols as
           `index`, and the half-open range of the parallel outer loop.
        2. Movements are index arithmetic and pads are guards. What is stored beside the outputs are accumulators, the
           rows that later phases of a step read (`analysis.cpu_steps`), and what a tile of a product reads of its
           operands (`analysis.cpu_product`): a little of it on the stack, the rest in workspaces, which are arguments
           behind the buffers.
        3. What lies across its results in memory is read in blocks (`analysis.transposition`).
        4. A scan (`analysis.patterns.scan`) reads each element once, and carries what it has so far.
        5. The order of every sum is in the code. A product of a window is added without being rounded where
           `cpu` can. Tiles of products are in its vectors, and so is the end of a row on the stack; all else depends
           on no machine.
        6. LLVM is asked for several vectors at a time where a function has no instruction (`loop_hints`).
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
    After:
        func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>, %low: index, %high: index) {
          %c1 = arith.constant 1 : index
          scf.for %i = %low to %high step %c1 {
            %0 = memref.load %x[%i] : memref<4xf32>
            memref.store %0, %y[%i] : memref<4xf32>
          }
          return
        }
    Source: specification 003 (Lowerer).
    """

    name: ClassVar[str] = "region-to-loops"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("loops",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    cpu: str = field(
        default=DEFAULT_CPU,
        metadata={"doc": "the CPU whose vectors the loops have: host, x86-64, x86-64-v2, -v3, -v4, v4+amx, aarch64"},
    )

    def run(self, module: ir.Module) -> None:
        """Replace every kernel of `module`."""
        unit = vector_unit_of(self.cpu)
        turns: dict[str, tuple[Dim, tuple[str, ...], bool]] = {}
        for kernel in kernels_of(module).values():
            tiny.erase_unused(kernel.block)
            require_materialized(kernel)
            turns[kernel.name] = kernel.nest.turns, tuple(kernel.symbols), _has_windows(kernel)
            _write_function(kernel, unit)
            kernel.op.erase()
        passmanager.PassManager.parse("builtin.module(func.func(cse,loop-invariant-code-motion,cse))").run(
            module.operation
        )
        for function in functions_of(module):
            if function.name.value in turns:
                _split(function, unit, *turns[function.name.value])


def _has_windows(kernel: Kernel) -> bool:
    """Whether terms of a window are written out, whose guards are conditions on the index of a loop."""
    return isinstance(kernel.nest, StepNest) and bool(kernel.nest.steps.windows)


def _split(function: func.FuncOp, unit: VectorUnit, turns: Dim, symbols: Sequence[str], has_windows: bool) -> None:
    """Split the loops of a function where guards change, and choose them by what does not change in them.

    Guards of windows are seen to be such once a loop over the only tile of a row has gone.
    """
    simplify = passmanager.PassManager.parse("func.func(canonicalize,cse,loop-invariant-code-motion,cse)")
    known = KnownExtents.of_kernel(function, symbols)
    if hoist_index_loads(function, known) or has_windows:
        simplify.run(function.operation)
    if split_loops(function, turns, known):
        simplify.run(function.operation)
    for _ in range(MAX_CHOICES):
        if not choose_loops(function):
            break
        simplify.run(function.operation)
    overlap_vectors(function, known, unit)
    interleave_functions(function)


def _write_function(kernel: Kernel, unit: VectorUnit) -> None:
    """Write the function of a kernel in front of it."""
    buffers, names = list(kernel.buffers), kernel.symbols
    index = ir.IndexType.get()
    status = [ir.MemRefType.get([STATUS_WORDS], ir.IntegerType.get_signless(64))] if kernel.is_checked else []
    types = [*map(_row_major, (*kernel.tensors, *kernel.workspaces)), *status, *(index for _ in names), index, index]
    with ir.InsertionPoint(kernel.op), kernel.location:
        function = func.FuncOp(kernel.name, (types, []))
        own = [here("workspace")] * len(kernel.workspaces)
        locations = [*(buffer.location for buffer in buffers), *own, *(here() for _ in status), *map(here, names)]
        arguments = list(function.add_entry_block([*locations, here("low"), here("high")]).arguments)
        memrefs, rest = arguments[: len(buffers)], arguments[len(buffers) : -2]
        workspaces, rest = rest[: len(own)], rest[len(own) :]
        slot = rest.pop(0) if status else None
        elements = LoopElements(
            dict(zip(buffers, memrefs, strict=True)), dict(zip(names, rest, strict=True)), slot, unit
        )
        with ir.InsertionPoint(function.entry_block), here():
            _write_nest(kernel, elements, unit, workspaces, *arguments[-2:])
            func.ReturnOp([])
        LoopHints.of(kernel).keep_innermost(kernel, function.operation)


def _row_major(tensor: TensorType) -> ir.MemRefType:
    """The memref that holds `tensor`."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if isinstance(extent, Extent) else extent for extent in tensor.shape]
    return ir.MemRefType.get(shape, storage_type(tensor.element))


def _write_nest(
    kernel: Kernel,
    elements: LoopElements,
    unit: VectorUnit,
    workspaces: Sequence[ir.Value],
    low: ir.Value,
    high: ir.Value,
) -> None:
    nest = kernel.nest
    if isinstance(nest, OrderedNest):
        nests.ordered_nest(elements, kernel, nest, low, high)
    elif isinstance(nest, ScanNest):
        nests.scan_nest(elements, kernel, nest, low, high)
    elif isinstance(nest, CpuProduct):
        product_nest(elements, kernel, nest, unit, workspaces, low, high)
    elif isinstance(nest, CpuAttention):
        attention_nest(elements, kernel, nest, unit, workspaces, low, high)
    elif isinstance(nest, BlockNest):
        block_nest(elements, kernel, nest, low, high)
    elif isinstance(nest, StepNest):
        step_nest(elements, kernel, nest.parallel, nest.steps, low, high)
    else:
        nests.inlined_nest(elements, kernel, nest, low, high)
