"""The host function as data: which buffers there are, who writes and reads each, and in which generation.

In: the host function and the kernels that it may launch. Out: a `Host` of buffers and launches, named and placed in the
arena. No IR is changed.
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tinyc.analysis.arena import Request, pack
from tinyc.analysis.graphs import input_names, output_names, weight_flags
from tinyc.analysis.indexed_axes import indexed_extents
from tinyc.analysis.preconditions import preconditions
from tinyc.analysis.tiny_ops import is_stored
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.launch import Launchable, LaunchContract
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_exec.const_pool import pool_offsets, prepared_calls, require_static_weights
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import MaximumDim
from tinyc.mlir import func, ir
from tinyc.mlir.locations import named, unnamed, value_name
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.run_key import RUN_KEY
from tinyc.vocabulary.types import TensorType, symbols_of


@dataclass(eq=False)
class HostBuffer:
    """One buffer: its tensor, its kind, the generations in which it is written and read.

    It is written from generation `first` on, complete after `ready`, and read for the last time in `last`. Its elements
    are positions along axes of the extents in `indexes`; `value` are those of a constant. What it `overwrites` lies in
    the same place.
    """

    tensor: TensorType
    location: ir.Location
    kind: Literal["input", "output", "arena", "weight", "constant", "prepared"] = "arena"
    name: str = ""
    offset: Dim = 0
    first: int = -1
    ready: int = -1
    last: int = -1
    indexes: tuple[Dim, ...] = ()
    overwrites: "HostBuffer | None" = None
    value: ir.Attribute | None = None

    @property
    def size_bytes(self) -> Dim:
        """The size, an extent."""
        return extents.product((*self.tensor.shape, self.tensor.element.size_bytes))


@dataclass(frozen=True)
class HostLaunch:
    """One launch: its level in the dependence graph, and its buffers, which the kernel sees as the contract says.

    `alternatives` are the contracts of the kernels that may take its place. `workspaces` are theirs and its own, by
    number and tensor: those who ask for the same share it. What is of the stage `prepare` runs once, before all others.
    """

    contract: LaunchContract
    alternatives: Sequence[LaunchContract]
    location: ir.Location
    generation: int
    inputs: list[HostBuffer]
    outputs: list[HostBuffer]
    workspaces: Mapping[tuple[int, TensorType], HostBuffer]
    prepare: bool = False

    @property
    def written(self) -> list[HostBuffer]:
        """What it, or an alternative, writes: the outputs, and the workspaces."""
        return [*self.outputs, *self.workspaces.values()]

    def buffers_of(self, contract: LaunchContract) -> list[HostBuffer]:
        """The buffers that its kernel, or an alternative, is given, in the order of the contract."""
        own = [self.workspaces[each] for each in enumerate(contract.workspaces)]
        return [*self.inputs, *self.outputs, *own]

    @property
    def in_place(self) -> list[tuple[HostBuffer, HostBuffer]]:
        """The pairs of what is read for the last time, and what is written there."""
        return [(each.overwrites, each) for each in self.outputs if each.overwrites is not None]


class Host:
    """The host function.

    Raises:
        TinycError: `InvalidIr`: it does something else than launch kernels and rename buffers, or its kernels are gone.
        TinycError: `InvalidExtent`: the extents of a weight are no numbers.
        ExtentError: the arena's size is beyond what an extent can say.
    """

    def __init__(self, function: func.FuncOp, launchables: Mapping[str, Launchable]) -> None:
        self.name = function.sym_name.value
        self.location = function.location
        self._function, self._launchables = function, launchables
        self._held: dict[ir.Value, HostBuffer] = {}
        self._launched: dict[ir.Value, region.LaunchOp] = {}
        self.launches: list[HostLaunch] = []
        self.outputs: list[HostBuffer] = []
        block = function.body.blocks[0]
        kernels = {symbol: each.op for symbol, each in launchables.items()}
        require_static_weights(function)
        given = [self._input(argument, indexed_extents(argument, kernels)) for argument in block.arguments]
        self.inputs, self.weights = ([each for each in given if each.kind == kind] for kind in ("input", "weight"))
        self.constants: list[HostBuffer] = []
        self._visit_all(list(block.operations))
        self.launches.sort(key=lambda launch: launch.generation)
        written = [buffer for launch in self.launches if not launch.contract.updates for buffer in launch.written]
        self.temps, self.prepared = ([each for each in written if each.kind == kind] for kind in ("arena", "prepared"))
        self._name_buffers()
        self._overwrite()
        self.arena_bytes = self._place_temps()
        self.pool_bytes = self._place_pool()

    @property
    def buffers(self) -> list[HostBuffer]:
        """All buffers: the inputs, the outputs, what is kept between runs, and what lies between kernels."""
        return [*self.inputs, *self.outputs, *self.pool, *self.temps]

    @property
    def pool(self) -> list[HostBuffer]:
        """The buffers of the ConstPool."""
        return [*self.weights, *self.constants, *self.prepared]

    @functools.cached_property
    def assumptions(self) -> list[Assumption]:
        """The assumptions on the symbols."""
        bodies = {symbol: each.bodies for symbol, each in self._launchables.items()}
        return preconditions(self._function, bodies)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols in order of first appearance: in the inputs, then anywhere else."""
        seen = [tensor for launch in self.launches for tensor in launch.contract.tensors]
        names = dict.fromkeys(symbols_of([*(buffer.tensor for buffer in self.buffers), *seen]))
        if RUN_KEY in names:
            raise TinycError("InvalidExtent", f"'{RUN_KEY}' is the key of random numbers; call the extent otherwise")
        for contract in (each for launch in self.launches for each in (launch.contract, *launch.alternatives)):
            names.update(dict.fromkeys(contract.symbols))
        for assumption in self.assumptions:
            names.update(dict.fromkeys((*extents.symbols(assumption.lhs), *extents.symbols(assumption.rhs))))
        return tuple(names)

    @property
    def input_names(self) -> list[str]:
        """The user's names for the inputs that are no weights."""
        return self._names_of(is_weight=False)

    @property
    def weight_names(self) -> list[str]:
        """The user's names for the weights."""
        return self._names_of(is_weight=True)

    def _names_of(self, is_weight: bool) -> list[str]:
        pairs = zip(input_names(self._function), weight_flags(self._function), strict=True)
        return [name for name, flag in pairs if flag is is_weight]

    @property
    def output_names(self) -> list[str]:
        """The user's names for the outputs."""
        return output_names(self._function)

    def _input(self, argument: ir.BlockArgument, indexes: tuple[Dim, ...]) -> HostBuffer:
        kind = "weight" if weight_flags(self._function)[argument.arg_number] else "input"
        buffer = HostBuffer(tensor_type(argument.type), self.location, kind, indexes=indexes)
        self._held[argument] = buffer
        return buffer

    def _visit_all(self, ops: list[ir.OpView]) -> None:
        """Visit the launches that run once, with what they need, and then all others, in generations behind them."""
        prepared = prepared_calls(self._function, self._launchables)
        self._first_generation, self._prepares = 0, True
        for op in ops:
            is_needed = isinstance(op, region.LaunchOp | tiny.ConstOp) or op in prepared
            if is_needed or (isinstance(op, tiny.ReshapeOp) and op.operand in self._held):
                self._visit(op)
        self._first_generation = 1 + max((launch.generation for launch in self.launches), default=-1)
        self._prepares = False
        for op in ops:
            if op not in prepared and not isinstance(op, tiny.ConstOp):
                self._visit(op)

    def _visit(self, op: ir.OpView) -> None:
        if isinstance(op, region.LaunchOp):
            self._launched[op.function] = op
        elif isinstance(op, func.CallIndirectOp):
            self._launch(op)
        elif isinstance(op, tiny.ConstOp) and is_stored(op.output):
            self._held[op.output] = self._constant(op)
        elif isinstance(op, tiny.ReshapeOp):
            self._held[op.output] = self._held[op.operand]
        elif isinstance(op, func.ReturnOp):
            self._return(op)
        elif not isinstance(op, tiny.AssumeOp):
            raise self._error(f"it computes '{op.operation.name}' itself; --tiny-to-region puts every op into a kernel")

    def _launch(self, op: func.CallIndirectOp) -> None:
        """Add the launches that one call of a kernel is: two where a kernel needs another one to go before it."""
        launch = self._launched[op.callee]
        every = _in_step([self._contracts(launch.kernel.value), *map(self._alternative, launch.alternatives)])
        contracts = every[0]
        inputs = [self._held[operand] for operand in op.callee_operands]
        first = max(self._first_generation, 1 + max((buffer.ready for buffer in inputs), default=-1))
        last = first + len(contracts) - 1
        for buffer in inputs:
            buffer.last = max(buffer.last, last)
        outputs = [self._output(result, first, last) for result in op.results]
        asked = dict.fromkeys(each for mine in every for each in enumerate(mine[-1].workspaces))
        workspaces = {
            each: HostBuffer(each[1], unnamed(op.location), self._new_kind, first=first, ready=last, last=last)
            for each in asked
        }
        location = op.location
        if "node" in launch.attributes:
            location = named(ir.StringAttr(launch.attributes["node"]).value, launch.location)
        for place, contract in enumerate(contracts):
            others = [each[place] for each in every[1:]]
            written = outputs, workspaces
            launch_at = HostLaunch(contract, others, location, first + place, inputs, *written, self._prepares)
            self.launches.append(launch_at)

    def _contracts(self, symbol: str) -> list[LaunchContract]:
        """The contracts of a kernel, and of the one that goes before it, if any, in the order of their launches."""
        if symbol not in self._launchables:
            message = f"@{symbol} is not a region.kernel; run --region-to-exec before --region-to-loops"
            raise self._error(message)
        init = self._launchables[symbol].init
        return [self._launchables[each].contract() for each in (init, symbol) if each is not None]

    def _alternative(self, symbol: str) -> list[LaunchContract]:
        """The contracts of an alternative, each with the guards of the kernel that is named as such."""
        contracts = self._contracts(symbol)
        named = contracts[-1]
        return [replace(each, sizes=named.sizes, guards=named.guards) for each in contracts]

    def _output(self, result: ir.OpResult, first: int, last: int) -> HostBuffer:
        tensor, location, name = tensor_type(result.type), result.owner.location, value_name(result)
        at = unnamed(location) if name is None else named(name, location)
        buffer = self._held[result] = HostBuffer(tensor, at, self._new_kind, first=first, ready=last, last=last)
        return buffer

    @property
    def _new_kind(self) -> Literal["prepared", "arena"]:
        """The kind of what the launches that are visited now write."""
        return "prepared" if self._prepares else "arena"

    def _constant(self, op: tiny.ConstOp) -> HostBuffer:
        """The buffer of a constant; equal ones are one."""
        for buffer in self.constants:
            if buffer.value == op.value:
                return buffer
        self.constants.append(HostBuffer(tensor_type(op.output.type), op.location, "constant", value=op.value))
        return self.constants[-1]

    def _return(self, op: func.ReturnOp) -> None:
        for position, value in enumerate(op.operands):
            buffer = self._held[value]
            if buffer.kind != "arena":
                what = {"output": "returned twice", "constant": "a constant"}.get(buffer.kind, "an argument")
                raise self._error(f"result {position} is {what}; --tiny-to-region makes each the result of a launch")
            buffer.kind, buffer.tensor = "output", tensor_type(value.type)
            self.outputs.append(buffer)

    def _error(self, message: str) -> TinycError:
        return TinycError("InvalidIr", f"host function @{self.name}: {message}", Where(node=self.name))

    def _name_buffers(self) -> None:
        groups = {"input": self.inputs, "output": self.outputs, "temp": self.temps}
        groups |= {"weight": self.weights, "constant": self.constants, "prepared": self.prepared}
        for prefix, group in groups.items():
            for position, buffer in enumerate(group):
                buffer.name = f"{prefix}_{position}"

    def _overwrite(self) -> None:
        """Let each result that may take the place of an operand which nothing else needs any more do so."""
        readers = Counter((launch.generation, buffer) for launch in self.launches for buffer in launch.inputs)
        for launch in self.launches:
            if launch.contract.updates or launch.contract.symbol not in self._launchables:
                continue
            buffers = (*launch.inputs, *launch.outputs)
            for output in (each for each in launch.outputs if each.kind == "arena" and each.ready == launch.generation):
                spent = {
                    number: buffer
                    for number, buffer in enumerate(launch.inputs)
                    if (buffer.kind, buffer.last, buffer.size_bytes) == ("arena", launch.generation, output.size_bytes)
                    and readers[launch.generation, buffer] == 1
                }
                offered = self._offered(launch) if spent else []
                fitting = (spent[read] for read, written in offered if read in spent and buffers[written] is output)
                output.overwrites = next(fitting, None)

    def _offered(self, launch: HostLaunch) -> list[tuple[int, int]]:
        """The pairs of buffers, by number, that every kernel of a launch may have in one place."""
        own, *others = [
            self._launchables[each.symbol].in_place or () for each in (launch.contract, *launch.alternatives)
        ]
        return [pair for pair in own if all(pair in each for each in others)]

    def _place_temps(self) -> MaximumDim:
        """Give what lies between kernels its place in the arena; the arena's size in bytes.

        A row of buffers that each overwrite the one before is one to be placed.
        """
        placed: dict[HostBuffer, HostBuffer] = {}
        for buffer in sorted(self.temps, key=lambda each: each.first):
            placed[buffer] = buffer if buffer.overwrites is None else placed[buffer.overwrites]
        last: dict[HostBuffer, int] = {}
        for buffer, place in placed.items():
            last[place] = max(buffer.last, last.get(place, -1))
        layout = pack([Request(buffer.size_bytes, buffer.first, last[buffer]) for buffer in last])
        offsets = dict(zip(last, layout.offsets, strict=True))
        for buffer in self.temps:
            buffer.offset = offsets[placed[buffer]]
        return layout.total

    def _place_pool(self) -> int:
        """Give what is kept between runs its place in the ConstPool; the pool's size in bytes."""
        sizes = [size for buffer in self.pool if isinstance(size := buffer.size_bytes, int)]
        offsets, total = pool_offsets(sizes)
        for buffer, offset in zip(self.pool, offsets, strict=True):
            buffer.offset = offset
        return total


def _in_step(every: Sequence[Sequence[LaunchContract]]) -> list[Sequence[LaunchContract]]:
    """The contracts of a kernel and of its alternatives, all as many launches.

    Where some need another kernel to go before them, the others have a launch without CTAs there.
    """
    first = next((contracts[0] for contracts in every if len(contracts) > 1), None)
    if first is None:
        return [*every]
    found: list[Sequence[LaunchContract]] = []
    for contracts in every:
        if len(contracts) == 1:
            (only,) = contracts
            idle = replace(first, grid=(0, 1, 1), sizes=only.sizes, guards=only.guards)
            contracts = idle, replace(only, updates=True)
        found.append(contracts)
    return found
