"""What tinyc says to its user: errors with stable codes, remarks on decisions, and how far it is.

An error is about the user's program, plan, file or inputs (`TinycError`), or about tinyc itself (`InternalError`).
A remark reports one decision of the compiler with its evidence; remarks go to whoever collects them
(`collect_remarks`). What may take long tells its progress to whoever watches (`watch_progress`).
"""

import contextlib
import contextvars
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, field, replace
from typing import Protocol

CODES = {
    # 1xx: the program
    "BroadcastMismatch": "TC101",
    "DtypeMismatch": "TC102",
    "AxisSizeMismatch": "TC103",
    "InvalidPermutation": "TC104",
    "AccDtypeMissing": "TC105",
    "ExcessivePiecewise": "TC106",
    "NegativeStride": "TC107",
    "UnboundSymbol": "TC108",
    "NonScop": "TC109",
    "InvalidAxis": "TC110",
    "InvalidAttribute": "TC111",
    "WindowTooLarge": "TC112",
    "IndexOutOfBounds": "TC113",
    "InvalidExtent": "TC114",
    # 2xx: the plan, and what the hardware has
    "InvalidPlan": "TC201",
    "PlanMismatch": "TC202",
    "ResourceExceeded": "TC203",
    "UnsupportedPlan": "TC204",
    "NoGpuKernel": "TC205",
    "IllegalFusion": "TC206",
    # 3xx: files
    "InvalidJson": "TC301",
    "UnknownUop": "TC302",
    "MissingArgument": "TC303",
    "UnknownSource": "TC304",
    "DuplicateId": "TC305",
    "CyclicGraph": "TC306",
    "ShapeContradiction": "TC307",
    "UnreadableFile": "TC308",
    "InvalidIr": "TC309",
    "UnknownPass": "TC310",
    "InvalidPtx": "TC311",
    "UnknownKey": "TC312",
    "InvalidPass": "TC313",
    "FailedPass": "TC314",
    "InvalidOption": "TC315",
    "InvalidPipeline": "TC316",
    "InvalidModel": "TC317",
    "InvalidOnnx": "TC318",
    "UnsupportedOnnx": "TC319",
    "UnboundInput": "TC320",
    # 4xx: running
    "InputMismatch": "TC401",
    "AssumptionViolated": "TC402",
    "IndexOutOfRange": "TC403",
    "UnsupportedTarget": "TC404",
    "OutOfMemory": "TC405",
    "VerificationFailed": "TC406",
    "UnknownLayer": "TC407",
    "ModelFreed": "TC408",
    "NoDriver": "TC409",
    "DeviceFailure": "TC410",
    "LaunchTooLarge": "TC411",
    "SimulationFinding": "TC412",
    "UnknownName": "TC413",
    "OutputMismatch": "TC414",
    "NoCompiler": "TC415",
    # 9xx: tinyc itself
    "InternalError": "TC901",
}

#: What kind of decision each remark reports, in the words of MLIR's remarks: something that was done ("passed"), that
#: was not done and why ("missed"), or a fact that decisions rest on ("analysis").
REMARKS = {
    "alternative-left-out": "missed",
    "broadcast-inserted": "passed",
    "cache-entry-dropped": "missed",
    "cache-not-written": "missed",
    "cache-unused": "missed",
    "dot-product": "passed",
    "epilogue-in-pieces": "missed",
    "fusion-fused": "passed",
    "fusion-kept": "missed",
    "fusion-request": "analysis",
    "kernel-guarded": "analysis",
    "kernel-spills": "missed",
    "operand-staged": "missed",
    "operand-widened": "passed",
    "input-copied": "missed",
    "output-copied": "missed",
    "pass-not-applicable": "missed",
    "plan-default": "passed",
    "plan-degraded": "missed",
    "plan-given": "passed",
    "product-transposed": "passed",
    "region-boundary": "missed",
    "strided-copy": "missed",
    "symbol-solved": "analysis",
    "unused-function": "missed",
}

