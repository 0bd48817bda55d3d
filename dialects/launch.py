"""How the host launches a kernel, as the layer that the kernel is in says it: the launch contract.

A host function names kernels by their symbols. What stands behind a symbol may be a region, a function on a GPU, or
text for a device; its layer offers it as a `Launchable`. So whoever checks or lowers the host asks here, and knows the
layer of no kernel. The registry attaches what each layer offers when it loads the dialects, as MLIR attaches external
models of an op's interface.
"""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.types import TensorType

MemorySpace: TypeAlias = Literal["host", "device"]


@dataclass(frozen=True)
class TensorMapArgument:
    """A tensor map that a function takes: of its buffer number `buffer`, seen as `tiling` says."""

    buffer: int
    tiling: Tiling


@dataclass(frozen=True)
class LaunchContract:
    """How one function is launched.

    Its parameters are the addresses of buffers that hold `tensors` (inputs, then outputs) and `workspaces`, of a status
    slot where it `is_checked`, the values of `symbols`, and `tensor_maps`. Workspaces are memory that this launch, and
    the one before that it `updates`, have to themselves. On a GPU it is launched as `grid` CTAs of `cta_shape`
    threads, along x, y and z, with `dynamic_shared_bytes` of shared memory a CTA; `cluster` of the CTAs are a cluster.
    On the host `grid[0]` is the trip count of its parallel outer loop. Where it `updates`, it goes on from what the
    launch before it has written. At `sizes`, and where its `guards` hold, it is an alternative of the kernel that a
    launch names.
    """

    symbol: str
    memory_space: MemorySpace
    grid: tuple[Dim, Dim, Dim]
    cta_shape: tuple[int, int, int]
    tensors: tuple[TensorType, ...]
    is_checked: bool
    symbols: tuple[str, ...]
    workspaces: tuple[TensorType, ...] = ()
    updates: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    guards: tuple[Assumption, ...] = ()
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    tensor_maps: tuple[TensorMapArgument, ...] = ()


@dataclass(frozen=True)
class Launchable(abc.ABC):
    """A kernel of a module that a host function may launch by its symbol.

    `op` is the kernel; None where it is part of a device's code, which is not taken apart.
    """

    op: ir.OpView | None

    @property
    @abc.abstractmethod
    def memory_space(self) -> MemorySpace:
        """The memory that its buffers are in."""

    @property
    def bodies(self) -> list[ir.Block]:
        """The blocks of Tiny ops that compute what it writes; none where it has been lowered further."""
        return []

    @property
    def tensors(self) -> tuple[TensorType, ...] | None:
        """The tensors that its buffers hold, inputs first; None where it has been lowered further."""
        return None

    @property
    def in_place(self) -> tuple[tuple[int, int], ...] | None:
        """The pairs of its buffers, by position, that may be one memory: one that is read, and one that is written.

        A launch may use one of them for each buffer that is written. None where it has been lowered further.
        """
        return None

    @property
    def init(self) -> str | None:
        """The symbol of the kernel that is launched before it, with the same parameters."""
        return None

    @abc.abstractmethod
    def contract(self) -> LaunchContract:
        """The launch contract.

        Raises:
            TinycError: `InvalidIr`: it has been lowered so far that it no longer says how it is launched.
        """


#: The kernels of a module that a layer has, by symbol.
Offer: TypeAlias = Callable[[ir.Module], Mapping[str, Launchable]]

_offers: dict[str, Offer] = {}


def attach_offer(layer: str, offer: Offer) -> None:
    """Let `launchables_of` ask a layer, once however often it is attached."""
    _offers[layer] = offer


def launchables_of(module: ir.Module) -> dict[str, Launchable]:
    """The kernels of a module by symbol, whatever layer they are in; of two that share a name, the earlier layer's."""
    found: dict[str, Launchable] = {}
    for offer in _offers.values():
        for symbol, launchable in offer(module).items():
            found.setdefault(symbol, launchable)
    return found
