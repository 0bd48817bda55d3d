"""The ledger: for every edge of a program's graph whether it is fused or kept, by which rule, and on what evidence.

Frozen data, which the formation of regions writes and `tinyc explain` shows; the same for the same program in every
process. As JSON it can be kept and compared.
"""

import contextlib
import contextvars
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from tinyc.diagnostics import TinycError

FusedOrKept = Literal["fused", "kept"]

#: Rule → what it says, for people.
FUSION_RULES = {
    "inline": "an element-wise op is computed where its one kernel reads it",
    "loops": "both run over the same loops, phase by phase",
    "siblings": "kernels that read the same tensor read it once, as one",
    "recompute": "computed again in each kernel that reads it, which costs less than memory",
    "leaf": "a constant, positions or random numbers are made where they are read",
    "product": "a sum forms its products in its accumulator's type",
    "view": "the buffer is read under another shape, at no cost",
    "legality": "no tile of the reader holds what its producer is made of, so that one CTA would be the kernel",
    "cycle": "one kernel would have to run before and after another",
    "scheme": "no scheme builds the kernel but element by element",
    "data": "an index comes from data: what it is applied to has to be in memory",
    "limit": "one kernel would be too large",
    "halo": "tiles would read, or compute again, too much beyond their own",
    "shared-memory": "a CTA would need more than its share of shared memory",
    "occupancy": "one CTA would be left on a multiprocessor",
    "vector-width": "accesses to memory would become narrower",
    "tile": "the kernel would leave the tiles that products are fast in",
    "cost": "the predicted time decides",
    "exact": "an exact choice among all kernels of a window is faster than greedy",
    "user": "it was asked for",
}


@dataclass(frozen=True)
class Verdict:
    """The answer to a proposed kernel: whether it is taken, by which rule, why, and what would turn it."""

    fused: bool
    rule: str
    reason: str
    flip: str
    evidence: Mapping[str, object]


def refusal(rule: str, reason: str, flip: str, **evidence: object) -> Verdict:
    """The verdict on what is not fused."""
    return Verdict(False, rule, reason, flip, evidence)


@dataclass(frozen=True)
class Decision:
    """The decision on one edge: `source` is read by `target`, both as people call their values.

    `reason` is a sentence with the numbers, `evidence` the same as data, `flip` what would turn the verdict.
    """

    source: str
    target: str
    verdict: FusedOrKept
    rule: str
    reason: str
    flip: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Siblings:
    """Two kernels that became one though neither read the other: what each wrote, and the tensors that both read.

    `reason` and `evidence` are as in a decision.
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    read: tuple[str, ...]
    reason: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class RegionEntry:
    """One region: its ops by their values in program order, what it reads and writes, and its predicted cost.

    `siblings` tells what of it no edge led together.
    """

    name: str
    ops: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    scheme: str
    loops: tuple[str, ...]
    cost: Mapping[str, float]
    siblings: tuple[Siblings, ...] = ()


@dataclass(frozen=True)
class Ledger:
    """The regions of a function for a target, in the order in which they run, and the decisions on all of its edges."""

    function: str
    target: str
    regions: tuple[RegionEntry, ...]
    decisions: tuple[Decision, ...]

    @property
    def microseconds(self) -> float:
        """The predicted time of all regions, one after the other."""
        return float(f"{sum(region.cost['us'] for region in self.regions):.4g}")


_noted: contextvars.ContextVar[list[Ledger] | None] = contextvars.ContextVar("ledgers", default=None)


@contextlib.contextmanager
def collect_ledgers() -> Iterator[list[Ledger]]:
    """Collect the ledgers of the functions that a pass makes regions of within the block."""
    ledgers: list[Ledger] = []
    token = _noted.set(ledgers)
    try:
        yield ledgers
    finally:
        _noted.reset(token)


def note_ledger(ledger: Ledger) -> None:
    """Tell whoever collects ledgers of one."""
    noted = _noted.get()
    if noted is not None:
        noted.append(ledger)


def ledger_to_json(ledger: Ledger) -> str:
    """A ledger as text."""
    return json.dumps(asdict(ledger), indent=1, ensure_ascii=False) + "\n"


def ledger_from_json(text: str) -> Ledger:
    """The ledger that a text is.

    Raises:
        TinycError: `InvalidJson`: it is none.
    """
    try:
        values = json.loads(text)
        regions, decisions = (tuple(map(read, values[key])) for key, read in _ENTRIES.items())
        return Ledger(_text(values["function"]), _text(values["target"]), regions, decisions)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        message = f"the text is no ledger of fusion ({what}); write one with tinyc explain --fusion-json"
        raise TinycError("InvalidJson", message) from None


def _region(given: object) -> RegionEntry:
    values, names = _object(given), ("ops", "reads", "writes", "loops")
    cost = {_text(term): _number(value) for term, value in _object(values["cost"]).items()}
    scheme, lists = _text(values["scheme"]), {name: tuple(map(_text, values[name])) for name in names}
    siblings = tuple(map(_siblings, values.get("siblings", ())))  # ledgers that were kept before it came lack it
    return RegionEntry(name=_text(values["name"]), scheme=scheme, cost=cost, siblings=siblings, **lists)


def _siblings(given: object) -> Siblings:
    values = _object(given)
    lists = {name: tuple(map(_text, values[name])) for name in ("one", "other", "read")}
    return Siblings(reason=_text(values["reason"]), evidence=_object(values["evidence"]), **lists)


def _decision(given: object) -> Decision:
    values = _object(given)
    texts = {name: _text(values[name]) for name in ("source", "target", "rule", "reason", "flip")}
    verdict = values["verdict"]
    if verdict not in ("fused", "kept"):
        raise ValueError(f"the verdict {verdict!r} is neither 'fused' nor 'kept'")
    return Decision(verdict=verdict, evidence=_object(values["evidence"]), **texts)


#: Key → what an entry of its list is.
_ENTRIES: dict[str, Callable[[object], Any]] = {"regions": _region, "decisions": _decision}


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no JSON object")
    return cast("dict[str, Any]", value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value
