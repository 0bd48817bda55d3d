"""Exec → LLVM: the CPU ABI around the kernels' loops, and the way from there to LLVM IR.

Every symbol of the result that is visible from outside:

* `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`: one kernel over part of its parallel outer loop.
  `bufs` are the launch's pointers in the order of its parameters, then its status slot if it has one; `extents` are its
  extents.
* `kernel_impl(input_0, …, output_0, …, arena, status, symbols…)`: the kernels of one generation after the other.
* `kernel_main(void** bufs, size_t* shape_vars)`: the entry. `bufs` are the inputs, the outputs, the arena (64-byte
  aligned, `arena_bytes` long) and the status buffer (two i64 for each slot, zeroed by the caller); `shape_vars` are the
  symbols, in the order in which the `exec.function` lists them.
"""

import functools
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.analysis import extents
from tinyc.diagnostics import InternalError, TinycError, Where
from tinyc.dialects.exec.descriptors import take_bare_pointers
from tinyc.dialects.exec.extent_code import ExtentCode
from tinyc.dialects.exec.read import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.mlir import arith, func, ir, nested
from tinyc.passes import Pass
from tinyc.runtime.program import STATUS_BYTES, Kernel, Program

IMPL, MAIN = "kernel_impl", "kernel_main"
#: What a CPU without F16C or AVX512-BF16 does by a library call, or not at all.
_SMALL_FLOAT_ARITHMETIC = re.compile(
    r"= (fpext|fptrunc|fcmp|fadd|fsub|fmul|fdiv|fneg|[su]itofp|fpto[su]i) .*\b(half|bfloat)\b.*"
)


@dataclass(frozen=True)
class ExecToLlvm(Pass):
    """Write the host function as code: the CPU ABI of each kernel, `kernel_impl`, and `kernel_main`.

    Requires:
        1. One `exec.function`, and a function for each kernel that it launches, as --region-to-loops makes it.
    Ensures:
        1. No exec op is left. The functions `kernel.<name>`, `kernel_impl` and `kernel_main` are as this module says.
        2. The loops are internal functions `loops.<name>` over bare pointers, so that no name of the program meets one
           of the C library.
        3. MLIR's own passes (`UPSTREAM` in `layers.py`) take the module to the LLVM dialect.
    Before:
        func.func @one(%y: memref<f32>, %low: index, %high: index) {
          %c = arith.constant 1.0 : f32
          memref.store %c, %y[] : memref<f32>
          func.return
        }
        "exec.function"() ({
          "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0 : i64,
            size = 4 : i64, tensor = tensor<f32>} : () -> ()
          "exec.kernel"() {symbol = @one, generation = 0 : i64, grid = [1, 1, 1], block = [1, 1, 1],
            cluster = [1, 1, 1], dynamic_shared_bytes = 0 : i64, parameters = [#exec.ptr<"output_0", tensor<f32>>],
            reads = [], writes = ["output_0"]} : () -> ()
          omp.terminator
        }) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0 : i64} : () -> ()
    After:
        func.func @loops.one(%y: !llvm.ptr {llvm.noalias}, %low: index, %high: index)
            attributes {llvm.linkage = #llvm.linkage<internal>} {
          %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64)>
          %zero = arith.constant 0 : i64
          %1 = llvm.insertvalue %y, %0[0] : !llvm.struct<(ptr, ptr, i64)>
          %2 = llvm.insertvalue %y, %1[1] : !llvm.struct<(ptr, ptr, i64)>
          %3 = llvm.insertvalue %zero, %2[2] : !llvm.struct<(ptr, ptr, i64)>
          %4 = builtin.unrealized_conversion_cast %3 : !llvm.struct<(ptr, ptr, i64)> to memref<f32>
          %c = arith.constant 1.0 : f32
          memref.store %c, %4[] : memref<f32>
          func.return
        }
        func.func @kernel.one(%bufs: !llvm.ptr, %extents: !llvm.ptr, %lo: i64, %hi: i64) {
          %y = llvm.load %bufs : !llvm.ptr -> !llvm.ptr
          %low = arith.index_cast %lo : i64 to index
          %high = arith.index_cast %hi : i64 to index
          call @loops.one(%y, %low, %high) : (!llvm.ptr, index, index) -> ()
          func.return
        }
        func.func @kernel_impl(%output_0: !llvm.ptr, %arena: !llvm.ptr, %status: !llvm.ptr) {
          %two = arith.constant 2 : i64
          %bufs = llvm.alloca %two x !llvm.ptr : (i64) -> !llvm.ptr
          %zero = arith.constant 0 : i64
          %extents = llvm.alloca %zero x i64 : (i64) -> !llvm.ptr
          llvm.store %output_0, %bufs : !llvm.ptr, !llvm.ptr
          %one = arith.constant 1 : i64
          call @kernel.one(%bufs, %extents, %zero, %one) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
          func.return
        }
        func.func @kernel_main(%bufs: !llvm.ptr, %shape_vars: !llvm.ptr) {
          %output_0 = llvm.load %bufs : !llvm.ptr -> !llvm.ptr
          %0 = llvm.getelementptr %bufs[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
          %arena = llvm.load %0 : !llvm.ptr -> !llvm.ptr
          %1 = llvm.getelementptr %bufs[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
          %status = llvm.load %1 : !llvm.ptr -> !llvm.ptr
          call @kernel_impl(%output_0, %arena, %status) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
          func.return
        }
    Source: design §7 (CPU ABI), specification 003 (kernel_impl, kernel_main).
    """

    name: ClassVar[str] = "exec-to-llvm"
    consumes: ClassVar[tuple[str, ...]] = ("exec",)
    produces: ClassVar[tuple[str, ...]] = ("llvm",)

    def run(self, module: Any) -> None:
        """Replace the `exec.function` of `module`."""
        program, host = program_of(module), exec_functions(module)[0]
        functions = {f.operation.attributes["sym_name"].value: f for f in _functions(module)}
        with ir.InsertionPoint(host.operation), host.location:
            for symbol, kernel in {kernel.symbol: kernel for kernel in program.kernels}.items():
                if symbol not in functions:
                    raise TinycError(
                        "InvalidIr", "the kernel is no function yet; run --region-to-loops first", Where(node=symbol)
                    )
                _hide(functions[symbol], kernel)
                _write_kernel(kernel)
            _write_impl(program)
            _write_main(program)
        host.operation.erase()


