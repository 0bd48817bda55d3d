"""The functions of the CPU ABI: `kernel.<name>`, `kernel_impl` and `kernel_main`, as this package says.

In: the host program. Out: `func.func`s of LLVM's pointers at the insertion point.
"""

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.codegen.index_code import CachedIndexCode
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, func, ir, scf
from tinyc.runtime.function_names import KERNEL_PREFIX, TEAM_FUNCTION
from tinyc.runtime.program import STATUS_BYTES, Alternative, KernelLaunch, Program

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


def write_kernel(launches: Mapping[str, KernelLaunch]) -> None:
    """Write `kernel.<name>(bufs, extents, lo, hi)`.

    `launches` are those of the kernel that differ in what they write in place, by the functions that their loops are:
    it calls the first one whose pairs of pointers are each the same.
    """
    kernel = next(iter(launches.values()))
    types = [_pointer(), _pointer(), _i64(), _i64()]
    block, (bufs, sizes, low, high) = _function(KERNEL_PREFIX + kernel.symbol, types)
    with ir.InsertionPoint(block):
        pointers = _load_all(bufs, len(kernel.pointers) + (kernel.status is not None), _pointer())
        values = [*_load_all(sizes, len(kernel.extents), _i64()), low, high]
        indices = [arith.index_cast(ir.IndexType.get(), value) for value in values]
        *others, function = launches
        with contextlib.ExitStack() as branches:
            for other in others:
                branch = scf.IfOp(_are_same(bufs, launches[other].overwritten), has_else=True)
                with ir.InsertionPoint(branch.then_block):
                    func.CallOp([], other, [*pointers, *indices])
                    scf.yield_([])
                assert branch.else_block is not None  # asked for above
                branches.enter_context(ir.InsertionPoint(branch.else_block))
                branches.callback(scf.yield_, [])
            func.CallOp([], function, [*pointers, *indices])
        func.ReturnOp([])


def _are_same(bufs: ir.Value, overwritten: Mapping[int, int]) -> ir.Value:
    """Whether each pointer to what is overwritten is that to what is written."""
    same = [
        arith.cmpi(arith.CmpIPredicate.eq, *(mlir.llvm.load(_i64(), _element(bufs, each, _i64())) for each in pair))
        for pair in overwritten.items()
    ]
    return functools.reduce(arith.andi, same)


#: `generation_team(job)`: what each thread of a team runs. The job has, 8 bytes each, how many threads there are
#: already, and then for each kernel its function, the `bufs` of the first thread and how far apart those of two threads
#: are, the `extents`, the next turn and the end of the turns, and how many a thread takes at a time. A null is the end.
_TEAM = """
llvm.func @{name}(%job: !llvm.ptr) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %thread = llvm.atomicrmw add %job, %one monotonic : !llvm.ptr, i64
  %first = llvm.getelementptr %job[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.br ^find(%first : !llvm.ptr)
^find(%part: !llvm.ptr):
  %kernel = llvm.load %part : !llvm.ptr -> !llvm.ptr
  %is_end = llvm.icmp "eq" %kernel, %null : !llvm.ptr
  llvm.cond_br %is_end, ^done, ^begin
^begin:
  %bufs_at = llvm.getelementptr %part[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %apart_at = llvm.getelementptr %part[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %extents_at = llvm.getelementptr %part[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %next_at = llvm.getelementptr %part[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %end_at = llvm.getelementptr %part[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %count_at = llvm.getelementptr %part[6] : (!llvm.ptr) -> !llvm.ptr, i64
  %part_behind = llvm.getelementptr %part[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %bufs_of_first = llvm.load %bufs_at : !llvm.ptr -> !llvm.ptr
  %apart = llvm.load %apart_at : !llvm.ptr -> i64
  %extents = llvm.load %extents_at : !llvm.ptr -> !llvm.ptr
  %end = llvm.load %end_at : !llvm.ptr -> i64
  %count = llvm.load %count_at : !llvm.ptr -> i64
  %offset = llvm.mul %thread, %apart : i64
  %bufs = llvm.getelementptr %bufs_of_first[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.br ^take
^take:
  %low = llvm.atomicrmw add %next_at, %count monotonic : !llvm.ptr, i64
  %is_left = llvm.icmp "slt" %low, %end : i64
  llvm.cond_br %is_left, ^work, ^find(%part_behind : !llvm.ptr)
^work:
  %after = llvm.add %low, %count : i64
  %high = llvm.intr.smin(%after, %end) : (i64, i64) -> i64
  llvm.call %kernel(%bufs, %extents, %low, %high) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.br ^take
^done:
  llvm.return
}}
"""


def write_team() -> None:
    """Write `generation_team(job)`."""
    ir.InsertionPoint.current.insert(ir.Operation.parse(_TEAM.format(name=TEAM_FUNCTION)))


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
            # What is emitted once is emitted before the branches.
            turns = [[code.of(0), _trip_count(program, each, code)] for each in kernel.launches]
            extents_of = [[code.of(extent) for extent in each.extents] for each in kernel.launches]
            chosen = [_holds(each, code) for each in kernel.alternatives]
            calls = [
                _Call(each.symbol, *given) for each, *given in zip(kernel.launches, extents_of, turns, strict=True)
            ]
            _write_call(calls[0], list(zip(chosen, calls[1:], strict=True)), bufs, sizes)
        func.ReturnOp([])


@dataclass(frozen=True)
class _Call:
    """A call of one kernel: what it passes beside the buffers."""

    symbol: str
    extents: Sequence[ir.Value]
    turns: Sequence[ir.Value]


def _write_call(own: _Call, others: Sequence[tuple[ir.Value, _Call]], bufs: ir.Value, sizes: ir.Value) -> None:
    """Write the call of the first alternative that is chosen, else of the kernel itself."""
    if not others:
        _store_all(own.extents, sizes, _i64())
        func.CallOp([], KERNEL_PREFIX + own.symbol, [bufs, sizes, *own.turns])
        return
    (is_chosen, first), *rest = others
    branch = scf.IfOp(is_chosen, has_else=True)
    for region, call, left in zip(branch.regions, (first, own), ([], rest), strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            _write_call(call, left, bufs, sizes)
            scf.YieldOp([])


def _holds(alternative: Alternative, code: CachedIndexCode) -> ir.Value:
    """Whether all guards of an alternative hold."""
    predicates = {"eq": arith.CmpIPredicate.eq, "le": arith.CmpIPredicate.sle}
    pairs = [(predicates[each.predicate], code.of(each.lhs), code.of(each.rhs)) for each in alternative.guards]
    return functools.reduce(arith.andi, [arith.cmpi(*each) for each in pairs])


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
