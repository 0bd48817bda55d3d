"""Loops that reach what a machine can: LLVM IR of arithmetic that waits for nothing, and of copies and reads of memory.

In: what is computed in, and the CPU. Out: the text of a module with the function `loop` of a job, which has numbers: of
arithmetic how many steps, of memory where arrays are, how many chunks they have, and how many of these are taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.runtime.cpu_features import level_features
from tinyc.target.cpu import vector_unit_of
from tinyc.target.dot_products import DOT_FORMS, TILE_SIDE, DotProduct
from tinyc.vocabulary.element_type import ElementType

#: Sums that do not wait for each other: two multiply-adds begin in a cycle, and each takes up to five.
_SUMS = 12
#: The same in tile registers, of which two more are multiplied: a product begins every 16 cycles, and takes 52.
_TILE_SUMS = 4
_TILE_BYTES = TILE_SIDE * TILE_SIDE * 4
#: What numbers are in a vector, by what is computed in, how many bytes each has there, and operations on it in a step.
_NUMBERS = {
    ElementType.F64: ("double", 8, 2),
    ElementType.F32: ("float", 4, 2),
    ElementType.I32: ("i32", 4, 2),
    ElementType.I8: ("i32", 4, 4),  # the sum of two products of 16 bits, and of what is there
}
_PAIRS = {16: "llvm.x86.sse2.pmadd.wd", 32: "llvm.x86.avx2.pmadd.wd", 64: "llvm.x86.avx512.pmaddw.d.512"}
#: What is widened where there is no instruction for it, and computed in the wider type.
_WIDENED = {ElementType.BF16: ElementType.F32}
#: Bytes that a thread takes at a time.
MEMORY_CHUNK_BYTES = 1 << 18


@dataclass(frozen=True)
class ArithmeticLoop:
    """A loop whose step has so many operations."""

    operations: int
    llvm_ir: str


def arithmetic_loops(kind: ElementType, cpu: str) -> Iterator[ArithmeticLoop]:
    """The loops by which a CPU computes in f64, f32, bf16, i32 or i8: in vectors, and by products of neighbours.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU.
    """
    features = level_features(cpu)
    yield _vector_loop(_WIDENED.get(kind, kind), vector_unit_of(cpu).register_bytes)
    for feature, form in DOT_FORMS.items():
        if feature in features and kind in form.elements:
            product = DotProduct(form, kind, kind)
            yield _tile_loop(product) if form.in_tiles else _dot_loop(product)


def _vector_loop(kind: ElementType, register_bytes: int) -> ArithmeticLoop:
    """Multiply-adds in vectors."""
    scalar, size_bytes, on_each = _NUMBERS[kind]
    lanes = register_bytes // size_bytes
    vector, halves = f"<{lanes} x {scalar}>", f"<{2 * lanes} x i16>"
    multiply_add, pairs = f"@llvm.fmuladd.v{lanes}f{8 * size_bytes}", f"@{_PAIRS[register_bytes]}"
    steps = list[str]()
    for at in range(_SUMS):
        if kind.is_float:
            half, one = f"{vector} splat ({scalar} 0.5)", f"{vector} splat ({scalar} 1.0)"
            steps.append(f"%s{at} = call {vector} {multiply_add}({vector} %a{at}, {half}, {one})")
        elif kind is ElementType.I32:
            steps.append(f"%m{at} = mul {vector} %a{at}, %a{at}")  # of a constant, LLVM would make one step of several
            steps.append(f"%s{at} = add {vector} %m{at}, splat (i32 1)")
        else:
            steps.append(f"%h{at} = bitcast {vector} %a{at} to {halves}")
            steps.append(f"%m{at} = call {vector} {pairs}({halves} %h{at}, {halves} splat (i16 77))")
            steps.append(f"%s{at} = add {vector} %m{at}, %a{at}")
    declared = f"{multiply_add}({vector}, {vector}, {vector})" if kind.is_float else f"{pairs}({halves}, {halves})"
    return _loop_in_vectors(lanes, scalar, on_each, f"declare {vector} {declared}", steps)


def _dot_loop(product: DotProduct) -> ArithmeticLoop:
    """Sums of the products of neighbours, in vectors."""
    lanes, group = product.form.register_bytes // 4, product.form.group
    scalar, narrow, one = ("float", "bfloat", "1.0") if product.is_of_floats else ("i32", "i8", "1")
    vector, words = f"<{lanes} x {scalar}>", f"<{lanes * group} x {narrow}>"
    ones = f"{words} splat ({narrow} {one})"
    steps = [f"%s{at} = call {vector} @{product.intrinsic}({vector} %a{at}, {ones}, {ones})" for at in range(_SUMS)]
    declared = f"declare {vector} @{product.intrinsic}({vector}, {words}, {words})"
    return _loop_in_vectors(lanes, scalar, 2 * group, declared, steps)


def _loop_in_vectors(lanes: int, scalar: str, operations: int, declared: str, steps: Sequence[str]) -> ArithmeticLoop:
    """A loop whose `steps` make sums `%s…` of those so far, `%a…`, by so many operations on each of their lanes."""
    vector = f"<{lanes} x {scalar}>"
    firsts = [f"splat ({scalar} {at if scalar == 'i32' else f'{at}.25'})" for at in range(_SUMS)]  # none stays as it is
    kept = [f"store volatile {vector} %s{at}, ptr %kept" for at in range(_SUMS)]
    text = _counted_loop(vector, [f"%kept = alloca {vector}"], firsts, steps, kept)
    return ArithmeticLoop(lanes * operations * _SUMS, f"{declared}\n{text}")


def _tile_loop(product: DotProduct) -> ArithmeticLoop:
    """Sums of the products of neighbours, in tile registers."""
    sides, shape = "i16 16, i16 64", "i16 16, i16 64, i16 64"
    load, store = "@llvm.x86.tileloadd64.internal", "@llvm.x86.tilestored64.internal"
    numbers = range(_TILE_SUMS)
    places = [f"%place{at} = getelementptr i8, ptr %kept, i64 {at * _TILE_BYTES}" for at in numbers]
    names = [(f"%first{at}", f"%place{at}") for at in numbers] + [("%x", "%kept"), ("%y", "%kept")]
    before = [
        f"%kept = alloca [{_TILE_SUMS * _TILE_BYTES} x i8], align 64",
        f"call void @llvm.memset.p0.i64(ptr %kept, i8 0, i64 {_TILE_SUMS * _TILE_BYTES}, i1 false)",
        *places,
        *(f"{name} = call x86_amx {load}({sides}, ptr {place}, i64 64)" for name, place in names),
    ]
    factors = "x86_amx %x, x86_amx %y"
    steps = [f"%s{at} = call x86_amx @{product.intrinsic}({shape}, x86_amx %a{at}, {factors})" for at in numbers]
    kept = [f"call void {store}({sides}, ptr %place{at}, i64 64, x86_amx %s{at})" for at in numbers]
    declared = f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare x86_amx {load}(i16, i16, ptr, i64)
declare void {store}(i16, i16, ptr, i64, x86_amx)
declare x86_amx @{product.intrinsic}(i16, i16, i16, x86_amx, x86_amx, x86_amx)"""
    text = _counted_loop("x86_amx", before, [f"%first{at}" for at in numbers], steps, kept)
    on_each = 2 * product.form.step_products
    return ArithmeticLoop(TILE_SIDE * TILE_SIDE * on_each * _TILE_SUMS, f"{declared}\n{text}")


