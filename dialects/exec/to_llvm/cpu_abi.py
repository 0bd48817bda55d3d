"""The functions of the CPU ABI: `kernel.<name>`, `kernel_impl` and `kernel_main`, as this package says.

In: the host program. Out: `func.func`s of LLVM's pointers at the insertion point.
"""

from collections.abc import Sequence

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.codegen.index_code import CachedIndexCode
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, func, ir
from tinyc.runtime.jit import KERNEL_PREFIX, LOOPS_PREFIX
from tinyc.runtime.program import STATUS_BYTES, KernelLaunch, Program

KERNEL_IMPL, KERNEL_MAIN = "kernel_impl", "kernel_main"
#: The same for the launches that run once, before all others.
PREPARE_IMPL, PREPARE_MAIN = "prepare_impl", "prepare_main"


def _function(name: str, types: Sequence[ir.Type]) -> tuple[ir.Block, list[ir.BlockArgument]]:
    """Create a function without results: its entry block and arguments."""
    function = func.FuncOp(name, (list(types), []))
    block = function.add_entry_block()
    return block, list(block.arguments)


def _pointer() -> ir.Type:
    return ir.Type.parse("!llvm.ptr")


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _element(base: ir.Value, position: int, kind: ir.Type) -> ir.Value:
    """The address of element `position` of an array of pointers or of i64."""
    if position == 0:
        return base
    return mlir.llvm.getelementptr(_pointer(), base, [], ir.DenseI32ArrayAttr.get([position]), kind, None)


def _load_all(base: ir.Value, count: int, kind: ir.Type) -> list[ir.Value]:
    return [mlir.llvm.load(kind, _element(base, position, kind)) for position in range(count)]


def _store_all(values: Sequence[ir.Value], base: ir.Value, kind: ir.Type) -> None:
    for position, value in enumerate(values):
        mlir.llvm.store(value, _element(base, position, kind))


def write_kernel(kernel: KernelLaunch) -> None:
    """Write `kernel.<name>(bufs, extents, lo, hi)`."""
    types = [_pointer(), _pointer(), _i64(), _i64()]
    block, (bufs, sizes, low, high) = _function(KERNEL_PREFIX + kernel.symbol, types)
    with ir.InsertionPoint(block):
        pointers = _load_all(bufs, len(kernel.pointers) + (kernel.status is not None), _pointer())
        values = [*_load_all(sizes, len(kernel.extents), _i64()), low, high]
        indices = [arith.index_cast(ir.IndexType.get(), value) for value in values]
        func.CallOp([], LOOPS_PREFIX + kernel.symbol, [*pointers, *indices])
        func.ReturnOp([])


def write_impl(program: Program, name: str, kernels: Sequence[KernelLaunch]) -> None:
    """Write the function `name` that makes launches, in the order of their generations."""
    boundary = [*program.of_kind("input"), *program.of_kind("output")]
    pointers = [_pointer()] * _pointer_count(program)
    block, arguments = _function(name, [*pointers, *[_i64()] * len(program.symbols)])
    given, (arena, status, *pool) = arguments[: len(boundary)], arguments[len(boundary) : len(pointers)]
    with ir.InsertionPoint(block):
        code = CachedIndexCode(_i64(), dict(zip(program.symbols, arguments[len(pointers) :], strict=True)))
        places: dict[str, ir.Value] = dict(zip((buffer.name for buffer in boundary), given, strict=True))
        for buffer in program.of_kind("arena"):
            places[buffer.name] = _at(arena, code.of(buffer.offset))
        for buffer in program.pool:
            places[buffer.name] = _at(pool[0], code.of(buffer.offset))
        bufs = _array(max((len(k.pointers) + 1 for k in kernels), default=1), _pointer(), code)
        sizes = _array(max((len(k.extents) for k in kernels), default=1), _i64(), code)
        for kernel in kernels:
            launched = [places[pointer.buffer] for pointer in kernel.pointers]
            if kernel.status:
                launched.append(_at(status, code.of(kernel.status.slot * STATUS_BYTES)))
            _store_all(launched, bufs, _pointer())
            _store_all([code.of(extent) for extent in kernel.extents], sizes, _i64())
            turns = code.of(0), _trip_count(program, kernel, code)
            func.CallOp([], KERNEL_PREFIX + kernel.symbol, [bufs, sizes, *turns])
        func.ReturnOp([])


def _trip_count(program: Program, kernel: KernelLaunch, code: CachedIndexCode) -> ir.Value:
    """How often the parallel loop runs: never where all that is written is empty, however long the loop is.

    A kernel that checks indices runs all the same: it may have something to report.
    """
    trip_count = extents.product(kernel.grid)
    written = [buffer.size for buffer in program.buffers if buffer.name in kernel.writes]
    if kernel.status or any(isinstance(size, int) and size for size in written):
        return code.of(trip_count)
    size_of_all: Dim = 0
    for size in written:
        size_of_all = size_of_all + size
    empty = arith.cmpi(arith.CmpIPredicate.eq, code.of(size_of_all), code.of(0))
    return arith.select(empty, code.of(0), code.of(trip_count))


def _at(base: ir.Value, offset: ir.Value) -> ir.Value:
    """The address `offset` bytes after `base`."""
    dynamic = ir.DenseI32ArrayAttr.get([-(2**31)])
    return mlir.llvm.getelementptr(_pointer(), base, [offset], dynamic, ir.IntegerType.get_signless(8), None)


def _array(length: int, kind: ir.Type, code: CachedIndexCode) -> ir.Value:
    return mlir.llvm.alloca(_pointer(), code.of(length), kind)


def write_main(program: Program, name: str, impl: str) -> None:
    """Write the entry `name(bufs, shape_vars)`, which calls the function `impl`."""
    block, (bufs, shape_vars) = _function(name, [_pointer(), _pointer()])
    with ir.InsertionPoint(block):
        pointers = _load_all(bufs, _pointer_count(program), _pointer())
        func.CallOp([], impl, [*pointers, *_load_all(shape_vars, len(program.symbols), _i64())])
        func.ReturnOp([])


def _pointer_count(program: Program) -> int:
    """How many addresses an entry takes: inputs, outputs, arena, status, and the ConstPool where there is one."""
    return len(program.inputs) + len(program.outputs) + (3 if program.pool else 2)
