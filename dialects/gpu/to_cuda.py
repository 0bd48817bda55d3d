"""GPU → CUDA C++: the kernels of a module as one readable file that compiles, runs and checks itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.analysis.gpu_symbols import gpu_symbols
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.read import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.gpu.cuda.functions import FunctionPrinter, comment_text, signature_names
from tinyc.dialects.gpu.cuda.host import HostPrinter
from tinyc.dialects.gpu.cuda.knowledge import knowledge_of
from tinyc.dialects.gpu.cuda.names import function_names
from tinyc.dialects.gpu.cuda.prelude import HOST_PRELUDE, includes, prelude
from tinyc.dialects.gpu.cuda.reference import SUFFIX, reference_of
from tinyc.dialects.gpu.cuda.simplify import simplify
from tinyc.dialects.gpu.expand import GpuExpand
from tinyc.dialects.gpu.signature import kernels
from tinyc.dialects.region.to_exec import RegionToExec
from tinyc.dialects.region.verify import gpu_kernels
from tinyc.mlir import ir
from tinyc.passes import Pass
from tinyc.runtime.program import Program
from tinyc.sources import copy_of
from tinyc.target import DEFAULT_ARCH

_VERBATIM = "emitc.verbatim"
_CHIP = re.compile(r'chip = "(\w+)"')


@dataclass(frozen=True)
class GpuToCuda(Pass):
    r"""Print the kernels as one CUDA C++ file, with a `main` that runs them and checks itself against the CPU.

    Requires:
        1. The module's kernels are `gpu.func`s of tgpu statements, as --region-to-gpu makes them; the host function
           still launches them, or --region-to-exec has made it an `exec.function`. A module without a program gives
           the kernels alone.
    Ensures:
        1. The module is one `emitc.verbatim`. `nvcc -O3 -arch=<chip>` compiles its text.
        2. `main` fills the inputs with random numbers (indices within their axes), runs the program on the device and
           on the CPU, prints `max_abs_err=…` over all outputs, and returns 0 only where every output is within the
           tolerance that the file states. Sizes are options: `M=256`.
        3. Integers wrap, NaN and the sign of zero behave as MLIR says, and constants are exact.
    Before:
        !buffer = !region.memref<tensor<300xf32>, [1], 64 : i64, true>
        gpu.module @kernels {
          gpu.func @neg(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "y"})
              kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
            "tgpu.map"() ({
              %0 = "region.read"(%x) : (!buffer) -> tensor<300xf32>
              %1 = "tiny.neg"(%0) : (tensor<300xf32>) -> tensor<300xf32>
              "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<300xf32>, !buffer) -> ()
              omp.terminator
            }) : () -> ()
            gpu.return
          }
        }
    After:
        emitc.verbatim "// Kernels that tinyc generated (--gpu-to-cuda). Build: nvcc -O3 -arch=sm_80 -fmad=false -c <file>.cu\0A\0A#include <cuda_runtime.h>\0A\0A#include <cmath>\0A#include <cstdint>\0A#include <cstring>\0A\0A// neg\0A//   threads of a block: 256 x 1 x 1\0A__global__ void __launch_bounds__(256) neg(const float* __restrict__ x, float* __restrict__ y) {\0A  const int64_t tx = threadIdx.x;\0A  const int64_t bx = blockIdx.x;\0A  const int64_t grid_x = gridDim.x;\0A  // map: one element for each thread at a time\0A  for (int64_t i = bx * 256 + tx; i < 300; i += grid_x * 256) {\0A    y[i] = -x[i];\0A  }\0A}\0A"
    Source: specification 002 (§7).
    """  # noqa: E501

    name: ClassVar[str] = "gpu-to-cuda"
    consumes: ClassVar[tuple[str, ...]] = ("tgpu", "gpu")
    produces: ClassVar[tuple[str, ...]] = ("emitc",)

    def run(self, module: Any) -> None:
        """Replace everything in `module` by its text."""
        text = cuda_text(module)
        for op in reversed(list(module.body.operations)):  # what uses a value before what defines it
            op.operation.erase()
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            ir.Operation.create(_VERBATIM, attributes={"value": ir.StringAttr.get(text)})

    def output(self, module: Any) -> str | None:
        """Return the file."""
        return cuda_text(module)


def cuda_text(module: Any) -> str:
    """Return the CUDA file of a module: of its kernels, or what --gpu-to-cuda has made of it. No IR is changed.

    Raises:
        TinycError: `InvalidIr`: there are no kernels, or they are expanded already; `UnboundSymbol`: no sizes were
            found at which the program runs.
    """
    done = [op.operation for op in module.body.operations if op.operation.name == _VERBATIM]
    if done:
        return done[0].attributes["value"].value
    with module.context, ir.Location.unknown():
        return _File(copy_of(module)).text()


class _File:
    """One module on its way to text; the module is taken apart."""

    def __init__(self, module: Any) -> None:
        self.module = module  # its ops live as long as it does
        self.program = _program(module)
        statements = kernels(module) if self.program is not None else []
        with ir.InsertionPoint(module.body):
            self.references = {each.operation.attributes["sym_name"].value: reference_of(each) for each in statements}
        GpuExpand().run(module)
        self.kernels = gpu_kernels(module)
        for each in (*self.kernels.values(), *self.references.values()):
            simplify(each.operation.regions[0].blocks[0])
        if not self.kernels:
            raise TinycError("InvalidIr", "there is no gpu.func to print; --region-to-gpu makes them from regions")
        taken = [*(self.program.symbols if self.program else ()), *(f"{name}{SUFFIX}" for name in self.kernels)]
        self.names = dict(zip(self.kernels, function_names(self.kernels, taken), strict=True))
        self.chip = _chip(module)
        self.helpers: set[str] = set()

    def text(self) -> str:
        """Return the file."""
        functions = [self._kernel(name) for name in self.kernels]
        if self.program is not None:
            functions += [HOST_PRELUDE, *self._references(), self._main(self.program)]
        used = includes("\n".join(functions), with_main=self.program is not None)
        parts = [self._header(), used, prelude(self.helpers), *functions]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _header(self) -> str:
        build = f"nvcc -O3 -arch={self.chip} -fmad=false"
        if self.program is None:
            return f"// Kernels that tinyc generated (--gpu-to-cuda). Build: {build} -c <file>.cu"
        sizes = "".join(f" [{symbol}=<size>]" for symbol in self.program.symbols)
        return _HEADER.format(build=build, sizes=sizes)

    def _kernel(self, name: str) -> str:
        function = self.kernels[name]
        printer = FunctionPrinter(function, signature_names(function), self.helpers)
        return f"{_plan_comment(name, function)}\n{printer.text(self.names[name])}"

    def _references(self) -> list[str]:
        return [self._reference(name) for name in self.kernels if name in self.references]

    def _reference(self, name: str) -> str:
        names = signature_names(self.kernels[name])
        printer = FunctionPrinter(self.references[name], names, self.helpers, on_host=True)
        text = printer.text(f"{self.names[name]}{SUFFIX}")
        return f"// What {self.names[name]} computes, one element after the other.\n{text}"

    def _main(self, program: Program) -> str:
        for kernel in program.kernels:
            if kernel.symbol not in self.kernels:
                message = f"@{kernel.symbol} is no gpu.func; --region-to-gpu makes one from each region"
                raise TinycError("InvalidIr", message, Where(node=kernel.symbol))
        knowledge = knowledge_of(program, self.names, self.kernels, self.references)
        self.helpers.add("floor_div")
        return HostPrinter(program, knowledge).text()


_HEADER = """\
// A program that tinyc generated (--gpu-to-cuda): its kernels, and a main that checks them against the CPU.
//
//   {build} <file>.cu -o program && ./program{sizes}
//
// Kernels and CPU loops round alike, and sum in the same order. Without -fmad=false nvcc may contract a product and a
// sum into one fma, which rounds once: the numbers then differ by less than the tolerances that main states."""


