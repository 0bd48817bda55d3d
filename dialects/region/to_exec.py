"""Region → exec: the host function becomes buffers, an arena and launches in generations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from tinyc.analysis.extents import Dim, ExtentError
from tinyc.analysis.graphs import main_of
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec import ops as exec_ops
from tinyc.dialects.region.launches import Host, HostBuffer, Launch
from tinyc.dialects.region.verify import gpu_kernels, kernels
from tinyc.dialects.tiny.attributes import extents_attribute, to_type
from tinyc.mlir import end_body, ir
from tinyc.passes import Pass


@dataclass(frozen=True)
class RegionToExec(Pass):
    """Turn the host function into an `exec.function`: every buffer, every launch, one arena.

    Requires:
        1. The only host function, or the one called `@main`, launches `region.kernel`s of the module, and
           --region-to-loops has not run yet: it comes next; or `gpu.func`s, and --gpu-expand has not run yet.
        2. Every result of the host function is the result of a launch, each of another one.
    Ensures:
        1. The host function is gone; the kernels stay. Of several host functions `@main` is the program; the others
           are gone with their kernels.
        2. A launch's generation is its level in the dependence graph; the launch contract has the kernel's buffers,
           its status slot where indices come from data, and its symbols, in the order of the kernel function. A
           `gpu.func` with a `tgpu.init` is two launches, the second of which updates what the first has written.
        3. A value that is neither input nor output lies in the arena, where a later one may take its place when its
           last reader's generation is over. A `tiny.reshape` is the same buffer.
        4. The `exec.assume`s are what the host function states, and what makes every extent a size: no divisor below 1,
           no extent below 0.
        5. The buffers of `gpu.func`s are in the device's memory, and grid and block are those that the function has.
    Before:
        "region.kernel"() ({
        ^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>,
             %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
          %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"}
            : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
        func.func @main(%a: tensor<4xf32> {tiny.name = "a"}) -> (tensor<4xf32> {tiny.name = "b"}) {
          %k = "region.launch"() {kernel = @copy} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
          %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        "region.kernel"() ({
        ^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>,
             %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
          %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"}
            : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
        "exec.function"() ({
          "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0 : i64,
            size = 16 : i64, tensor = tensor<4xf32>} : () -> ()
          "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0 : i64,
            size = 16 : i64, tensor = tensor<4xf32>} : () -> ()
          "exec.kernel"() {symbol = @copy, generation = 0 : i64, grid = [4, 1, 1], block = [1, 1, 1],
            cluster = [1, 1, 1], dynamic_shared_bytes = 0 : i64,
            parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>],
            reads = ["input_0"], writes = ["output_0"]} : () -> ()
          omp.terminator
        }) {sym_name = "main", symbols = [], inputs = ["a"], outputs = ["b"], arena_bytes = 0 : i64} : () -> ()
    Source: specification 003 (generations), 004 (arena).
    """

    name: ClassVar[str] = "region-to-exec"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("exec",)

    def run(self, module: Any) -> None:
        """Replace the host function of `module`."""
        function = main_of(_host_functions(module))
        _drop_others(module, function)
        try:
            host = Host(function, {**kernels(module), **gpu_kernels(module)})
        except ExtentError as error:
            name = function.operation.attributes["sym_name"].value
            message = f"the size of the arena: {error}; bind some of the symbols"
            raise TinycError("InvalidExtent", message, Where(node=name)) from None
        with ir.InsertionPoint(function.operation), function.location:
            _write(host)
        function.operation.erase()


def _host_functions(module: Any) -> list[Any]:
    """Return the functions of tensors."""
    return [op for op in module.body.operations if op.operation.name == "func.func" and _takes_tensors(op)]


def _drop_others(module: Any, function: Any) -> None:
    """Erase the host functions beside the program's, and the kernels that only they launch."""
    others = [each for each in _host_functions(module) if each != function]
    idle = {name for each in others for name in _launched(each)} - _launched(function)
    known = {**kernels(module), **gpu_kernels(module)}
    for name in [*idle, *(_init_of(known[name]) for name in idle if name in known)]:
        if name in known:
            known[name].operation.erase()
    for each in others:
        each.operation.erase()


def _launched(function: Any) -> set[str]:
    ops = (op.operation for block in function.regions[0].blocks for op in block.operations)
    return {op.attributes["kernel"].value for op in ops if op.name == "region.launch"}


def _init_of(kernel: Any) -> str | None:
    """Return the kernel that is launched before another one; no two kernels share one."""
    attributes = kernel.operation.attributes
    return attributes["tgpu.init"].value if "tgpu.init" in attributes else None


def _takes_tensors(function: Any) -> bool:
    signature = function.operation.attributes["function_type"].value
    return len(function.regions[0].blocks) > 0 and all(
        isinstance(kind, ir.RankedTensorType) for kind in (*signature.inputs, *signature.results)
    )


def _write(host: Host) -> None:
    """Build the `exec.function` at the insertion point."""
    function = exec_ops.FunctionOp(
        sym_name=ir.StringAttr.get(host.name),
        symbols=_texts(host.symbols()),
        inputs=_texts(host.input_names()),
        outputs=_texts(host.output_names()),
        arena_bytes=_extent(host.arena_bytes),
    )
    with ir.InsertionPoint(function.operation.regions[0].blocks.append()):
        for assumption in host.assumptions:
            exec_ops.AssumeOp(
                lhs=_extent(assumption.lhs),
                predicate=ir.StringAttr.get(assumption.predicate),
                rhs=_extent(assumption.rhs),
            )
        on_device = any(launch.contract.memory_space == "device" for launch in host.launches)
        for buffer in host.buffers:
            _write_buffer(buffer, "device" if on_device else "host")
        slots = count()
        for launch in host.launches:
            _write_kernel(launch, slots)
        end_body()


def _write_buffer(buffer: HostBuffer, memory_space: str) -> None:
    exec_ops.BufferOp(
        buffer=ir.StringAttr.get(buffer.name),
        kind=ir.StringAttr.get(buffer.kind),
        memory_space=ir.StringAttr.get(memory_space),
        offset=_extent(buffer.offset),
        size=_extent(buffer.size),
        tensor=ir.TypeAttr.get(to_type(buffer.tensor)),
        loc=buffer.location,
    )


def _write_kernel(launch: Launch, slots: Iterator[int]) -> None:
    contract = launch.contract
    read = [*launch.inputs, *(launch.outputs if contract.updates else [])]
    exec_ops.KernelOp(
        symbol=ir.FlatSymbolRefAttr.get(contract.symbol),
        generation=_extent(launch.generation),
        grid=extents_attribute(contract.grid),
        block=extents_attribute(contract.block),
        cluster=extents_attribute((1, 1, 1)),
        dynamic_shared_bytes=_extent(0),
        parameters=ir.ArrayAttr.get(_parameters(launch, slots)),
        reads=_texts(dict.fromkeys(buffer.name for buffer, _ in read)),
        writes=_texts(buffer.name for buffer, _ in launch.outputs),
        loc=launch.location,
    )


def _parameters(launch: Launch, slots: Iterator[int]) -> list[Any]:
    """Return the parameters in the order of the kernel function that there is, or that --region-to-loops makes."""
    pointers = [
        exec_ops.PtrAttr.get(ir.StringAttr.get(buffer.name), ir.TypeAttr.get(to_type(tensor)))
        for buffer, tensor in (*launch.inputs, *launch.outputs)
    ]
    status = [exec_ops.StatusAttr.get(_extent(next(slots)))] if launch.contract.is_checked else []
    symbols = [exec_ops.ExtentAttr.get(ir.StringAttr.get(name)) for name in launch.contract.symbols]
    return [*pointers, *status, *symbols]


def _texts(names: Iterable[str]) -> Any:
    return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])


def _extent(dim: Dim) -> Any:
    return extents_attribute((dim,))[0]
