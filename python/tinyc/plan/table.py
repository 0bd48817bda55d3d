"""A plan table: plans for many regions, each under the key of its region, and what is asked of the regions themselves.

In: plans by region key (`key.region_key` makes one from a kernel). Out: the plan for a region, or None where the table
has none: that region gets the default. `fusion` has edges that --tiny-to-region is to fuse or to keep.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.plan.fields import Plan
from tinyc.plan.kinds import ListOf, PrintableName, Record, shown_value

#: The form of a region key. No field of a plan has it, so a file's own keys tell a table from a plan.
REGION_KEY = re.compile(r"[0-9a-f]{16}")
#: The key of what a table asks of the formation of regions: edges, by the names of their two values.
FUSION_KEY = "fusion"
_EDGES = ListOf(ListOf(PrintableName(), 2))
FUSION = Record({"fuse": _EDGES, "no_fuse": _EDGES})


@dataclass(frozen=True)
class PlanTable:
    """Plans by region key. The empty table says the same as the plan without fields, and is written like it.

    Raises:
        TinycError: `InvalidPlan` for a key that is not one.
    """

    plans: Mapping[str, Plan] = field(default_factory=dict[str, Plan])
    fusion: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict[str, Sequence[Sequence[str]]])

    def __post_init__(self) -> None:
        """Check the keys, and the edges."""
        for problem in FUSION.problems(self.fusion, (FUSION_KEY,)):
            raise TinycError("InvalidPlan", problem.message)
        for key in self.plans:
            if not is_region_key(key):
                message = f"{shown_value(key)} is not a region key; write its 16 digits out of 0-9 and a-f"
                raise TinycError("InvalidPlan", message)

    def get(self, key: str) -> Plan | None:
        """The plan for the region with that key."""
        return self.plans.get(key)


def is_region_key(key: object) -> bool:
    """Whether `key` has the form of a region key."""
    return isinstance(key, str) and REGION_KEY.fullmatch(key) is not None


def is_table(values: Mapping[Any, Any]) -> bool:
    """Whether a file with these keys is a table."""
    return FUSION_KEY in values or any(map(is_region_key, values))
