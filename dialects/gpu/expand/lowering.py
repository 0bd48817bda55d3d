"""The pass `gpu-expand`: every kernel, its loops, and each statement by the file of its name."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tinyc.codegen.once import emitted_once
from tinyc.codegen.words import as_i32
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import GLOBAL
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.kernel import GpuKernel, kernels_of_statements
from tinyc.dialects.gpu.statements import STATEMENT_OPS, by_op
from tinyc.mlir import gpu, ir, passmanager, scf
from tinyc.mlir.locations import around, here, unnamed, where
from tinyc.passes import Pass

_EXPANSIONS = by_op(STATEMENT_OPS, "tinyc.dialects.gpu.expand", "expand")


@dataclass(frozen=True)
class GpuExpand(Pass):
    """Write the statements of each kernel out as scalar code for one thread.

    Requires:
        1. The module's kernels are `gpu.func`s of tgpu statements, as --region-to-gpu makes them.
    Ensures:
        1. No statement is left. A buffer is a 1-D memref of its storage type in global memory (bool is a byte,
           unsigned integers are signless) with the tensor that it holds as `tgpu.tensor`; a circular buffer is a
           `memref.global` of the module, in shared memory, row-major, one stage after the other, with its tiles as
           `tgpu.smem`.
        2. The ops are those of arith, math, scf, `gpu.thread_id`, `gpu.block_id`, `gpu.grid_dim`, `gpu.barrier`,
           `gpu.shuffle`, `memref.load`, `memref.store`, and the dialect's own of the scalar level. Loops carry
           accumulators; no thread has memory of its own. 16-bit floats are stored as such, and computed with in f32.
        3. A loop or branch that a statement becomes has a `tgpu.comment`.
    Before:
        !y = !region.memref<tensor<f32>, [], 128 : i64, true>
        gpu.module @kernels {
          gpu.func @one(%y: !y) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
            "tgpu.map"() ({
              %0 = "tiny.const"() {value = 1.0 : f32} : () -> tensor<f32>
              "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<f32>, !y) -> ()
              omp.terminator
            }) : () -> () gpu.return } }
    After:
        !y = memref<?xf32, #gpu.address_space<global>>
        gpu.module @kernels {
          gpu.func @one(%y: !y {tgpu.tensor = tensor<f32>}) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
            %t = gpu.thread_id x  %c1 = arith.constant 1 : index  %b = gpu.block_id x  %0 = arith.muli %b, %c1 : index
            %first = arith.addi %0, %t : index  %g = gpu.grid_dim x  %step = arith.muli %g, %c1 : index
            %one = arith.constant 1.0 : f32  %c0 = arith.constant 0 : index
            scf.for %i = %first to %c1 step %step { memref.store %one, %y[%c0] : !y
            } {tgpu.comment = "map: one element for each thread at a time"} gpu.return } }
    Source: specification 002 (§7, the generated kernel).
    """

    name: ClassVar[str] = "gpu-expand"
    consumes: ClassVar[tuple[str, ...]] = ("tgpu",)
    produces: ClassVar[tuple[str, ...]] = ("gpu", "scf", "arith", "math", "memref", "tgpu")
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (gpu.GPUModuleOp,)

    def run(self, module: ir.Module) -> None:
        """Replace every kernel of statements in `module`."""
        for kernel in kernels_of_statements(module):
            _expand(kernel)
            kernel.op.erase()
        # No canonicalisation: it would fold a rounding of an integer to f16 into a conversion that computes in f16.
        manager = passmanager.PassManager.parse(
            "builtin.module(gpu.module(gpu.func(cse,loop-invariant-code-motion,cse)))", module.context
        )
        manager.enable_verifier(False)  # the runner verifies what comes out; rules in Python, three times, take longer
        manager.run(module.operation)


def _expand(kernel: GpuKernel) -> None:
    """Write the scalar form of a kernel in front of it."""
    with ir.InsertionPoint(kernel.op), kernel.location:
        types = kernel.flat_types(ir.Attribute.parse(GLOBAL))
        function = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        written = gpu.GPUFuncOp(function, sym_name=kernel.op.name, arg_attrs=kernel.flat_attributes())
        for name, attribute in kernel.op.attributes.items():
            if name not in ("function_type", "arg_attrs"):
                written.attributes[name] = attribute
        block = written.body.blocks.append(*types, arg_locs=[argument.location for argument in kernel.arguments])
        with ir.InsertionPoint(block), here(), emitted_once():
            _expand_all(Expansion(kernel, written, list(block.arguments), _expand_all), kernel.block.operations)


def _expand_all(expansion: Expansion, ops: Iterable[ir.OpView]) -> None:
    """Write what ops of the old kernel become."""
    for op in ops:
        with unnamed(op.location):
            if isinstance(op, STATEMENT_OPS):
                _EXPANSIONS[type(op)](expansion, op)
            elif isinstance(op, scf.ForOp):
                _expand_loop(expansion, op)
            elif isinstance(op, scf.IfOp):
                _expand_branch(expansion, op)
            elif isinstance(op, scf.YieldOp):
                scf.yield_(expansion.flat(op.operands))
            else:
                _copy(expansion, op)


def _expand_loop(expansion: Expansion, op: scf.ForOp) -> None:
    """Write a loop around statements, which carries each accumulator that the thread owns, and offsets of stages."""
    low, high, step = (expansion.values[each] for each in (op.lowerBound, op.upperBound, op.step))
    starts, stages = list(op.initArgs), expansion.stages.carried(op, expansion.swizzled)
    first = [as_i32(expansion.stages.of(starts[each.number], each.size)) for each in stages]
    nest = scf.ForOp(low, high, step, [*expansion.flat(starts), *first])
    nest.induction_variable.set_location(op.induction_variable.location)
    for name, attribute in op.attributes.items():
        nest.attributes[name] = attribute
    expansion.values[op.induction_variable] = nest.induction_variable
    inside, carried = list(nest.inner_iter_args), list(op.inner_iter_args)
    offsets = inside[len(inside) - len(stages) :]
    for each, offset in zip(stages, offsets, strict=True):
        expansion.stages.note(carried[each.number], each.size, offset)
    expansion.rename(carried, starts, inside)
    with expansion.elements.block(nest.body):
        *statements, end = op.body.operations
        _expand_all(expansion, statements)
        following = [as_i32(expansion.stages.of(end.operands[each.number], each.size)) for each in stages]
        scf.yield_([*expansion.flat(end.operands), *following])
    expansion.rename(list(op.results), starts, nest.results)


def _expand_branch(expansion: Expansion, op: scf.IfOp) -> None:
    """Write a branch around statements that all threads take, or none."""
    blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
    branch = scf.IfOp(expansion.values[op.condition], has_else=len(blocks) > 1)
    for block, written in zip(blocks, branch.regions, strict=False):
        with expansion.elements.block(written.blocks[0]):
            _expand_all(expansion, block.operations)


def _copy(expansion: Expansion, op: ir.OpView) -> None:
    """Write an op that is neither a statement nor a loop, on what its operands are now."""
    if len(op.regions):
        message = f"'{op.operation.name}' cannot hold statements; use scf.for or scf.if"
        raise TinycError("InvalidIr", message, where(around(op)))
    copy = op.operation.clone()
    for position, operand in enumerate(op.operands):
        copy.operands[position] = expansion.values[operand]
    expansion.values.update(zip(op.results, copy.results, strict=True))
