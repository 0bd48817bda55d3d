"""What is said to the caches and changes no value: `createpolicy`, `prefetch`, `prefetchu`, `applypriority`.

A policy is opaque to kernels. `prefetch.tensormap` is in `copies.map_instructions`. Source: PTX ISA, "Data Movement and
Conversion Instructions".
"""

import re

import numpy as np

from ptxsim.machine.addresses import address_reader
from ptxsim.machine.cta import Step
from ptxsim.machine.site import Site

_PRIORITIES = r"\.L2::evict_(last|normal|first|unchanged)(\.L2::evict_(first|unchanged))?"
#: The forms, and the types of the operands after the policy; "[]" is an address in global memory.
_FORMS = {
    rf"fractional{_PRIORITIES}": ("f32",),
    rf"range(\.global)?{_PRIORITIES}": ("[]", "b32", "b32"),
    r"cvt\.L2": ("b64",),
}
#: The hints about an address, and its space. Tensor maps are prefetched by `copies.map_instructions`.
_HINTS = {
    "prefetch": {
        **dict.fromkeys(("L1", "L2"), "generic"),
        **{f"{space}.{level}": space for space in ("global", "local") for level in ("L1", "L2")},
        **{f"L2::evict_{rule}": "generic" for rule in ("last", "normal")},
        **{f"global.L2::evict_{rule}": "global" for rule in ("last", "normal")},
    },
    "prefetchu": {"L1": "generic"},
    "applypriority": {"L2::evict_normal": "generic", "global.L2::evict_normal": "global"},
}
_LINE_BYTES = 128
#: What every policy is here: its bits mean nothing to a kernel.
_POLICY = np.full((1, 1), 1 << 60, np.uint64)


def create_policy(site: Site) -> Step:
    """`createpolicy.fractional|range|cvt….b64 policy{, …};`; only a fraction may be left out."""
    form = ".".join(site.instruction.modifiers)
    types = next((types for pattern, types in _FORMS.items() if re.fullmatch(rf"{pattern}\.b64", form)), None)
    if types is None:
        site.unknown()
    operands = site.operands(1 + len(types), *([1] if form.startswith("fractional") else []))
    for operand, type_name in zip(operands[1:], types, strict=False):
        if type_name == "[]":
            address_reader(site, operand, "global")
        else:
            site.reader(operand, type_name)
    write = site.writer(operands[0], "b64")
    return lambda batch: write(batch, _POLICY)


def hint(site: Site) -> Step:
    """`prefetch{.space}.level{::priority} [a];`, `prefetchu.L1 [a];`, `applypriority{.global}.level [a], 128;`."""
    opcode = site.instruction.opcode
    space = _HINTS[opcode].get(".".join(site.instruction.modifiers))
    if space is None:
        site.unknown()
    place, *size = site.operands(2 if opcode == "applypriority" else 1)
    address_reader(site, place, space)
    if size and site.constant(size[0], "size of 128 bytes") != _LINE_BYTES:
        site.fail(f"'{site.name}' takes a size of {_LINE_BYTES} bytes")
    return lambda batch: None


HANDLERS = {"createpolicy": create_policy, **dict.fromkeys(_HINTS, hint)}
