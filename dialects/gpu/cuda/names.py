"""Names for the values of one function, after what they are; the same text always gives the same names.

In: a function at the scalar level, its folding, and the names that are taken. Out: `Names`: a hint for each value, and
a C++ identifier for it that nothing in scope has.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tinyc.dialects.gpu.cuda.expressions import LIBRARY
from tinyc.mlir import ir

_LOOPS = "ijklmpqrst"
_DEPTH = 4  # how far to look for what a position is made of
_THREADS = {"gpu.thread_id": "t", "gpu.block_id": "b", "gpu.grid_dim": "grid_", "gpu.block_dim": "block_"}
_CONVERSIONS = frozenset(("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.bitcast"))

#: Words that nothing may be called: of the language, macros, and those that the file uses itself.
RESERVED = frozenset(
    """CHECK_CUDA EOF INFINITY INT32_MIN INT64_MIN M_PI NAN NULL abort agree alignas alignof allocate and and_eq arena
    arena_expected argc argument argv asm assert assign atomic_add auto bit_cast bitand bitor block blockDim
    blockIdx bool break case catch ceil_div char char16_t char32_t class compare compl const constexpr continue
    d_status decltype default delete dim3 do double dynamic_cast else enum errno exit explicit export extern
    false fill_floats fill_integers float floor_div for fprintf friend generator goto grid gridDim half
    has_blocks if inline int int16_t int32_t int64_t int8_t is_nan larger less_or_greater linux long main
    max_abs_err maximum memcpy minimum multiply_high mutable namespace new noexcept not not_eq note_index
    nullptr number ok operator or or_eq printf private protected public read_size reciprocal_root register
    report_index require return short signed size_t sizeof smaller static status status_expected std stderr
    stdin stdout strlen struct switch template this threadIdx thread_local throw to_device to_host true try
    typedef typeid typename uint16_t uint32_t uint64_t uint8_t union unix unsigned using virtual void volatile
    wchar_t while wrapping_add wrapping_mul wrapping_sub xor xor_eq""".split()  # noqa: SIM905
).union(*((name, f"{name}f") for name in LIBRARY))
#: Functions of the C library, which no kernel may be called.
_LIBRARY = frozenset(
    """abs accept bfloat16 cbrt clock close connect div error exp10 free gamma hypot index j0 j1 jn kill lgamma link
    log10 max min open pause pipe pow pow10 rand read remove rename round select send signal sleep swap system tan
    tgamma time wait write y0 y1 yn""".split()  # noqa: SIM905
)


def identifier(name: str) -> str:
    """Return `name` as a C++ identifier."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    text = f"v{text}" if not text or text[0].isdigit() or text[0] == "_" else text
    text = re.sub(r"__+", "_", text)
    return f"{text}_" if text in RESERVED or text.startswith("cuda") else text


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return an identifier for each name of a variable, no two the same."""
    used, found = set(taken), []
    for name in names:
        found.append(_free(identifier(name), used))
        used.add(found[-1])
    return found


def function_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Return an identifier for each name of a function, no two the same."""
    return distinct(names, {*taken, *_LIBRARY})


def _free(text: str, used: set[str]) -> str:
    return next(each for each in (text, *(f"{text}_{n}" for n in range(2, len(used) + 3))) if each not in used)


class Names:
    """Gives names; a scope forgets its own at its end."""

    def __init__(self, taken: Iterable[str], hinted: Iterable[str]) -> None:
        self.taken = set(taken)
        self._counts = Counter(hinted)
        self._next: Counter[str] = Counter()

    def fresh(self, hint: str) -> str:
        """Return a new name: the hint itself where only one value asks for it, else numbered."""
        if self._counts[hint] <= 1 and hint not in self.taken:
            name = hint
        else:
            while True:
                name = f"{hint}{self._next[hint]}"
                self._next[hint] += 1
                if name not in self.taken:
                    break
        self.taken.add(name)
        return name

    def loop(self, over_tiles: bool, active: list[str], extent: str | None) -> str:
        """Return the name of a loop's index: the small letter of the extent that ends it, or the next free letter.

        One that goes from tile to tile has a 0 behind it.
        """
        suffix = "0" if over_tiles else ""
        letters = _LOOPS[len(active) :] + _LOOPS
        if extent is not None and len(extent) == 1 and extent.isupper():
            letters = extent.lower() + letters
        free = (f"{letter}{suffix}" for letter in letters if f"{letter}{suffix}" not in self.taken)
        return next(free, None) or self.fresh("index")


def hint(value: Any, buffers: dict[Any, str], extents: dict[Any, str]) -> str:
    """Return what a value might be called."""
    if isinstance(value, ir.BlockArgument):
        return "acc"
    op = value.owner.operation
    if op.name in _THREADS:
        axis = str(op.attributes["dimension"])[-2]
        return f"{_THREADS[op.name]}{axis}"
    if op.name in _CONVERSIONS:
        inner = op.operands[0]
        if isinstance(inner, ir.OpResult) and inner.owner.operation.name == "memref.load":
            return hint(inner, buffers, extents)
    if op.name == "memref.load":
        name = buffers.get(op.operands[0], "loaded")
        short = name.removeprefix("tile_")
        return short.lower() if short.lower() != name and len(short) <= 8 else f"{name}_value"
    if op.name == "scf.for":
        return "acc"
    return _by_type(value, extents)


def _by_type(value: Any, extents: dict[Any, str]) -> str:
    kind = str(value.type)
    if kind == "index":
        return _bounded_by(value, extents) or _of_threads(value)
    if kind == "i1":
        return "inside" if value.owner.operation.name in ("arith.cmpi", "arith.andi") else "holds"
    return "v" if kind.startswith(("f", "b")) else "word"


def _bounded_by(value: Any, extents: dict[Any, str]) -> str | None:
    """Return the small letter of the extent that an index is compared with."""
    for use in value.uses:
        op = use.owner.operation
        if op.name == "arith.cmpi" and use.operand_number == 0 and op.operands[1] in extents:
            name = extents[op.operands[1]]
            return name.lower() if name.lower() != name and len(name) == 1 else None
    return None


def _of_threads(value: Any) -> str:
    """Return a name for a position after the thread and block numbers that it comes from; "at" for any other."""
    sources = _sources(value, _DEPTH)
    kinds, axes = {kind for kind, _ in sources}, {axis for _, axis in sources}
    if kinds == {"grid_"}:
        return "stride"
    if kinds == {"t", "b"}:
        return "first"
    if len(kinds) != 1 or "" in kinds:
        return "at"
    name = "thread" if kinds == {"t"} else "block"
    return f"{name}_{axes.pop()}" if len(axes) == 1 and kinds <= {"t", "b"} else name


def _sources(value: Any, depth: int) -> set[tuple[str, str]]:
    """Return the (kind, axis) of the thread and block numbers that a position is computed from; ("", "") for others."""
    if isinstance(value, ir.BlockArgument) or depth == 0:
        return {("", "")}
    op = value.owner.operation
    if op.name == "arith.constant":
        return set()
    if op.name in _THREADS:
        return {(_THREADS[op.name], str(op.attributes["dimension"])[-2])}
    return set().union(*(_sources(each, depth - 1) for each in op.operands))
