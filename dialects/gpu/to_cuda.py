"""GPU → CUDA C++: the kernels of a module as one readable file that compiles, runs and checks itself.

In: a module of kernels of statements with its host, or kernels alone. Out: one text, whose parts the layer `cuda`
writes: the kernels expanded and printed, their sequential references printed, and the `main` that compares both.
"""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

# `mlir.emitc` is imported when it is first used: tinyc-opt starts without it.
from tinyc import mlir
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.cuda.main.host import HostPrinter
from tinyc.dialects.cuda.main.knowledge import knowledge_of
from tinyc.dialects.cuda.main.reference.function import SUFFIX, reference_of
from tinyc.dialects.cuda.printer.declarations import argument_names
from tinyc.dialects.cuda.printer.functions import FunctionPrinter
from tinyc.dialects.cuda.printer.idioms import name_idioms
from tinyc.dialects.cuda.printer.instructions import instruction_functions
from tinyc.dialects.cuda.printer.names import function_names
from tinyc.dialects.cuda.printer.positions import gather_rows
from tinyc.dialects.cuda.printer.prelude import HOST_PRELUDE, TENSOR_MAP_FUNCTION, includes, prelude
from tinyc.dialects.cuda.printer.simplify import simplify_indices
from tinyc.dialects.cuda.printer.sums import put_numbers_last
from tinyc.dialects.cuda.printer.text import comment_text
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.exec.to_program import constants_of, program_of
from tinyc.dialects.gpu.expand.lowering import GpuExpand
from tinyc.dialects.gpu.kernel import GpuKernel, chip_of, gpu_kernels_of, kernels_of_statements
from tinyc.dialects.gpu.launch import launchables
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_exec.lowering import RegionToExec
from tinyc.expr import extents
from tinyc.expr.maximum import maximum, maximum_dims
from tinyc.mlir import func, gpu, ir
from tinyc.passes import Pass
from tinyc.passes.runner import copy_module
from tinyc.runtime.program import Buffer, ExtentValue, Program
from tinyc.target import DEFAULT_ARCH, target_of
from tinyc.vocabulary.alignment import aligned_size
from tinyc.vocabulary.run_key import RUN_KEY


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
        gpu.module @kernels {
          gpu.func @one(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "y"})
              kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
            %i = gpu.thread_id x
            %0 = arith.constant 1.0 : f32
            memref.store %0, %y[%i] : memref<?xf32, #gpu.address_space<global>>
            gpu.return } }
    After:
        emitc.verbatim "// Kernels that tinyc generated (--gpu-to-cuda). Build: nvcc -O3 -arch=sm_80 -fmad=false -c <file>.cu\0A\0A#include <cuda_runtime.h>\0A\0A#include <cmath>\0A#include <cstdint>\0A#include <cstring>\0A\0A// one\0A//   threads of a CTA: 1 x 1 x 1\0A__global__ void __launch_bounds__(1) one(float* __restrict__ y) {\0A  const int64_t tx = threadIdx.x;\0A  y[tx] = 1.f;\0A}\0A"
    Source: specification 002 (§7).
    """  # noqa: E501 - the text is one literal

    name: ClassVar[str] = "gpu-to-cuda"
    consumes: ClassVar[tuple[str, ...]] = ("tgpu", "gpu")
    produces: ClassVar[tuple[str, ...]] = ("emitc",)

    def run(self, module: ir.Module) -> None:
        """Replace everything in `module` by its text."""
        text = cuda_text(module)
        for op in reversed(list(module.body.operations)):  # what uses a value before what defines it
            op.erase()
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            mlir.emitc.VerbatimOp(ir.StringAttr.get(text), [])

    def output(self, module: ir.Module) -> str | None:
        """The file."""
        return cuda_text(module)


def cuda_text(module: ir.Module) -> str:
    """The CUDA file of a module: of its kernels, or what --gpu-to-cuda has made of it. No IR is changed.

    Raises:
        TinycError: `InvalidIr`: there are no kernels, or they are expanded already; `UnboundSymbol`: no sizes were
            found at which the program runs.
    """
    done = [op for op in module.body.operations if isinstance(op, mlir.emitc.VerbatimOp)]
    if done:
        return done[0].value.value
    with module.context, ir.Location.unknown():
        return _File(copy_module(module)).text()


class _File:
    """One module on its way to text; the module is taken apart."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module  # its ops live as long as it does
        self.program = _program(module)
        self.constants = _constants(module) if self.program is not None else {}
        statements = kernels_of_statements(module) if self.program is not None else []
        own = [] if self.program is None else [each.symbol for each in self.program.kernels if not each.is_idle]
        with ir.InsertionPoint(module.body):  # alternatives compute the same
            self.references = {kernel.name: reference_of(kernel) for kernel in statements if kernel.name in own}
        GpuExpand().run(module)
        self.kernels = gpu_kernels_of(module)
        for each in (*(kernel.op for kernel in self.kernels.values()), *self.references.values()):
            name_idioms(each.body.blocks[0])
            simplify_indices(each.body.blocks[0])
            gather_rows(each.body.blocks[0])
            put_numbers_last(each.body.blocks[0])
        if not self.kernels:
            raise TinycError("InvalidIr", "there is no gpu.func to print; --region-to-gpu makes them from regions")
        taken = [*(self.program.symbols if self.program else ()), *(f"{name}{SUFFIX}" for name in self.kernels)]
        self.names = dict(zip(self.kernels, function_names(self.kernels, taken), strict=True))
        modules = (op for op in module.body.operations if isinstance(op, gpu.GPUModuleOp))
        self.chip = next((chip_of(each) for each in modules), target_of(DEFAULT_ARCH).chip)
        self.helpers: set[str] = set()
        self.instructions: set[str] = set()

    def text(self) -> str:
        """The file."""
        functions = [self._kernel(kernel) for kernel in self.kernels.values()]
        if self.program is not None:
            maps = [TENSOR_MAP_FUNCTION] if any(each.tensor_maps for each in self.kernels.values()) else []
            functions += [HOST_PRELUDE, *maps, *self._references(), self._main(self.program)]
        used = includes("\n".join(functions), with_main=self.program is not None)
        instructions = instruction_functions(self.instructions) if self.instructions else ""
        parts = [self._header(), used, prelude(self.helpers), instructions, *functions]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _header(self) -> str:
        build = f"nvcc -O3 {_architecture(self.chip)} -fmad=false"
        if self.program is None:
            return f"// Kernels that tinyc generated (--gpu-to-cuda). Build: {build} -c <file>.cu"
        sizes = "".join(f" [{symbol}=<size>]" for symbol in self.program.symbols)
        return _HEADER.format(build=build, sizes=sizes)

    def _kernel(self, kernel: GpuKernel) -> str:
        printer = FunctionPrinter(kernel.op, argument_names(kernel), self.helpers, self.instructions, kernel.in_place)
        return f"{_launch_comment(kernel)}\n{printer.text(self.names[kernel.name])}"

    def _references(self) -> list[str]:
        """The reference of each kernel that is launched."""
        return [self._reference(kernel) for name, kernel in self.kernels.items() if name in self.references]

    def _reference(self, kernel: GpuKernel) -> str:
        reference, names = self.references[kernel.name], argument_names(kernel)
        printer = FunctionPrinter(reference, names, self.helpers, self.instructions, kernel.in_place)
        name = self.names[kernel.name]
        text = printer.text(f"{name}{SUFFIX}")
        return f"// What {name} computes, one element after the other.\n{text}"

    def _main(self, program: Program) -> str:
        for kernel in program.launches:
            if kernel.symbol not in self.kernels:
                message = f"@{kernel.symbol} is not a gpu.func; --region-to-gpu makes one from each region"
                raise TinycError("InvalidIr", message, Where(node=kernel.symbol))
        knowledge = knowledge_of(program, self.names, self.kernels, self.references)
        self.helpers.add("floor_div")
        return HostPrinter(program, knowledge, self.constants).text()


