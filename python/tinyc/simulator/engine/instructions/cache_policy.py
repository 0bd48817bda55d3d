"""`createpolicy`: cache policies, which change no value and are opaque to kernels.

Source: PTX ISA, "Data Movement and Conversion Instructions": `createpolicy`.
"""

import re

import numpy as np

from tinyc.simulator.engine.addresses import address
from tinyc.simulator.engine.site import Site, Step

_PRIORITIES = r"\.L2::evict_(last|normal|first|unchanged)(\.L2::evict_(first|unchanged))?"
#: The forms, and the types of the operands after the policy; "[]" is an address in global memory.
_FORMS = {
    rf"fractional{_PRIORITIES}": ("f32",),
    rf"range(\.global)?{_PRIORITIES}": ("[]", "b32", "b32"),
    r"cvt\.L2": ("b64",),
}
#: What every policy is here: its bits mean nothing to a kernel.
_POLICY = np.full((1, 1), 1 << 60, np.uint64)


def create_policy(site: Site) -> Step:
    """`createpolicy.fractional|range|cvt….b64 policy{, …};`; only a fraction may be left out."""
    form, operands = ".".join(site.instruction.modifiers), site.instruction.operands
    types = next((types for pattern, types in _FORMS.items() if re.fullmatch(rf"{pattern}\.b64", form)), None)
    if types is None:
        site.unknown()
    if len(operands) != 1 + len(types) and not (len(operands) == 1 and form.startswith("fractional")):
        site.fail(f"'createpolicy.{form}' is given {len(operands)} operands")
    for operand, type_name in zip(operands[1:], types, strict=False):
        if type_name == "[]":
            address(site, operand, "global")
        else:
            site.reader(operand, type_name)
    write = site.writer(operands[0], "b64")
    return lambda batch: write(batch, _POLICY)


HANDLERS = {"createpolicy": create_policy}
