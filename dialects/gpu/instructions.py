"""The PTX instructions that kernels are written with beyond plain arithmetic and memory: the one table of them.

A name, such as "mma.sync.m16n8k16.f32.f16" or "wgmma.m64n256k16.f32.f16.f16.tb", says the instruction with its
parameters; `instruction` gives its text, and the types of what it takes and gives. Addresses in shared memory are 32
bits wide, others 64. An operand that is updated in place, as accumulators are, is a result as well.

**Source:** PTX ISA 8.0, the section of each instruction.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass


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

    @property
    def asm(self) -> str:
        """The text as LLVM's inline assembly has it: an instruction a line, as those who read PTX by lines want it."""
        return _LINE_END.sub(r"\1\n", self.text(lambda number: f"${number}"))

    @property
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
    if base is not None and not base.given:
        entry = _conditional(name, base)
        _asked.add((entry.asm, entry.constraints))
        return entry
    for pattern, make in _FAMILIES:
        found = re.fullmatch(pattern, name)
        if found is not None:
            entry = make(name, *found.groups())
            _asked.add((entry.asm, entry.constraints))
            return entry
    return None


def _conditional(name: str, base: Instruction) -> Instruction:
    last = len(base.operands)
    inside = base.ptx.removeprefix("{").removesuffix("}") if base.ptx.startswith("{.reg") else base.ptx
    *before, done = [f"{each.strip()};" for each in inside.split(";") if each.strip()]
    ptx = f"{{.reg .pred run; setp.ne.b32 run, {{{last}}}, 0; {' '.join([*before, f'@run {done}'])}}}"
    return Instruction(name, ptx, operands=(*base.operands, "i32"))


#: The texts and constraints of the instructions that were asked for: what may reach the backend.
_asked: set[tuple[str, str]] = set()


def is_instruction(asm: str, constraints: str) -> bool:
    """Whether inline assembly is an instruction of the table: one that was asked for by its name."""
    return (asm, constraints) in _asked


def writes_global(name: str) -> bool:
    """Whether the instruction writes to global memory, at the address that it takes or by the tensor map there."""
    return name.startswith(("st.global.", "red.", "tma.store."))


def _list(first: int, count: int) -> str:
    return ", ".join(f"{{{first + number}}}" for number in range(count))


# --- copies -----------------------------------------------------------------------------------------------------------


def _cp_async(name: str, cache: str, size: str) -> Instruction:
    ptx = f"cp.async.{cache}.shared.global [{{0}}], [{{1}}], {size}, {{2}};"
    return Instruction(name, ptx, operands=("i32", "i64", "i32"))


def _plain(ptx: str, *operands: str, results: tuple[str, ...] = (), pure: bool = False) -> Callable[..., Instruction]:
    def make(name: str, *parameters: str) -> Instruction:
        text = ptx
        for number, parameter in enumerate(parameters):
            text = text.replace(f"<{number}>", parameter)
        return Instruction(name, text, results=results, operands=operands, pure=pure)

    return make


def _tma_load(name: str, rank: str, multicast: str | None) -> Instruction:
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


def _ldmatrix(name: str, count: str, transposed: str | None) -> Instruction:
    number = int(count)
    ptx = f"ldmatrix.sync.aligned.m8n8.x{count}{transposed or ''}.shared.b16 {{{_list(0, number)}}}, [{{{number}}}];"
    return Instruction(name, ptx, results=("i32",) * number, operands=("i32",))


def _stmatrix(name: str, count: str, transposed: str | None) -> Instruction:
    number = int(count)
    ptx = f"stmatrix.sync.aligned.m8n8.x{count}{transposed or ''}.shared.b16 [{{0}}], {{{_list(1, number)}}};"
    return Instruction(name, ptx, operands=("i32",) * (number + 1))


def _mma_sync(name: str, k: str, sums: str, factor: str) -> Instruction:
    ptx = (
        f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{factor}.{factor}.{sums} "
        f"{{{_list(0, 4)}}}, {{{_list(4, 4)}}}, {{{_list(8, 2)}}}, {{{_list(0, 4)}}};"
    )
    return Instruction(name, ptx, updated=(_SUMS[sums],) * 4, operands=("i32",) * 6, pure=True, fragments=(4, 2))


#: PTX type of sums → type of a register.
_SUMS = {"f32": "f32", "s32": "i32"}


def _wgmma(name: str, n: str, k: str, sums: str, factor: str, a_flag: str | None, b_flag: str | None) -> Instruction:
    """The product of a warpgroup; A comes from shared memory, or from four registers (".ra")."""
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


