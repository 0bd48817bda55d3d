"""The registers that a CTA with specialised warps has: what ptxas launches its threads with, for roles to share.

`setmaxnreg` gives registers back to the CTA and takes some of those; one that asks for more than there are waits for
ever. So all that the roles hold together is at most what the CTA was launched with, which may be less than an SM has.
"""

from collections.abc import Sequence

from tinyc.target.target import Target

#: Threads of a warpgroup.
_WARPGROUP = 128
#: A role that sets more registers raises those of its threads; others give some back.
_RAISED_FROM = 168


def registers_at_launch(roles: Sequence[int], target: Target) -> int:
    """The registers of each thread at the launch: what ptxas decides for warpgroups that set `roles`, 0 for none.

    It is an equal share of what a CTA has, or what a role raises its own to, if that is less.
    """
    share, raised = target.registers_per_cta // (len(roles) * _WARPGROUP) // 8 * 8, max(roles)
    return min(share, raised if raised > _RAISED_FROM else target.registers_per_thread)


def role_registers(roles: Sequence[int], target: Target) -> tuple[int, int]:
    """What warpgroups hold together for each 128 threads, and what the CTA has; one that sets none keeps its own."""
    launched = registers_at_launch(roles, target)
    return sum(each or launched for each in roles), launched * len(roles)
