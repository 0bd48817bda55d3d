"""The PTX instructions that kernels are written with beyond plain arithmetic and memory: the one table of them.

A name, such as "mma.sync.m16n8k16.f32.f16" or "wgmma.m64n256k16.f32.f16.f16.tb", says the instruction with its
parameters; `instruction` gives its text, and the types of what it takes and gives. Addresses in shared memory are 32
bits wide, others 64. An operand that is updated in place, as accumulators are, is a result as well.

**Source:** PTX ISA 8.0, the section of each instruction.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Instruction:
    """One instruction, or the few that belong together.

    `ptx` has `{0}`, `{1}`, … for what is `updated`, or the `results`, then the `operands`; each is a type's name, i32,
    i64 or f32. A `pure` one depends on nothing but its operands, and may go where nothing uses its results. `fragments`
    says how many operands, from the first on, are the registers of a fragment each: (4, 2).
    """

    name: str
    ptx: str
    updated: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    pure: bool = False
    fragments: tuple[int, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The types of what it gives: what was updated, or the results."""
        return self.updated or self.results

    def text(self, write: Callable[[int], str]) -> str:
        """The PTX with `write(number)` for each of its places."""
        return _PLACE.sub(lambda found: write(int(found[1])), self.ptx)

    @functools.cached_property
    def asm(self) -> str:
        """The text as LLVM's inline assembly has it: an instruction a line, as those who read PTX by lines want it."""
        return _LINE_END.sub(r"\1\n", self.text(lambda number: f"${number}"))

    @functools.cached_property
    def constraints(self) -> str:
        """The registers of its places, as LLVM's inline assembly has them: results, operands, what is updated again."""
        given = [f"={_REGISTERS[kind]}" for kind in self.given]
        tied = [str(number) for number in range(len(self.updated))]
        memory = [] if self.pure else ["~{memory}"]
        return ",".join([*given, *(_REGISTERS[kind] for kind in self.operands), *tied, *memory])


_PLACE = re.compile(r"\{(\d+)\}")
#: Behind an instruction, a label, or the brace that opens a scope, where another one follows.
_LINE_END = re.compile(r"(;|:(?=\s)|^\{(?=\.reg))\s*(?!$)")
_REGISTERS = {"i32": "r", "i64": "l", "f32": "f"}


@functools.cache
def instruction(name: str) -> Instruction | None:
    """The instruction called `name`, or None; with ".if" behind it, done where its last operand, an i32, is not 0.

    So a thread of many does something without a branch around it, by which LLVM may part what all do together.
    """
    base = instruction(name.removesuffix(".if")) if name.endswith(".if") else None
    if base is not None:
        return _noted(_conditional(name, base)) if _may_be_conditional(base) else None
    for family in _FAMILIES:
        found = family.pattern.fullmatch(name)
        if found is not None:
            return _noted(family.make(name, *found.groups()))
    return None


def _may_be_conditional(base: Instruction) -> bool:
    """Whether it gives nothing, and is no loop."""
    return not base.given and ":}" not in base.ptx


def _conditional(name: str, base: Instruction) -> Instruction:
    last = len(base.operands)
    inside = base.ptx.removeprefix("{").removesuffix("}") if base.ptx.startswith("{.reg") else base.ptx
    *before, done = [f"{each.strip()};" for each in inside.split(";") if each.strip()]
    ptx = f"{{.reg .pred run; setp.ne.b32 run, {{{last}}}, 0; {' '.join([*before, f'@run {done}'])}}}"
    return Instruction(name, ptx, operands=(*base.operands, "i32"))


#: The texts and constraints of the instructions that were asked for: what this process may have written.
_asked: set[tuple[str, str]] = set()


def _noted(entry: Instruction) -> Instruction:
    _asked.add((entry.asm, entry.constraints))
    return entry


def is_instruction(asm: str, constraints: str) -> bool:
    """Whether inline assembly is an instruction of the table.

    What is read from a file may be any of them: all are written out where one has not been asked for by its name.
    """
    return (asm, constraints) in _asked or (asm, constraints) in _all_texts()


@functools.cache
def _all_texts() -> frozenset[tuple[str, str]]:
    entries = [entry for name in instruction_names() if (entry := instruction(name)) is not None]
    return frozenset((entry.asm, entry.constraints) for entry in entries)


def instruction_names() -> list[str]:
    """The names of all instructions."""
    plain = [name for family in _FAMILIES for name in family.names]
    return [*plain, *(f"{name}.if" for name in plain if instruction(f"{name}.if") is not None)]


