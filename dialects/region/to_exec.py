"""Region → exec: the host function becomes buffers, an arena and launches in generations."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tinyc.analysis import arena, extents
from tinyc.analysis.arena import Request
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec import ops as exec_ops
from tinyc.dialects.region.parallel import parallel_extent
from tinyc.dialects.region.to_loops import is_checked
from tinyc.dialects.region.verify import block_of, kernels
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.tiny.attributes import extents_attribute, tensor_type, to_type
from tinyc.dialects.tiny.types import TensorType, size_bytes, symbols_of
from tinyc.dialects.tiny.verify import assumptions
from tinyc.mlir import ir
from tinyc.passes import Pass


@dataclass(frozen=True)
class RegionToExec(Pass):
    """Turn the host function into an `exec.function`: every buffer, every launch, one arena.

    Requires:
        1. The host function launches `region.kernel`s of the module; --region-to-loops has not run yet: it comes next.
        2. Every result of the host function is the result of a launch, each of another one.
    Ensures:
        1. The host function is gone; the kernels stay.
        2. A launch's generation is its level in the dependence graph; the launch contract has the kernel's buffers,
           its status slot where indices come from data, and its symbols, in the order of the kernel function.
        3. A value that is neither input nor output lies in the arena, where a later one may take its place when its
           last reader's generation is over. A `tiny.reshape` is the same buffer.
    Before:
        func.func @main(%a: tensor<4xf32> {tiny.name = "a"}) -> (tensor<4xf32> {tiny.name = "b"}) {
          %k = "region.launch"() {kernel = @relu} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
          %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        "exec.function"() ({
          "exec.buffer"() {buffer = "input_0", kind = "input", offset = 0, size = 16, …} : () -> ()
          "exec.buffer"() {buffer = "output_0", kind = "output", offset = 0, size = 16, …} : () -> ()
          "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], …} : () -> ()
        }) {sym_name = "main", symbols = [], inputs = ["a"], outputs = ["b"], arena_bytes = 0} : () -> ()
    Source: specification 003 (generations), 004 (arena).
    """

    name: ClassVar[str] = "region-to-exec"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("exec",)

    def run(self, module: Any) -> None:
        """Replace the host function of `module`."""
        host = _host_function(module)
        plan = _Host(host, kernels(module))
        with ir.InsertionPoint(host.operation), host.location:
            try:
                _write(plan)
            except ExtentError as error:
                raise TinycError("InvalidExtent", f"the arena's size: {error}", Where(node=plan.name)) from None
        host.operation.erase()


def _host_function(module: Any) -> Any:
    hosts = [op for op in module.body.operations if op.operation.name == "func.func" and _launches(op)]
    if len(hosts) != 1:
        raise TinycError(
            "InvalidIr",
            f"--region-to-exec finds {len(hosts)} functions that launch kernels and needs one; run --tiny-to-region first",
        )
    return hosts[0]


def _launches(function: Any) -> bool:
    blocks = function.regions[0].blocks
    return any(op.operation.name == "region.launch" for block in blocks for op in block.operations) or any(
        "tiny.name" in attributes for attributes in _argument_attributes(function, "arg_attrs")
    )


def _argument_attributes(function: Any, which: str) -> list[Any]:
    attributes = function.operation.attributes
    return list(attributes[which]) if which in attributes else []


@dataclass
class _Buffer:
    """One buffer on its way: who holds it, and the generations that name it."""

    tensor: TensorType
    location: Any
    kind: str = "arena"
    name: str = ""
    offset: Dim = 0
    first: int = 0
    last: int = 0

    @property
    def size(self) -> Dim:
        return extents.product((*self.tensor.shape, size_bytes(self.tensor.element)))


@dataclass
class _Launch:
    """One launch on its way: the kernel, and its buffers with the tensor as which the kernel sees each."""

    symbol: str
    kernel: Any
    location: Any
    generation: int
    reads: list[tuple[_Buffer, TensorType]]
    writes: list[tuple[_Buffer, TensorType]] = field(default_factory=list)


class _Host:
    """The host function as buffers and launches: what is written out."""

    def __init__(self, function: Any, known: dict[str, Any]) -> None:
        self.function, self.kernels = function, known
        self.name = function.operation.attributes["sym_name"].value
        self.block = function.regions[0].blocks[0]
        self.held: dict[Any, _Buffer] = {}
        self.launched: dict[Any, str] = {}
        self.inputs = [self._new(argument, "input") for argument in self.block.arguments]
        self.temps: list[_Buffer] = []
        self.launches: list[_Launch] = []
        self.outputs: list[_Buffer] = []
        for op in self.block.operations:
            self._visit(op)
        self.launches.sort(key=lambda launch: launch.generation)
        self._place()

    def _new(self, value: Any, kind: str = "arena", generation: int = -1) -> _Buffer:
        location = self.function.location if kind == "input" else value.owner.location
        buffer = _Buffer(tensor_type(value.type), location, kind, first=generation, last=generation)
        self.held[value] = buffer
        return buffer

    def _visit(self, op: Any) -> None:
        name = op.operation.name
        if name == "region.launch":
            self.launched[op.operation.results[0]] = op.operation.attributes["kernel"].value
        elif name == "func.call_indirect":
            self._launch(op.operation)
        elif name == "tiny.reshape":
            self.held[op.operation.results[0]] = self.held[op.operation.operands[0]]
        elif name == "func.return":
            self._return(op.operation)
        elif name != "tiny.assume":
            raise TinycError(
                "InvalidIr",
                f"the host function computes '{name}' itself; --tiny-to-region puts every op into a kernel",
                Where(node=self.name),
            )

    def _launch(self, op: Any) -> None:
        callee, *operands = op.operands
        symbol = self.launched[callee]
        if symbol not in self.kernels:
            raise TinycError(
                "InvalidIr",
                f"@{symbol} is no region.kernel; run --region-to-exec before --region-to-loops",
                Where(node=self.name),
            )
        reads = [(self.held[operand], tensor_type(operand.type)) for operand in operands]
        generation = 1 + max((buffer.first for buffer, _ in reads), default=-1)
        for buffer, _ in reads:
            buffer.last = max(buffer.last, generation)
        launch = _Launch(symbol, self.kernels[symbol], op.location, generation, reads)
        for result in op.results:
            buffer = self._new(result, generation=generation)
            launch.writes.append((buffer, buffer.tensor))
            self.temps.append(buffer)
        self.launches.append(launch)

    def _return(self, op: Any) -> None:
        for position, value in enumerate(op.operands):
            buffer = self.held[value]
            if buffer.kind != "arena":
                raise TinycError(
                    "InvalidIr",
                    f"result {position} is {'an argument' if buffer.kind == 'input' else 'returned twice'}; every result "
                    "must be the result of a launch, each of another one",
                    Where(node=self.name),
                )
            buffer.kind, buffer.tensor = "output", tensor_type(value.type)
            self.outputs.append(buffer)

    def _place(self) -> None:
        """Name the buffers, and give those between kernels their place in the arena."""
        self.temps = [buffer for buffer in self.temps if buffer.kind == "arena"]
        for prefix, group in (("input", self.inputs), ("output", self.outputs), ("temp", self.temps)):
            for position, buffer in enumerate(group):
                buffer.name = f"{prefix}_{position}"
        requests = [Request(buffer.size, buffer.first, buffer.last) for buffer in self.temps]
        offsets, self.arena_bytes = arena.allocate(requests)
        for buffer, offset in zip(self.temps, offsets, strict=True):
            buffer.offset = offset

    @property
    def buffers(self) -> list[_Buffer]:
        return [*self.inputs, *self.outputs, *self.temps]

    def symbols(self) -> tuple[str, ...]:
        """Return the symbols in order of first appearance: in the inputs, then anywhere else."""
        seen = [tensor for launch in self.launches for _, tensor in (*launch.reads, *launch.writes)]
        names = dict.fromkeys(symbols_of([*(buffer.tensor for buffer in self.buffers), *seen]))
        for assumption in assumptions(self.block):
            names.update(dict.fromkeys((*extents.symbols(assumption.lhs), *extents.symbols(assumption.rhs))))
        return tuple(names)

    def names(self, which: str, group: Sequence[_Buffer]) -> list[str]:
        """Return the names that the user knows the inputs or outputs by."""
        attributes = _argument_attributes(self.function, which)
        default = [{} for _ in group]
        return [
            given["tiny.name"].value if "tiny.name" in given else buffer.name
            for given, buffer in zip(attributes or default, group, strict=True)
        ]


def _write(host: _Host) -> None:
    """Build the `exec.function` at the insertion point."""
    function = exec_ops.FunctionOp(
        sym_name=ir.StringAttr.get(host.name),
        symbols=_texts(host.symbols()),
        inputs=_texts(host.names("arg_attrs", host.inputs)),
        outputs=_texts(host.names("res_attrs", host.outputs)),
        arena_bytes=_extent(host.arena_bytes),
    )
    with ir.InsertionPoint(function.operation.regions[0].blocks.append()):
        for assumption in assumptions(host.block):
            exec_ops.AssumeOp(
                lhs=ir.StringAttr.get(str(assumption.lhs)),
                predicate=ir.StringAttr.get(assumption.predicate),
                rhs=ir.StringAttr.get(str(assumption.rhs)),
            )
        for buffer in host.buffers:
            _write_buffer(buffer)
        slots = iter(range(len(host.launches)))
        for launch in host.launches:
            _write_kernel(launch, slots)


def _write_buffer(buffer: _Buffer) -> None:
    exec_ops.BufferOp(
        buffer=ir.StringAttr.get(buffer.name),
        kind=ir.StringAttr.get(buffer.kind),
        memory_space=ir.StringAttr.get("host"),
        offset=_extent(buffer.offset),
        size=_extent(buffer.size),
        tensor=ir.TypeAttr.get(to_type(buffer.tensor)),
        loc=buffer.location,
    )


def _write_kernel(launch: _Launch, slots: Any) -> None:
    """Write the launch contract: the parameters are in the order of the kernel function of --region-to-loops."""
    one = extents_attribute((1, 1, 1))
    exec_ops.KernelOp(
        symbol=ir.FlatSymbolRefAttr.get(launch.symbol),
        generation=_extent(launch.generation),
        grid=extents_attribute((parallel_extent(launch.kernel), 1, 1)),
        block=one,
        cluster=one,
        dynamic_shared_bytes=_extent(0),
        parameters=ir.ArrayAttr.get(_parameters(launch, slots)),
        reads=_texts(dict.fromkeys(buffer.name for buffer, _ in launch.reads)),
        writes=_texts([buffer.name for buffer, _ in launch.writes]),
        loc=launch.location,
    )


def _parameters(launch: _Launch, slots: Any) -> list[Any]:
    pointers = [
        exec_ops.PtrAttr.get(ir.StringAttr.get(buffer.name), ir.TypeAttr.get(to_type(tensor)))
        for buffer, tensor in (*launch.reads, *launch.writes)
    ]
    status = [exec_ops.StatusAttr.get(_extent(next(slots)))] if is_checked(launch.kernel) else []
    held = [held_tensor(argument.type) for argument in block_of(launch.kernel).arguments]
    symbols = [exec_ops.ExtentAttr.get(ir.StringAttr.get(name)) for name in symbols_of(held)]
    return [*pointers, *status, *symbols]


def _texts(names: Any) -> Any:
    return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])


def _extent(dim: Dim) -> Any:
    return extents_attribute((dim,))[0]
