"""The matrix instructions of one warp: `mma`, `ldmatrix`, `stmatrix`, `movmatrix`.

In: the instruction, which `matrix` turns into a pure function on bit patterns. Out: its step, which moves registers and
rows of shared memory between the warps of a batch and that function. All lanes of a warp take part; with lanes that
have exited the ISA leaves the result undefined. Source: PTX ISA, "Warp Level Matrix Instructions".
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.definedness.undefined_memory import defined_words, mark_words
from ptxsim.machine.access import Access
from ptxsim.machine.addresses import address_reader
from ptxsim.machine.convergence import converge
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.flow import Rule
from ptxsim.machine.site import Site
from ptxsim.machine.warp import LANES, WARP
from ptxsim.matrix.mma import WarpMma, parse_mma
from ptxsim.matrix.transfer import MatrixTransfer, MatrixTranspose, parse_transfer, parse_transpose
from ptxsim.memory.byte_array import WORDS
from ptxsim.memory.windows import BASES
from ptxsim.parsing.syntax import Operand, Vector
from ptxsim.semantics import UnknownInstruction

_ROW = (2, 8)  # the bytes of an element, and the elements of a row


def matrix(site: Site) -> Step:
    """`mma.sync d, a, b, c;`, `ldmatrix r, [p];`, `stmatrix [p], r;`, `movmatrix d, a;`."""
    try:
        found = matrix_operation(site.instruction.opcode, site.instruction.modifiers)
    except UnknownInstruction as error:
        site.fail(str(error))
    if isinstance(found, WarpMma):
        return _together(site, _multiply(site, found))
    if isinstance(found, MatrixTransfer):
        return (_load if found.opcode == "ldmatrix" else _store)(site, found)
    if isinstance(found, MatrixTranspose):
        return _together(site, _transpose(site, found))
    site.unknown()


def matrix_operation(opcode: str, modifiers: tuple[str, ...]) -> WarpMma | MatrixTransfer | MatrixTranspose | None:
    """The pure function that an opcode and its modifiers name; None: it is not a matrix instruction of one warp.

    Raises:
        UnknownInstruction: the ISA does not have the modifiers, or the simulator does not model them.
    """
    match opcode:
        case "mma":
            return parse_mma(modifiers)
        case "ldmatrix" | "stmatrix":
            return parse_transfer(opcode, modifiers)
        case "movmatrix":
            return parse_transpose(modifiers)
        case _:
            return None


def registers_of(site: Site, operand: Operand, count: int) -> tuple[Operand, ...]:
    """The `count` registers of an operand: a vector of them, or the one itself."""
    found = operand.items if isinstance(operand, Vector) else (operand,)
    if len(found) != count:
        site.fail(f"'{site.instruction.opcode}' takes {count} registers here, not {len(found)}")
    return found


def _together(site: Site, act: Callable[[Batch], None]) -> Step:
    """The step that lets the lanes of each warp converge, and then acts."""

    def act_on_whole_warps(batch: Batch) -> None:
        if not batch.dense:
            short = batch.mask & ~batch.mask.all(axis=1, keepdims=True)
            batch.report("barrier-divergence", "executed by a warp with lanes that have exited or never were", short)
        act(batch)

    return converge(site, act_on_whole_warps)


def stacked(batch: Batch, reads: Sequence[Read], bits: int) -> np.ndarray:
    """The values of some registers: [n, 32, registers]."""
    values = np.empty((*batch.mask.shape, len(reads)), WORDS[bits // 8])
    for number, read in enumerate(reads):
        values[..., number] = read(batch)
    return values


def _multiply(site: Site, operation: WarpMma) -> Callable[[Batch], None]:
    bits = operation.register_bits
    operands = site.operands(4)
    counts = (operation.d_registers, operation.a_registers, operation.b_registers, operation.d_registers)
    d, a, b, c = (registers_of(site, operand, count) for operand, count in zip(operands, counts, strict=True))
    reads = [[site.reader(each, f"b{bits}") for each in registers] for registers in (a, b, c)]
    writes = [site.writer(each, f"b{bits}") for each in d]
    for number, target in enumerate(d):
        site.passes_on((c[number], *a, *b), (target,), _products(operation, number))

    def act(batch: Batch) -> None:
        result = operation.compute(*(stacked(batch, each, bits) for each in reads))
        for number, write in enumerate(writes):
            write(batch, result[..., number])

    return act


def _products(operation: WarpMma, number: int) -> Rule:
    """The rule of register `number` of D: that of C, and all that is multiplied for it, must be defined."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        known = np.stack([np.broadcast_to(state, batch.mask.shape) for state in states[1:]], axis=-1)
        a, b = known[..., : operation.a_registers], known[..., operation.a_registers :]
        return states[0] & operation.defined(a, b)[..., number]

    return rule


