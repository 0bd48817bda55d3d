"""Names for the values of one function, after what they are; the same text always gives the same names.

In: a function at the scalar level, its folding, and the names that are taken. Out: a hint for each
value, and `FreshNames`: a C++ identifier for it that nothing in scope has.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from tinyc.dialects.cuda.printer.arrays import part_of
from tinyc.dialects.cuda.printer.expressions import LIBRARY
from tinyc.dialects.cuda.printer.prelude import HELPERS
from tinyc.dialects.gpu.kernel import WARP_LANES, Position, axis_of
from tinyc.dialects.gpu.statements import AddressOp, InstructionOp, LoadVectorOp
from tinyc.mlir import arith, func, gpu, ir, memref, scf

_LOOPS = "ijklmpqrst"
_DEPTH = 4  # how far to look for what a position is made of
_THREADS = {gpu.ThreadIdOp: "t", gpu.BlockIdOp: "b", gpu.GridDimOp: "grid_", gpu.BlockDimOp: "block_"}
#: The kind of a word that comes from an address in shared memory.
_SHARED = "shared"
#: What the numbers of a place in a swizzled tile are.
_PLACE_IN_TILE = ("line", "column")
#: What begins the name of an instruction → what its results are called.
_GIVEN = {"cvt.pack": "pair", "ld.": "loaded", "elect": "elected", "cluster.rank": "rank", "ldmatrix": "matrices"}
_Conversion = arith.ExtFOp | arith.TruncFOp | arith.ExtSIOp | arith.ExtUIOp | arith.BitcastOp

#: Words that nothing may be called: of the language, macros, and those that the file uses itself.
RESERVED = frozenset(
    """CHECK_CUDA EOF INFINITY INT32_MIN INT64_MIN M_PI NAN NULL
    UPDATED_16 UPDATED_4 UPDATED_64 abort agree alignas alignof allocate and and_eq
    arena arena_expected argc argument argv asm assert assign auto bit_cast bitand bitor block blockDim blockIdx
    bool break case catch ceil_div char char16_t char32_t class compare compl const constexpr continue d_status
    decltype default delete dim3 do double dynamic_cast else enum errno exit explicit export extern false
    fill_floats fill_integers float floor_div for fprintf friend generator goto grid gridDim half has_blocks
    has_noted if inline int int16_t int32_t int64_t int8_t is_nan larger less_or_greater linux long main
    max_abs_err maximum memcpy minimum multiply_high mutable namespace new noexcept not not_eq nullptr number ok
    operator or or_eq printf private protected ptx public read_size reciprocal_root register require return short
    signed size_t sizeof smaller static status status_expected std stderr stdin stdout strlen struct switch
    template this threadIdx thread_local throw to_device to_host true try typedef typeid typename uint16_t
    uint32_t uint64_t uint8_t union unix unsigned using virtual void volatile wchar_t while wrapping_add
    wrapping_mul wrapping_sub xor xor_eq""".split()  # noqa: SIM905
).union(HELPERS, *((name, f"{name}f") for name in LIBRARY))
#: Functions of the C library, which no kernel may be called.
_LIBRARY = frozenset(
    """abs accept bfloat16 cbrt clock close connect div error exp10 free gamma hypot index j0 j1 jn kill lgamma link
    log10 max min open pause pipe pow pow10 rand read remove rename round select send signal sleep swap system tan
    tgamma time wait write y0 y1 yn""".split()  # noqa: SIM905
)


def cpp_identifier(name: str) -> str:
    """`name` as a C++ identifier."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    text = f"v{text}" if not text or text[0].isdigit() or text[0] == "_" else text
    text = re.sub(r"__+", "_", text)
    return f"{text}_" if text in RESERVED or text.startswith("cuda") else text


def distinct_identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """An identifier for each name of a variable, no two the same."""
    used = set(taken)
    found: list[str] = []
    for name in names:
        found.append(_free(cpp_identifier(name), used))
        used.add(found[-1])
    return found


def function_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """An identifier for each name of a function, no two the same."""
    return distinct_identifiers(names, {*taken, *_LIBRARY})


def _free(text: str, used: set[str]) -> str:
    return next(each for each in (text, *(f"{text}_{n}" for n in range(2, len(used) + 3))) if each not in used)