@dataclass(frozen=True)
class InstructionFamily:
    """Instructions whose names are one `template`: in braces, between bars, what may stand there.

    `make` takes a name, and what stands in each of its braces.
    """

    template: str
    make: Callable[..., Instruction]

    @functools.cached_property
    def parts(self) -> list[list[str]]:
        """What may stand in each part of a name; every other part is one of the template's braces."""
        return [part.split("|") for part in _BRACES.split(self.template)]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches its names, with a group for each of the braces."""
        words = ["|".join(map(re.escape, part)) for part in self.parts]
        return re.compile("".join(f"({each})" if number % 2 else each for number, each in enumerate(words)))

    @property
    def names(self) -> Iterator[str]:
        """All of its names."""
        yield from map("".join, itertools.product(*self.parts))


_BRACES = re.compile(r"[{}]")


def _any(values: Iterable[int]) -> str:
    """The braces of a number that is one of some."""
    return f"{{{'|'.join(map(str, values))}}}"


def writes_global(name: str) -> bool:
    """Whether the instruction writes to global memory, at the address that it takes or by the tensor map there."""
    return name.startswith(("st.global.", "red.", "tma.store."))


def _list(first: int, count: int) -> str:
    return ", ".join(f"{{{first + number}}}" for number in range(count))


# --- copies -----------------------------------------------------------------------------------------------------------


def _cp_async(name: str, kind: str) -> Instruction:
    cache, size = kind.split(".")
    ptx = f"cp.async.{cache}.shared.global [{{0}}], [{{1}}], {size}, {{2}};"
    return Instruction(name, ptx, operands=("i32", "i64", "i32"))


def _plain(ptx: str, *operands: str, results: tuple[str, ...] = (), pure: bool = False) -> Callable[..., Instruction]:
    def make(name: str, *parameters: str) -> Instruction:
        text = ptx
        for number, parameter in enumerate(parameters):
            text = text.replace(f"<{number}>", parameter)
        return Instruction(name, text, results=results, operands=operands, pure=pure)

    return make


def _tma_load(name: str, rank: str, multicast: str) -> Instruction:
    axes = int(rank)
    space = ".multicast::cluster" if multicast else ""
    mask, start, end = (
        (", mask", f"{{.reg .b16 mask; cvt.u16.u32 mask, {{{axes + 3}}}; ", "}") if multicast else ("",) * 3
    )
    ptx = (
        f"{start}cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{space} "
        f"[{{0}}], [{{1}}, {{{_list(3, axes)}}}], [{{2}}]{mask};{end}"
    )
    operands = ("i32", "i64", "i32", *("i32",) * axes, *(("i32",) if multicast else ()))
    return Instruction(name, ptx, operands=operands)


def _tma_store(name: str, rank: str) -> Instruction:
    axes = int(rank)
    ptx = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [{{1}}, {{{_list(2, axes)}}}], [{{0}}];"
    return Instruction(name, ptx, operands=("i32", "i64", *("i32",) * axes))


# --- matrices ---------------------------------------------------------------------------------------------------------


def _ldmatrix(name: str, count: str, transposed: str) -> Instruction:
    number = int(count)
    ptx = f"ldmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 {{{_list(0, number)}}}, [{{{number}}}];"
    return Instruction(name, ptx, results=("i32",) * number, operands=("i32",))


def _stmatrix(name: str, count: str, transposed: str) -> Instruction:
    number = int(count)
    ptx = f"stmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 [{{0}}], {{{_list(1, number)}}};"
    return Instruction(name, ptx, operands=("i32",) * (number + 1))


def _mma_sync(name: str, kind: str) -> Instruction:
    k, sums, factor = kind.split(".")
    ptx = (
        f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{factor}.{factor}.{sums} "
        f"{{{_list(0, 4)}}}, {{{_list(4, 4)}}}, {{{_list(8, 2)}}}, {{{_list(0, 4)}}};"
    )
    return Instruction(name, ptx, updated=(_SUMS[sums],) * 4, operands=("i32",) * 6, pure=True, fragments=(4, 2))


#: PTX type of sums → type of a register.
_SUMS = {"f32": "f32", "s32": "i32"}


def _wgmma(name: str, n: str, kind: str, a_flag: str, b_flag: str = "") -> Instruction:
    """The product of a warpgroup; A comes from shared memory, or from four registers (".ra")."""
    k, sums, factor = kind.split(".")
    count = int(n) // 2
    from_registers = a_flag == ".ra"
    a = ("i32",) * 4 if from_registers else ("i64",)
    a_text = f"{{{_list(count, 4)}}}" if from_registers else f"{{{count}}}"
    b, scale = count + len(a), count + len(a) + 1
    scales = ", 1, 1" if sums == "f32" else ""
    transposes = "" if factor in ("s8", "u8", "tf32") else f", {int(b_flag == '.tb')}"
    if transposes and not from_registers:
        transposes = f", {int(a_flag == '.ta')}{transposes}"
    ptx = (
        f"{{.reg .pred p; setp.ne.b32 p, {{{scale}}}, 0; "
        f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sums}.{factor}.{factor} "
        f"{{{_list(0, count)}}}, {a_text}, {{{b}}}, p{scales}{transposes};}}"
    )
    fragments = (len(a),) if from_registers else ()
    return Instruction(name, ptx, updated=(_SUMS[sums],) * count, operands=(*a, "i64", "i32"), fragments=fragments)


def _wgmma_wait(name: str, pending: str, count: str, kind: str) -> Instruction:
    """The wait, which the sums that it is for are tied to: nothing may read them before."""
    return Instruction(name, f"wgmma.wait_group.sync.aligned {pending};", updated=(kind,) * int(count))


def _wgmma_wait_of(name: str, count: str, kind: str, words: str) -> Instruction:
    """The wait for all products, which takes what they read of registers: nothing may write to these before."""
    return _reading(_wgmma_wait(name, "0", count, kind), words)


def _wgmma_fence_of(name: str, count: str, kind: str, words: str) -> Instruction:
    """The fence that is of a fragment of A, too."""
    return _reading(_wgmma_fence(name, count, kind), words)


def _fragment_fence(name: str, words: str) -> Instruction:
    """The fence behind which a product reads a fragment of A: its registers have been written before."""
    return _wgmma_fence_of(name, "0", "f32", words)


def _reading(entry: Instruction, words: str) -> Instruction:
    """An instruction that takes so many words of a fragment, and does nothing with them: they are there before it."""
    return replace(entry, operands=("i32",) * int(words))


def _wgmma_fence(name: str, count: str, kind: str) -> Instruction:
    return Instruction(name, "wgmma.fence.sync.aligned;", updated=(kind,) * int(count))


# --- barriers ---------------------------------------------------------------------------------------------------------

_WAIT = (
    "{.reg .pred done; wait: mbarrier.try_wait.parity.shared::cta.b64 done, [{0}], {1}; "
    "@done bra.uni there; bra.uni wait; there:}"
)
_SEMAPHORE_WAIT = (
    "{.reg .pred idle, early; .reg .b32 turn; setp.eq.b32 idle, {2}, 0; @idle bra there; "
    "poll: ld.acquire.gpu.global.u32 turn, [{0}]; setp.ne.b32 early, turn, {1}; @early bra poll; there:}"
)
_ARRIVE_REMOTE = (
    "{.reg .b32 remote; mapa.shared::cluster.u32 remote, {0}, {1}; mbarrier.arrive.shared::cluster.b64 _, [remote];}"
)
_ELECT = "{.reg .pred p; elect.sync _|p, -1; selp.b32 {0}, 1, 0, p;}"


def _shared_access(name: str, bits: str) -> Instruction:
    """A load or a store of the words of an access; what is narrower than a word is in the low bits of one."""
    count, width = max(1, int(bits) // 32), min(int(bits), 32)
    vector = f".v{count}" if count > 1 else ""
    is_load, space = name.startswith("ld"), "shared" if ".shared" in name else "global"
    address = "i32" if space == "shared" else "i64"
    first = 0 if is_load else 1
    listed = f"{{{_list(first, count)}}}" if vector else f"{{{first}}}"
    place = f"[{{{count}}}]" if is_load else "[{0}]"
    if width < 32:
        moved = (
            f"ld.{space}.b{width} part, {place}; cvt.u32.u{width} {{0}}, part;"
            if is_load
            else (f"cvt.u{width}.u32 part, {{1}}; st.{space}.b{width} {place}, part;")
        )
        ptx = f"{{.reg .b16 part; {moved}}}"
    else:
        ptx = f"ld.{space}{vector}.b32 {listed}, {place};" if is_load else f"st.{space}{vector}.b32 {place}, {listed};"
    words = ("i32",) * count
    return (
        Instruction(name, ptx, results=words, operands=(address,))
        if is_load
        else (Instruction(name, ptx, operands=(address, *words)))
    )


_UP_TO_7 = _any(range(8))
#: Columns of a `wgmma`: those of floats, of integers.
_N = _any(range(8, 257, 8))
_N_OF_INTEGERS = _any([8, 16, 24, *range(32, 257, 16)])
#: Accumulators of a thread: pieces of four.
_SUMS_COUNT = _any(range(4, 257, 4))
_REGISTER_COUNT = _any(range(24, 257, 8))
#: Words of a fragment of A: four for 64 rows.
_WORDS = _any(range(4, 17, 4))

_FAMILIES = [
    InstructionFamily(*each)
    for each in (
        ("cp.async.{ca.4|ca.8|ca.16|cg.16}", _cp_async),
        ("cp.async.commit_group", _plain("cp.async.commit_group;")),
        (f"cp.async.wait_group.{_UP_TO_7}", _plain("cp.async.wait_group <0>;")),
        ("tma.load.{1|2|3|4|5}d{|.multicast}", _tma_load),
        ("tma.store.{1|2|3|4|5}d", _tma_store),
        ("bulk.commit_group", _plain("cp.async.bulk.commit_group;")),
        (f"bulk.wait_group.{_UP_TO_7}", _plain("cp.async.bulk.wait_group <0>;")),
        (f"bulk.wait_group.read.{_UP_TO_7}", _plain("cp.async.bulk.wait_group.read <0>;")),
        ("prefetch.tensormap", _plain("prefetch.tensormap [{0}];", "i64")),
        ("ldmatrix.x{1|2|4}{|.trans}", _ldmatrix),
        ("stmatrix.x{1|2|4}{|.trans}", _stmatrix),
        ("mma.sync.m16n8k{16.f32.f16|16.f32.bf16|8.f32.tf32|32.s32.s8|32.s32.u8}", _mma_sync),
        (f"wgmma.m64n{_N}k{{16.f32.f16|16.f32.bf16}}{{|.ta|.ra}}{{|.tb}}", _wgmma),
        (f"wgmma.m64n{_N}k{{8.f32.tf32}}{{|.ra}}", _wgmma),
        (f"wgmma.m64n{_N_OF_INTEGERS}k{{32.s32.s8|32.s32.u8}}{{|.ra}}", _wgmma),
        (f"wgmma.fence.{_SUMS_COUNT}x{{f32|i32}}", _wgmma_fence),
        (f"wgmma.fence.{_SUMS_COUNT}x{{f32|i32}}.ra.{_WORDS}", _wgmma_fence_of),
        (f"wgmma.fence.ra.{_WORDS}", _fragment_fence),
        ("wgmma.commit_group", _plain("wgmma.commit_group.sync.aligned;")),
        (f"wgmma.wait_group.{_UP_TO_7}.{_SUMS_COUNT}x{{f32|i32}}", _wgmma_wait),
        (f"wgmma.wait_group.0.{_SUMS_COUNT}x{{f32|i32}}.ra.{_WORDS}", _wgmma_wait_of),
        ("mbarrier.init", _plain("mbarrier.init.shared::cta.b64 [{0}], {1};", "i32", "i32")),
        ("mbarrier.expect_tx", _plain("mbarrier.arrive.expect_tx.shared::cta.b64 _, [{0}], {1};", "i32", "i32")),
        ("mbarrier.arrive", _plain("mbarrier.arrive.shared::cta.b64 _, [{0}];", "i32")),
        ("mbarrier.arrive.remote", _plain(_ARRIVE_REMOTE, "i32", "i32")),
        ("mbarrier.wait", _plain(_WAIT, "i32", "i32")),
        ("fence.mbarrier_init", _plain("fence.mbarrier_init.release.cluster;")),
        ("fence.proxy.async", _plain("fence.proxy.async.shared::cta;")),
        ("barrier.sync", _plain("bar.sync {0}, {1};", "i32", "i32")),
        ("barrier.warp", _plain("bar.warp.sync -1;")),
        ("barrier.arrive", _plain("bar.arrive {0}, {1};", "i32", "i32")),
        ("cluster.arrive", _plain("barrier.cluster.arrive.release.aligned;")),
        ("cluster.arrive.relaxed", _plain("barrier.cluster.arrive.relaxed.aligned;")),
        ("cluster.wait", _plain("barrier.cluster.wait.acquire.aligned;")),
        ("cluster.rank", _plain("mov.u32 {0}, %cluster_ctarank;", results=("i32",), pure=True)),
        ("ld.shared.{8|16|32|64|128}", _shared_access),
        ("st.shared.{8|16|32|64|128}", _shared_access),
        ("st.global.{8|16|32|64|128}", _shared_access),
        ("elect", _plain(_ELECT, results=("i32",))),
        (f"setmaxnreg.{{inc|dec}}.{_REGISTER_COUNT}", _plain("setmaxnreg.<0>.sync.aligned.u32 <1>;")),
        ("cvt.pack.{f16|bf16}", _plain("cvt.rn.<0>x2.f32 {0}, {1}, {2};", "f32", "f32", results=("i32",), pure=True)),
        ("cvt.tf32", _plain("cvt.rna.tf32.f32 {0}, {1};", "i32", results=("i32",), pure=True)),
        ("ld.acquire", _plain("ld.acquire.gpu.global.u32 {0}, [{1}];", "i64", results=("i32",))),
        ("semaphore.wait.if", _plain(_SEMAPHORE_WAIT, "i64", "i32", "i32")),
        ("red.release", _plain("red.release.gpu.global.add.u32 [{0}], {1};", "i64", "i32")),
    )
]
