"""What a `tiny.reduce` is: a contraction, a scan, a fold, or a plain reduction, with the reasons against the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tinyc.analysis.access import DimAxes
from tinyc.analysis.patterns.contraction import Contraction, detect_contraction
from tinyc.analysis.patterns.fold import Fold, detect_fold
from tinyc.analysis.patterns.reduce import Reduce
from tinyc.analysis.patterns.rejection import Rejected
from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.dialects.tiny.ops import ReduceOp

Pattern = Contraction | Scan | Fold

_DETECTIONS: Mapping[str, Callable[[Reduce], Pattern | Rejected]] = {
    "contraction": detect_contraction,
    "scan": detect_scan,
    "fold": detect_fold,
}


@dataclass(frozen=True)
class Reduction:
    """A reduction by `op` over the axes `reduced` of its operand, and the first `pattern` that it is of, if any.

    `rejected` has the patterns that were asked for before, each with the reason why the reduction is not of it.
    """

    op: str
    reduced: tuple[int, ...]
    pattern: Pattern | None
    rejected: tuple[tuple[str, Rejected], ...]


def pattern_of(reduce: ReduceOp, dims: DimAxes | None = None) -> Reduction:
    """The pattern of a `tiny.reduce`, and why it is of none that was asked for before.

    With `dims`, axes are those that the dimensions of the values are split into.
    """
    seen = Reduce.of(reduce, dims)
    rejected: list[tuple[str, Rejected]] = []
    for name, detection in _DETECTIONS.items():
        found = detection(seen)
        if not isinstance(found, Rejected):
            return Reduction(seen.op, seen.reduced, found, tuple(rejected))
        rejected.append((name, found))
    return Reduction(seen.op, seen.reduced, None, tuple(rejected))