class FreshNames:
    """Gives names; a scope forgets its own at its end."""

    def __init__(self, taken: Iterable[str], hinted: Iterable[str]) -> None:
        self.taken = set(taken)
        self._counts = Counter(hinted)
        self._next: Counter[str] = Counter()

    def fresh(self, hint: str) -> str:
        """A new name: the hint itself where only one value asks for it, else numbered."""
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
        """The name of a loop's index: the small letter of the extent that ends it, or the next free letter.

        One that goes from tile to tile has a 0 behind it.
        """
        suffix = "0" if over_tiles else ""
        letters = _LOOPS[len(active) :] + _LOOPS
        if extent is not None and len(extent) == 1 and extent.isupper():
            letters = extent.lower() + letters
        free = (f"{letter}{suffix}" for letter in letters if f"{letter}{suffix}" not in self.taken)
        return next(free, None) or self.fresh("index")


def name_hint(value: ir.Value, buffers: Mapping[ir.Value, str], extents: Mapping[ir.Value, str]) -> str:
    """A readable name for a value: after its loop, its buffer, its type or the extent that bounds it."""
    if isinstance(value, ir.BlockArgument):
        return _carried(value)
    op = value.owner
    if isinstance(op, InstructionOp):
        return _given(op)
    if isinstance(op, gpu.ShuffleOp) and str(value.type) == "i32":
        return "warp"
    if isinstance(op, Position):
        return f"{_THREADS[type(op)]}{axis_of(op)}"
    if isinstance(op, _Conversion) and isinstance(op.in_.owner, memref.LoadOp | LoadVectorOp):
        return name_hint(op.in_, buffers, extents)
    if isinstance(op, memref.LoadOp | LoadVectorOp):
        name = buffers.get(op.operands[0], "loaded")
        short = name.removeprefix("tile_")
        return short.lower() if short.lower() != name and len(short) <= 8 else f"{name}_value"
    if isinstance(op, scf.ForOp):
        return "acc"
    return _by_type(value, extents)


def _by_type(value: ir.Value, extents: Mapping[ir.Value, str]) -> str:
    kind = str(value.type)
    if kind == "index":
        return _bounded_by(value, extents) or _of_threads(value)
    if kind == "i1" and isinstance(value.owner, arith.CmpIOp) and _is_next(value.owner.lhs):
        return "wraps"
    if kind == "i1" and _is_oddness(value.owner):
        return "is_odd"
    if kind == "i1":
        return "inside" if isinstance(value.owner, arith.CmpIOp | arith.AndIOp) else "holds"
    if kind == "i32":
        return _of_word(value)
    return "v" if kind.startswith(("f", "b")) else "word"


def _is_next(value: ir.Value) -> bool:
    """Whether a value is a word that a loop goes on with."""
    return isinstance(value, ir.OpResult) and str(value.type) == "i32" and _of_word(value).startswith("next_")


def _is_oddness(op: object) -> bool:
    """Whether an op compares the lowest bit of a word with 1."""
    if not isinstance(op, arith.CmpIOp) or _number(op.rhs) != 1:
        return False
    rest = op.lhs.owner
    return isinstance(rest, arith.AndIOp) and _number(rest.operands[1]) == 1


def _carried(argument: ir.BlockArgument) -> str:
    """A name for what a loop carries: a sum, or a position and whether it has gone round once more."""
    loop = argument.owner.owner.opview
    if str(argument.type) not in ("i32", "index") or not isinstance(loop, scf.ForOp) or argument.arg_number == 0:
        return "acc"
    carried_on = _carried_on(argument, loop)
    following = carried_on.owner
    if isinstance(following, arith.XOrIOp):
        return "parity"
    if isinstance(carried_on, ir.BlockArgument):  # what another was the time before
        is_other = carried_on.owner == loop.body and carried_on.arg_number > 0
        is_last = is_other and isinstance(_carried_on(carried_on, loop), ir.OpResult)
        return f"last_{_carried(carried_on)}" if is_last else "acc"
    if isinstance(following, scf.ForOp) and isinstance(carried_on, ir.OpResult):  # an inner loop goes on with it
        return _carried(following.inner_iter_args[carried_on.result_number])
    return "stage" if isinstance(following, arith.SelectOp | arith.AndIOp | arith.RemUIOp) else "acc"


def _carried_on(argument: ir.BlockArgument, loop: scf.ForOp) -> ir.Value:
    """What a carried value is the next time."""
    return loop.body.operations[len(loop.body.operations) - 1].operands[argument.arg_number - 1]


