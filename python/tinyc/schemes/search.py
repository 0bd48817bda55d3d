"""What a scheme's search for a plan has judged: the plans that can be built by their predicted time, and the others.

The plans have those fields that the search decides; as text they are plans that somebody may give.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.plan.fields import Plan


@dataclass(frozen=True)
class RankedPlan:
    """A plan that can be built: its predicted time, `limiter`, what it would be faster without, and what it takes.

    `terms` are what it takes, by names such as "shared_bytes", or "packing_percent" of the time.
    """

    plan: Plan
    seconds: float
    limiter: str
    terms: Mapping[str, float]


@dataclass(frozen=True)
class PrunedPlan:
    """A plan that cannot be built; each fault is an error's name, a field, and the message that goes on after it."""

    plan: Plan
    faults: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class PlanSearch:
    """What there was to choose from: `ranked`, the fastest first, and `pruned`, in the order of the search.

    `problem` is what the times are predicted for.
    """

    problem: str
    ranked: tuple[RankedPlan, ...]
    pruned: tuple[PrunedPlan, ...]
