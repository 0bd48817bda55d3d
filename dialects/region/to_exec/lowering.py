"""Region → exec: the host function becomes buffers, an arena and launches in generations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from tinyc.analysis.graphs import main_of
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec import ops as exec_
from tinyc.dialects.exec.attributes import (
    INDEXES,
    KERNEL_ALTERNATIVES,
    NODE,
    ExtentAttr,
    PtrAttr,
    StatusAttr,
    TensorMapAttr,
)
from tinyc.dialects.launch import LaunchContract, launchables_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_exec.host import Host, HostBuffer, HostLaunch
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.maximum import Maximum, MaximumDim
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.mlir.locations import location_of, name_of
from tinyc.passes import Pass
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.attributes import extents_attribute, to_type
from tinyc.vocabulary.guards import guards_attribute


@dataclass(frozen=True)
class RegionToExec(Pass):
    """Turn the host function into an `exec.function`: every buffer, every launch, one arena.

    Requires:
        1. The only host function, or the one called `@main`, launches `region.kernel`s of the module, and
           --region-to-loops has not run yet: it comes next; or kernels of another layer that still say how they are
           launched.
        2. Every result of the host function is the result of a launch, each of another one.
    Ensures:
        1. The host function is gone; the kernels stay. Of several host functions `@main` is the program; the others
           are gone with their kernels.
        2. A launch's generation is its level in the dependence graph; the launch contract has the kernel's buffers, its
           status slot where indices come from data, its symbols, and its tensor maps, in the kernel function's order. A
           kernel that another one goes before is two launches, the second of which updates what the first has written;
           where only an alternative is two, the first has no CTAs at other sizes.
        3. A value that is neither input nor output lies in the arena, where a later one may take its place when its
           last reader's generation is over, or at once where its kernel offers it (`in_place`). A `tiny.reshape` is
           the same buffer.
        4. The `exec.assume`s are what the host function states, and what makes every extent a size: no divisor below 1,
           no extent below 0.
        5. The buffers are in the memory that the kernels work on. Grid, CTA, cluster, dynamic shared memory and tensor
           maps are those that each kernel states, and of an alternative the guards: its sizes, and relations.
    Before:
        !buffer = !region.memref<tensor<f32>, [], 128 : i64, true>
        "region.kernel"() ({ ^bb0(%y: !buffer):
          %0 = "tiny.const"() {value = 1.0 : f32} : () -> tensor<f32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<f32>, !buffer) -> ()
          omp.terminator }) {sym_name = "one"} : () -> ()
        func.func @main() -> (tensor<f32> {tiny.name = "y"}) {
          %k = "region.launch"() {kernel = @one} : () -> (() -> tensor<f32>)
          %0 = call_indirect %k() : () -> tensor<f32>  return %0 : tensor<f32> }
    After:
        …
        "exec.function"() ({
          "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 4,
            tensor = tensor<f32>} : () -> ()
          "exec.kernel"() {symbol = @one, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1],
            dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<f32>>], reads = [],
            writes = ["output_0"]} : () -> ()
          omp.terminator }) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()
    Source: specification 003 (generations), 004 (arena).
    """

    name: ClassVar[str] = "region-to-exec"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("exec",)

    def run(self, module: ir.Module) -> None:
        """Replace the host function of `module`."""
        function = main_of(_host_functions(module))
        _drop_others(module, function)
        try:
            host = Host(function, launchables_of(module))
        except ExtentError as error:
            message = f"the size of the arena: {error}; bind some of the symbols"
            raise TinycError("InvalidExtent", message, Where(node=function.sym_name.value)) from None
        with ir.InsertionPoint(function), function.location:
            _write_function(host)
        function.erase()


def _host_functions(module: ir.Module) -> list[func.FuncOp]:
    """The functions of tensors that have a body."""
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp) and len(op.body.blocks)]
    kinds = {function: (*function.type.inputs, *function.type.results) for function in functions}
    return [each for each in functions if all(isinstance(kind, ir.RankedTensorType) for kind in kinds[each])]


def _drop_others(module: ir.Module, function: func.FuncOp) -> None:
    """Erase the host functions beside the program's, and the kernels that only they launch."""
    launchables = launchables_of(module)
    others = [each for each in _host_functions(module) if each != function]
    idle = {symbol for each in others for symbol in _launched(each)} - _launched(function)
    found = [launchables[symbol] for symbol in idle if symbol in launchables]
    # No two kernels share the one that goes before them.
    inits = [launchables[each.init] for each in found if each.init in launchables]
    for op in (launchable.op for launchable in (*found, *inits)):
        if op is not None:
            op.erase()
    for each in others:
        each.erase()


def _launched(function: func.FuncOp) -> set[str]:
    ops = (op for block in function.body.blocks for op in block.operations)
    return {name for op in ops if isinstance(op, region.LaunchOp) for name in (op.kernel.value, *op.alternatives)}


