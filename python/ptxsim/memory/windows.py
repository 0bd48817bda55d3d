"""Where the state spaces lie in the generic address space, and how shared addresses name the CTAs of a cluster.

An address of a state space is its generic address less the base of the space's window; global addresses are generic
ones. A shared address below `CTA_STRIDE` is in the executing CTA; `mapa` gives addresses above it, which name the CTA
by its rank in the cluster. Source: PTX ISA, "Generic Addressing", "Operand Costs", `mapa`.
"""

#: Window of each state space: 4 GiB at these generic addresses.
BASES = {
    "shared": 0x1000_0000_0000,
    "local": 0x1100_0000_0000,
    "param::entry": 0x1200_0000_0000,
    "const": 0x1300_0000_0000,
    "param::func": 0x1400_0000_0000,
    "global": 0,
}
WINDOW_BITS = 40
SPACE_OF_WINDOW = {base >> WINDOW_BITS: space for space, base in BASES.items() if base}

#: First address of global memory; below it there is none.
GLOBAL_START = 0x7000_0000_0000
#: Every global variable and array argument starts at a multiple of this, at least as many bytes after the last one.
GLOBAL_ALIGNMENT = 256

#: First byte of a CTA's shared memory: the system has those below, and a null pointer is none of the kernel's.
SHARED_START = 1024
#: Shared addresses of the CTA of rank r in the cluster start at (r + 1) * CTA_STRIDE.
CTA_STRIDE = 1 << 24

#: First byte of a thread's local memory and parameter frame.
LOCAL_START = 64
