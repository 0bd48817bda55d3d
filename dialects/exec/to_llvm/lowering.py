"""The pass: the host function becomes `kernel_main`, around functions of the kernels that take bare pointers."""

from dataclasses import dataclass
from typing import ClassVar

from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.ops import FunctionOp, exec_functions
from tinyc.dialects.exec.to_llvm.bare_pointers import take_bare_pointers
from tinyc.dialects.exec.to_llvm.cpu_abi import (
    KERNEL_IMPL,
    KERNEL_MAIN,
    PREPARE_IMPL,
    PREPARE_MAIN,
    write_impl,
    write_kernel,
    write_main,
)
from tinyc.dialects.exec.to_program import program_of
from tinyc.mlir import func, ir
from tinyc.passes import Pass
from tinyc.runtime.jit import LOOPS_PREFIX


@dataclass(frozen=True)
class ExecToLlvm(Pass):
    """Write the host function as code: the CPU ABI of each kernel, `kernel_impl`, and `kernel_main`.

    Requires:
        1. One `exec.function`, and a function for each kernel that it launches, as --region-to-loops makes it.
    Ensures:
        1. No exec op is left. The functions `kernel.<name>`, `kernel_impl` and `kernel_main` are as this package says.
        2. The loops are internal functions `loops.<name>` over bare pointers, so that no name of the program meets one
           of the C library.
        3. MLIR's own passes (`LOOPS_TO_LLVM` in `pipeline.py`) take the module to the LLVM dialect.
    Before:
        func.func @one(%low: index, %high: index) {
          return
        }
        "exec.function"() ({
          "exec.kernel"() {symbol = @one, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1],
            dynamic_shared_bytes = 0, parameters = [], reads = [], writes = []} : () -> ()
          omp.terminator
        }) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 0} : () -> ()
    After:
        func.func @kernel.one(%bufs: !llvm.ptr, %extents: !llvm.ptr, %lo: i64, %hi: i64) {
          %low = arith.index_cast %lo : i64 to index
          %high = arith.index_cast %hi : i64 to index
          call @loops.one(%low, %high) : (index, index) -> ()
          return
        }
        …
    Source: design §7 (CPU ABI), specification 003 (kernel_impl, kernel_main).
    """

    name: ClassVar[str] = "exec-to-llvm"
    consumes: ClassVar[tuple[str, ...]] = ("exec",)
    produces: ClassVar[tuple[str, ...]] = ("llvm",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (FunctionOp,)

    def run(self, module: ir.Module) -> None:
        """Replace the `exec.function` of `module`."""
        program, host = program_of(module), exec_functions(module)[0]
        functions = {op.sym_name.value: op for op in module.body.operations if isinstance(op, func.FuncOp)}
        with ir.InsertionPoint(host), host.location:
            for symbol, kernel in {kernel.symbol: kernel for kernel in program.kernels}.items():
                if symbol not in functions:
                    raise TinycError(
                        "InvalidIr", "the kernel is not a function yet; run --region-to-loops first", Where(node=symbol)
                    )
                loops = functions[symbol]
                take_bare_pointers(loops, kernel)
                loops.attributes["sym_name"] = ir.StringAttr.get(LOOPS_PREFIX + symbol)
                loops.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
                write_kernel(kernel)
            write_impl(program, KERNEL_IMPL, program.of_stage(prepare=False))
            write_main(program, KERNEL_MAIN, KERNEL_IMPL)
            if prepare := program.of_stage(prepare=True):
                write_impl(program, PREPARE_IMPL, prepare)
                write_main(program, PREPARE_MAIN, PREPARE_IMPL)
        host.erase()
