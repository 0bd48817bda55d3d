"""`atom` and `red`: read, compute and write as one, lane after lane in the order of their numbers.

Lanes that hit one word do so in turn; lanes of different words go together. Source: PTX ISA, `atom`, `red`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ptxsim.machine.access import Access, Part
from ptxsim.machine.addresses import address_reader, items
from ptxsim.machine.cta import Batch, Read, Step, Write
from ptxsim.machine.memory_form import ATOMIC, REDUCTION, MemoryForm, memory_form
from ptxsim.machine.site import Site, type_bits
from ptxsim.memory.byte_array import WORDS

#: New words from the old ones and the operands: arrays of one length, as bit patterns.
AtomicUpdate = Callable[..., np.ndarray]

_INTEGERS = {
    f"{kind}{bits}": np.dtype(f"{'i' if kind == 's' else 'u'}{bits // 8}") for kind in "us" for bits in (32, 64)
}
_FLOATS = {
    "f16": np.dtype(np.float16),
    "f16x2": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "bf16x2": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
#: Types whose arithmetic must be asked for with `.noftz`.
_HALVES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
#: Type → how many a vector may have.
_VECTORS = {
    "f32": (2, 4),
    **dict.fromkeys(("f16", "bf16"), (2, 4, 8)),
    **dict.fromkeys(("f16x2", "bf16x2"), (2, 4)),
}


def _bits(function: Callable) -> Callable[[np.dtype], AtomicUpdate]:
    """The maker of an update that computes on words of a type."""

    def make(kind: np.dtype) -> AtomicUpdate:
        def update(old: np.ndarray, *operands: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                result = function(old.view(kind), *(np.ascontiguousarray(each).view(kind) for each in operands))
            return result.astype(kind).view(old.dtype)

        return update

    return make


def _increment(old: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.where(old >= bound, 0, old + old.dtype.type(1))


def _decrement(old: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.where((old == 0) | (old > bound), bound, old - old.dtype.type(1))


def _flushing_add(old: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Add f32 words of global memory, where subnormal operands and results become zeros of their sign."""
    total = _flushed(old) + _flushed(value)
    return _flushed(total)


def _flushed(values: np.ndarray) -> np.ndarray:
    tiny = np.abs(values) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), values), values)


_OPERATIONS: dict[str, tuple[Callable, frozenset[str]]] = {
    "and": (np.bitwise_and, frozenset({"b32", "b64"})),
    "or": (np.bitwise_or, frozenset({"b32", "b64"})),
    "xor": (np.bitwise_xor, frozenset({"b32", "b64"})),
    "exch": (lambda old, new: new, frozenset({"b32", "b64", "b128"})),
    "cas": (lambda old, expected, new: np.where(old == expected, new, old), frozenset({"b16", "b32", "b64", "b128"})),
    "add": (np.add, frozenset({"u32", "s32", "u64", *_FLOATS})),
    "inc": (_increment, frozenset({"u32"})),
    "dec": (_decrement, frozenset({"u32"})),
    "min": (np.minimum, frozenset({*_INTEGERS, "f16", "f16x2", "bf16", "bf16x2"})),
    "max": (np.maximum, frozenset({*_INTEGERS, "f16", "f16x2", "bf16", "bf16x2"})),
}
#: Operations whose order among the lanes changes no result: they may go word by word, without turns.
_ANY_ORDER = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
}


@dataclass(frozen=True)
class _Atomic:
    """One atomic instruction: how it accesses memory, what it computes, where its operands come from."""

    access: Access
    update: AtomicUpdate
    flushing: AtomicUpdate | None
    at_once: tuple[np.ufunc, np.dtype] | None
    addresses: Read
    operands: tuple[tuple[Read, ...], ...]
    write: tuple[Write, ...] | None

    def __call__(self, batch: Batch) -> None:
        values = [self._operand(batch, reads) for reads in self.operands]
        olds = np.zeros(batch.mask.shape + self.tail, WORDS[self.access.width])
        for part in self.access.parts(batch, self.addresses(batch)):
            self._apply(part, values, olds)
        if self.write is not None:
            for number, write in enumerate(self.write):
                write(batch, olds if len(self.write) == 1 else olds[..., number])

    @property
    def swaps(self) -> bool:
        """Whether it is a compare-and-swap, which alone may leave memory as it is."""
        return len(self.operands) == 2

    @property
    def tail(self) -> tuple[int, ...]:
        """The last axis of a lane's words, where there are several."""
        return () if self.access.count == 1 else (self.access.count,)

    def _operand(self, batch: Batch, reads: tuple[Read, ...]) -> np.ndarray:
        parts = [np.broadcast_to(read(batch), batch.mask.shape + read(batch).shape[2:]) for read in reads]
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=-1)

    def _apply(self, part: Part, values: list[np.ndarray], olds: np.ndarray) -> None:
        mask = part.batch.mask
        view = part.memory.view(self.access.width, self.access.count)
        index = part.index.reshape(-1)
        words, lanes = index >> view.shift, np.flatnonzero(mask)
        chosen = [value.reshape(-1, *self.tail)[lanes] for value in values]
        state = view.state.take(words, axis=0, mode="clip")
        usable = None
        if (state != view.ready).any() or (index & (self.access.size - 1)).any():
            usable = self.access.examine(part).reshape(-1)
        if not self.swaps:
            part.batch.launch.observer.accessed(self.access, part.batch, part.memory, part.index, usable)
        if usable is not None:
            words, lanes, chosen = words[usable], lanes[usable], [each[usable] for each in chosen]
        view.state[words] = view.ready
        flat = olds.reshape(-1, *self.tail)
        if self.write is None and self.at_once is not None:
            function, kind = self.at_once
            launch, before = part.batch.launch, view.data[words]
            function.at(view.data.view(kind), words, np.ascontiguousarray(chosen[0]).view(kind))
            launch.progress += not launch.watched or bool((view.data[words] != before).any())
            return
        update = self.flushing if self.flushing is not None and part.space == "global" else self.update
        written = np.zeros(len(words), bool)
        for turn in _turns(words):
            old = view.data[words[turn]]
            if self.swaps:
                written[turn] = old == chosen[0][turn]
            flat[lanes[turn]] = old
            new = update(old, *(each[turn] for each in chosen))
            view.data[words[turn]] = new
            part.batch.launch.progress += bool((new != old).any())
        if self.swaps:
            all_lanes = np.zeros(len(index), bool)
            all_lanes[slice(None) if usable is None else usable] = written
            part.batch.launch.observer.accessed(self.access, part.batch, part.memory, part.index, usable, all_lanes)