def _write_function(host: Host) -> None:
    """Build the `exec.function` at the insertion point."""
    function = exec_.FunctionOp(
        sym_name=ir.StringAttr.get(host.name),
        symbols=_texts(host.symbols),
        inputs=_texts(host.input_names),
        outputs=_texts(host.output_names),
        arena_bytes=_maximum(host.arena_bytes),
    )
    if host.pool:
        function.attributes["weights"] = _texts(host.weight_names)
        function.attributes["pool_bytes"] = _extent(host.pool_bytes)
    with ir.InsertionPoint(function.body.blocks.append()):
        for assumption in host.assumptions:
            exec_.AssumeOp(
                lhs=_extent(assumption.lhs),
                predicate=ir.StringAttr.get(assumption.predicate),
                rhs=_extent(assumption.rhs),
                loc=location_of(assumption.where),
            )
        on_device = any(launch.contract.memory_space == "device" for launch in host.launches)
        for buffer in host.buffers:
            _write_buffer(buffer, "device" if on_device else "host")
        slots = count()
        for launch in host.launches:
            _write_kernel(launch, slots)
        end_body()


def _write_buffer(buffer: HostBuffer, memory_space: str) -> None:
    written = exec_.BufferOp(
        buffer=ir.StringAttr.get(buffer.name),
        kind=ir.StringAttr.get(buffer.kind),
        memory_space=ir.StringAttr.get(memory_space),
        offset=_extent(buffer.offset),
        size=_extent(buffer.size_bytes),
        tensor=ir.TypeAttr.get(to_type(buffer.tensor)),
        loc=buffer.location,
    )
    _name_node(written, buffer.location)
    if buffer.value is not None:
        written.attributes["value"] = buffer.value
    if buffer.indexes:
        written.attributes[INDEXES] = extents_attribute(buffer.indexes)


def _write_kernel(launch: HostLaunch, slots: Iterator[int]) -> None:
    contract = launch.contract
    read = [*launch.inputs, *(launch.written if contract.updates else [])]
    slot = next(slots) if contract.is_checked else None
    written = exec_.KernelOp(
        **_contract(launch, contract, slot),
        generation=_extent(launch.generation),
        reads=_texts(dict.fromkeys(buffer.name for buffer in read)),
        writes=_texts(buffer.name for buffer in launch.written),
        loc=launch.location,
    )
    if launch.prepare:
        written.attributes["prepare"] = ir.UnitAttr.get()
    _name_node(written, launch.location)
    if launch.in_place:
        pairs = [_texts(buffer.name for buffer in pair) for pair in launch.in_place]
        written.attributes["in_place"] = ir.ArrayAttr.get(pairs)
    if launch.alternatives:
        others = [_alternative(launch, each, slot) for each in launch.alternatives]
        written.attributes[KERNEL_ALTERNATIVES] = ir.ArrayAttr.get(others)


def _alternative(launch: HostLaunch, contract: LaunchContract, slot: int | None) -> ir.DictAttr:
    sizes = [Assumption(extents.symbol(name), "eq", size) for name, size in contract.sizes.items()]
    guards = guards_attribute((*sizes, *contract.guards))
    return ir.DictAttr.get({**_contract(launch, contract, slot), "guards": guards})


def _contract(launch: HostLaunch, contract: LaunchContract, slot: int | None) -> dict[str, ir.Attribute]:
    """How one of the kernels of a launch is called."""
    return {
        "symbol": ir.FlatSymbolRefAttr.get(contract.symbol),
        "grid": extents_attribute(contract.grid),
        "block": extents_attribute(contract.cta_shape),
        "cluster": extents_attribute(contract.cluster),
        "dynamic_shared_bytes": _extent(contract.dynamic_shared_bytes),
        "parameters": ir.ArrayAttr.get(_parameters(launch, contract, slot)),
    }


def _name_node(op: ir.OpView, location: ir.Location) -> None:
    """Say in an op's text which node it is for, which a text without locations does not keep otherwise."""
    name = name_of(location)
    if name:
        op.attributes[NODE] = ir.StringAttr.get(name)


def _parameters(launch: HostLaunch, contract: LaunchContract, slot: int | None) -> list[ir.Attribute]:
    """The parameters in the order of the kernel function that there is, or that --region-to-loops makes."""
    buffers = launch.buffers_of(contract)
    pointers = [
        PtrAttr.get(ir.StringAttr.get(buffer.name), ir.TypeAttr.get(to_type(tensor)))
        for buffer, tensor in zip(buffers, (*contract.tensors, *contract.workspaces), strict=True)
    ]
    status = [] if slot is None else [StatusAttr.get(_extent(slot))]
    symbols = [ExtentAttr.get(ir.StringAttr.get(name)) for name in contract.symbols]
    maps = [_tensor_map(buffers[each.buffer], each.tiling) for each in contract.tensor_maps]
    return [*pointers, *status, *symbols, *maps]


def _tensor_map(buffer: HostBuffer, tiling: Tiling) -> ir.Attribute:
    return TensorMapAttr.get(
        ir.StringAttr.get(buffer.name),
        ir.TypeAttr.get(to_type(buffer.tensor).element_type),
        *(extents_attribute(each) for each in (tiling.dims, tiling.strides, tiling.box)),
        _extent(tiling.swizzle),
    )


def _texts(names: Iterable[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])


def _maximum(size: MaximumDim) -> ir.Attribute:
    return extents_attribute(size.dims) if isinstance(size, Maximum) else _extent(size)


def _extent(dim: Dim) -> ir.Attribute:
    return extents_attribute((dim,))[0]
