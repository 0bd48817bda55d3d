"""The steps of matrix instructions on memory: `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`.

In: how such an instruction turns the words at the lanes' addresses into registers and back (`Moves`), and where the
addresses are. Out: its step, with what is undefined passed on: which words a register is made of, and the other way
round, is found out by moving all ones in the place of what is undefined.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from ptxsim.definedness.undefined_memory import REACHED, defined_words, mark_words, require_defined_in_global
from ptxsim.machine.access import Access
from ptxsim.machine.addresses import address_reader
from ptxsim.machine.convergence import by_whole_warps
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.flow import Rule
from ptxsim.machine.site import Site
from ptxsim.machine.warp import LANES, WARP
from ptxsim.matrix.operands import as_bits, of_lanes, registers_of, stacked
from ptxsim.matrix.transfer import MatrixTransfer
from ptxsim.matrix.wmma import WmmaTransfer
from ptxsim.memory.windows import BASES, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.parsing.syntax import Immediate, Operand

#: The windows of generic addresses in which no matrix of `wmma` is.
_OTHER_WINDOWS = np.array([window for window, space in SPACE_OF_WINDOW.items() if space != "shared"], np.uint64)

#: The accesses of an instruction: the lanes of each, and their addresses.
LaneAddresses: TypeAlias = Callable[[Batch], list[tuple[Batch, np.ndarray]]]


class Moves(Protocol):
    """What a transfer says of registers and words.

    Shapes: registers [n, 32, count], words [accesses, n, 32, words].
    """

    @property
    def count(self) -> int:
        """The registers of a lane."""
        ...

    @property
    def register_bits(self) -> int:
        """The width of a register."""
        ...

    @property
    def word_bytes(self) -> int:
        """The width of a word."""
        ...

    @property
    def words(self) -> int:
        """The words of a lane in one access."""
        ...

    def loaded(self, words: np.ndarray) -> np.ndarray:
        """The registers for the words of all accesses."""
        ...

    def stored(self, registers: np.ndarray) -> np.ndarray:
        """The words for the registers; zeros for lanes without one."""
        ...


def move_rows(site: Site, transfer: MatrixTransfer) -> Step:
    """`ldmatrix r, [p];`, `stmatrix [p], r;`."""
    loads = transfer.opcode == "ldmatrix"
    operands = site.operands(2)
    target, source = operands if loads else operands[::-1]
    addresses = _row_addresses(site, transfer, source)

    def places(batch: Batch) -> list[tuple[Batch, np.ndarray]]:
        """The lanes whose addresses are those of rows: the first ones."""
        rows = transfer.row_lanes.size
        there = batch if rows == WARP else batch.narrowed(batch.mask & (rows > LANES))
        return [(there, addresses(batch))]

    return (_load if loads else _store)(site, transfer, "shared", places, target)


def _row_addresses(site: Site, transfer: MatrixTransfer, operand: Operand) -> Read:
    """The reader of the lanes' addresses: in shared memory, where a generic one must lie, too."""
    space, read = address_reader(site, operand, transfer.space or "generic")
    base = np.uint64(BASES["shared"] if space == "generic" else 0)
    return lambda batch: np.broadcast_to(read(batch) - base, batch.mask.shape)


def move_fragment(site: Site, transfer: WmmaTransfer) -> Step:
    """`wmma.load r, [p]{, stride};`, `wmma.store [p], r{, stride};`."""
    loads = transfer.opcode == "load"
    operands = site.operands(2, 3)
    target, source = operands[:2] if loads else operands[1::-1]
    space, addresses = address_reader(site, source, transfer.space)
    stride = operands[2] if len(operands) == 3 else Immediate(transfer.length, "int", transfer.length)
    strides = site.reader(stride, "u32")
    site.decides(stride, "a stride")

    def places(batch: Batch) -> list[tuple[Batch, np.ndarray]]:
        first = _first_of_warp(batch, addresses(batch))
        offsets = transfer.offsets(_first_of_warp(batch, strides(batch)))
        return [(batch, first + each.view(np.uint64)) for each in offsets]

    def check(batch: Batch) -> None:
        _check_matrix(batch, transfer, addresses(batch), strides(batch))

    return (_load if loads else _store)(site, transfer, space, places, target, check)


def _first_of_warp(batch: Batch, values: np.ndarray) -> np.ndarray:
    """What the first lane of each warp says: [n, 1], or [1, 1] where all lanes agree."""
    if values.shape == (1, 1):
        return values
    return np.take_along_axis(values, batch.mask.argmax(axis=1)[:, None], axis=1)


