"""What the kernels of a module's GPU code are called, at any layer below the regions.

In: a module. Out: the names of its functions in `gpu.module`s, and of the entries of the PTX in `gpu.binary`s.
"""

import re
from typing import Any

_FUNCTIONS = ("gpu.func", "llvm.func")
_ENTRY = re.compile(r"\.entry ([\w$]+)\(")


def gpu_symbols(module: Any) -> set[str]:
    """Return the names."""
    names: set[str] = set()
    for op in (each.operation for each in module.body.operations):
        if op.name == "gpu.module":
            inside = [each.operation for each in op.regions[0].blocks[0].operations]
            names.update(each.attributes["sym_name"].value for each in inside if each.name in _FUNCTIONS)
        elif op.name == "gpu.binary":
            names.update(_ENTRY.findall(str(op.attributes["objects"])))
    return names
