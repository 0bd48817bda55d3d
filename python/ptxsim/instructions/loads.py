"""`ld`, `ldu`, `st`. Source: PTX ISA, "Data Movement and Conversion Instructions"."""

from collections.abc import Sequence

import numpy as np

from ptxsim.definedness.undefined_memory import REACHED, defined_words, mark_words, require_defined_in_global
from ptxsim.machine.access import Access
from ptxsim.machine.addresses import address_reader, items
from ptxsim.machine.cta import Batch, Read, Step, Write
from ptxsim.machine.memory_form import LOAD, STORE, UNIFORM_LOAD, memory_form
from ptxsim.machine.site import Site, type_bits
from ptxsim.memory.byte_array import WORDS
from ptxsim.parsing.syntax import Address, Location

_TYPES = frozenset({*(f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)), "b128", "f32", "f64"})
_UNIFORM_SPACES = ("generic", "global")
#: What a lane loads or stores at most.
_MOST_BYTES = 16


def compile_load(site: Site) -> Step:
    """`ld{.order}{.scope}{.space}{.hints}{.vec}.type d, [a]{, cache-policy};`."""
    shape = memory_form(site, LOAD if site.instruction.opcode == "ld" else UNIFORM_LOAD)
    type_name = _type(site, shape.words)
    if site.instruction.opcode == "ldu" and shape.space not in _UNIFORM_SPACES:
        site.unknown()
    target, source, *_ = site.operands(2 + shape.cached)
    space, addresses = address_reader(site, source, shape.space)
    width, count = _words(site, type_name, shape.count)
    targets = items(target, shape.count, site)
    writes = [site.writer(target, type_name) for target in targets]
    if space == "param::entry" and isinstance(source, Address) and isinstance(source.base, Location):
        return _load_argument(site, source.base.offset + source.offset, width, writes, source.base)
    access = Access(space, width, count, site.index, "load", shape.order, shape.scope, passes_on=True)
    _pass_on_loaded(site, access, addresses, targets)
    if type_name == "b128" or count == 1:
        (write,) = writes
        return lambda batch: write(batch, access.load(batch, addresses(batch)))
    return _load_vector(access, addresses, writes)


def _pass_on_loaded(site: Site, access: Access, addresses: Read, targets: tuple) -> None:
    """Note that undefined values come back from memory; a target of 128 bits takes two words."""
    words = access.count // len(targets)
    for number, target in enumerate(targets):

        def rule(batch: Batch, states: Sequence[np.ndarray], first: int = number * words) -> np.ndarray:
            known = defined_words(access, batch, addresses(batch))
            return np.logical_and.reduce(known[..., first : first + words], axis=-1)

        site.passes_on(REACHED.get(access.space, ()), (target,), rule)
    site.copies_unwritten = access.copies_unwritten.intersection(REACHED.get(access.space, ()))


def _load_vector(access: Access, addresses: Read, writes: list[Write]) -> Step:
    def step(batch: Batch) -> None:
        values = access.load(batch, addresses(batch))
        for lane, write in enumerate(writes):
            write(batch, values[..., lane])

    return step


def _load_argument(site: Site, offset: int, width: int, writes: list[Write], base: Location) -> Step:
    """The load of a kernel's argument from a known place: the same value for all threads."""
    first = offset - base.offset
    if first < 0 or first + width * len(writes) > base.variable.size or offset % (width * len(writes)):
        site.fail(
            f"bytes {first} and on of parameter '{base.variable.name}' ({base.variable.size} bytes) are not its own"
        )

    def step(batch: Batch) -> None:
        words = batch.launch.arguments.data[offset : offset + width * len(writes)].view(WORDS[width])
        for write, word in zip(writes, words, strict=True):
            write(batch, word.reshape(1, 1))

    return step


def compile_store(site: Site) -> Step:
    """`st{.order}{.scope}{.space}{.hints}{.vec}.type [a], b{, cache-policy};`."""
    shape = memory_form(site, STORE)
    type_name = _type(site, shape.words)
    target, source, *_ = site.operands(2 + shape.cached)
    space, addresses = address_reader(site, target, shape.space)
    if space in ("const", "param::entry"):
        site.fail(f"memory of space {space} cannot be written")
    width, count = _words(site, type_name, shape.count)
    values = items(source, shape.count, site)
    reads = [site.reader(value, type_name) for value in values]
    access = Access(space, width, count, site.index, "store", shape.order, shape.scope)
    step = _store_vector(access, addresses, reads) if len(reads) > 1 else _store_one(access, addresses, reads[0])
    _pass_on_stored(site, access, addresses, values, step)
    return step


def _store_one(access: Access, addresses: Read, read: Read) -> Step:
    return lambda batch: access.store(batch, addresses(batch), _all_lanes(batch, read(batch)))


def _all_lanes(batch: Batch, values: np.ndarray) -> np.ndarray:
    shape = batch.mask.shape + values.shape[2:]
    return values if values.shape == shape else np.broadcast_to(values, shape)


def _store_vector(access: Access, addresses: Read, reads: list[Read]) -> Step:
    def step(batch: Batch) -> None:
        values = np.empty((*batch.mask.shape, access.count), WORDS[access.width])
        for lane, read in enumerate(reads):
            values[..., lane] = read(batch)
        access.store(batch, addresses(batch), values)

    return step


def _pass_on_stored(site: Site, access: Access, addresses: Read, values: tuple, compile_store: Step) -> None:
    """Note that undefined values go to memory, where their bytes are marked; to global memory they must not go."""
    if access.space == "global":
        for value in values:
            site.decides(value, "a value stored to global memory")
        return
    site.passes_on(values, REACHED[access.space])
    words = access.count // len(values)

    def with_states(states: list[Read]) -> Step:
        def step(batch: Batch) -> None:
            known = [np.broadcast_to(state(batch), batch.mask.shape) for state in states]
            defined, places = np.repeat(np.stack(known, axis=-1), words, axis=-1), addresses(batch)
            require_defined_in_global(access, batch, places, defined)
            compile_store(batch)
            mark_words(access, batch, places, defined)

        return step

    site.step_with_states = with_states


def _type(site: Site, words: tuple[str, ...]) -> str:
    if len(words) != 1 or words[0] not in _TYPES:
        site.unknown()
    return words[0]


def _words(site: Site, type_name: str, count: int) -> tuple[int, int]:
    """The bytes of a word and how many of them a lane accesses."""
    bits = type_bits(type_name)
    if count * bits // 8 > _MOST_BYTES:
        site.unknown()
    return (8, 2 * count) if bits == 128 else (bits // 8, count)


HANDLERS = {"ld": compile_load, "ldu": compile_load, "st": compile_store}
