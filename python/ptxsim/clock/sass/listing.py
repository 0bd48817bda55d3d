"""The disassembly of a cubin → instructions with their PTX lines, control codes and basic blocks.

In: what `nvdisasm -c -gp -hex` prints. Out: a `SassFunction` for each code section. Basic blocks end at what jumps and
start at what is jumped to; a uniform loop of ptxas' own (`BRA.U.ANY`: once for each value among the lanes) is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

from ptxsim.clock.sass.control import ControlCode, decode_control

#: Bytes of an instruction.
INSTRUCTION_BYTES = 16

_SECTION = re.compile(r'\s*\.section\s+"?\.text\.([^",\s]+)"?\s*,')
_LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt", line (\d+)')
_LABEL = re.compile(r"([.$\w]+):\s*$")
_FIRST = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_SECOND = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_TEXT = re.compile(r"(?:@(!?U?P\w+)\s+)?([A-Z][\w]*)((?:\.[\w]+)*)\s*(.*)", re.DOTALL)
_TABLE = re.compile(r'BRANCH_TARGETS ([^"]+)"')
#: How the names of ptxas' own functions start.
_OWN = "$__internal_"
_TARGET = re.compile(r"`\(([^)]+)\)")
_ENDS = frozenset({"BRA", "BRX", "JMP", "JMX", "EXIT", "RET", "BSYNC", "KILL", "BPT"})


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """One instruction: `text` is `predicate` ("" for none), `opcode`, `modifiers` and `operands` as nvdisasm has them.

    `address` in bytes from the start of the function's section. `line` is the PTX line that ptxas names, 0 for none.
    `block` is the number of its basic block in the function.
    """

    address: int
    predicate: str
    opcode: str
    modifiers: tuple[str, ...]
    operands: str
    control: ControlCode
    line: int
    block: int = 0

    @property
    def name(self) -> str:
        """Opcode and modifiers: "HMMA.16816.F32"."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def target(self) -> str:
        """The label that it jumps to, or its point of convergence (`BSSY`); "" for none."""
        found = _TARGET.search(self.operands)
        return found[1] if found else ""

    @property
    def is_far_jump(self) -> bool:
        """Whether it is a call that never returns: ptxas of sm_80 jumps out of loops so (`CALL.REL.NOINC`)."""
        return self.opcode == "CALL" and "NOINC" in self.modifiers and self.target.startswith(".L")

    @property
    def is_conditional(self) -> bool:
        """Whether it is skipped by some: it has a guard, or a predicate among its operands as `BRA.DIV` has."""
        guarded = bool(self.predicate) and self.predicate not in ("PT", "UPT")
        return guarded or (self.opcode == "BRA" and not self.operands.startswith("`"))


@dataclass(frozen=True)
class SassFunction:
    """The code of one section: instructions in the order of their addresses, and where control goes from each block.

    `successors` has the blocks that follow each block; slow paths (`BRA.DIV`, calls of ptxas' own functions) and loops
    of `BRA.U.ANY` are left out. `entries` are the blocks at which the kernel and the functions that it calls start,
    `slow` those of ptxas' own functions, such as a division's.
    """

    name: str
    instructions: tuple[SassInstruction, ...]
    successors: tuple[tuple[int, ...], ...]
    entries: tuple[int, ...]
    slow: frozenset[int]

    @cached_property
    def blocks(self) -> tuple[tuple[SassInstruction, ...], ...]:
        """The instructions of each basic block."""
        found: list[list[SassInstruction]] = [[] for _ in self.successors]
        for each in self.instructions:
            found[each.block].append(each)
        return tuple(tuple(block) for block in found)

    @cached_property
    def spans(self) -> tuple[range, ...]:
        """The indices of the instructions of each basic block."""
        ends = accumulate(map(len, self.blocks))
        return tuple(range(end - len(block), end) for end, block in zip(ends, self.blocks, strict=True))


def read_listing(text: str) -> dict[str, SassFunction]:
    """The functions of a disassembly by name."""
    found: dict[str, SassFunction] = {}
    section: str | None = None
    rows: list[str] = []
    for row in [*text.splitlines(), "\t.section\t.end,"]:
        if row.split(maxsplit=1)[:1] == [".section"]:
            if section is not None:
                found[section] = _function(section, rows)
            start = _SECTION.match(row)
            section, rows = (start[1] if start else None), []
        else:
            rows.append(row)
    return found


