"""The registers that a CTA with specialised warps has: what ptxas launches its threads with, for roles to share.

`setmaxnreg` gives registers back to the CTA and takes some of those; one that asks for more than there are waits for
ever. So all that the roles hold together is at most what the CTA was launched with, which may be less than an SM has.
"""

from collections.abc import Sequence

from tinyc.target.target import Target

WARPGROUP_THREADS = 128
#: What a role that sets more registers raises those of its threads from, at most; others give some back.
_RAISED_FROM = 168


def registers_at_launch(roles: Sequence[int], target: Target) -> int:
    """The registers of each thread at the launch: what ptxas decides for warpgroups that set `roles`, 0 for none.

    It is an equal share of what a CTA has, or what a role raises its own to, if that is less.
    """
    share, most = target.registers_per_cta // (len(roles) * WARPGROUP_THREADS) // 8 * 8, max(roles)
    return min(share, most if most > _RAISED_FROM else target.registers_per_thread)


def is_raise(registers: int, threads: int, target: Target) -> bool:
    """Whether a role that sets so many registers takes some, in a CTA of so many threads, or gives some back."""
    return registers > min(_RAISED_FROM, target.registers_per_cta // threads)


def role_registers(roles: Sequence[int], target: Target) -> tuple[int, int]:
    """What warpgroups hold together for each 128 threads, and what the CTA has; one that sets none keeps its own."""
    launched = registers_at_launch(roles, target)
    return sum(each or launched for each in roles), launched * len(roles)
