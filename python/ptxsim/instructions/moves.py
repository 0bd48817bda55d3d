"""`mov`, `cvta`, `isspacep`, `mapa`, `getctarank`. Source: PTX ISA, "Data Movement and Conversion Instructions"."""

import numpy as np

from ptxsim.machine.addresses import ADDRESSED_SPACES
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.site import Site, type_bits
from ptxsim.memory.byte_array import WORDS
from ptxsim.memory.windows import BASES, CTA_STRIDE, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.parsing.syntax import Address, Location, Sink, Vector

_TYPES = frozenset({*(f"{kind}{bits}" for kind in "bus" for bits in (16, 32, 64)), "b128", "f32", "f64", "pred"})
_NO_SHORT_ADDRESSES = "generic addresses of 32 bits are not modelled; use .address_size 64"


def move(site: Site) -> Step:
    """`mov.type d, a;` of a register, constant, special register or address, and to or from a vector of parts."""
    instruction = site.instruction
    if len(instruction.modifiers) != 1 or instruction.modifiers[0] not in _TYPES:
        site.unknown()
    (type_name,) = instruction.modifiers
    target, source = site.operands(2)
    if isinstance(source, Vector) and isinstance(target, Vector):
        site.fail("a vector is moved to one register, or from one")
    if isinstance(source, Vector):
        return _pack(site, type_name, target, source.items)
    if isinstance(target, Vector):
        return _unpack(site, type_name, target.items, source)
    write = site.writer(target, type_name)
    read = _copy(site, source, type_name)
    site.passes_on((source,), (target,))
    return lambda batch: write(batch, read(batch))