def _function(name: str, rows: list[str]) -> SassFunction:
    instructions: list[SassInstruction] = []
    labels: dict[str, int] = {}
    line, pending = 0, None
    for row in rows:
        if at := _LINE.match(row):
            line = int(at[1])
        elif label := _LABEL.match(row):
            address = len(instructions) * INSTRUCTION_BYTES
            labels[label[1]] = address
            if label[1].startswith(_OWN):
                line = 0
        elif first := _FIRST.match(row):
            pending = first
        elif pending and (second := _SECOND.match(row)):
            encoding = int(second[1], 16) << 64 | int(pending[3], 16)
            instructions.append(_instruction(pending, encoding, line))
            pending = None
    return _with_blocks(name, instructions, labels)


def _instruction(first: re.Match[str], encoding: int, line: int) -> SassInstruction:
    parts = _TEXT.match(first[2])
    predicate, opcode, modifiers, operands = parts.groups() if parts else ("", first[2], "", "")
    words = tuple(modifiers.split(".")[1:])
    return SassInstruction(
        int(first[1], 16), predicate or "", opcode, words, operands.strip(), decode_control(encoding), line
    )


def _with_blocks(name: str, instructions: list[SassInstruction], labels: dict[str, int]) -> SassFunction:
    functions = {0: False} | {at: label.startswith(_OWN) for label, at in labels.items() if label.startswith("$")}
    starts = {
        labels[each.target]
        for each in instructions
        if each.target in labels and (each.opcode != "CALL" or each.is_far_jump)
    }
    starts |= functions.keys() | {labels[each] for row in instructions for each in _table(row, labels)}
    opens = True
    numbered: list[SassInstruction] = []
    block = -1
    for each in instructions:
        if opens or each.address in starts:
            block += 1
        opens = each.opcode in _ENDS or each.is_far_jump
        numbered.append(replace(each, block=block))
    at = {each.address: each.block for each in reversed(numbered)}
    lasts = {each.block: each for each in numbered}
    meetings: dict[int, int] = {}
    opened: dict[str, int] = {}
    for each in numbered:
        if each.opcode == "BSSY":
            opened[_barrier(each)] = labels.get(each.target, -1)
        elif each.opcode == "BSYNC":
            meetings[each.address] = opened.get(_barrier(each), -1)
    ways = tuple(
        tuple(sorted({at[way] for way in _ways(lasts[number], labels, meetings) if way in at}))
        for number in range(block + 1)
    )
    slow: set[int] = set()
    for start, end in pairwise([*sorted(functions), len(numbered) * INSTRUCTION_BYTES]):
        if functions[start]:
            slow |= {each.block for each in numbered if start <= each.address < end}
    entries = sorted(at[start] for start, own in functions.items() if not own and start in at)
    return SassFunction(name, tuple(numbered), ways, tuple(entries), frozenset(slow))


def _table(each: SassInstruction, labels: dict[str, int]) -> list[str]:
    """The labels of a jump by a table, as nvdisasm lists them; all where it lists none."""
    if each.opcode not in ("BRX", "JMX"):
        return []
    found = _TABLE.search(each.operands)
    return [label for label in found[1].split(",") if label in labels] if found else list(labels)


def _barrier(each: SassInstruction) -> str:
    """The convergence barrier of a BSSY or BSYNC: "B0"."""
    found = re.search(r"\bB\d+\b", each.operands)
    return found[0] if found else ""


def _ways(last: SassInstruction, labels: dict[str, int], meetings: dict[int, int]) -> Iterator[int]:
    """Yield the addresses at which threads go on behind the last instruction of a block."""
    behind = last.address + INSTRUCTION_BYTES
    if last.opcode in ("BRA", "JMP") or last.is_far_jump:
        if not {"DIV", "ANY"} & set(last.modifiers):
            yield labels.get(last.target, behind)
        if last.is_conditional:
            yield behind
    elif last.opcode in ("BRX", "JMX"):
        yield from (labels[label] for label in _table(last, labels))
    elif last.opcode == "BSYNC":
        yield meetings[last.address]
        if last.is_conditional or meetings[last.address] < 0:
            yield behind
    elif last.opcode not in ("EXIT", "RET", "KILL") or last.is_conditional:
        yield behind
