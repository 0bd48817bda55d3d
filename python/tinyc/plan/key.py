"""The key of a region, under which a plan table has its plan.

In: a `region.kernel`. Out: 16 hexadecimal digits of a hash of its text: the buffers with their extents, the ops with
their attributes. Locations, the kernel's name, its plan and what its CPU multiplies by do not count, so that a region
has the same key in every process, for every CPU, in a program that names it otherwise, and once it has a plan.
"""

import hashlib

from tinyc.mlir import ir

_DIGITS = 16
_UNCOUNTED = ("sym_name", "plan", "dot")


def region_key(kernel: ir.OpView) -> str:
    """The key of a `region.kernel`, which is left as it is."""
    copy = kernel.clone(ip=False)
    for name in _UNCOUNTED:
        if name in copy.attributes:
            del copy.attributes[name]
    # Without its name the copy does not verify; in its own scope it names no alias of the module.
    text = copy.get_asm(print_generic_op_form=True, use_local_scope=True, assume_verified=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