def translate(module: Any) -> str:
    """Return a module of the LLVM dialect as LLVM IR.

    Raises:
        InternalError: an op is left that LLVM does not know; translating it would end the process.
    """
    left = {op.name for op in nested(module)}
    foreign = sorted(name for name in left if not name.startswith("llvm.") and name != "builtin.module")
    if foreign:
        raise InternalError(f"{', '.join(foreign)}: left over after lowering to the LLVM dialect")
    text = mlir.llvm.translate_module_to_llvmir(module.operation)
    arithmetic = _SMALL_FLOAT_ARITHMETIC.search(text)
    if arithmetic:
        raise InternalError(f"16-bit floats are computed with, and not every CPU can: {arithmetic[0]}")
    return text


def _functions(module: Any) -> list[Any]:
    return [op for op in module.body.operations if op.operation.name == "func.func"]


def _hide(function: Any, kernel: Kernel) -> None:
    """Make the loops of a kernel an internal function over pointers."""
    take_bare_pointers(function, kernel)
    attributes = function.operation.attributes
    attributes["sym_name"] = ir.StringAttr.get(f"loops.{kernel.symbol}")
    attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")


def _function(name: str, types: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Create a function without results; return its entry block and arguments."""
    function = func.FuncOp(name, (list(types), []))
    block = function.add_entry_block()
    return block, list(block.arguments)


def _pointer() -> Any:
    return ir.Type.parse("!llvm.ptr")


def _i64() -> Any:
    return ir.IntegerType.get_signless(64)


def _element(base: Any, position: int, kind: Any) -> Any:
    """Return the address of element `position` of an array of pointers or of i64."""
    if position == 0:
        return base
    return mlir.llvm.getelementptr(_pointer(), base, [], ir.DenseI32ArrayAttr.get([position]), kind, None)


def _load_all(base: Any, count: int, kind: Any) -> list[Any]:
    return [mlir.llvm.load(kind, _element(base, position, kind)) for position in range(count)]


def _store_all(values: Sequence[Any], base: Any, kind: Any) -> None:
    for position, value in enumerate(values):
        mlir.llvm.store(value, _element(base, position, kind))


def _write_kernel(kernel: Kernel) -> None:
    """Write `kernel.<name>(bufs, extents, lo, hi)`."""
    block, (bufs, sizes, low, high) = _function(f"kernel.{kernel.symbol}", [_pointer(), _pointer(), _i64(), _i64()])
    with ir.InsertionPoint(block):
        pointers = _load_all(bufs, len(kernel.pointers) + (kernel.status is not None), _pointer())
        values = [*_load_all(sizes, len(kernel.extents), _i64()), low, high]
        indices = [arith.index_cast(ir.IndexType.get(), value) for value in values]
        func.CallOp([], f"loops.{kernel.symbol}", [*pointers, *indices])
        func.ReturnOp([])


def _write_impl(program: Program) -> None:
    """Write `kernel_impl`: the launches in the order of their generations."""
    boundary = [*program.of_kind("input"), *program.of_kind("output")]
    pointers = [_pointer()] * (len(boundary) + 2)
    block, arguments = _function(IMPL, [*pointers, *[_i64()] * len(program.symbols)])
    *given, arena, status = arguments[: len(pointers)]
    with ir.InsertionPoint(block):
        code = ExtentCode(dict(zip(program.symbols, arguments[len(pointers) :], strict=True)))
        places = dict(zip((buffer.name for buffer in boundary), given, strict=True))
        for buffer in program.of_kind("arena"):
            places[buffer.name] = _at(arena, code.value(buffer.offset))
        bufs = _array(max((len(k.pointers) + 1 for k in program.kernels), default=1), _pointer(), code)
        sizes = _array(max((len(k.extents) for k in program.kernels), default=1), _i64(), code)
        for kernel in program.kernels:
            launched = [places[pointer.buffer] for pointer in kernel.pointers]
            if kernel.status:
                launched.append(_at(status, code.value(kernel.status.slot * STATUS_BYTES)))
            _store_all(launched, bufs, _pointer())
            _store_all([code.value(extent) for extent in kernel.extents], sizes, _i64())
            func.CallOp([], f"kernel.{kernel.symbol}", [bufs, sizes, code.value(0), _trip_count(program, kernel, code)])
        func.ReturnOp([])


def _trip_count(program: Program, kernel: Kernel, code: ExtentCode) -> Any:
    """Return how often the parallel loop runs: never where all that is written is empty, however long the loop is.

    A kernel that checks indices runs all the same: it may have something to report.
    """
    trip_count = extents.product(kernel.grid)
    written = [buffer.size for buffer in program.buffers if buffer.name in kernel.writes]
    if kernel.status or any(isinstance(size, int) and size for size in written):
        return code.value(trip_count)
    empty = arith.cmpi(arith.CmpIPredicate.eq, code.value(functools.reduce(operator.add, written, 0)), code.value(0))
    return arith.select(empty, code.value(0), code.value(trip_count))


def _at(base: Any, offset: Any) -> Any:
    """Return the address `offset` bytes after `base`."""
    dynamic = ir.DenseI32ArrayAttr.get([-(2**31)])
    return mlir.llvm.getelementptr(_pointer(), base, [offset], dynamic, ir.IntegerType.get_signless(8), None)


def _array(length: int, kind: Any, code: ExtentCode) -> Any:
    return mlir.llvm.alloca(_pointer(), code.value(length), kind)


def _write_main(program: Program) -> None:
    """Write `kernel_main(bufs, shape_vars)`."""
    block, (bufs, shape_vars) = _function(MAIN, [_pointer(), _pointer()])
    with ir.InsertionPoint(block):
        pointers = _load_all(bufs, len(program.inputs) + len(program.outputs) + 2, _pointer())
        func.CallOp([], IMPL, [*pointers, *_load_all(shape_vars, len(program.symbols), _i64())])
        func.ReturnOp([])