def _counted_loop(
    kind: str, before: Sequence[str], firsts: Sequence[str], steps: Sequence[str], kept: Sequence[str]
) -> str:
    """A loop of so many steps as its job says, each of which is one of every sum."""
    phis = [f"%a{at} = phi {kind} [{first}, %entry], [%s{at}, %again]" for at, first in enumerate(firsts)]
    indented = "\n  ".join
    return f"""
define void @loop(ptr %job) {{
entry:
  {indented(before)}
  %steps = load i64, ptr %job
  br label %again
again:
  %step = phi i64 [0, %entry], [%next, %again]
  {indented([*phis, *steps])}
  %next = add i64 %step, 1
  %more = icmp ult i64 %next, %steps
  br i1 %more, label %again, label %done
done:
  {indented(kept)}
  ret void
}}"""


#: What is done with a chunk at `%from`, `%to`.
_COPY_CHUNK = f"""
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {MEMORY_CHUNK_BYTES}, i1 false)
  br label %again"""
_READ_CHUNK = f"""
  br label %line
line:
  %at = phi i64 [0, %work], [%next, %line]
  %sum = phi <16 x i32> [zeroinitializer, %work], [%more, %line]
  %place = getelementptr i8, ptr %from, i64 %at
  %read = load <16 x i32>, ptr %place, align 16
  %more = add <16 x i32> %sum, %read
  %next = add i64 %at, 64
  %inside = icmp ult i64 %next, {MEMORY_CHUNK_BYTES}
  br i1 %inside, label %line, label %end
end:
  store volatile <16 x i32> %more, ptr %kept
  br label %again"""


def _memory_ir(work: str) -> str:
    """A loop over the chunks of a source and a target, of which its threads take one after the other."""
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @loop(ptr %job) {{
  %kept = alloca <16 x i32>
  %job.target = getelementptr i64, ptr %job, i64 1
  %job.chunks = getelementptr i64, ptr %job, i64 2
  %job.taken = getelementptr i64, ptr %job, i64 3
  %source = load ptr, ptr %job
  %target = load ptr, ptr %job.target
  %chunks = load i64, ptr %job.chunks
  br label %again
again:
  %chunk = atomicrmw add ptr %job.taken, i64 1 monotonic
  %is.there = icmp ult i64 %chunk, %chunks
  br i1 %is.there, label %work, label %done
work:
  %offset = mul i64 %chunk, {MEMORY_CHUNK_BYTES}
  %from = getelementptr i8, ptr %source, i64 %offset
  %to = getelementptr i8, ptr %target, i64 %offset
{work}
done:
  ret void
}}"""


COPY_LOOP, READ_LOOP = map(_memory_ir, (_COPY_CHUNK, _READ_CHUNK))
