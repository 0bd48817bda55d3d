"""What ptxas says of a kernel: its registers, spills, stack and shared memory, and what it warns of.

In: what `ptxas -v` prints. Out: `ResourceUse` for each kernel, and `PtxasWarning`s, among them C75xx (a pipeline of
wgmma that it serializes, a setmaxnreg that it ignores), which cost much and show in no instruction.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class ResourceUse:
    """Registers of a thread, bytes of a thread's spills and stack, static shared bytes of a CTA, barriers of a CTA."""

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    barriers: int


@dataclass(frozen=True)
class PtxasWarning:
    """A warning: its code such as "C7508" ("" for none), its text, the PTX line (0: none), the kernel ("": all)."""

    code: str
    text: str
    line: int
    kernel: str


_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']*)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_CODE = re.compile(r"\(?\b(C\d{4})\b\)?\s*:?\s*")
_WARNING = re.compile(r"ptxas\s+(?:\S+,\s*line\s+(\d+);\s*)?(?:(?:info|warning)\s*:\s*)(.*)")


def read_resources(said: str) -> dict[str, ResourceUse]:
    """What each kernel takes, by name; the functions that it calls count as the kernel's."""
    starts = list(_ENTRY.finditer(said))
    found = {}
    ends = [*(each.start() for each in starts[1:]), len(said)][: len(starts)]  # ptxas may tell of no kernel
    for start, end in zip(starts, ends, strict=True):
        part = said[start.end() : end]
        frames = [[int(number) for number in frame] for frame in _STACK.findall(part)]
        found[start["name"]] = ResourceUse(
            registers=_first(r"Used (\d+) registers", part),
            spill_store_bytes=sum(stores for _, stores, _ in frames),
            spill_load_bytes=sum(loads for _, _, loads in frames),
            stack_bytes=sum(stack for stack, _, _ in frames),
            shared_bytes=_first(r"(\d+) bytes smem", part),
            barriers=_first(r"used (\d+) barriers", part),
        )
    return found


def _first(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def read_warnings(said: str) -> tuple[PtxasWarning, ...]:
    """The warnings of ptxas, and the C7xxx remarks that it gives as information."""
    found = []
    for row in said.splitlines():
        parts = _WARNING.match(row)
        if parts is None:
            continue
        code = _CODE.search(parts[2])
        if code is None and "warning" not in row.partition(";")[0] + row.partition(":")[0]:
            continue
        text = _CODE.sub("", parts[2]).strip()
        kernel = re.search(r"function '([^']+)'", text)
        line = parts[1] or _line_in(text)
        found.append(PtxasWarning(code[1] if code else "", text, int(line or 0), kernel[1] if kernel else ""))
    return tuple(found)


def _line_in(text: str) -> str | None:
    found = re.search(r"\bline (\d+)", text)
    return found[1] if found else None
