"""How tests ask what speaks against a plan."""

import pytest

from schemes.candidates import gemm
from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import TinycError
from tinyc.plan.fields import Plan
from tinyc.schemes.completion import completed_plan
from tinyc.target import target_of
from tinyc.target.target import Target

SM80, SM90 = target_of("sm_80"), target_of("sm_90a")


def refusals(plan: Plan, candidate: Candidate | None = None, target: Target = SM80) -> list[tuple[str, str]]:
    """Every refusal's name and message."""
    with pytest.raises(TinycError) as caught:
        completed_plan(plan, candidate or gemm(), target)
    return [(error.name, error.message) for error in caught.value.errors]


def refusal(plan: Plan, candidate: Candidate | None = None, target: Target = SM80) -> tuple[str, str]:
    """The one refusal's name and what it says after the region."""
    ((name, message),) = refusals(plan, candidate, target)
    return name, message.partition(": ")[2]
