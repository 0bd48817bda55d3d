"""Programs written by hand at the exec layer, with their kernels as loops: the runtime's tests need no other layer."""

from tinyc import text
from tinyc.dialects.exec.expand_f16 import ExecExpandF16
from tinyc.dialects.exec.to_llvm.llvm_ir import llvm_ir_of
from tinyc.dialects.exec.to_llvm.lowering import ExecToLlvm
from tinyc.dialects.exec.to_program import program_of
from tinyc.passes.runner import run_passes
from tinyc.pipeline import LOOPS_TO_LLVM
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.jit import compile_object

#: None is this machine's CPU, the other has no F16C, no FMA, nothing beyond SSE2.
CPUS = (None, "x86-64")


def executable(source: str, cpu: str | None = None) -> CpuExecutable:
    """Compile a module with one `exec.function` and the loops of its kernels."""
    module = text.parse(source)
    with module.context:
        program = program_of(module)
    run_passes(module, (ExecExpandF16(), ExecToLlvm(), *LOOPS_TO_LLVM))
    return CpuExecutable(program, compile_object(llvm_ir_of(module), cpu).image)


def tensor(dims: list[int | str], element: str) -> str:
    """Return the text of a tensor type."""
    shape = "".join(f"{'?' if isinstance(dim, str) else dim}x" for dim in dims)
    symbolic = any(isinstance(dim, str) for dim in dims)
    listed = ", ".join(f'"{dim}"' if isinstance(dim, str) else str(dim) for dim in dims)
    return f"tensor<{shape}{element}{f', #tiny.dims<[{listed}]>' if symbolic else ''}>"


def extent(value: int | str) -> str:
    """Return the text of an extent attribute."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def buffer(name: str, type_text: str, size: int | str, offset: int | str = 0) -> str:
    """Return the text of an `exec.buffer`, an arena buffer if it is called `temp_N`."""
    kind = {"input": "input", "output": "output", "temp": "arena"}[name.partition("_")[0]]
    return (
        f'"exec.buffer"() {{buffer = "{name}", kind = "{kind}", memory_space = "host", offset = {extent(offset)}, '
        f"size = {extent(size)}, tensor = {type_text}}} : () -> ()\n"
    )


def kernel(
    symbol: str, parameters: list[str], reads: list[str], writes: list[str], grid: int | str, generation: int = 0
):
    """Return the text of an `exec.kernel`."""
    listed = [", ".join(f'"{name}"' for name in names) for names in (reads, writes)]
    return (
        f'"exec.kernel"() {{symbol = @{symbol}, generation = {generation}, grid = [{extent(grid)}, 1, 1], '
        "block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, "
        f"parameters = [{', '.join(parameters)}], reads = [{listed[0]}], writes = [{listed[1]}]}} : () -> ()\n"
    )


def function(body: str, symbols=(), inputs=(), outputs=(), arena_bytes: int | str = 0) -> str:
    """Return the text of an `exec.function`."""
    named = [", ".join(f'"{name}"' for name in names) for names in (symbols, inputs, outputs)]
    return (
        f'"exec.function"() ({{\n^bb0:\n{body}omp.terminator\n}}) '
        f'{{sym_name = "main", symbols = [{named[0]}], inputs = [{named[1]}], '
        f"outputs = [{named[2]}], arena_bytes = {extent(arena_bytes)}}} : () -> ()\n"
    )


def elementwise(body: str, source: str, target: str) -> str:
    """Return a program `y[M] = body(x[M])`; `body` computes `%r` of type `target` from `%v` of type `source`."""
    types = [tensor(["M"], source), tensor(["M"], target)]
    sizes = [_times(int(element.lstrip("bfiu")) // 8) for element in (source, target)]
    pointers = [f'#exec.ptr<"input_0", {types[0]}>', f'#exec.ptr<"output_0", {types[1]}>', '#exec.extent<"M">']
    return f"""
func.func @each(%x: memref<?x{source}>, %y: memref<?x{target}>, %m: index, %low: index, %high: index) {{
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {{
    %v = memref.load %x[%i] : memref<?x{source}>
    {body}
    memref.store %r, %y[%i] : memref<?x{target}>
  }}
  return
}}
""" + function(
        buffer("input_0", types[0], sizes[0])
        + buffer("output_0", types[1], sizes[1])
        + kernel("each", pointers, ["input_0"], ["output_0"], "M"),
        ["M"],
        ["x"],
        ["y"],
    )


def _times(factor: int) -> str:
    return "M" if factor == 1 else f"{factor}*M"
