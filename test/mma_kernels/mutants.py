"""Mutants of a kernel's PTX: what orders accesses taken out or relaxed, one at a time, a phase or a stage off by one.

In: a text as tinyc writes it, whose instructions have a line each, alone or in a block of inline assembly. Out:
`Mutant`s, whose names say what was done to which of the instructions of that opcode: they stay the same where other
instructions come or go.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: What orders accesses: taken out, each by itself.
_ORDERING = re.compile(
    r"\b(?:cp\.async\.(?:bulk\.)?(?:wait|commit)_\w+(?:\.read)?"
    r"|wgmma\.(?:fence|commit_group|wait_group)"
    r"|(?:bar|barrier)\.(?:cta\.|warp\.)?(?:sync|arrive)|barrier\.cluster\.arrive"
    r"|fence\.[\w.:]+|membar\.\w+"
    r"|mbarrier\.(?:init|try_wait|arrive(?:\.expect_tx)?)"
    r"|ld\.acquire[\w.:]*|red\.release[\w.:]*)"
)
#: What releases and acquires between CTAs.
_STRONG = re.compile(r"\b(barrier\.cluster\.arrive|ld|red)\.(?:acquire|release)(?:(\.gpu)|\b)")
#: What stands before an instruction that one thread does.
_GUARD = "@run "
_FEWER_WAITS = re.compile(r"\b((?:cp\.async\.(?:bulk\.)?|wgmma\.)wait_group[\w.:]*) (\d+);")
_PARITY = re.compile(r"(mbarrier\.try_wait\.parity[\w.:]*) (\w+), (\[[^\]]*\]), (%\w+);")
_BYTES = re.compile(rf"((?:{_GUARD})?mbarrier\.arrive\.expect_tx[\w.:]*) _, (\[[^\]]*\]), (%\w+);")
_DESCRIPTORS = re.compile(r"(wgmma\.mma_async[\w.:]*) (\{[^}]*\}), (%rd\d+), (%rd\d+)")
_DESCRIPTOR = re.compile(r"(wgmma\.mma_async[\w.:]*) (\{[^}]*\}, \{[^}]*\}), (%rd\d+)")
#: Accesses to the stages of tiles, with what stands before their address in shared memory.
_TILE_ACCESS = re.compile(
    r"\b(cp\.async\.c[ag]\.shared[\w.:]* |ldmatrix[\w.:]* \{[^}]*\}, "
    r"|cp\.async\.bulk\.tensor[\w.:]*complete_tx[\w.:]* |ld\.shared\.b16 part, )"
    r"\[(%\w+)\]"
)
_BARRIER_ACCESS = re.compile(r"\b(mbarrier\.(?:try_wait|arrive)[\w.:]* \w+, )\[(%\w+)\]")
#: Where nothing is found in mutants, by kernel and instruction, and why.
UNSEEN = {
    ("parallel slices of warps", "cp.async.wait_group 3"): (
        "nothing reads or writes any more what the last copies, of zeros, write in shared memory, and the ISA asks no "
        "thread to wait for a cp.async before it exits"
    )
}
_HOST = "// The host program"


@dataclass(frozen=True)
class Mutant:
    """A faulty kernel: its name says what is wrong with it."""

    name: str
    text: str

    @property
    def kind(self) -> str:
        """What was done to which opcode."""
        return self.name.rpartition(" ")[0]

    @property
    def place(self) -> str:
        """Which instruction it was done to: the opcode, and which of those."""
        return " ".join(self.name.split(" ")[-2:])


def mutants_of(ptx: str, stage_bytes: int) -> Iterator[Mutant]:
    """Yield the mutants of a kernel whose tiles of either operand have stages of `stage_bytes` bytes."""
    end = ptx.index(_HOST)
    lines, host = ptx[:end].split("\n"), ptx[end:]
    for name, changed in (*_without(lines), *_changed(lines, stage_bytes)):
        yield Mutant(name, "\n".join(changed) + host)


def _without(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines without each ordering instruction; an arrival at a cluster's barrier goes with its wait."""
    seen: Counter[str] = Counter()
    for at, line in enumerate(lines):
        found = _ORDERING.search(line)
        if found is None:
            continue
        seen[found.group()] += 1
        removed = set(_block(lines, at))
        if found.group() == "barrier.cluster.arrive":
            wait = next(later for later in range(at, len(lines)) if "barrier.cluster.wait" in lines[later])
            removed |= set(_block(lines, wait))
        yield (
            f"without {found.group()} {seen[found.group()]}",
            [each for number, each in enumerate(lines) if number not in removed],
        )


def _block(lines: Sequence[str], at: int) -> range:
    """The numbers of the lines of the inline assembly around a line, or of that line alone."""
    first = last = at
    while first and "inline asm" not in lines[first]:
        first -= 1
    if "begin" not in lines[first]:
        return range(at, at + 1)
    while "end inline asm" not in lines[last]:
        last += 1
    return range(first, last + 1)


def _changed(lines: Sequence[str], stage_bytes: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines with each count of groups, phase, count of bytes, and stage off by one."""
    step = stage_bytes >> 4  # descriptors count 16 bytes
    edits = (
        ("relaxed", _STRONG, lambda found: f"{found[1]}.relaxed{found[2] or ''}"),
        ("one group later", _FEWER_WAITS, lambda found: f"{found[1]} {int(found[2]) + 1};"),
        (
            "other phase",
            _PARITY,
            lambda found: (
                f".reg .b32 flipped; xor.b32 flipped, {found[4]}, 1; {found[1]} {found[2]}, {found[3]}, flipped;"
            ),
        ),
        (
            "16 bytes more",
            _BYTES,
            lambda found: f"{{.reg .b32 more; add.s32 more, {found[3]}, 16; {found[1]} _, {found[2]}, more;}}",
        ),
        ("stage of A + 1", _DESCRIPTORS, lambda found: _shifted(found, 3, step)),
        ("stage of B + 1", _DESCRIPTORS, lambda found: _shifted(found, 4, step)),
        (
            "stage of B + 1",
            _DESCRIPTOR,
            lambda found: f".reg .b64 further; add.s64 further, {found[3]}, {step}; {found[1]} {found[2]}, further",
        ),
        ("stage + 1", _TILE_ACCESS, lambda found: f"{found[1]}[{found[2]}+{stage_bytes}]"),
        ("stage + 1", _BARRIER_ACCESS, lambda found: f"{found[1]}[{found[2]}+8]"),
    )
    for what, pattern, edit in edits:
        seen: Counter[str] = Counter()
        for at, line in enumerate(lines):
            for found in pattern.finditer(line):
                opcode = found[1].removeprefix(_GUARD).split(" ")[0]
                seen[opcode] += 1
                changed = line[: found.start()] + edit(found) + line[found.end() :]
                yield f"{what}: {opcode} {seen[opcode]}", [*lines[:at], changed, *lines[at + 1 :]]


def _shifted(found: re.Match[str], which: int, step: int) -> str:
    """A wgmma with one of its descriptors `step` times 16 bytes further on."""
    a, b = (f"{found[at]}" if at != which else "further" for at in (3, 4))
    return f".reg .b64 further; add.s64 further, {found[which]}, {step}; {found[1]} {found[2]}, {a}, {b}"