def _program(module: Any) -> Program | None:
    """Return the program of a module, whose host function becomes an `exec.function`; None where it has none."""
    launching = [op for op in module.body.operations if "region.launch" in _inner_names(op)]
    if not launching and not exec_functions(module):
        return None
    _require_statements(module)
    if launching:
        RegionToExec().run(module)
    return program_of(module)


def _require_statements(module: Any) -> None:
    """Check that the kernels are statements, which main's loops are made from.

    Raises:
        TinycError: `InvalidIr`.
    """
    lowered = gpu_symbols(module) - {each.operation.attributes["sym_name"].value for each in kernels(module)}
    if lowered:
        raise TinycError(
            "InvalidIr",
            f"@{min(lowered)} has been lowered further than --gpu-to-cuda can start from; run it on what "
            "--region-to-gpu makes, before --gpu-expand and --gpu-to-nvvm",
        )


def _inner_names(op: Any) -> set[str]:
    if op.operation.name != "func.func":
        return set()
    return {inner.operation.name for block in op.operation.regions[0].blocks for inner in block.operations}


def _chip(module: Any) -> str:
    """Return the architecture that the kernels are for."""
    for op in module.body.operations:
        if op.operation.name == "gpu.module" and "targets" in op.operation.attributes:
            found = _CHIP.search(str(op.operation.attributes["targets"]))
            if found:
                return found.group(1)
    return DEFAULT_ARCH


def _plan_comment(name: str, function: Any) -> str:
    """Return what is to be known of a kernel: how it was planned and how it is launched."""
    attributes: Mapping[str, Any] = function.operation.attributes
    lines = [f"// {comment_text(name)}"]
    if "tgpu.plan" in attributes:
        lines += [f"//   {field.name}: {_plain(field.attr)}" for field in attributes["tgpu.plan"]]
    if "tgpu.grid" in attributes:
        lines.append(f"//   grid: {_plain(attributes['tgpu.grid'])}")
    if "known_block_size" in attributes:
        lines.append(f"//   threads of a block: {' x '.join(str(each) for each in attributes['known_block_size'])}")
    return "\n".join(lines)


def _plain(attribute: Any) -> str:
    """Return an attribute as a comment has it: without the types of numbers and the quotes of texts."""
    text = re.sub(r"array<i64: ([^>]*)>", r"[\1]", str(attribute))
    return comment_text(re.sub(r" : i64|\"", "", text))
