"""Code for AMX, VNNI and AVX512-BF16, run on a CPU that has none of them: their instructions are emulated.

In: LLVM IR of kernels, which calls LLVM's intrinsics for these instructions. Out: the same code, in which functions of
LLVM IR take their place that compute, in plain vectors, what Intel's manual says that the instructions do: subnormal
bf16 are zeros, and so are subnormal sums; a tile register is 16 rows of 16 words, zeros outside of its shape. A tile's
sums of bf16 are those of even and of odd elements, each in order. No result here says anything of real hardware.
"""

import re

from tinyc.driver.lowering import Lowering
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_archive import archive_of

#: Which CPU runs the code that emulates.
HERE = "x86-64-v3"
_INTRINSIC = re.compile(r"@llvm\.x86\.((?:tdp|tile|avx512bf16\.|avx512\.vpdpb|avx2\.vpdpb)[\w.]*)")
_DECLARATION = re.compile(r"^declare [^\n]*@llvm\.x86\.[^\n]*\n", re.MULTILINE)
_SIGNS = {"s": "sext", "u": "zext"}


def emulated(llvm_ir: str) -> str:
    """The module without the instructions: functions in their place, and vectors in that of tile registers."""
    names = sorted({*_INTRINSIC.findall(llvm_ir)})
    if not names:
        return llvm_ir
    text = _INTRINSIC.sub(r"@emulated.\1", _DECLARATION.sub("", llvm_ir)).replace("x86_amx", _TILE)
    functions = {}
    for name in names:
        functions |= _functions_of(name)
    declared = [each for each in _DECLARED if each.split("(")[0] not in text]
    return "\n".join([text, *declared, *functions.values()])


def emulated_executable(lowering: Lowering, cpu: str, threads: int = 1) -> CpuExecutable:
    """What runs a program's code for a CPU, emulated; `intrinsics_of` says what that has."""
    made = lowering.for_cpu(cpu)
    objects = [compile_object(emulated(unit), HERE).image for unit in made.llvm_units().values()]
    image = archive_of(objects) if len(objects) > 1 else objects[0]
    return CpuExecutable(made.program(), image, made.constants(), threads)


def intrinsics_of(lowering: Lowering, cpu: str) -> set[str]:
    """The intrinsics that multiply in a program's code for a CPU."""
    names = set(_INTRINSIC.findall(lowering.for_cpu(cpu).llvm_ir()))
    return {each for each in names if not each.startswith("tile")}


# --- what instructions do, in LLVM IR ---------------------------------------------------------------------------------

_TILE = "<256 x i32>"
_DECLARED = ("declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)",)


