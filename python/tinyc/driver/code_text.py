"""Programs whose kernels are text that is no IR, PTX or LLVM IR: one file has them and what launches them.

In: the kernels' code and a module with the `exec.function`. Out: the code and, below it, that function's IR in
comments, which every other reader of the code skips. And back: of such a text the module that stands for it, with a
`gpu.binary` of the PTX as --nvvm-to-ptx makes it, or with the LLVM IR as an attribute and its kernels as functions
without a body.

    // The host program, which launches these kernels (tinyc reads it):
    //| module {
    //|   "exec.function"() ({
"""

import re

from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.nvvm.to_ptx import binary_of
from tinyc.driver.listings import listing_suffix
from tinyc.mlir import func, ir
from tinyc.mlir.locations import unescape
from tinyc.runtime.function_names import KERNEL_PREFIX, LOOPS_PREFIX
from tinyc.text import parse, print_ir

#: The attribute of a module that holds the LLVM IR of its kernels.
_LLVM_IR = "exec.llvm_ir"
#: Listing → what begins a comment of its language.
_COMMENTS = {"ptx": "//", "llvm": ";"}

_TITLE = "The host program, which launches these kernels (tinyc reads it):"
_BAR = "| "
#: Listing → what its text has and no IR, where the file does not say what it is.
_SIGNS = {
    "ptx": re.compile(r"^[ \t]*\.version[ \t]+\d", re.MULTILINE),
    "llvm": re.compile(r"^(?:; ModuleID = |source_filename = |target (?:triple|datalayout) = |define )", re.MULTILINE),
}


def _definition(prefix: str) -> re.Pattern[str]:
    """A function of LLVM IR whose name begins so: the rest of its name, in quotes or bare, and its parameters."""
    start = re.escape(prefix)
    return re.compile(rf'^define [^\n@]*@(?:"{start}([^"\n]*)"|{start}([\w.$-]+))\(([^()\n]*)\)', re.MULTILINE)


_KERNELS, _LOOPS = _definition(KERNEL_PREFIX), _definition(LOOPS_PREFIX)


def with_host(code: str, listing: str, module: ir.Module, elide_resources: int | None) -> str:
    """The text of a listing, `code` and the host program of `module`, if it has one; see `print_ir`."""
    functions = exec_functions(module)
    if not functions:
        return code
    with module.context:
        host = ir.Module.create(loc=ir.Location.unknown())
        for function in functions:
            host.body.append(function.operation.clone())
    comment = _COMMENTS[listing]
    shown = print_ir(host, elide_resources=elide_resources).rstrip()
    lines = [f"{comment} {_TITLE}", *(f"{comment}{_BAR}{line}" for line in shown.split("\n"))]
    return f"{code.rstrip()}\n\n" + "\n".join(lines) + "\n"


def read_code(text: str, filename: str | None) -> ir.Module | None:
    """The module that the text of PTX or LLVM IR with a host program means; None for any other text.

    Raises:
        TinycError: `InvalidIr`: there is no host program, or it is malformed; the text is CUDA C++.
    """
    match _listing_of(text, filename):
        case "ptx":
            code, module = _taken_apart(text, "ptx", "; kernels alone run with tinyc simulate", filename)
            with module.context, ir.Location.unknown():
                module.body.append(binary_of(code))
            return module
        case "llvm":
            code, module = _taken_apart(text, "llvm", "", filename)
            with module.context, ir.Location.unknown(), ir.InsertionPoint(module.body):
                module.operation.attributes[_LLVM_IR] = ir.StringAttr.get(code)
                for name in dict.fromkeys(unescape(quoted) or bare for quoted, bare, _ in _KERNELS.findall(code)):
                    func.FuncOp(name, ([], []), visibility="private")
            return module
        case "cu":
            message = "CUDA C++ is compiled by nvcc: nvcc FILE.cu && ./a.out; give the program at a layer before it"
            raise TinycError("InvalidIr", message)
        case "asm":
            message = "assembly is there to be read, and has no program; give one at a layer before it"
            raise TinycError("InvalidIr", message)
    return None


def _listing_of(text: str, filename: str | None) -> str | None:
    """The listing that a text is, by the suffix of its file, and where that is no listing's, by what it has."""
    named = [listing for listing in ("ptx", "llvm", "cu", "asm") if (filename or "").endswith(listing_suffix(listing))]
    return next(iter([*named, *(listing for listing, sign in _SIGNS.items() if sign.search(text))]), None)


def check_parameters(module: ir.Module) -> None:
    """Check that the kernels of a module's LLVM IR take what their launch contracts pass.

    Raises:
        TinycError: `InvalidIr`.
    """
    code = llvm_ir_in(module) or ""
    taken = {unescape(quoted) or bare: types for quoted, bare, types in _LOOPS.findall(code)}
    for kernel in exec_functions(module)[0].meaning().launches:
        if kernel.symbol not in taken:  # an optimiser has put it where it is called
            continue
        found = [each.split()[0] for each in taken[kernel.symbol].split(",") if each.strip()]
        addresses, numbers = len(kernel.pointers) + (kernel.status is not None), len(kernel.extents) + 2
        if found != ["ptr"] * addresses + ["i64"] * numbers:
            raise TinycError(
                "InvalidIr",
                f"the kernel takes {', '.join(found) or 'nothing'}; its launch contract passes {addresses} ptr and "
                f"{numbers} i64, the last two its range",
                Where(node=kernel.symbol),
            )


def llvm_ir_in(module: ir.Module) -> str | None:
    """The LLVM IR that a module stands for; None where it has been read from no such text."""
    held = module.operation.attributes.get(_LLVM_IR, None)
    return held.value if isinstance(held, ir.StringAttr) else None


def _taken_apart(text: str, listing: str, otherwise: str, filename: str | None) -> tuple[str, ir.Module]:
    """The code of a listing, and the module that its comments hold, at its place in the file."""
    title, mark = f"{_COMMENTS[listing]} {_TITLE}", _COMMENTS[listing] + _BAR
    lines = text.split("\n")
    if not any(line.startswith(mark) for line in lines):
        raise TinycError(
            "InvalidIr",
            "the file has kernels only; the host program, which launches them, stands in comments below them in the "
            f"file that tinyc compile --dump {listing} writes: give that one{otherwise}",
        )
    code = [line for line in lines if not line.startswith(mark) and line != title]
    host = [" " * len(mark) + line[len(mark) :] if line.startswith(mark) else "" for line in lines]
    return "\n".join(code).rstrip() + "\n", parse("\n".join(host), filename or "-")