def _turns(words: np.ndarray) -> list[np.ndarray]:
    """The positions of `words` in turns without any word twice, each word's in order."""
    order = np.argsort(words, kind="stable")
    ordered = words[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(words) else np.zeros(0, bool)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(words)), 0))
    rank = np.arange(len(words)) - starts
    return [order[rank == turn] for turn in range(int(rank.max()) + 1)] if len(words) else []


def atomic(site: Site) -> Step:
    """`atom{.sem}{.scope}{.space}.op{.hints}{.vec}.type d, [a], b{, c};` and `red` without `d`."""
    returns = site.instruction.opcode == "atom"
    shape = memory_form(site, ATOMIC if returns else REDUCTION)
    words = tuple(word for word in shape.words if word != "noftz")
    if len(words) != 2 or words[0] not in _OPERATIONS or not _exists(*words, shape, returns):
        site.unknown()
    operation, type_name = words
    if shape.words.count("noftz") != (type_name in _HALVES):
        site.unknown()
    count = returns + 2 + (operation == "cas")
    operands = site.operands(count + shape.cached)[:count]
    return _atomic(site, shape, operation, type_name, operands, returns)


def _exists(operation: str, type_name: str, shape: MemoryForm, returns: bool) -> bool:
    """Whether there is this operation: vectors, and extremes of halves, are those of global memory only."""
    if type_name not in _OPERATIONS[operation][1] or (not returns and operation in ("exch", "cas")):
        return False
    in_vectors = operation in ("add", "min", "max") and shape.count in _VECTORS.get(type_name, ())
    if shape.count > 1 or (operation != "add" and type_name in _HALVES):
        return in_vectors and shape.space in ("generic", "global")
    return shape.space in ("generic", "global", "shared", "shared::cluster")


def _atomic(site: Site, shape: MemoryForm, operation: str, type_name: str, operands: tuple, returns: bool) -> Step:
    function = _OPERATIONS[operation][0]
    space, addresses = address_reader(site, operands[returns], shape.space)
    bits = type_bits(type_name)
    if bits == 128:
        site.fail("atomics of 128 bits are not modelled")
    access = Access(space, bits // 8, shape.count, site.index, "atomic", _order(shape.order), _scope(site, shape.scope))
    kind = _FLOATS.get(type_name) or _INTEGERS.get(type_name) or np.dtype(f"u{bits // 8}")
    if operation in ("min", "max") and type_name in _FLOATS:
        function = {"min": np.fmin, "max": np.fmax}[operation]
    flushing = _bits(_flushing_add)(kind) if (operation, type_name) == ("add", "f32") else None
    at_once = (
        (_ANY_ORDER[operation], kind) if operation in _ANY_ORDER and kind.kind in "iu" and shape.count == 1 else None
    )
    sources = tuple(
        tuple(site.reader(item, type_name) for item in items(operand, shape.count, site))
        for operand in operands[returns + 1 :]
    )
    write = None
    if returns:
        write = tuple(site.writer(item, type_name) for item in items(operands[0], shape.count, site))
    return _Atomic(access, _bits(function)(kind), flushing, at_once, addresses, sources, write)


def _order(written: str) -> str:
    return "relaxed" if written == "weak" else written


def _scope(site: Site, found: str) -> str:
    """The scope: without one an atomic is of the GPU."""
    return found if found in site.instruction.modifiers else "gpu"


HANDLERS = {"atom": atomic, "red": atomic}
