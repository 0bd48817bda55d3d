"""What `ptxsim` says about a launch: findings with the PTX line that they are about, and JSON.

In: the report, and the lines of the PTX. Out: text, and objects that JSON can hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ptxsim.counters import Counters, LineCount
from ptxsim.errors import printable
from ptxsim.parsing.syntax import INLINED
from ptxsim.report import Finding, Report

_NAMED_THREADS = 4
#: As much of an instruction as is shown: a wgmma names 128 registers.
_SHOWN_CHARACTERS = 120


def finding_text(finding: Finding, path: str, lines: Sequence[str]) -> str:
    """A finding on several lines: what and where, the PTX, its source, the address, the threads."""
    said = [f"{path}:{finding.line}: {finding.kind}: {finding.message}"]
    said += [f"    {_shortened(text)}" for text in [_line(lines, finding.line)] if text]
    if finding.source:
        place, *callers = finding.source.split(INLINED)
        said += [f"  source: {place}", *(f"    inlined at {caller}" for caller in callers)]
    if finding.address is not None:
        place = f", {finding.variable}" if finding.variable else ""
        said.append(f"  address: {finding.address:#x}{place}")
    if finding.threads:
        named = [str(thread) for thread in finding.threads[:_NAMED_THREADS]]
        more = [finding.more_than(len(named))] if finding.occurrences > len(named) else []
        said.append(f"  by {'; '.join(named + more)}")
    for other in finding.others:
        said.append(f"  other: {other}")
        said += [f"    {_shortened(text)}" for text in [_line(lines, other.line)] if text]
    return "\n".join(printable(each) for each in said)


def report_object(report: Report, lines: Sequence[str]) -> dict[str, object]:
    """Findings and counters for JSON; counts by line come with the opcode and the text of the line."""
    return {
        "ok": report.ok,
        "ignored": report.ignored,
        "findings": [_finding_object(finding, lines) for finding in report.findings],
        "warnings": [_finding_object(warning, lines) for warning in report.warnings],
        "printed": report.printed,
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
        "variable": finding.variable,
        "threads": [each._asdict() for each in finding.threads],
        "others": [
            {
                "line": each.line,
                "text": _line(lines, each.line),
                "source": each.source,
                "thread": each.thread._asdict(),
            }
            for each in finding.others
        ],
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
        "arrays": [asdict(array) for array in counters.arrays],
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


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _line(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split()) if 1 <= number <= len(lines) else ""