def _wgmma_fence(name: str, count: str, kind: str) -> Instruction:
    return Instruction(name, "wgmma.fence.sync.aligned;", updated=(kind,) * int(count))


# --- barriers ---------------------------------------------------------------------------------------------------------

_WAIT = (
    "{.reg .pred done; wait: mbarrier.try_wait.parity.shared::cta.b64 done, [{0}], {1}; "
    "@done bra.uni there; bra.uni wait; there:}"
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


_FAMILIES: list[tuple[str, Callable[..., Instruction]]] = [
    (r"cp\.async\.(ca|cg)\.(4|8|16)", _cp_async),
    (r"cp\.async\.commit_group", _plain("cp.async.commit_group;")),
    (r"cp\.async\.wait_group\.(\d)", _plain("cp.async.wait_group <0>;")),
    (r"tma\.load\.([1-5])d(\.multicast)?", _tma_load),
    (r"tma\.store\.([1-5])d", _tma_store),
    (r"bulk\.commit_group", _plain("cp.async.bulk.commit_group;")),
    (r"bulk\.wait_group\.(\d)", _plain("cp.async.bulk.wait_group <0>;")),
    (r"bulk\.wait_group\.read\.(\d)", _plain("cp.async.bulk.wait_group.read <0>;")),
    (r"prefetch\.tensormap", _plain("prefetch.tensormap [{0}];", "i64")),
    (r"ldmatrix\.x([124])(\.trans)?", _ldmatrix),
    (r"stmatrix\.x([124])(\.trans)?", _stmatrix),
    (r"mma\.sync\.m16n8k(8|16|32)\.(f32|s32)\.(f16|bf16|tf32|s8|u8)", _mma_sync),
    (r"wgmma\.m64n(\d+)k(8|16|32)\.(f32|s32)\.(f16|bf16|tf32|s8|u8)(\.ta|\.ra)?(\.tb)?", _wgmma),
    (r"wgmma\.fence\.(\d+)x(f32|i32)", _wgmma_fence),
    (r"wgmma\.commit_group", _plain("wgmma.commit_group.sync.aligned;")),
    (r"wgmma\.wait_group\.(\d)\.(\d+)x(f32|i32)", _wgmma_wait),
    (r"mbarrier\.init", _plain("mbarrier.init.shared::cta.b64 [{0}], {1};", "i32", "i32")),
    (r"mbarrier\.expect_tx", _plain("mbarrier.arrive.expect_tx.shared::cta.b64 _, [{0}], {1};", "i32", "i32")),
    (r"mbarrier\.arrive", _plain("mbarrier.arrive.shared::cta.b64 _, [{0}];", "i32")),
    (r"mbarrier\.arrive\.remote", _plain(_ARRIVE_REMOTE, "i32", "i32")),
    (r"mbarrier\.wait", _plain(_WAIT, "i32", "i32")),
    (r"fence\.mbarrier_init", _plain("fence.mbarrier_init.release.cluster;")),
    (r"fence\.proxy\.async", _plain("fence.proxy.async.shared::cta;")),
    (r"barrier\.sync", _plain("bar.sync {0}, {1};", "i32", "i32")),
    (r"barrier\.arrive", _plain("bar.arrive {0}, {1};", "i32", "i32")),
    (r"cluster\.arrive", _plain("barrier.cluster.arrive.release.aligned;")),
    (r"cluster\.wait", _plain("barrier.cluster.wait.acquire.aligned;")),
    (r"cluster\.rank", _plain("mov.u32 {0}, %cluster_ctarank;", results=("i32",), pure=True)),
    (r"ld\.shared\.(8|16|32|64|128)", _shared_access),
    (r"st\.(?:shared|global)\.(8|16|32|64|128)", _shared_access),
    (r"elect", _plain(_ELECT, results=("i32",))),
    (r"setmaxnreg\.(inc|dec)\.(\d+)", _plain("setmaxnreg.<0>.sync.aligned.u32 <1>;")),
    (r"cvt\.pack\.(f16|bf16)", _plain("cvt.rn.<0>x2.f32 {0}, {1}, {2};", "f32", "f32", results=("i32",), pure=True)),
    (r"cvt\.tf32", _plain("cvt.rna.tf32.f32 {0}, {1};", "i32", results=("i32",), pure=True)),
    (r"ld\.acquire", _plain("ld.acquire.gpu.global.u32 {0}, [{1}];", "i64", results=("i32",))),
    (r"red\.release", _plain("red.release.gpu.global.add.u32 [{0}], {1};", "i64", "i32")),
]
