"""The staged operands of scheme `naive_2x2_per_thread`: both, in shared memory, once for each step along k."""

from typing import Any

from tinyc.plan.fields import NAIVE, Plan
from tinyc.plan.validate_case import Case
from tinyc.plan.workload import Product

#: The axis whose loop reads what is staged.
STAGED_AT = "k.i"


def cache(plan: Plan, stages: int, case: Case) -> tuple[dict[str, Any], ...]:
    """Return what is staged: as given, else both operands, called as the host does where that is one name."""
    sides = _sides(case.product)
    names = {side: names[0] if len(names) == 1 else side for side, names in sides.items()}
    if plan.cache is None:
        return tuple({"tensor": name, "where": "smem", "at": STAGED_AT} for name in dict.fromkeys(names.values()))
    staged: set[str] = set()
    for entry in plan.cache:
        staged.update(_check_tensor(entry["tensor"], case))
        _check_entry(entry, stages, case)
    for side in sides:
        if side not in staged:
            message = f"lacks the operand {names[side]}, and scheme '{NAIVE}' stages both; list it"
            case.refuse("UnsupportedPlan", "cache", message)
    return plan.cache


def _sides(product: Product) -> dict[str, tuple[str, ...]]:
    """Return what the host calls the operands, which a plan may also call A and B."""
    return {"A": product.lhs.names, "B": product.rhs.names}


def _check_tensor(tensor: str, case: Case) -> list[str]:
    """Return the sides of the product that are called `tensor`; refuse the plan where none is."""
    sides = _sides(case.product)
    found = [side for side, names in sides.items() if tensor in (*names, side)]
    if not found:
        operands = " and ".join(" or ".join((*names, side)) for side, names in sides.items())
        message = f"has the tensor '{tensor}', which is no operand of the product; the operands are {operands}"
        case.refuse("PlanMismatch", "cache", f"{message}; name one of them")
    return found


def _check_entry(entry: dict[str, Any], stages: int, case: Case) -> None:
    if entry["at"] != STAGED_AT:
        message = f"has '{entry['tensor']}' at {entry['at']}, and scheme '{NAIVE}' stages at {STAGED_AT}; write that"
        case.refuse("UnsupportedPlan", "cache", message)
    if entry.get("pingpong", stages > 1) != (stages > 1):
        message = f"has pingpong {str(entry['pingpong']).lower()} for '{entry['tensor']}', and 'stages' is {stages}"
        case.refuse("PlanMismatch", "cache", f"{message}; a ring is ping-pong from two stages on: leave it out")
