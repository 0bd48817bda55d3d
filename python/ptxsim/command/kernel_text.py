"""What `ptxsim --list` says about a kernel: what a launch has to give it.

In: how the kernel is declared. Out: lines of text.
"""

from collections.abc import Sequence

from ptxsim.errors import PtxError
from ptxsim.loaded_module import SharedMemory
from ptxsim.parsing.syntax import Function, Variable


def kernel_lines(kernel: Function, shared: SharedMemory, refused: PtxError | None) -> list[tuple[str, str]]:
    """Titles and texts: the kernel's name, its parameters, block, cluster and shared memory, and why it cannot run."""
    directives = kernel.directives
    found = [("kernel", kernel.name)]
    found += [("param", f"{number}  {_parameter(each)}") for number, each in enumerate(kernel.parameters)]
    if "reqntid" in directives:
        found.append(("block", f"{times(directives['reqntid'])} (required)"))
    elif "maxntid" in directives:
        found.append(("block", f"{times(directives['maxntid'])} threads at most"))
    else:
        found.append(("block", "any"))
    if "reqnctapercluster" in directives:
        found.append(("cluster", f"{times(directives['reqnctapercluster'])} (required)"))
    dynamic = f", and dynamic shared memory: {shared.dynamic}" if shared.dynamic else ""
    found.append(("shared", f"{shared.static_bytes} bytes{dynamic}"))
    if refused is not None:
        found.append(("refused", f"line {refused.line}: {refused.message}"))
    return found


def times(extents: Sequence[int]) -> str:
    """Extents as text: "32 × 32 × 1"."""
    return " × ".join(map(str, extents))


def _parameter(variable: Variable) -> str:
    extents = "".join(f"[{extent}]" for extent in variable.shape)
    return f".{variable.type}{extents}, {variable.size} bytes: {variable.name}"
