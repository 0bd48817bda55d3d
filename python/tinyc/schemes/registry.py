"""The schemes that this version can build: the one list of them, the most particular first.

The first that accepts a candidate is its default. A plan names one with `scheme`; names of the plan format that are not
here are refused by name.
"""

from typing import Any

from tinyc.plan.fields import Plan
from tinyc.schemes.cpu import CpuAttentionTiles, CpuContraction, CpuGeneric, CpuRows, CpuScan, CpuWinograd
from tinyc.schemes.elementwise import ElementByElement
from tinyc.schemes.generic import Generic
from tinyc.schemes.mma import MmaContraction
from tinyc.schemes.naive import NaiveContraction
from tinyc.schemes.row_reduce import RowReduce
from tinyc.schemes.scan import CumulativeScan
from tinyc.schemes.scheme import KernelKind, Scheme
from tinyc.target import GENERIC_CPU, CpuTarget, Machine
from tinyc.target.target import Target

SCHEMES: tuple[Scheme, ...] = (
    MmaContraction(),  # a contraction on tensor cores, whose rate no other unit comes near
    NaiveContraction(),  # the same in the types that they round; an operand is read from shared memory, many times
    RowReduce(),  # threads share a row, which is read once
    CumulativeScan(),  # each element is read once, where `generic` would read all before it
    ElementByElement(),  # what reduces, and what is not computed element by element, is another scheme's
    Generic(),  # last, since it accepts whatever can be launched
)
#: What is built on a CPU: loops, of these kinds.
CPU_KINDS: tuple[KernelKind[CpuTarget], ...] = (
    CpuContraction(),
    CpuAttentionTiles(),
    CpuScan(),
    CpuRows(),
    CpuWinograd(),  # for plans that ask for it; the default of none
    CpuGeneric(),
)
SCHEME_OF: dict[str, Scheme] = {scheme.name: scheme for scheme in SCHEMES}


def kinds_of(machine: Machine) -> tuple[KernelKind[Any], ...]:
    """What is built on a machine, the most particular first."""
    return SCHEMES if isinstance(machine, Target) else CPU_KINDS


def kind_of_plan(plan: Plan) -> KernelKind[Any]:
    """What builds the kernel of a complete plan."""
    kinds = CPU_KINDS if plan.arch in GENERIC_CPU.names else SCHEMES
    return next(each for each in kinds if each.name == plan.scheme)
