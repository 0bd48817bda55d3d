"""The pass: the host function becomes `kernel_main`, around functions of the kernels that take bare pointers."""

from collections.abc import Sequence
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
    write_team,
)
from tinyc.dialects.exec.to_program import program_of
from tinyc.mlir import func, ir
from tinyc.passes import Pass
from tinyc.runtime.function_names import LOOPS_PREFIX
from tinyc.runtime.program import KernelLaunch


@dataclass(frozen=True)
class ExecToLlvm(Pass):
    """Write the host function as code: the CPU ABI of each kernel, `kernel_impl`, and `kernel_main`.

    Requires:
        1. One `exec.function`, and a function for each kernel that it launches, as --region-to-loops makes it.
    Ensures:
        1. No exec op is left. The functions `kernel.<name>`, `generation_team`, `kernel_impl` and `kernel_main` are as
           this package says.
        2. The loops are internal functions `loops.<name>` over bare pointers, so that no name of the program meets one
           of the C library. Where launches of a kernel differ in what they write in place, they have one each.
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
            every = [launch for kernel in program.kernels for launch in kernel.launches]
            for symbol in dict.fromkeys(launch.symbol for launch in every):
                if symbol not in functions:
                    raise TinycError(
                        "InvalidIr", "the kernel is not a function yet; run --region-to-loops first", Where(node=symbol)
                    )
                launches = _differing([launch for launch in every if launch.symbol == symbol])
                for name, kernel in launches.items():
                    loops = functions[symbol].operation.clone().opview
                    assert isinstance(loops, func.FuncOp)  # as what it is a copy of
                    take_bare_pointers(loops, kernel)
                    loops.attributes["sym_name"] = ir.StringAttr.get(name)
                    loops.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
                functions[symbol].erase()
                write_kernel(launches)
            write_team()
            write_impl(program, KERNEL_IMPL, program.of_stage(prepare=False))
            write_main(program, KERNEL_MAIN, KERNEL_IMPL)
            if prepare := program.of_stage(prepare=True):
                write_impl(program, PREPARE_IMPL, prepare)
                write_main(program, PREPARE_MAIN, PREPARE_IMPL)
        host.erase()


def _differing(launches: Sequence[KernelLaunch]) -> dict[str, KernelLaunch]:
    """The launches of one kernel that differ in what they write in place, by the names of their loops."""
    by_pairs = {tuple(launch.overwritten.items()): launch for launch in launches}
    *others, last = sorted(by_pairs, reverse=True)
    name = LOOPS_PREFIX + by_pairs[last].symbol
    marks = {pairs: "".join(f".{read}_{written}" for read, written in pairs) for pairs in others}
    return {**{f"{name}{mark}": by_pairs[pairs] for pairs, mark in marks.items()}, name: by_pairs[last]}