def _architecture(chip: str) -> str:
    """What nvcc is told of the chip: of one with features of its own its code alone, which no PTX for others has."""
    return f"-gencode arch={chip.replace('sm', 'compute')},code={chip}" if chip.endswith("a") else f"-arch={chip}"


_HEADER = """\
// A program that tinyc generated (--gpu-to-cuda): its kernels, and a main that checks them against the CPU.
//
//   {build} <file>.cu -o program && ./program{sizes}
//
// Kernels and CPU loops round alike, and sum in the same order, but where threads share a sum. Without -fmad=false nvcc
// may contract a product and a sum into one fma, which rounds once: the numbers then differ, too, by less than the
// tolerances that main states."""


#: How many bytes of a constant a file of CUDA C++ has.
_LARGEST_CONSTANT = 2**16


def _program(module: ir.Module) -> Program | None:
    """The program of a module, whose host function becomes an `exec.function`; None where it has none."""
    hosts = (op for op in module.body.operations if isinstance(op, func.FuncOp))
    ops = (op for host in hosts for block in host.body.blocks for op in block.operations)
    launches = any(isinstance(op, region.LaunchOp) for op in ops)
    if not launches and not exec_functions(module):
        return None
    _require_statements(module)
    if launches:
        RegionToExec().run(module)
    program = _with_its_own_seeds(program_of(module))
    return _without_pool(program) if program.pool else program


