"""The schemes that this version can build: the one list of them, the most particular first.

The first that accepts a candidate is its default. A plan names one with `scheme`; names of the plan format that are not
here are refused by name.
"""

from tinyc.schemes.cpu import CpuContraction, CpuGeneric, CpuRows, CpuScan
from tinyc.schemes.generic import Generic
from tinyc.schemes.naive import NaiveContraction
from tinyc.schemes.scheme import KernelKind, Scheme
from tinyc.target import CpuTarget

SCHEMES: tuple[Scheme, ...] = (
    NaiveContraction(),  # a contraction reads an operand many times: from shared memory, not through the caches
    Generic(),  # last, since it accepts whatever can be launched
)
#: What is built on a CPU: loops, of these kinds.
CPU_KINDS: tuple[KernelKind[CpuTarget], ...] = (CpuContraction(), CpuScan(), CpuRows(), CpuGeneric())
SCHEME_OF: dict[str, Scheme] = {scheme.name: scheme for scheme in SCHEMES}
