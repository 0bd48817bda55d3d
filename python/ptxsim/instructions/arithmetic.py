"""Closures of the instructions that only compute: operands in, the semantics' function, results out."""

import numpy as np

from ptxsim.definedness.deciding import pass_on
from ptxsim.machine.cta import Batch, Read, Step, Write
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Immediate, Operand, Pair, Vector
from ptxsim.semantics import UnknownInstruction, bare_operation
from ptxsim.semantics.operation import BitFunction

#: The operand of `lop3` that says which function it is.
_TABLE = 4


def arithmetic_step(site: Site) -> Step | None:
    """The closure of an arithmetic instruction, None if it is none; PtxError for an unknown form of one."""
    instruction = site.instruction
    try:
        found = bare_operation(instruction.opcode, instruction.modifiers)
    except UnknownInstruction as error:
        site.fail(str(error))
    if found is None:
        return None
    operands = list(instruction.operands)
    results = [each for each in found.results if each != "cc"]
    kinds = [each for each in found.operands if each != "cc"]
    if not operands:
        site.fail(f"'{instruction.opcode}' has no operands")
    targets = _results(operands[0], len(results))
    if len(targets) > len(results):
        site.fail(f"'{'.'.join((instruction.opcode, *instruction.modifiers))}' has no second result")
    if len(operands) - 1 != len(kinds):
        site.fail(f"'{instruction.opcode}' takes {len(kinds)} operands after its result; {len(operands) - 1} are given")
    if instruction.opcode == "lop3" and not isinstance(operands[_TABLE], Immediate):
        site.fail("the table of 'lop3' is a constant")
    reads = [site.reader(operand, type_name) for operand, type_name in zip(operands[1:], kinds, strict=True)]
    writes = [site.writer(target, type_name) for target, type_name in zip(targets, results, strict=False)]
    sources, targets = operands[1:], targets[: len(writes)]
    if "cc" in found.operands:
        reads.append(_read_carry)
        site.reads.add(site.carry.index)
        sources.append(site.carry)
    if "cc" in found.results:
        writes.append(_write_carry)
        site.writes.add(site.carry.index)
        targets.append(site.carry)
    pass_on(site, found.function, tuple(sources), reads, tuple(targets))
    return _step(found.function, reads, writes)


def _results(operand: Operand, count: int) -> list[Operand]:
    if isinstance(operand, Pair):
        return [operand.first, operand.second]
    if isinstance(operand, Vector) and count > 1:
        return list(operand.items)
    return [operand]


def _step(function: BitFunction, reads: list[Read], writes: list[Write]) -> Step:
    if len(writes) == 1:
        return _single_result(function, reads, writes[0])

    def step(batch: Batch) -> None:
        values = function(*[read(batch) for read in reads])
        for write, value in zip(writes, values, strict=False):
            write(batch, value)

    return step


def _single_result(function: BitFunction, reads: list[Read], write: Write) -> Step:
    if len(reads) == 1:
        (first,) = reads
        return lambda batch: write(batch, function(first(batch))[0])
    if len(reads) == 2:
        first, second = reads
        return lambda batch: write(batch, function(first(batch), second(batch))[0])
    return lambda batch: write(batch, function(*[read(batch) for read in reads])[0])


def _read_carry(batch: Batch) -> np.ndarray:
    return batch.select(batch.cta.carry)


def _write_carry(batch: Batch, values: np.ndarray) -> None:
    batch.update(batch.cta.carry, np.broadcast_to(values, batch.mask.shape))
