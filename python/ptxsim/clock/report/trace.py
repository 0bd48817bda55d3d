"""A timeline as Chrome's trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing show.

In: a `Timeline`, its estimate, the lines of the PTX; several of these. Out: the text of a JSON file. Each SM is a
process; its rows are tensor pipes, copies, CTAs, and a row for each warp, which shows what it waits for; between two
waits it issues. Times are microseconds at the clock of the estimate, from the start of the first CTA; only clusters
that are replayed are there. Copies and CTAs that overlap get rows of their own.

Source: "Trace Event Format", complete events ("X") and metadata ("M").
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptxsim.clock.estimate import Estimate
from ptxsim.clock.replay.timeline import Span, Timeline, Track
from ptxsim.clock.report.quantities import cause_text, line_text

_KINDS = ("tensor", "copies", "CTA", "warp")
#: What spans may be chosen by, in the order of `_KINDS`.
_CATEGORIES = ("tensor pipe", "copy", "CTA", "wait")
#: Digits of a microsecond: a cycle is half a nanosecond.
_DIGITS = 4
#: Processes of one kernel begin behind those of the one before.
_PROCESSES = 1000


class TracedKernel(NamedTuple):
    """A kernel's timeline: what its SMs are called by, its estimate, and the lines of its PTX."""

    name: str
    timeline: Timeline
    estimate: Estimate
    lines: Sequence[str]


def trace_text(kernels: Sequence[TracedKernel]) -> str:
    """The text of the file."""
    events = [event for number, each in enumerate(kernels) for event in _events(each, _PROCESSES * number)]
    note = "the clusters that are replayed, by the model of ptxsim.clock; nothing was measured"
    facts: dict[str, object] = {"note": note}
    for name, _, estimate, _ in kernels:
        clock = {"clock_hz": estimate.clock_hz, "device": estimate.device.title}
        facts[name] = {"kernel": estimate.kernel, "seconds": estimate.seconds, **clock}
    rows = ",\n".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","otherData":{json.dumps(facts)},"traceEvents":[\n{rows}\n]}}\n'


def _events(kernel: TracedKernel, first: int) -> Iterator[dict[str, object]]:
    """Names of processes, numbered from `first` on, and of rows, and the spans."""
    microseconds = 1e6 / kernel.estimate.clock_hz
    rows = _rows(kernel.timeline)
    for sm in sorted({row[0] for row in rows}):
        name = {"name": f"{kernel.name}, SM {sm}"}
        yield {"ph": "M", "name": "process_name", "pid": first + sm, "tid": 0, "args": name}
    for number, (sm, kind, name, spans) in enumerate(rows, 1):
        place = {"pid": first + sm, "tid": number}
        yield {"ph": "M", "name": "thread_name", **place, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", **place, "args": {"sort_index": number}}
        for span in spans:
            start, end = (round(cycles * microseconds, _DIGITS) for cycles in (span.start, span.end))
            told = {"line": span.line, "text": line_text(kernel.lines, span.line)} if span.line else {}
            shown = cause_text(span.name)
            lasts = {"ts": start, "dur": round(end - start, _DIGITS)}
            yield {"ph": "X", "name": shown, "cat": _CATEGORIES[kind], **place, **lasts, "args": told}


def _rows(timeline: Timeline) -> list[tuple[int, int, str, list[Span]]]:
    """The rows: SM, kind, name, and spans that do not overlap; by SM, kind, CTA and warp."""
    clusters = {instance for track in timeline.spans if (instance := track.instance) >= 0}
    found: list[tuple[int, int, tuple[int, ...], str, list[Span]]] = []
    of_ctas: dict[int, list[Span]] = defaultdict(list)
    for track, spans in timeline.spans.items():
        if track.kind == "CTA":
            of_ctas[track.sm] += [span._replace(name=_cta(track, clusters)) for span in spans]
        elif track.kind == "copies":
            found += [(track.sm, 1, (lane,), f"copies {lane}", each) for lane, each in enumerate(_lanes(spans))]
        else:
            order = track.instance, track.cta, track.unit
            found.append((track.sm, _KINDS.index(track.kind), order, _name(track, clusters), spans))
    for sm, spans in of_ctas.items():
        found += [(sm, 2, (lane,), f"CTAs {lane}", each) for lane, each in enumerate(_lanes(spans))]
    return [(sm, kind, name, spans) for sm, kind, _, name, spans in sorted(found, key=lambda row: (*row[:3], row[3]))]


def _lanes(spans: Sequence[Span]) -> list[list[Span]]:
    """Spans dealt out to as few rows as it takes for none to overlap, each to the first row that is free."""
    lanes: list[list[Span]] = []
    for span in sorted(spans, key=lambda each: (each.start, each.end)):
        free = next((lane for lane in lanes if lane[-1].end <= span.start), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    return lanes


def _cta(track: Track, clusters: set[int]) -> str:
    """A CTA of the grid; of those that are replayed several times, which one."""
    return f"CTA {track.cta}" + (f" in place {track.instance}" if len(clusters) > 1 else "")


def _name(track: Track, clusters: set[int]) -> str:
    if track.kind == "tensor":
        return f"tensor pipe {track.unit}"
    return f"{_cta(track, clusters)}, warp {track.unit}"
