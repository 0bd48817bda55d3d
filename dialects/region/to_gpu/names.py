"""What kernels and their buffers are called below the Region layer: the user's names, made legal and distinct.

In: names from the host function and from kernels, which may be any text. Out: identifiers of PTX and C++, but for the
words that a language reserves: who writes it knows them.
"""

import re
from collections.abc import Iterable, Sequence

from tinyc.dialects.region.kernel import Kernel

#: What PTX takes for a number wherever it stands.
_PTX_CONSTANT = "WARP_SZ"


def legal_identifier(text: str, taken: Iterable[str] = ()) -> str:
    """`text` as an identifier that is none of `taken`: other characters become `_`, a number makes it new."""
    stem = re.sub(r"[^A-Za-z0-9_]", "_", text)
    if not stem[:1].isalpha():  # PTX has no identifier `_`, and none that starts with a digit
        stem = f"n{stem}"
    name, number = stem, 0
    while name in taken or name == _PTX_CONSTANT:
        number += 1
        name = f"{stem}_{number}"
    return name


def buffer_names(kernel: Kernel, known: Sequence[Sequence[str]]) -> list[str]:
    """A name for each buffer of a kernel, none of them twice or that of an extent.

    `known` are the names that the host has for each buffer; there it is called as in the first launch, and `in0`, …,
    `out0`, … where the host has none.
    """
    inputs = len(kernel.inputs)
    taken = list(kernel.symbols)
    names: list[str] = []
    for position in range(len(kernel.buffers)):
        default = f"in{position}" if position < inputs else f"out{position - inputs}"
        wanted = next(iter(known[position]), default) if position < len(known) else default
        names.append(legal_identifier(wanted, (*taken, *names)))
    return names
