"""What kernels and their buffers are called below the Region layer: the user's names, made legal and distinct.

In: names from the host function and from kernels, which may be any text. Out: identifiers (`codegen.identifiers`).
"""

from collections.abc import Sequence

from tinyc.codegen.identifiers import legal_identifier
from tinyc.dialects.region.kernel import Kernel


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
