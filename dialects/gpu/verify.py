"""What holds in the GPU layer of a kernel as a whole; what holds of each op by itself stands with it in `statements`.

In: a module. Out: the violations, each at its `gpu.func`: a launch that the architecture can do (`verify_launch` has a
part of that), arguments in their order, statements in loops, work beside the threads (`verify_asynchrony`), tiles that
the CTA's threads and its shared memory can hold.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tinyc.codegen.identifiers import legal_identifier
from tinyc.diagnostics import TinycError, either
from tinyc.dialects.gpu.dialect import (
    THREAD_TILE,
    AccType,
    InFlightType,
    SmemType,
    TensorMapType,
    TgpuOp,
    accumulator_layout,
    accumulator_tile,
    staged_tile,
)
from tinyc.dialects.gpu.dynamic_memory import dynamic_bytes
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_THREADS
from tinyc.dialects.gpu.kernel import WARP_LANES, GpuKernel, chip_of, functions_in, target_for
from tinyc.dialects.gpu.launch_attributes import WORKSPACE
from tinyc.dialects.gpu.statements import (
    AddPartialOp,
    AllocSmemOp,
    CpAsyncOp,
    MbarrierInitOp,
    ReduceRowsOp,
    ScanRowsOp,
    SemaphoreReleaseOp,
    SemaphoreWaitOp,
    ShareOp,
    StGlobalVecOp,
    StorePartialOp,
    TmaStoreOp,
    WarpgroupsOp,
)
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.dialects.gpu.verify_asynchrony import check_asynchrony
from tinyc.dialects.gpu.verify_launch import check_launch, check_named, require_known
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import func, gpu, ir, scf
from tinyc.mlir.verifying import Malformed, Violation, broken_rule, report_violations
from tinyc.plan.attribute import plan_of_attribute
from tinyc.runtime.program import STATUS_WORDS
from tinyc.target import TARGETS
from tinyc.target.target import Target
from tinyc.vocabulary.attributes import arguments, decode, extents_attribute, tensor_type
from tinyc.vocabulary.types import TensorType, symbols_of

#: The statements that work on workspaces.
_OF_WORKSPACES = (StorePartialOp, AddPartialOp, SemaphoreWaitOp, SemaphoreReleaseOp)
#: What may stand beside statements, and around them.
_AROUND = (
    *(gpu.ThreadIdOp, gpu.BlockIdOp, gpu.GridDimOp, gpu.BlockDimOp, gpu.BarrierOp, gpu.ReturnOp),
    *(scf.ForOp, scf.IfOp, scf.YieldOp),
)
#: The chips that a module may be for, for a message.
_CHIPS = either(target.chip for target in TARGETS)


def verify(module: ir.Module) -> bool:
    """Check every kernel of the layer; report each violation at its op and return whether there was none."""
    return report_violations(_violations(module))


def _violations(module: ir.Module) -> Iterator[Violation]:
    modules = [op for op in module.body.operations if isinstance(op, gpu.GPUModuleOp)]
    if len(modules) > 1:
        yield modules[1].location, "'gpu.module' is the second one; the kernels of a program are one module"
    own, alternatives = _launched(module)
    for each in modules:
        target = target_for(each)
        if (chip := chip_of(each)) != target.chip:
            yield each.location, f"'gpu.module' is for {chip}, of which nothing is known; choose {_CHIPS}"
            continue
        by_name = {kernel.name: kernel for kernel in map(GpuKernel, functions_in(each))}
        for name, kernel in by_name.items():
            message = broken_rule(_check_kernel, kernel, by_name, (name in own, name in alternatives), target)
            if message is not None:
                yield kernel.location, f"'gpu.func' @{name} {message}"


def _launched(module: ir.Module) -> tuple[set[str], set[str]]:
    """The names of what the host function launches, and of its alternatives."""
    hosts = (op for op in module.body.operations if isinstance(op, func.FuncOp))
    ops = (op for host in hosts for block in host.body.blocks for op in block.operations)
    launches = [op for op in ops if isinstance(op, region.LaunchOp)]
    symbols = (op.attributes["kernel"] for op in launches)
    found = {symbol.value for symbol in symbols if isinstance(symbol, ir.FlatSymbolRefAttr)}
    return found, {name for op in launches for name in op.alternatives}


def _check_kernel(
    kernel: GpuKernel, by_name: Mapping[str, GpuKernel], launched: tuple[bool, bool], target: Target
) -> None:
    attributes = kernel.op.attributes
    if "kernel" not in attributes:
        raise Malformed("is not a kernel; the layer has no functions to call")
    if legal_identifier(kernel.name) != kernel.name:
        raise Malformed("is not a name in PTX; use letters, digits and '_', a letter first")
    _check_cta(kernel, target)
    symbols = _check_arguments(kernel)
    if any(launched) or "tgpu.grid" in attributes:
        _check_grid(attributes.get("tgpu.grid", None), symbols, target)
    check_launch(kernel, symbols, target)
    check_named(kernel, *launched)
    check_asynchrony(kernel, target)
    _check_tiles(kernel, target)
    _check_rows(kernel)
    if "tgpu.plan" in attributes:
        _check_plan(attributes["tgpu.plan"])
    if "tgpu.init" in attributes:
        _check_init(kernel, by_name)
    if "tgpu.in_place" in attributes:
        _check_in_place(kernel, attributes["tgpu.in_place"])


def _check_plan(given: ir.Attribute) -> None:
    try:
        plan_of_attribute(given)
    except TinycError as error:
        raise Malformed(f"has tgpu.plan = {given}, which is not a plan: {error.message}") from None


def _check_cta(kernel: GpuKernel, target: Target) -> None:
    size = kernel.op.attributes.get("known_block_size", None)
    if not isinstance(size, ir.DenseI32ArrayAttr) or len(size) != 3:
        raise Malformed(f"has known_block_size = {size}; it must be the CTA's threads, array<i32: x, y, z>")
    most = (target.threads_per_cta_x, target.threads_per_cta_y, target.threads_per_cta_z)
    within = all(1 <= count <= limit for count, limit in zip(size, most, strict=True))
    if not within or math.prod(size) > target.threads_per_cta:
        raise Malformed(
            f"has a CTA of {_times(size)} threads; {target.name} takes {target.threads_per_cta} at most, and "
            f"{_times(most)} along x, y and z"
        )


def _check_grid(grid: ir.Attribute | None, symbols: Sequence[str], target: Target) -> None:
    if not isinstance(grid, ir.ArrayAttr) or len(grid) != 3:
        raise Malformed(f'has tgpu.grid = {grid}; it must be the CTAs along x, y and z, [1, "M", 1]')
    ctas = decode(grid)
    if extents_attribute(ctas) != grid:
        raise Malformed(f"has tgpu.grid = {grid}, which is not canonical; write {extents_attribute(ctas)}")
    require_known(ctas, symbols, "its grid")
    if any(isinstance(count, int) and count < 0 for count in ctas):
        raise Malformed(f"has a grid of {_times(ctas)} CTAs; none can be below 0")
    most = (target.ctas_per_grid_x, target.ctas_per_grid_y, target.ctas_per_grid_z)
    if any(isinstance(count, int) and count > limit for count, limit in zip(ctas, most, strict=True)):
        raise Malformed(
            f"has a grid of {_times(ctas)} CTAs; {target.name} launches {_times(most)} at most along x, y and z"
        )


def _times(sizes: Sequence[Dim] | ir.DenseI32ArrayAttr) -> str:
    return "x".join(str(size) for size in sizes)


def _check_tiles(kernel: GpuKernel, target: Target) -> None:
    """Check that the threads that run a statement have an accumulator tile, and that the tiles fit shared memory."""
    _check_accumulators(kernel.block, kernel, math.prod(kernel.cta_shape))
    tiles = (result for op in kernel.ops if isinstance(op, TgpuOp) for result in op.results)
    static_bytes = sum(staged_tile(each.type).size_bytes for each in tiles if isinstance(each.type, SmemType))
    dynamic = dynamic_bytes(kernel)
    size_bytes, limit = static_bytes, target.shared_bytes_per_cta_static
    if dynamic:
        size_bytes, limit = dynamic, target.shared_bytes_per_cta_optin
    if size_bytes > limit:
        raise Malformed(
            f"has {size_bytes} bytes of tiles in shared memory; a CTA has {limit} on {target.name}; "
            "choose smaller tiles or fewer stages"
        )


def _check_accumulators(block: ir.Block, kernel: GpuKernel, threads: int) -> None:
    """Check the accumulator tiles of statements that so many threads run together."""
    for op in block.operations:
        if isinstance(op, WarpgroupsOp):
            _check_accumulators(op.body_block, kernel, WARPGROUP_THREADS)
        elif isinstance(op, scf.ForOp | scf.IfOp):
            for inner in (block for region in op.regions for block in region.blocks):
                _check_accumulators(inner, kernel, threads)
        for kind in (result.type for result in op.results):
            if isinstance(kind, AccType | InFlightType):
                _check_accumulator(kind, kernel, threads)


def _check_accumulator(kind: ir.Type, kernel: GpuKernel, threads: int) -> None:
    tile, layout = accumulator_tile(kind), accumulator_layout(kind)
    if layout is not None:
        if layout.threads != threads:
            raise Malformed(
                f"has an accumulator tile {tile} of {layout.threads} threads ({layout.unit_rows}x{layout.unit_columns} "
                f"for each {layout.unit}), and {threads} threads run the statement; choose other parts"
            )
        return
    x, y, z = kernel.cta_shape
    covered = (y * THREAD_TILE[0], x * THREAD_TILE[1])
    if tile.rows % covered[0] or tile.columns % covered[1] or z != 1:
        raise Malformed(
            f"has an accumulator tile {tile} that is not divisible by {_times(covered)} "
            f"({_times((y, x) if z == 1 else (z, y, x))} threads, {_times(THREAD_TILE)} each); "
            "choose a multiple"
        )


def _check_rows(kernel: GpuKernel) -> None:
    """Check that the threads of a row are a part of a warp, a warp, or some: the lanes of a warp exchange values."""
    (x, y, z) = kernel.cta_shape
    for op in kernel.ops:
        if isinstance(op, ReduceRowsOp | ScanRowsOp):
            in_rows = op.lanes.value == "x"
            is_power = all(count & (count - 1) == 0 for count in (x, y)) and z == 1 and x * y % WARP_LANES == 0
            is_whole = x <= WARP_LANES or y == 1 if in_rows else x <= WARP_LANES
            if isinstance(op, ScanRowsOp) and not in_rows:
                is_whole = y == 1
            if not (is_power and is_whole):
                raise Malformed(
                    f"has a CTA of {_times((x, y, z))} threads, whose warps do not share rows; give x and y powers of "
                    f"two, {WARP_LANES} threads or more, and to one side {WARP_LANES} at most"
                )


# --- arguments --------------------------------------------------------------------------------------------------------


def _check_arguments(kernel: GpuKernel) -> list[str]:
    """Check that the arguments are buffers, a status buffer, extents, tensor maps; return the extents' symbols."""
    declared = kernel.op.function_type.value
    if isinstance(declared, ir.FunctionType) and len(declared.inputs) != len(kernel.arguments):
        raise Malformed(
            "has memory attributions; shared memory is a 'tgpu.alloc_smem', or a memref.global of the module"
        )
    parts = [_part(*each) for each in zip(kernel.arguments, kernel.notes, strict=True)]
    order = [part for part, _ in parts]
    if order != sorted(order, key=_PARTS.index) or order.count("status") > 1:
        expected = "buffers come first, then workspaces, then status, then extents, then tensor maps"
        raise Malformed(f"has arguments in the order {', '.join(order)}; {expected}")
    names = [name for _, name in parts if name is not None]
    if len(set(names)) != len(names):
        raise Malformed(f"has two arguments of one name: {', '.join(names)}")
    symbols = [name for part, name in parts if part == "extent" and name is not None]
    held = [region.held_tensor(each.type) for each in kernel.arguments if isinstance(each.type, region.MemRefType)]
    if held:
        if len(kernel.op.body.blocks) > 1:
            raise Malformed("has several blocks; statements stand in one, and in the loops of scf")
        _check_statements(kernel.block.operations)
    _check_extents(kernel, symbols, held, "status" in order)
    _check_outputs(kernel)
    return symbols