def _functions_of(name: str) -> dict[str, str]:
    """The functions that take the place of an intrinsic, by name."""
    if name.startswith("tile"):
        return {name: _TILE_FUNCTIONS[name]}
    if name == "avx512bf16.dpbf16ps.512":
        return {"bf16": _BF16, name: _DPBF16}
    if name == "tdpbf16ps.internal":
        return {"bf16": _BF16, name: _TDPBF16}
    if name.startswith("tdp"):
        row = f"bytes.{name[4:6]}"
        return {row: _bytes(row, name[4:6], 16), name: _tile_bytes(name, row)}
    signs = name.split("vpdpb")[1][:2]
    return {name: _bytes(name, signs, int(name.rsplit(".", 1)[1]) // 32)}


def _mask(start: int, step: int, count: int) -> str:
    return f"<{count} x i32> <{', '.join(f'i32 {start + step * lane}' for lane in range(count))}>"


def _bytes(name: str, signs: str, lanes: int) -> str:
    """Four products of bytes added to each i32, modulo 2^32."""
    wide, narrow, sums = f"<{4 * lanes} x i32>", f"<{4 * lanes} x i8>", f"<{lanes} x i32>"
    parts = "\n".join(
        f"  %q{at} = shufflevector {wide} %p, {wide} poison, {_mask(at, 4, lanes)}\n"
        f"  %s{at + 1} = add {sums} %s{at}, %q{at}"
        for at in range(4)
    )
    return f"""
define internal {sums} @emulated.{name}({sums} %s0, {narrow} %a, {narrow} %b) {{
  %x = {_SIGNS[signs[0]]} {narrow} %a to {wide}
  %y = {_SIGNS[signs[1]]} {narrow} %b to {wide}
  %p = mul {wide} %x, %y
{parts}
  ret {sums} %s4
}}"""


_BF16 = """
define internal <16 x float> @emulated.bf16(<16 x float> %s, <16 x i32> %a, <16 x i32> %b) {
  %ea = and <16 x i32> %a, splat (i32 2139095040)
  %eb = and <16 x i32> %b, splat (i32 2139095040)
  %za = icmp eq <16 x i32> %ea, zeroinitializer
  %zb = icmp eq <16 x i32> %eb, zeroinitializer
  %na = select <16 x i1> %za, <16 x i32> zeroinitializer, <16 x i32> %a
  %nb = select <16 x i1> %zb, <16 x i32> zeroinitializer, <16 x i32> %b
  %fa = bitcast <16 x i32> %na to <16 x float>
  %fb = bitcast <16 x i32> %nb to <16 x float>
  %r = call <16 x float> @llvm.fma.v16f32(<16 x float> %fa, <16 x float> %fb, <16 x float> %s)
  %bits = bitcast <16 x float> %r to <16 x i32>
  %er = and <16 x i32> %bits, splat (i32 2139095040)
  %zr = icmp eq <16 x i32> %er, zeroinitializer
  %n = select <16 x i1> %zr, <16 x i32> zeroinitializer, <16 x i32> %bits
  %f = bitcast <16 x i32> %n to <16 x float>
  ret <16 x float> %f
}"""

#: The odd elements first, then the even ones.
_DPBF16 = """
define internal <16 x float> @emulated.avx512bf16.dpbf16ps.512(<16 x float> %s, <32 x bfloat> %a, <32 x bfloat> %b) {
  %x = bitcast <32 x bfloat> %a to <16 x i32>
  %y = bitcast <32 x bfloat> %b to <16 x i32>
  %ox = and <16 x i32> %x, splat (i32 -65536)
  %oy = and <16 x i32> %y, splat (i32 -65536)
  %ex = shl <16 x i32> %x, splat (i32 16)
  %ey = shl <16 x i32> %y, splat (i32 16)
  %o = call <16 x float> @emulated.bf16(<16 x float> %s, <16 x i32> %ox, <16 x i32> %oy)
  %e = call <16 x float> @emulated.bf16(<16 x float> %o, <16 x i32> %ex, <16 x i32> %ey)
  ret <16 x float> %e
}"""

_TILE_FUNCTIONS = {
    "tilezero.internal": f"""
define internal {_TILE} @emulated.tilezero.internal(i16 %rows, i16 %bytes) {{
  ret {_TILE} zeroinitializer
}}""",
    "tileloadd64.internal": f"""
define internal {_TILE} @emulated.tileloadd64.internal(i16 %rows, i16 %bytes, ptr %base, i64 %stride) noinline {{
entry:
  %tile = alloca {_TILE}, align 64
  store {_TILE} zeroinitializer, ptr %tile
  %n = zext i16 %rows to i64
  %size = zext i16 %bytes to i64
  br label %row
row:
  %r = phi i64 [0, %entry], [%next, %row]
  %from.at = mul i64 %r, %stride
  %to.at = mul i64 %r, 64
  %from = getelementptr i8, ptr %base, i64 %from.at
  %to = getelementptr i8, ptr %tile, i64 %to.at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  %next = add i64 %r, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %row, label %end
end:
  %loaded = load {_TILE}, ptr %tile
  ret {_TILE} %loaded
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)""",
    "tilestored64.internal": f"""
define internal void @emulated.tilestored64.internal(i16 %rows, i16 %bytes, ptr %base, i64 %stride, {_TILE} %v) {{
entry:
  %tile = alloca {_TILE}, align 64
  store {_TILE} %v, ptr %tile
  %n = zext i16 %rows to i64
  %size = zext i16 %bytes to i64
  br label %row
row:
  %r = phi i64 [0, %entry], [%next, %row]
  %to.at = mul i64 %r, %stride
  %from.at = mul i64 %r, 64
  %to = getelementptr i8, ptr %base, i64 %to.at
  %from = getelementptr i8, ptr %tile, i64 %from.at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  %next = add i64 %r, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %row, label %end
end:
  ret void
}}""",
}


def _tile_loops(name: str, start: str, carried: str, inner: str, finish: str) -> str:
    """A product of tiles: for each row of `%a` and each of its words a row of `%b`; the code of the four places."""
    return f"""
define internal {_TILE} @emulated.{name}(i16 %m, i16 %n, i16 %k, {_TILE} %vc, {_TILE} %va, {_TILE} %vb) noinline {{
entry:
  %a = alloca {_TILE}, align 64
  %b = alloca {_TILE}, align 64
  %c = alloca {_TILE}, align 64
  store {_TILE} %va, ptr %a
  store {_TILE} %vb, ptr %b
  store {_TILE} zeroinitializer, ptr %c
  %vcm = alloca {_TILE}, align 64
  store {_TILE} %vc, ptr %vcm
  %rows = zext i16 %m to i64
  %bytes = zext i16 %k to i64
  %words = udiv i64 %bytes, 4
  br label %row
row:
  %r = phi i64 [0, %entry], [%r.next, %row.end]
  %row.at = mul i64 %r, 64
  %c.row = getelementptr i8, ptr %c, i64 %row.at
  %s.row = getelementptr i8, ptr %vcm, i64 %row.at
  %a.row = getelementptr i8, ptr %a, i64 %row.at
{start}
  br label %word
word:
  %w = phi i64 [0, %row], [%w.next, %word]
{carried}
  %w.at = mul i64 %w, 4
  %a.word = getelementptr i8, ptr %a.row, i64 %w.at
  %x.word = load i32, ptr %a.word
  %x.one = insertelement <16 x i32> poison, i32 %x.word, i64 0
  %x = shufflevector <16 x i32> %x.one, <16 x i32> poison, <16 x i32> zeroinitializer
  %b.at = mul i64 %w, 64
  %b.row = getelementptr i8, ptr %b, i64 %b.at
  %y = load <16 x i32>, ptr %b.row
{inner}
  %w.next = add i64 %w, 1
  %w.more = icmp slt i64 %w.next, %words
  br i1 %w.more, label %word, label %row.end
row.end:
{finish}
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %end
end:
  %loaded = load {_TILE}, ptr %c
  ret {_TILE} %loaded
}}"""


def _tile_bytes(name: str, row: str) -> str:
    start = "  %s = load <16 x i32>, ptr %s.row\n  store <16 x i32> %s, ptr %c.row"
    inner = f"""  %xb = bitcast <16 x i32> %x to <64 x i8>
  %yb = bitcast <16 x i32> %y to <64 x i8>
  %old = load <16 x i32>, ptr %c.row
  %new = call <16 x i32> @emulated.{row}(<16 x i32> %old, <64 x i8> %xb, <64 x i8> %yb)
  store <16 x i32> %new, ptr %c.row"""
    return _tile_loops(name, start, "", inner, "")


_TDPBF16 = _tile_loops(
    "tdpbf16ps.internal",
    "  %s = load <16 x float>, ptr %s.row",
    """  %even = phi <16 x float> [zeroinitializer, %row], [%even.next, %word]
  %odd = phi <16 x float> [zeroinitializer, %row], [%odd.next, %word]""",
    """  %ox = and <16 x i32> %x, splat (i32 -65536)
  %oy = and <16 x i32> %y, splat (i32 -65536)
  %ex = shl <16 x i32> %x, splat (i32 16)
  %ey = shl <16 x i32> %y, splat (i32 16)
  %even.next = call <16 x float> @emulated.bf16(<16 x float> %even, <16 x i32> %ex, <16 x i32> %ey)
  %odd.next = call <16 x float> @emulated.bf16(<16 x float> %odd, <16 x i32> %ox, <16 x i32> %oy)""",
    """  %both = fadd <16 x float> %even.next, %odd.next
  %sum = fadd <16 x float> %s, %both
  store <16 x float> %sum, ptr %c.row""",
)