def _with_its_own_seeds(program: Program) -> Program:
    """The program with 0 for the key of random numbers: `main` is one run, with the seeds that are written."""
    key = ExtentValue(extents.symbol(RUN_KEY))
    kernels = tuple(
        replace(kernel, parameters=tuple(ExtentValue(0) if each == key else each for each in kernel.parameters))
        for kernel in program.kernels
    )
    return replace(program, symbols=tuple(each for each in program.symbols if each != RUN_KEY), kernels=kernels)


def _constants(module: ir.Module) -> dict[str, bytes]:
    """The bytes of the constants by buffer; large ones, for which no source is the place, are drawn as inputs are."""
    held = constants_of(module).items()
    return {name: array.tobytes() for name, array in held if array.nbytes <= _LARGEST_CONSTANT}


def _without_pool(program: Program) -> Program:
    """The program with inputs for its weights and constants; what is prepared of them lies before the arena."""
    before = aligned_size(program.pool_bytes)

    def placed(buffer: Buffer) -> Buffer:
        if buffer.kind == "prepared":
            return replace(buffer, kind="arena")
        if buffer.kind == "arena":
            return replace(buffer, offset=before + buffer.offset)
        return replace(buffer, kind="input", offset=0) if buffer.kind in ("weight", "constant") else buffer

    constants = [buffer.where.node or buffer.name for buffer in program.of_kind("constant")]
    return replace(
        program,
        buffers=tuple(map(placed, program.buffers)),
        inputs=(*program.inputs, *program.weights, *constants),
        arena_bytes=maximum([before + each for each in maximum_dims(program.arena_bytes)]),
        weights=(),
        pool_bytes=0,
    )


def _require_statements(module: ir.Module) -> None:
    """Check that the kernels are statements, which main's loops are made from.

    Raises:
        TinycError: `InvalidIr`.
    """
    lowered = set(launchables(module)) - {kernel.name for kernel in kernels_of_statements(module)}
    if lowered:
        raise TinycError(
            "InvalidIr",
            f"@{min(lowered)} has been lowered further than --gpu-to-cuda can start from; run it on what "
            "--region-to-gpu makes, before --gpu-expand and --gpu-to-nvvm",
        )


def _launch_comment(kernel: GpuKernel) -> str:
    """The comment above a kernel: its plan and its launch."""
    lines = [f"// {comment_text(kernel.name)}"]
    if kernel.plan is not None:
        lines += [f"//   {field.name}: {_plain(field.attr)}" for field in kernel.plan]
    if "tgpu.grid" in kernel.op.attributes:
        lines.append(f"//   grid: {_plain(kernel.op.attributes['tgpu.grid'])}")
    if kernel.cta_shape:
        lines.append(f"//   threads of a CTA: {' x '.join(str(each) for each in kernel.cta_shape)}")
    return "\n".join(lines)


def _plain(attribute: ir.Attribute) -> str:
    """An attribute as a comment has it: without the types of numbers and the quotes of texts."""
    text = re.sub(r"array<i64: ([^>]*)>", r"[\1]", str(attribute))
    return comment_text(re.sub(r" : i64|\"", "", text))