_PARTS = ("buffer", "workspace", "status", "extent", "tensor map")


def _part(argument: ir.BlockArgument, note: Mapping[str, ir.Attribute]) -> tuple[str, str | None]:
    """The kind of an argument, and its name if it has one."""
    kind, position = argument.type, argument.arg_number
    if "tgpu.status" in note:
        if not isinstance(kind, ir.MemRefType) or list(kind.shape) != [STATUS_WORDS] or str(kind.element_type) != "i64":
            raise Malformed(f"has a status buffer of type {kind}; it must be a memref<{STATUS_WORDS}xi64, …>")
        return "status", None
    if isinstance(kind, ir.IndexType):
        symbol = note.get("tgpu.extent")
        if not isinstance(symbol, ir.StringAttr):
            raise Malformed(
                f"has an index as argument {position} that is not an extent; name its symbol, tgpu.extent = …"
            )
        return "extent", symbol.value
    if isinstance(kind, TensorMapType):
        return "tensor map", None
    if not isinstance(kind, region.MemRefType | ir.MemRefType):
        taken = "buffers, a status buffer, extents and tensor maps"
        raise Malformed(f"has argument {position} of type {kind}; it takes {taken}")
    part = "workspace" if WORKSPACE in note else "buffer"
    if "tgpu.name" not in note:
        return part, None
    name = note["tgpu.name"]
    if not isinstance(name, ir.StringAttr) or legal_identifier(name.value) != name.value:
        raise Malformed(f"has the buffer name {name}; use letters, digits and '_', a letter first")
    return part, name.value


