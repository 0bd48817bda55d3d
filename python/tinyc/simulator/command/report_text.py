"""What `tinyc simulate` says about a launch: findings with the PTX line that they are about, and JSON.

In: the report, and the lines of the PTX. Out: text, and objects that JSON can hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.diagnostics import printable
from tinyc.simulator.report import Counters, Finding, LineCount, Report

_NAMED_THREADS = 4


@dataclass(frozen=True)
class Placed:
    """An array under the name of its argument, and where it lay during the launch."""

    name: str
    address: int
    size_bytes: int


def finding_text(finding: Finding, path: str, lines: Sequence[str], arrays: Sequence[Placed]) -> str:
    """Return a finding on several lines: what and where, the PTX, its source, the array, the threads."""
    address = f" at address {finding.address:#x}" if finding.address is not None else ""
    said = [f"{path}:{finding.line}: {finding.kind}: {finding.message}{address}"]
    said += [f"    {text}" for text in [_line(lines, finding.line)] if text]
    if finding.source:
        said.append(f"  source: {finding.source}")
    said += [f"  address: {text}" for text in [_place(finding.address, arrays)] if text]
    if finding.threads:
        named = "; ".join(str(thread) for thread in finding.threads[:_NAMED_THREADS])
        more = finding.occurrences - min(len(finding.threads), _NAMED_THREADS)
        said.append(f"  by {named}" + (f"; and {more} more times" if more > 0 else ""))
    return "\n".join(printable(each) for each in said)


def _place(address: int | None, arrays: Sequence[Placed]) -> str:
    """Return which array an address of global memory is in or behind; nothing for other addresses."""
    before = [array for array in arrays if address is not None and array.address <= address]
    if address is None or not before:
        return ""
    nearest = max(before, key=lambda array: array.address)
    return f"byte {address - nearest.address} of array '{nearest.name}', which has {nearest.size_bytes} bytes"


def report_object(report: Report, lines: Sequence[str]) -> dict[str, object]:
    """Return findings and counters for JSON; counts by line come with the opcode and the text of the line."""
    return {
        "ok": report.ok,
        "findings": [_finding_object(finding, lines) for finding in report.findings],
        "counters": _counters_object(report.counters, lines),
    }


def _finding_object(finding: Finding, lines: Sequence[str]) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "message": finding.message,
        "line": finding.line,
        "text": _line(lines, finding.line),
        "source": finding.source,
        "address": finding.address,
        "threads": [{"cta": each.cta, "thread": each.thread} for each in finding.threads],
        "occurrences": finding.occurrences,
    }


def _counters_object(counters: Counters, lines: Sequence[str]) -> dict[str, object]:
    accesses = sorted({*counters.read, *counters.written})
    return {
        "instructions": dict(counters.instructions),
        "bytes": [
            {"space": each[0], "width": each[1], "read": counters.read[each], "written": counters.written[each]}
            for each in accesses
        ],
        "sectors": _counts(counters.sectors, lines),
        "passes": _counts(counters.passes, lines),
        "barriers": counters.barriers,
        "fences": dict(counters.fences),
    }


def _counts(counts: Mapping[int, LineCount], lines: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "line": number,
            "text": _line(lines, number),
            "opcode": count.opcode,
            "requests": count.requests,
            "units": count.units,
            "fewest": count.fewest,
        }
        for number, count in sorted(counts.items())
    ]


def _line(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split()) if 1 <= number <= len(lines) else ""