def _copy(site: Site, source: object, type_name: str) -> Read:
    """The reader of what is moved: a register, a constant or the address of a variable."""
    if isinstance(source, Address):
        if not isinstance(source.base, Location):
            site.fail("an address that is moved is that of a variable")
        read, offset = site.address_of(source.base, type_name), source.offset
        word = WORDS[type_bits(type_name) // 8]
        return lambda batch: read(batch) + word.type(offset & ~(-1 << type_bits(type_name)))
    return site.reader(source, type_name)


def _part_type(site: Site, type_name: str, count: int) -> str:
    bits, rest = divmod(type_bits(type_name), count)
    if type_name[0] != "b" or rest or bits not in (8, 16, 32, 64):
        site.unknown()
    return f"b{bits}"


def _pack(site: Site, type_name: str, target: object, parts: tuple) -> Step:
    part_type = _part_type(site, type_name, len(parts))
    write = site.writer(target, type_name)
    reads = [_copy(site, part, part_type) for part in parts]
    site.passes_on(parts, (target,))
    bits = type_bits(part_type)
    if type_name == "b128":

        def pack_words(batch: Batch) -> None:
            words = [np.broadcast_to(read(batch), batch.mask.shape).astype(np.uint64) for read in reads]
            halves = len(words) // 2
            shifts = [np.uint64(bits * number) for number in range(halves)]
            pairs = [
                np.bitwise_or.reduce([word << shift for word, shift in zip(group, shifts, strict=True)])
                for group in (words[:halves], words[halves:])
            ]
            write(batch, np.stack(pairs, axis=-1))

        return pack_words
    word = WORDS[type_bits(type_name) // 8].type

    def pack(batch: Batch) -> None:
        packed = reads[0](batch).astype(word)
        for number, read in enumerate(reads[1:], 1):
            packed = packed | (read(batch).astype(word) << word(bits * number))
        write(batch, packed)

    return pack


def _unpack(site: Site, type_name: str, parts: tuple, source: object) -> Step:
    part_type = _part_type(site, type_name, len(parts))
    bits, word = type_bits(part_type), WORDS[type_bits(part_type) // 8]
    targets = [part for part in parts if not isinstance(part, Sink)]
    read = _copy(site, source, type_name)
    site.passes_on((source,), tuple(targets))
    writes = [(number, site.writer(part, part_type)) for number, part in enumerate(parts) if part in targets]
    wide = type_name == "b128"

    def unpack(batch: Batch) -> None:
        packed = read(batch)
        for number, write in writes:
            whole = packed[..., number * bits // 64] if wide else packed
            shift = whole.dtype.type(number * bits % 64)
            write(batch, (whole >> shift).astype(word))

    return unpack


def convert_address(site: Site) -> Step:
    """`cvta.space.size d, a;` to a generic address, `cvta.to.space.size` from one."""
    words = list(site.instruction.modifiers)
    back = words[:1] == ["to"]
    words = words[back:]
    if len(words) != 2 or words[0] not in ADDRESSED_SPACES or words[1] not in ("u32", "u64"):
        site.unknown()
    space, type_name = ADDRESSED_SPACES[words[0]].partition("::")[0], words[1]
    target, source = site.operands(2)
    base = BASES["param::entry" if space == "param" else space]
    if isinstance(source, Location) and source.space.partition("::")[0] != space:
        site.fail(f"'{source.variable.name}' is in {source.space} memory, not in {space}")
    write = site.writer(target, type_name)
    read = site.reader(source, type_name)
    site.passes_on((source,), (target,))
    if type_name == "u32":
        site.fail(_NO_SHORT_ADDRESSES)
    moved = np.uint64((-base if back else base) & ~(-1 << 64))
    return lambda batch: write(batch, read(batch) + moved)


def is_space(site: Site) -> Step:
    """`isspacep.space p, a;`: whether a generic address is in a window."""
    words = site.instruction.modifiers
    if len(words) != 1 or words[0] not in ADDRESSED_SPACES or words[0] == "param::func":
        site.unknown()
    target, source = site.operands(2)
    write, read = site.writer(target, "pred"), site.reader(source, "u64")
    site.passes_on((source,), (target,))
    cta_only = words[0] in ("shared", "shared::cta")
    wanted = "param::entry" if words[0].startswith("param") else ADDRESSED_SPACES[words[0]].partition("::")[0]
    windows = [window for window, space in SPACE_OF_WINDOW.items() if wanted in (space, "global")]

    def step(batch: Batch) -> None:
        addresses = read(batch)
        window = addresses >> np.uint64(WINDOW_BITS)
        inside = np.isin(window, windows, invert=wanted == "global")
        if cta_only:
            rank = ((addresses - np.uint64(BASES["shared"])) // np.uint64(CTA_STRIDE)).astype(np.int64) - 1
            inside &= (rank == -1) | (rank == batch.cta.rank)
        write(batch, inside)

    return step


def _shared_window(site: Site) -> tuple[str, np.unsignedinteger]:
    """The type of `{.shared::cluster}.type`, and where shared memory begins among such addresses."""
    match site.instruction.modifiers:
        case ("shared::cluster", "u32" | "u64" as type_name):
            return type_name, WORDS[type_bits(type_name) // 8].type(0)
        case ("u64",):
            return "u64", np.uint64(BASES["shared"])
        case ("u32",):
            site.fail(_NO_SHORT_ADDRESSES)
    site.unknown()


def map_address(site: Site) -> Step:
    """`mapa{.shared::cluster}.type d, a, b;`: the address of `a` in the shared memory of the CTA of rank `b`."""
    type_name, base = _shared_window(site)
    target, source, rank = site.operands(3)
    write, read, rank_of = site.writer(target, type_name), site.reader(source, type_name), site.reader(rank, "u32")
    site.passes_on((source, rank), (target,))
    word = type(base)

    def step(batch: Batch) -> None:
        offset = (read(batch) - base) % word(CTA_STRIDE)
        write(batch, base + offset + (rank_of(batch).astype(word) + word(1)) * word(CTA_STRIDE))

    return step


def rank_of_address(site: Site) -> Step:
    """`getctarank{.shared::cluster}.type d, a;`: the rank of the CTA whose shared memory holds `a`."""
    type_name, base = _shared_window(site)
    target, source = site.operands(2)
    write, read = site.writer(target, "u32"), site.reader(source, type_name)
    site.passes_on((source,), (target,))
    word = type(base)

    def step(batch: Batch) -> None:
        number = ((read(batch) - base) // word(CTA_STRIDE)).astype(np.int64) - 1
        write(batch, np.where(number < 0, batch.cta.rank, number).astype(np.uint32))

    return step


HANDLERS = {
    "mov": move,
    "cvta": convert_address,
    "isspacep": is_space,
    "mapa": map_address,
    "getctarank": rank_of_address,
}