# --- statements -------------------------------------------------------------------------------------------------------


def _check_statements(ops: Iterable[ir.OpView], in_loop: bool = False) -> None:
    """Check that ops are statements, loops around them, and what says where in the grid they are."""
    for op in ops:
        name = op.operation.name
        if in_loop and isinstance(op, AllocSmemOp | ShareOp | MbarrierInitOp):
            raise Malformed(f"has a '{name}' in a loop; shared memory is reserved once, in front of it")
        if not (isinstance(op, (*_AROUND, TgpuOp)) or name.startswith("arith.")):
            raise Malformed(
                f"has '{name}' beside its statements; it may have scf.for, scf.if, arith and positions in the grid"
            )
        loops = isinstance(op, scf.ForOp | scf.YieldOp)
        refused = SmemType if loops else SmemType | AccType | InFlightType
        if not isinstance(op, TgpuOp) and any(isinstance(each.type, refused) for each in op.operands):
            raise Malformed(
                f"has a tile as an operand of '{name}'; loops carry accumulators, and statements take tiles"
            )
        if isinstance(op, scf.IfOp) and len(op.results):
            raise Malformed("has an 'scf.if' that gives values; a branch around statements gives none")
        if isinstance(op, scf.ForOp | scf.IfOp):
            for inner in (block for region in op.regions for block in region.blocks):
                _check_statements(inner.operations, in_loop=True)
        elif isinstance(op, WarpgroupsOp):
            _check_statements(op.inner, in_loop=True)


