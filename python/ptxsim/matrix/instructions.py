"""The matrix instructions of one warp: `mma`, `ldmatrix`, `stmatrix`, `movmatrix`, `wmma`.

In: the instruction, which `matrix` turns into a pure function on bit patterns. Out: its step, which moves registers
between the warps of a batch and that function (`memory` has those that move memory, too). All lanes of a warp take
part; with lanes that have exited the ISA leaves the result undefined.

Source: PTX ISA, "Warp Level Matrix Instructions".
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.machine.convergence import by_whole_warps
from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.flow import Rule
from ptxsim.machine.site import Site
from ptxsim.matrix.memory import move_fragment, move_rows
from ptxsim.matrix.mma import WarpMma, parse_mma
from ptxsim.matrix.operands import as_bits, of_lanes, registers_of, stacked
from ptxsim.matrix.transfer import MatrixTransfer, MatrixTranspose, parse_transfer, parse_transpose
from ptxsim.matrix.wmma import WmmaTransfer, parse_wmma
from ptxsim.semantics import UnknownInstruction

#: What an instruction of this family is: a pure function on bit patterns.
MatrixOperation = WarpMma | MatrixTransfer | MatrixTranspose | WmmaTransfer


def matrix(site: Site) -> Step:
    """`mma.sync d, a, b, c;`, `ldmatrix r, [p];`, `stmatrix [p], r;`, `movmatrix d, a;`, `wmma`."""
    try:
        found = matrix_operation(site.instruction.opcode, site.instruction.modifiers)
    except UnknownInstruction as error:
        site.fail(str(error))
    match found:
        case WarpMma():
            return by_whole_warps(site, _multiply(site, found))
        case MatrixTransfer():
            return move_rows(site, found)
        case WmmaTransfer():
            return move_fragment(site, found)
        case MatrixTranspose():
            return by_whole_warps(site, _transpose(site, found))
        case None:
            site.unknown()


def matrix_operation(opcode: str, modifiers: tuple[str, ...]) -> MatrixOperation | None:
    """The pure function that an opcode and its modifiers name; None: it is not a matrix instruction of one warp.

    Raises:
        UnknownInstruction: the ISA does not have the modifiers, or the simulator does not model them.
    """
    match opcode:
        case "mma":
            return parse_mma(modifiers)
        case "wmma":
            return parse_wmma(modifiers)
        case "ldmatrix" | "stmatrix":
            return parse_transfer(opcode, modifiers)
        case "movmatrix":
            return parse_transpose(modifiers)
        case _:
            return None


def _multiply(site: Site, operation: WarpMma) -> Callable[[Batch], None]:
    bits = operation.register_bits
    operands = site.operands(4)
    counts = (operation.d_registers, operation.a_registers, operation.b_registers, operation.c_registers)
    d, a, b, c = (registers_of(site, operand, count) for operand, count in zip(operands, counts, strict=True))
    reads = [[site.reader(each, f"b{bits}") for each in registers] for registers in (a, b, c)]
    writes = [site.writer(each, f"b{bits}") for each in d]
    for number, target in enumerate(d):
        site.passes_on((*a, *b, *c), (target,), _products(operation, number))

    def act(batch: Batch) -> None:
        result = operation.compute(*(stacked(batch, each, bits) for each in reads))
        for number, write in enumerate(writes):
            write(batch, result[..., number])

    return act


def _products(operation: WarpMma, number: int) -> Rule:
    """The rule of register `number` of D: all of C that it is the sum of, and all that is multiplied, is defined."""
    b, c = operation.a_registers, operation.a_registers + operation.b_registers

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        known = of_lanes(batch, states)
        return operation.defined(known[..., :b], known[..., b:c], known[..., c:])[..., number]

    return rule


def _transpose(site: Site, operation: MatrixTranspose) -> Callable[[Batch], None]:
    target, source = site.operands(2)
    write, read = site.writer(target, "b32"), site.reader(source, "b32")

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        return operation.transposed(as_bits(np.broadcast_to(states[0], batch.mask.shape), 32)) == 0

    site.passes_on((source,), (target,), rule)
    return lambda batch: write(batch, operation.transposed(np.broadcast_to(read(batch), batch.mask.shape)))


HANDLERS = dict.fromkeys(("mma", "ldmatrix", "stmatrix", "movmatrix", "wmma"), matrix)