def _load(site: Site, transfer: MatrixTransfer) -> Step:
    target, source = site.operands(2)
    addresses = _row_addresses(site, transfer, source)
    access = Access("shared", *_ROW, site.index, "load", passes_on=True)
    targets = registers_of(site, target, transfer.count)
    writes = [site.writer(each, "b32") for each in targets]
    for number, each in enumerate(targets):
        site.passes_on(("shared",), (each,), _loaded(transfer, access, addresses, number))

    def act(batch: Batch) -> None:
        rows = access.load(_with_addresses(batch, transfer), addresses(batch))
        registers = transfer.registers(_matrices(transfer, rows))
        for number, write in enumerate(writes):
            write(batch, registers[..., number])

    return _together(site, act)


def _matrices(transfer: MatrixTransfer, rows: np.ndarray) -> np.ndarray:
    """The rows [n, count, 8, 16] uint8 that the words [n, 32, 8] uint16 at the lanes' addresses are."""
    used = np.ascontiguousarray(rows[:, : transfer.row_lanes.size])
    return used.view(np.uint8).reshape(len(rows), *transfer.row_lanes.shape, -1)


def _loaded(transfer: MatrixTransfer, access: Access, addresses: Read, number: int) -> Rule:
    """The rule of register `number` of a load: its elements must be defined in memory."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        defined = defined_words(access, _with_addresses(batch, transfer), addresses(batch))
        rows = np.where(defined, np.uint16(0), np.uint16(0xFFFF))
        return transfer.registers(_matrices(transfer, rows))[..., number] == 0

    return rule


def _store(site: Site, transfer: MatrixTransfer) -> Step:
    target, source = site.operands(2)
    addresses = _row_addresses(site, transfer, target)
    access = Access("shared", *_ROW, site.index, "store")
    sources = registers_of(site, source, transfer.count)
    reads = [site.reader(each, "b32") for each in sources]

    def act(batch: Batch) -> None:
        rows = _rows(transfer, stacked(batch, reads, 32))
        access.store(_with_addresses(batch, transfer), addresses(batch), rows)

    def with_states(states: list[Read]) -> Step:
        def act_and_mark(batch: Batch) -> None:
            act(batch)
            known = np.stack([np.broadcast_to(state(batch), batch.mask.shape) for state in states], axis=-1)
            undefined = _rows(transfer, np.where(known, np.uint32(0), np.uint32(0xFFFFFFFF)))
            mark_words(access, _with_addresses(batch, transfer), addresses(batch), undefined == 0)

        return _together(site, act_and_mark)

    site.passes_on(sources, ("shared",))
    site.step_with_states = with_states
    return _together(site, act)


def _rows(transfer: MatrixTransfer, registers: np.ndarray) -> np.ndarray:
    """The words [n, 32, 8] uint16 at the lanes' addresses for registers [n, 32, count]; zeros without a row."""
    words = np.zeros((*registers.shape[:2], _ROW[1]), np.uint16)
    words[:, : transfer.row_lanes.size] = transfer.rows(registers).view(np.uint16).reshape(len(words), -1, _ROW[1])
    return words


def _with_addresses(batch: Batch, transfer: MatrixTransfer) -> Batch:
    """The lanes whose addresses are those of rows: the first ones."""
    rows = transfer.row_lanes.size
    return batch if rows == WARP else batch.narrowed(batch.mask & (rows > LANES))


def _row_addresses(site: Site, transfer: MatrixTransfer, operand: Operand) -> Read:
    """The reader of the lanes' addresses: in shared memory, where a generic one must lie, too."""
    space, read = address_reader(site, operand, transfer.space or "generic")
    base = np.uint64(BASES["shared"] if space == "generic" else 0)
    return lambda batch: np.broadcast_to(read(batch) - base, batch.mask.shape)


def _transpose(site: Site, operation: MatrixTranspose) -> Callable[[Batch], None]:
    target, source = site.operands(2)
    write, read = site.writer(target, "b32"), site.reader(source, "b32")

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        known = np.broadcast_to(states[0], batch.mask.shape)
        return operation.transposed(np.where(known, np.uint32(0), np.uint32(0xFFFFFFFF))) == 0

    site.passes_on((source,), (target,), rule)
    return lambda batch: write(batch, operation.transposed(np.broadcast_to(read(batch), batch.mask.shape)))


HANDLERS = dict.fromkeys(("mma", "ldmatrix", "stmatrix", "movmatrix"), matrix)