def _check_outputs(kernel: GpuKernel) -> None:
    """Check that outputs come last and are not read: no thread knows when another one has written."""
    ops = kernel.ops
    read = {op.operands[0] for op in ops if isinstance(op, region.ReadOp)}
    written = {op.operands[1] for op in ops if isinstance(op, region.YieldOp)}
    written |= {op.buffer for op in ops if isinstance(op, StGlobalVecOp | TmaStoreOp)}
    workspaces: set[ir.Value] = set(kernel.workspaces)
    written -= workspaces
    buffers = [each for each in kernel.buffers if each not in workspaces and isinstance(each.type, region.MemRefType)]
    if any(op.workspace not in workspaces for op in ops if isinstance(op, _OF_WORKSPACES)):
        raise Malformed("has a statement on a workspace that is none of its arguments with tgpu.workspace")
    if written & read:
        raise Malformed("reads a buffer that it writes; what lies between statements of one kernel are values")
    if written != set(buffers[len(buffers) - len(written) :]):
        raise Malformed("writes a buffer that others come after; its outputs are the last ones")


def _check_extents(kernel: GpuKernel, symbols: Sequence[str], held: Sequence[TensorType], has_status: bool) -> None:
    """Check that the extents of what is computed are known, and that an index out of range can be noted."""
    for name in symbols_of(list(held)):
        require_known([extents.symbol(name)], symbols, "its buffers")
    for op in kernel.ops:
        if isinstance(op, tiny.TinyOp):
            name = op.operation.name
            if isinstance(op, tiny.GatherOp | tiny.ScatterOp) and not has_status:
                raise Malformed(f"has '{name}' and no status buffer, which notes an index out of range")
            for result in op.results:
                require_known(tensor_type(result.type).shape, symbols, f"'{name}'")
            if isinstance(op, tiny.ShrinkOp):
                cut = arguments(op)
                require_known((*cut["lo"], *cut["hi"]), symbols, f"'{name}'")
        elif isinstance(op, CpAsyncOp | StGlobalVecOp):
            require_known(StridedMatrix.of(op).dims, symbols, f"'{op.operation.name}'")