def _given(op: InstructionOp) -> str:
    """A name for what an instruction gives."""
    array, name = part_of(op)[0], op.entry.name
    if array:
        return array
    found = (hint for start, hint in _GIVEN.items() if name.startswith(start))
    return "acc" if op.entry.updated else next(found, "word")


def _of_word(value: ir.Value) -> str:
    """A name for a word after what it is used for, or the thread numbers or the shared memory that it comes from."""
    op = value.owner
    if isinstance(op, AddressOp):
        return "base"
    if isinstance(op, arith.IndexCastOp) and isinstance(op.in_.owner, gpu.ThreadIdOp):
        return "thread"
    if isinstance(op, arith.IndexCastOp) and isinstance(op.in_.owner, gpu.BlockIdOp):
        return "block"
    if isinstance(op, arith.ExtUIOp) and str(op.in_.type) == "i1":
        return "flag"
    if isinstance(op, arith.AndIOp) and name_hint(op.lhs, {}, {}) == "thread" and _number(op.rhs) == WARP_LANES - 1:
        return "lane"
    if isinstance(op, arith.ShRUIOp) and name_hint(op.lhs, {}, {}) == "warp" and _number(op.rhs) == 2:
        return "warpgroup"
    following = op.false_value.owner if isinstance(op, arith.SelectOp) else op
    if isinstance(following, arith.AddIOp) and isinstance(following.lhs, ir.BlockArgument):
        carried = name_hint(following.lhs, {}, {})
        if carried == "stage" or _number(following.rhs) == 1:
            return f"next_{carried}"
    if isinstance(op, arith.IndexCastOp) and isinstance(op.in_.owner, arith.MinUIOp):
        return "left"
    if isinstance(op, arith.SelectOp) and isinstance(op.condition.owner, arith.CmpIOp) and _is_size(value):
        return "bytes"
    if _SHARED in {kind for kind, _ in _sources(value, _DEPTH)}:
        return "barrier" if _is_barrier(value) else "tile"
    return _in_tile(value) or "offset"


def _is_size(value: ir.Value) -> bool:
    """Whether a word says how many bytes copies read."""
    users = [use.owner for use in value.uses]
    return all(isinstance(each, InstructionOp) and each.entry.name.startswith("cp.async") for each in users)


def _is_barrier(value: ir.Value) -> bool:
    """Whether a word is where mbarriers are."""
    users = [use.owner for use in value.uses]
    sums = [user for user in users if isinstance(user, arith.AddIOp)]
    waits = any(isinstance(user, InstructionOp) and user.entry.name.startswith("mbarrier.") for user in users)
    return waits or any(_is_barrier(each.result) for each in sums)


def _in_tile(value: ir.Value) -> str | None:
    """The name of a word that says a line or a column of a tile, or the first of several."""
    for use in value.uses:
        user = use.owner
        if isinstance(user, func.CallOp) and len(user.operands) == len(_PLACE_IN_TILE):
            return _PLACE_IN_TILE[use.operand_number]
        if isinstance(user, arith.AddIOp) and use.operand_number == 0 and _number(user.rhs) is not None:
            found = _in_tile(user.result)
            if found is not None:
                return found
    return None


def _number(value: ir.Value) -> int | None:
    op = value.owner
    return ir.IntegerAttr(op.value).value if isinstance(op, arith.ConstantOp) else None


def _bounded_by(value: ir.Value, extents: Mapping[ir.Value, str]) -> str | None:
    """The small letter of the extent that an index is compared with."""
    for use in value.uses:
        op = use.owner
        if isinstance(op, arith.CmpIOp) and use.operand_number == 0 and op.rhs in extents:
            name = extents[op.rhs]
            return name.lower() if name.lower() != name and len(name) == 1 else None
    return None


def _of_threads(value: ir.Value) -> str:
    """A name for a position after the thread and CTA numbers that it comes from; "at" for any other."""
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


def _sources(value: ir.Value, depth: int) -> set[tuple[str, str]]:
    """The (kind, axis) of the thread and CTA numbers that a position is computed from; ("", "") for others."""
    op = value.owner
    if isinstance(op, ir.Block) or depth == 0:
        return {("", "")}
    if isinstance(op, arith.ConstantOp):
        return set()
    if isinstance(op, AddressOp):
        return {(_SHARED, "")}
    if isinstance(op, Position):
        return {(_THREADS[type(op)], axis_of(op))}
    return {source for each in op.operands for source in _sources(each, depth - 1)}
