"""What stands before the statements of a function: its head with its parameters, and its arrays in shared memory.

In: a function at the scalar level, and the names of its arguments. Out: text.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinyc.dialects.cuda.printer.names import distinct_identifiers
from tinyc.dialects.cuda.printer.types import type_name
from tinyc.dialects.gpu.dialect import TensorMapType, staged_tile
from tinyc.dialects.gpu.instructions import writes_global
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.shared_layout import TILE_ALIGNMENT
from tinyc.dialects.gpu.statements import (
    READING_OPS,
    AddressOp,
    InstructionOp,
    LoadVectorOp,
    MapAddressOp,
    StoreVectorOp,
)
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.mlir import func, gpu, ir, memref

_WIDTH = 116


@dataclass(frozen=True)
class SharedArray:
    """An array in shared memory: the values that are it, its name and its declaration."""

    value: ir.Value
    name: str
    declaration: str


def shared_arrays(function: gpu.GPUFuncOp | func.FuncOp, names: Sequence[str]) -> list[SharedArray]:
    """The arrays of a function whose arguments have these names."""
    prefix = f"{ir.StringAttr(function.attributes['sym_name']).value}_"
    found: list[SharedArray] = []
    for op in function.body.blocks[0].operations:
        if isinstance(op, memref.GetGlobalOp):
            symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
            declared = _declared(function, symbol)
            is_dynamic = declared is not None and "tgpu.dynamic" in declared.attributes
            wanted = "smem" if is_dynamic else f"tile_{symbol.removeprefix(prefix).lower()}"
            (name,) = distinct_identifiers([wanted], (*names, *(each.name for each in found)))
            if is_dynamic:
                text = f"extern __shared__ __align__({TILE_ALIGNMENT}) unsigned char {name}[];"
            else:
                text = _static(op, declared, name)
            found.append(SharedArray(op.result, name, text))
    return found


def _declared(function: gpu.GPUFuncOp | func.FuncOp, symbol: str) -> memref.GlobalOp | None:
    beside = function.operation.block.operations
    return next((op for op in beside if isinstance(op, memref.GlobalOp) and op.sym_name.value == symbol), None)


def _static(op: memref.GetGlobalOp, declared: memref.GlobalOp | None, name: str) -> str:
    kind = ir.MemRefType(op.result.type)
    is_wide = any(isinstance(use.owner, LoadVectorOp | StoreVectorOp) for use in op.result.uses)
    start = f"__shared__ {f'__align__({VECTOR_BYTES}) ' if is_wide else ''}{type_name(kind.element_type)}"
    return f"{start} {name}[{_size(declared, kind)}];"


def _size(declared: memref.GlobalOp | None, kind: ir.MemRefType) -> str:
    """The size of an array: of a circular buffer of tiles its stages, rows and columns."""
    held = None if declared is None else declared.attributes.get("tgpu.smem", None)
    if not isinstance(held, ir.TypeAttr):
        return str(kind.shape[0])
    staged = staged_tile(held.value)
    return f"{staged.stages} * {staged.tile.rows} * {staged.tile.columns}"


def head(function: gpu.GPUFuncOp | func.FuncOp, name: str, parameters: Sequence[str]) -> list[str]:
    """The lines that a function begins with."""
    start = f"static void {name}("
    if isinstance(function, gpu.GPUFuncOp):
        kernel = GpuKernel(function)
        cluster = "" if kernel.cluster == (1, 1, 1) else f"__cluster_dims__({', '.join(map(str, kernel.cluster))}) "
        bounds = f"{math.prod(kernel.cta_shape)}{', 1' if _changes_registers(kernel) else ''}"
        start = f"__global__ void {cluster}__launch_bounds__({bounds}) {name}("
    line = f"{start}{', '.join(parameters)}) {{"
    if len(line) <= _WIDTH:
        return [line]
    return [start, *(f"    {each}," for each in parameters[:-1]), f"    {parameters[-1]}) {{"]


def _changes_registers(kernel: GpuKernel) -> bool:
    """Whether warps give up registers for others: ptxas does so where it knows that all are one CTA's."""
    return any(isinstance(op, InstructionOp) and op.entry.name.startswith("setmaxnreg") for op in kernel.ops)


def parameter_text(argument: ir.BlockArgument, name: str, is_restricted: bool) -> str:
    """An argument as a parameter."""
    if isinstance(argument.type, TensorMapType):
        return f"const __grid_constant__ CUtensorMap {name}"
    if isinstance(argument.type, ir.IndexType):
        return f"int64_t {name}"
    element = type_name(ir.MemRefType(argument.type).element_type)
    restrict = "__restrict__ " if is_restricted else ""
    return f"{'' if _is_written(argument) else 'const '}{element}* {restrict}{name}"


def _is_written(argument: ir.BlockArgument) -> bool:
    if not list(argument.uses):
        return _is_stored_by_map(argument)
    return any(_writes(use.owner) for use in argument.uses)


def _writes(op: ir.OpView) -> bool:
    if isinstance(op, AddressOp):
        users = [use.owner for use in op.place.uses]
        return not all(isinstance(user, InstructionOp) and not writes_global(user.entry.name) for user in users)
    return not isinstance(op, READING_OPS)


def _is_stored_by_map(argument: ir.BlockArgument) -> bool:
    """Whether a copy stores to a buffer by one of its tensor maps."""
    function = argument.owner.owner.opview
    if not isinstance(function, gpu.GPUFuncOp):
        return False
    kernel = GpuKernel(function)
    maps = [each for each in kernel.arguments if isinstance(each.type, TensorMapType)]
    buffers = kernel.buffers
    pairs = zip(maps, kernel.tensor_maps, strict=True)
    own = [each for each, note in pairs if argument in buffers and buffers[note.buffer] == argument]
    return any(writes_global(user.entry.name) for each in own for user in _instructions_with(each.uses))


def _instructions_with(uses: Iterable[ir.OpOperand]) -> list[InstructionOp]:
    places = [use.owner for use in uses if isinstance(use.owner, MapAddressOp)]
    return [use.owner for each in places for use in each.place.uses if isinstance(use.owner, InstructionOp)]


def argument_names(kernel: GpuKernel) -> list[str]:
    """A name for each argument of a kernel: the tensor's, `status`, the extent's; of a map its tensor's and `_map`."""
    wanted: list[str] = []
    for position, note in enumerate(kernel.notes):
        name = note.get("tgpu.name", note.get("tgpu.extent"))
        wanted.append(name.value if isinstance(name, ir.StringAttr) else f"arg{position}")
    first = len(wanted) - len(kernel.tensor_maps)
    for number, each in enumerate(kernel.tensor_maps):
        wanted[first + number] = f"{wanted[kernel.arguments.index(kernel.buffers[each.buffer])]}_map"
    pairs = zip(distinct_identifiers(wanted), kernel.notes, strict=True)
    return ["status" if "tgpu.status" in note else name for name, note in pairs]
