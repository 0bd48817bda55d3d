"""A plan table: plans for many regions, each under the key of its region.

In: plans by region key (`key.region_key` makes one from a kernel). Out: the plan for a region, or None where the table
has none: that region gets the default.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tinyc.diagnostics import TinycError
from tinyc.plan.fields import Plan
from tinyc.plan.kinds import shown_value

#: The form of a region key. No field of a plan has it, so a file's own keys tell a table from a plan.
REGION_KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class PlanTable:
    """Plans by region key. The empty table says the same as the plan without fields, and is written like it.

    Raises:
        TinycError: `InvalidPlan` for a key that is not one.
    """

    plans: Mapping[str, Plan] = field(default_factory=dict[str, Plan])

    def __post_init__(self) -> None:
        """Check the keys."""
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