def _check_init(kernel: GpuKernel, by_name: Mapping[str, GpuKernel]) -> None:
    init = None if kernel.init is None else by_name.get(kernel.init)
    symbol = kernel.op.attributes["tgpu.init"]
    if init is None or "tgpu.init" in init.op.attributes:
        raise Malformed(f"has tgpu.init = {symbol}; it must name a kernel that needs no other before it")
    types, others = (
        [each.type for each in one.arguments if not isinstance(each.type, TensorMapType)] for one in (kernel, init)
    )
    if types != others:
        raise Malformed(f"is launched after {symbol}, and their arguments differ; they are launched with the same ones")


def _check_in_place(kernel: GpuKernel, given: ir.Attribute) -> None:
    """Check that buffers which may be one memory are a read one and a written one, of elements as many and as wide."""
    pairs = list(given) if isinstance(given, ir.ArrayAttr) else [given]
    buffers = kernel.buffers
    for pair in pairs:
        places = list(pair) if isinstance(pair, ir.DenseI64ArrayAttr) else []
        if len(places) != 2 or not 0 <= places[0] < places[1] < len(buffers):
            expected = "it must be pairs of the numbers of buffers, such as [array<i64: 0, 1>]"
            raise Malformed(f"has tgpu.in_place = {given}; {expected}")
        if kernel.has_statements:
            _check_one_memory(*(buffers[place] for place in places))


def _check_one_memory(read: ir.BlockArgument, written: ir.BlockArgument) -> None:
    is_read, is_written = (any(isinstance(use.owner, region.ReadOp) for use in each.uses) for each in (read, written))
    held = [region.held_tensor(buffer.type) for buffer in (read, written)]
    sizes = [(extents.product(each.shape), each.element.size_bytes) for each in held]
    if not is_read or is_written or sizes[0] != sizes[1]:
        expected = "one must be read and the other written, of as many elements of the same width"
        raise Malformed(f"has tgpu.in_place of {held[0]} and {held[1]}; {expected}")
