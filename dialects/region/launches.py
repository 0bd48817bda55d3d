"""The host function as data: which buffers there are, who writes and reads each, and in which generation.

In: the host function and the kernels that it launches, regions or GPU functions. Out: a `Host` of buffers and launches,
named and placed in the arena. No IR is changed.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import arena, extents
from tinyc.analysis.arena import Request
from tinyc.analysis.assumption import Assumption
from tinyc.analysis.extents import Dim
from tinyc.analysis.graphs import input_names, output_names
from tinyc.analysis.preconditions import preconditions
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.region.contract import Contract, contracts_of
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.types import TensorType, size_bytes, symbols_of


@dataclass
class HostBuffer:
    """One buffer: its tensor, its kind (`input`, `output`, `arena`), the generations in which it is written and read.

    It is written from generation `first` on, complete after `ready`, and read for the last time in `last`.
    """

    tensor: TensorType
    location: Any
    kind: str = "arena"
    name: str = ""
    offset: Dim = 0
    first: int = -1
    ready: int = -1
    last: int = -1

    @property
    def size(self) -> Dim:
        """The size in bytes."""
        return extents.product((*self.tensor.shape, size_bytes(self.tensor.element)))


@dataclass(frozen=True)
class Launch:
    """One launch: its level in the dependence graph; its buffers, each with the tensor as which the kernel sees it."""

    contract: Contract
    location: Any
    generation: int
    inputs: list[tuple[HostBuffer, TensorType]]
    outputs: list[tuple[HostBuffer, TensorType]]


class Host:
    """The host function.

    Raises:
        TinycError: `InvalidIr`: it does something else than launch kernels and rename buffers, or its kernels are gone.
        ExtentError: the arena's size is beyond what an extent can say.
    """

    def __init__(self, function: Any, kernels: Mapping[str, Any]) -> None:
        self.name: str = function.operation.attributes["sym_name"].value
        self.location = function.location
        self._function, self._kernels = function, kernels
        self._block = function.regions[0].blocks[0]
        self._held: dict[Any, HostBuffer] = {}
        self._launched: dict[Any, str] = {}
        self.launches: list[Launch] = []
        self.outputs: list[HostBuffer] = []
        self.inputs = [self._input(argument) for argument in self._block.arguments]
        for op in self._block.operations:
            self._visit(op)
        self.launches.sort(key=lambda launch: launch.generation)
        written = [buffer for launch in self.launches if not launch.contract.updates for buffer, _ in launch.outputs]
        self.temps = [buffer for buffer in written if buffer.kind == "arena"]
        self._name_buffers()
        self.arena_bytes = self._place_temps()

    @property
    def buffers(self) -> list[HostBuffer]:
        """All buffers: the inputs, the outputs, and what lies between kernels."""
        return [*self.inputs, *self.outputs, *self.temps]

    @functools.cached_property
    def assumptions(self) -> list[Assumption]:
        """What has to hold of the symbols."""
        return preconditions(self._function, self._kernels)

    def symbols(self) -> tuple[str, ...]:
        """Return the symbols in order of first appearance: in the inputs, then anywhere else."""
        seen = [tensor for launch in self.launches for _, tensor in (*launch.inputs, *launch.outputs)]
        names = dict.fromkeys(symbols_of([*(buffer.tensor for buffer in self.buffers), *seen]))
        for launch in self.launches:
            names.update(dict.fromkeys(launch.contract.symbols))
        for assumption in self.assumptions:
            names.update(dict.fromkeys((*extents.symbols(assumption.lhs), *extents.symbols(assumption.rhs))))
        return tuple(names)

    def input_names(self) -> list[str]:
        """Return what the user calls the inputs."""
        return input_names(self._function)

    def output_names(self) -> list[str]:
        """Return what the user calls the outputs."""
        return output_names(self._function)

    def _input(self, argument: Any) -> HostBuffer:
        buffer = self._held[argument] = HostBuffer(tensor_type(argument.type), self.location, "input")
        return buffer

    def _visit(self, op: Any) -> None:
        operation = op.operation
        if operation.name == "region.launch":
            self._launched[operation.results[0]] = operation.attributes["kernel"].value
        elif operation.name == "func.call_indirect":
            self._launch(operation)
        elif operation.name == "tiny.reshape":
            self._held[operation.results[0]] = self._held[operation.operands[0]]
        elif operation.name == "func.return":
            self._return(operation)
        elif operation.name != "tiny.assume":
            raise self._error(f"it computes '{operation.name}' itself; --tiny-to-region puts every op into a kernel")

    def _launch(self, op: Any) -> None:
        """Add the launches that one call of a kernel is: several where a kernel needs another one to go before it."""
        callee, *operands = op.operands
        symbol = self._launched[callee]
        if symbol not in self._kernels:
            raise self._error(f"@{symbol} is no region.kernel; run --region-to-exec before --region-to-loops")
        contracts = contracts_of(self._kernels[symbol], self._kernels)
        inputs = [(self._held[operand], tensor_type(operand.type)) for operand in operands]
        first = 1 + max((buffer.ready for buffer, _ in inputs), default=-1)
        last = first + len(contracts) - 1
        for buffer, _ in inputs:
            buffer.last = max(buffer.last, last)
        outputs = [(self._output(result, first, last), tensor_type(result.type)) for result in op.results]
        for generation, contract in enumerate(contracts, first):
            self.launches.append(Launch(contract, op.location, generation, inputs, outputs))

    def _output(self, result: Any, first: int, last: int) -> HostBuffer:
        tensor, location = tensor_type(result.type), result.owner.location
        buffer = self._held[result] = HostBuffer(tensor, location, first=first, ready=last, last=last)
        return buffer

    def _return(self, op: Any) -> None:
        for position, value in enumerate(op.operands):
            buffer = self._held[value]
            if buffer.kind != "arena":
                what = "an argument" if buffer.kind == "input" else "returned twice"
                raise self._error(f"result {position} is {what}; --tiny-to-region makes each the result of a launch")
            buffer.kind, buffer.tensor = "output", tensor_type(value.type)
            self.outputs.append(buffer)

    def _error(self, message: str) -> TinycError:
        return TinycError("InvalidIr", f"host function @{self.name}: {message}", Where(node=self.name))

    def _name_buffers(self) -> None:
        for prefix, group in (("input", self.inputs), ("output", self.outputs), ("temp", self.temps)):
            for position, buffer in enumerate(group):
                buffer.name = f"{prefix}_{position}"

    def _place_temps(self) -> Dim:
        """Give what lies between kernels its place in the arena; return the arena's size."""
        requests = [Request(buffer.size, buffer.first, buffer.last) for buffer in self.temps]
        offsets, total = arena.allocate(requests)
        for buffer, offset in zip(self.temps, offsets, strict=True):
            buffer.offset = offset
        return total