#: How a report ends that shows its code. It is compiled where a report is read: that takes as long as many imports.
_CODE = rf" \[TC\d+ ({'|'.join(CODES)})\]\Z"

#: A message may have several lines.
LINES = "\n\t"
#: How many names a message lists.
_SHOWN_NAMES = 40
#: How many letters of the name of a node a place shows.
_SHOWN_LETTERS = 200


def printable(text: str, kept: str = "") -> str:
    """`text` with what is no printable character escaped, but for those in `kept`: names come from files."""
    return "".join(each if each.isprintable() or each in kept else _escaped(each) for each in text)


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the names that are like it, or all (the first of many)."""
    names = list(known)
    close = close_names(name, names)
    if close:
        return f"; did you mean {' or '.join(repr(each) for each in close)}?"
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN_NAMES else ""
    return f"; there are {', '.join(names[:_SHOWN_NAMES])}{more}" if names else "; there are none"


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The names that an unknown one may be meant for."""
    import difflib  # most programs have no unknown names

    return difflib.get_close_matches(name, list(known))


def either(choices: Iterable[str]) -> str:
    """A list to choose from, for a message: "a", "a or b", "a, b or c"."""
    *before, last = choices
    return f"{', '.join(before)} or {last}" if before else last


def counted(count: int, what: str) -> str:
    """How many there are of something, for a message: "1 kernel", "2 kernels"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _shortened(name: str) -> str:
    """A name to show: one that is very long without its middle."""
    return name if len(name) <= _SHOWN_LETTERS else f"{name[: _SHOWN_LETTERS // 2]} … {name[-_SHOWN_LETTERS // 2 :]}"


@dataclass(frozen=True)
class Where:
    """A place in the user's program: a file position, a node, or both; `kind` is what stands there if it is no node."""

    node: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    kind: str | None = None

    def completed(self, other: "Where") -> "Where":
        """The same place, with the parts that it lacks taken from `other`."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        found = Where(*(mine if mine is not None else theirs for mine, theirs in pairs))
        return found if self.node is None else replace(found, kind=self.kind)

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        node = f"{self.kind or 'node'} '{_shortened(self.node)}'" if self.node is not None else ""
        return printable(", ".join(part for part in (position, node) if part))


class Repeatable(Protocol):
    """A way to repeat a failure, such as a `tinyc.passes.reproducer.Reproducer`."""

    def save(self) -> str:
        """Write it to a file; the command that repeats the failure."""
        ...


class TinycError(Exception):
    """An error that the user can cause and mend.

    `name` is a key of `CODES`, `code` its number, `message` says what, with which values, and what to do; `where`
    says where. `errors` holds every error when several were found at once, and the error itself otherwise. Where a pass
    of MLIR's has failed, `reproducer` is the pass and the module that it was given (`reproducer.Reproducer`).

    Raises:
        ValueError: `CODES` has no such name.
    """

    reproducer: Repeatable | None = None

    def __init__(self, name: str, message: str, where: Where | None = None) -> None:
        if name not in CODES:
            raise ValueError(
                f"TinycError: the first argument is one of tinyc.diagnostics.CODES, not {name!r}{suggest(name, CODES)}"
            )
        self.name = name
        self.code = CODES[name]
        self.message = message
        self.where = where or Where()
        self.errors: tuple[TinycError, ...] = (self,)
        super().__init__(name, message, where)

    @classmethod
    def several(cls, errors: "list[TinycError]") -> "TinycError":
        """One error that carries all of `errors` (at least one) and is named after the first."""
        if len(errors) == 1:
            return errors[0]
        first = errors[0]
        combined = cls(first.name, first.message, first.where)
        combined.errors = tuple(errors)
        return combined

    def at(self, where: Where) -> "TinycError":
        """The same error, with the parts of its place that it lacks taken from `where`."""
        return type(self)(self.name, self.message, self.where.completed(where))

    @property
    def message_with_code(self) -> str:
        """The message with the code behind it: what is said of the error at its place."""
        return f"{self.message} [{self.code} {self.name}]"

    @classmethod
    def of_report(cls, report: str, name: str, where: Where) -> "TinycError":
        """The error that `report` tells of; it is a `name` where it shows no code."""
        shown = re.search(_CODE, report)
        return cls(shown[1], report[: shown.start()], where) if shown else cls(name, report, where)

    def __str__(self) -> str:
        return "\n".join(error._line() for error in self.errors)

    def _line(self) -> str:
        place = str(self.where)
        return f"{place + ': ' if place else ''}error: {printable(self.message_with_code, LINES)}"


class InternalError(TinycError):
    """A defect of tinyc: `message` names the pass, the op and the file with the written reproducer."""

    def __init__(self, message: str, where: Where | None = None) -> None:
        super().__init__("InternalError", message, where)

    def at(self, where: Where) -> "InternalError":
        """The same error, with the parts of its place that it lacks taken from `where`."""
        return InternalError(self.message, self.where.completed(where))


@dataclass(frozen=True)
class Remark:
    """One decision: a stable kebab-case `code`, where, a sentence, and a small JSON object as evidence."""

    code: str
    where: Where
    message: str
    evidence: dict[str, object] = field(default_factory=dict[str, object])

    @property
    def kind(self) -> str:
        """The kind of decision: "passed", "missed" or "analysis"."""
        return REMARKS.get(self.code, "analysis")

    def __str__(self) -> str:
        place = str(self.where)
        return f"{place + ': ' if place else ''}remark: {printable(self.message, LINES)} [{self.code}]"

    def to_json(self) -> str:
        """The remark as one line of JSON."""
        entry = {
            "code": self.code,
            "kind": self.kind,
            "where": str(self.where),
            "message": self.message,
            "evidence": self.evidence,
        }
        return json.dumps(entry, ensure_ascii=False)


_sink: contextvars.ContextVar[list[Remark] | None] = contextvars.ContextVar("remarks", default=None)


def remark(code: str, where: Where, message: str, **evidence: object) -> None:
    """Report a decision to whoever collects remarks; do nothing where nobody does."""
    sink = _sink.get()
    if sink is not None:
        sink.append(Remark(code, where, message, evidence))


def repeat_remarks(remarks: Iterable[Remark]) -> None:
    """Report decisions again that have been made before."""
    sink = _sink.get()
    if sink is not None:
        sink.extend(remarks)


@contextlib.contextmanager
def without_remarks() -> Iterator[None]:
    """Let nobody be told of the decisions that are made inside, since they have been told before."""
    token = _sink.set(None)
    try:
        yield
    finally:
        _sink.reset(token)


class collect_remarks:  # noqa: N801 - used as a function is
    """Collect the remarks that are made inside the `with` block; an outer collector gets them too.

    It is a class since each run of a model collects, and a generator would take longer than a small kernel.
    """

    def __enter__(self) -> list[Remark]:
        self._outer, self._remarks = _sink.get(), list[Remark]()
        self._token = _sink.set(self._remarks)
        return self._remarks

    def __exit__(self, *error: object) -> None:
        _sink.reset(self._token)
        if self._outer is not None:
            self._outer.extend(self._remarks)


_watcher: contextvars.ContextVar[Callable[[str, int, int], None] | None]
_watcher = contextvars.ContextVar("watcher", default=None)


def progress(what: str, done: int, total: int) -> None:
    """Tell whoever watches that of `what`, such as "import, node", `done` of `total` are done, or in the making."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(what, done, total)


@contextlib.contextmanager
def watch_progress(watcher: Callable[[str, int, int], None]) -> Iterator[None]:
    """Let `watcher` be told what makes progress inside of the `with` block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