def _check_matrix(batch: Batch, transfer: WmmaTransfer, addresses: np.ndarray, strides: np.ndarray) -> None:
    """Report what the ISA leaves undefined about the address and the stride of a matrix."""
    address, stride = _first_of_warp(batch, addresses), _first_of_warp(batch, strides)
    size, step, length = transfer.fragment_bytes, transfer.stride_bytes, transfer.length
    name = f"wmma.{transfer.opcode}"
    found = [
        (
            (addresses != address) | (strides != stride),
            "barrier-divergence",
            f"the lanes of a warp give {name} different addresses or strides",
        ),
        (address % np.uint64(size) != 0, "misaligned", f"the address of a matrix of {name} is no multiple of {size}"),
        (
            stride.astype(np.int64) * transfer.bits // 8 % step != 0,
            "misaligned",
            f"the stride of {name} is no multiple of {step} bytes",
        ),
        (
            stride < length,
            "out-of-bounds",
            f"the stride of {name} is less than the {length} elements of a row or column",
        ),
    ]
    if transfer.space == "generic":
        elsewhere = np.isin(address >> np.uint64(WINDOW_BITS), _OTHER_WINDOWS)
        found.append((elsewhere, "out-of-bounds", f"the matrix of {name} is in global or shared memory only"))
    for wrong, kind, message in found:
        lanes = wrong & batch.mask
        if lanes.any():
            batch.report(kind, message, lanes)


def _no_check(batch: Batch) -> None:
    """Find nothing."""


def _load(
    site: Site,
    moves: Moves,
    space: str,
    places: LaneAddresses,
    target: Operand,
    check: Callable[[Batch], None] = _no_check,
) -> Step:
    access = Access(space, moves.word_bytes, moves.words, site.index, "load", passes_on=True)
    targets = registers_of(site, target, moves.count)
    writes = [site.writer(each, f"b{moves.register_bits}") for each in targets]
    for number, each in enumerate(targets):
        site.passes_on(REACHED.get(space, ()), (each,), _of_memory(moves, access, places, number))

    def act(batch: Batch) -> None:
        check(batch)
        registers = moves.loaded(_by_access(moves, [access.load(*place) for place in places(batch)]))
        for number, write in enumerate(writes):
            write(batch, registers[..., number])

    return by_whole_warps(site, act)


def _of_memory(moves: Moves, access: Access, places: LaneAddresses, number: int) -> Rule:
    """The rule of register `number` of a load: it is defined where all of it comes from defined words."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        known = _by_access(moves, [defined_words(access, *place) for place in places(batch)])
        return moves.loaded(as_bits(known, moves.word_bytes * 8))[..., number] == 0

    return rule


def _by_access(moves: Moves, words: list[np.ndarray]) -> np.ndarray:
    return np.stack([each.reshape(*each.shape[:2], moves.words) for each in words])


def _store(
    site: Site,
    moves: Moves,
    space: str,
    places: LaneAddresses,
    source: Operand,
    check: Callable[[Batch], None] = _no_check,
) -> Step:
    access = Access(space, moves.word_bytes, moves.words, site.index, "store")
    sources = registers_of(site, source, moves.count)
    reads = [site.reader(each, f"b{moves.register_bits}") for each in sources]

    def store(batch: Batch) -> None:
        words = moves.stored(stacked(batch, reads, moves.register_bits))
        for (there, addresses), each in zip(places(batch), words, strict=True):
            access.store(there, addresses, each if moves.words > 1 else each[..., 0])

    def act(batch: Batch) -> None:
        check(batch)
        store(batch)

    def with_states(states: list[Read]) -> Step:
        def act_and_mark(batch: Batch) -> None:
            check(batch)
            known = of_lanes(batch, [state(batch) for state in states])
            defined = moves.stored(as_bits(known, moves.register_bits)) == 0
            for (there, addresses), each in zip(places(batch), defined, strict=True):
                require_defined_in_global(access, there, addresses, each)
            store(batch)
            for (there, addresses), each in zip(places(batch), defined, strict=True):
                mark_words(access, there, addresses, each)

        return by_whole_warps(site, act_and_mark)

    if space == "global":
        for each in sources:
            site.decides(each, "a value stored to global memory")
    else:
        site.passes_on(sources, REACHED[space])
        site.step_with_states = with_states
    return by_whole_warps(site, act)
