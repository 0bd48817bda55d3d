"""Every op that may reach the NVPTX backend compiles on every type and for every target, and `ptxas` takes the result.

All samples of a target are one module, compiled in a process of its own: what the backend cannot select ends it.
"""

import functools
import re
import subprocess
import sys

import pytest

from tinyc.dialects.nvvm.whitelist import (
    ALLOWED_OPS,
    GLOBAL_POINTER,
    LLVM_FLOATS,
    LLVM_INTEGERS,
    SCALARS,
    VECTORS,
    WIDE,
)
from tinyc.target import TARGETS

WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
UNARY = ("llvm.fneg", *(f"llvm.intr.{name}" for name in ("sqrt", "fabs", "floor", "ceil", "trunc", "roundeven")))
BINARY = tuple(
    name
    for name in ALLOWED_OPS
    if name.removeprefix("llvm.") in ("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor")
    or name.removeprefix("llvm.") in ("sdiv", "udiv", "srem", "urem", "fadd", "fsub", "fmul", "fdiv")
    or name.removeprefix("llvm.intr.") in ("smax", "smin", "umax", "umin", "maximum", "minimum", "copysign")
)


def kernel(inputs, body, result):
    """Return a kernel that loads `%a`, `%b`, … of types `inputs`, and stores `%r`, which `body` computes.

    What is wider than memory is, widens and narrows there.
    """
    names = "abc"[: len(inputs)]
    loads = []
    for name, kind in zip(names, inputs, strict=True):
        if kind == "i128":
            loads.append(f"%{name}64 = llvm.load %p{name} : {GLOBAL_POINTER} -> i64")
            loads.append(f"%{name} = llvm.sext %{name}64 : i64 to i128")
        else:
            loads.append(f"%{name} = llvm.load %p{name} : {GLOBAL_POINTER} -> {kind}")
    end = [f"llvm.store %r, %out : {result}, {GLOBAL_POINTER}"]
    if result == "i128":
        end = ["%high = llvm.mlir.constant(64 : i128) : i128", "%top = llvm.lshr %r, %high : i128"]
        end += ["%narrow = llvm.trunc %top : i128 to i64", f"llvm.store %narrow, %out : i64, {GLOBAL_POINTER}"]
    arguments = ", ".join(f"%p{name}: {GLOBAL_POINTER}" for name in names)
    lines = "\n  ".join([*loads, *body.splitlines(), *end, "llvm.return"])
    return f"({arguments}{', ' if names else ''}%out: {GLOBAL_POINTER}) attributes {{nvvm.kernel}} {{\n  {lines}\n}}"


def application(op, count, kind):
    operands = ", ".join(f"%{name}" for name in "abc"[:count])
    if op.startswith("llvm.intr."):
        return f"%r = {op}({operands}) : ({', '.join([kind] * count)}) -> {kind}"
    return f"%r = {op} {operands} : {kind}"


def arithmetic():
    for op in UNARY:
        yield from (kernel([t], application(op, 1, t), t) for t in ALLOWED_OPS[op].types)
    for op in BINARY:
        yield from (kernel([t] * 2, application(op, 2, t), t) for t in ALLOWED_OPS[op].types)
    yield from (kernel([t] * 3, application("llvm.intr.fma", 3, t), t) for t in ALLOWED_OPS["llvm.intr.fma"].types)
    for t in LLVM_INTEGERS:
        yield kernel([t], f'%r = "llvm.intr.ctlz"(%a) <{{is_zero_poison = false}}> : ({t}) -> {t}', t)
    for t in ("i32", "i64"):
        pair = f"!llvm.struct<({t}, i1)>"
        for position, result in enumerate((t, "i1")):
            overflow = f'%s = "llvm.intr.uadd.with.overflow"(%a, %b) : ({t}, {t}) -> {pair}\n'
            yield kernel([t, t], f"{overflow}%r = llvm.extractvalue %s[{position}] : {pair}", result)


def conversions():
    for a in WIDE:
        for b in WIDE:
            if WIDTH[a] < WIDTH[b]:
                yield kernel([a], f"%r = llvm.sext %a : {a} to {b}", b)
                yield kernel([a], f"%r = llvm.zext %a : {a} to {b}", b)
                yield kernel([b], f"%r = llvm.trunc %a : {b} to {a}", a)
    for a in LLVM_FLOATS:
        for b in LLVM_FLOATS:
            if WIDTH[a] < WIDTH[b]:
                yield kernel([a], f"%r = llvm.fpext %a : {a} to {b}", b)
                yield kernel([b], f"%r = llvm.fptrunc %a : {b} to {a}", a)
        for i in LLVM_INTEGERS:
            for op in ("fptosi", "fptoui"):
                yield kernel([a], f"%r = llvm.{op} %a : {a} to {i}", i)
            for op in ("sitofp", "uitofp"):
                yield kernel([i], f"%r = llvm.{op} %a : {i} to {a}", a)
            if WIDTH[a] == WIDTH[i]:
                yield kernel([a], f"%r = llvm.bitcast %a : {a} to {i}", i)
                yield kernel([i], f"%r = llvm.bitcast %a : {i} to {a}", a)


def choices():
    for t in WIDE:
        for predicate in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
            yield kernel([t, t], f'%r = llvm.icmp "{predicate}" %a, %b : {t}', "i1")
    for t in LLVM_FLOATS:
        ordered, unordered = (
            ("oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
            ("ueq", "ugt", "uge", "ult", "ule", "une"),
        )
        for predicate in (*ordered, *unordered, "uno"):
            yield kernel([t, t], f'%r = llvm.fcmp "{predicate}" %a, %b : {t}', "i1")
    for t in (*WIDE, *LLVM_FLOATS):
        yield kernel(["i1", t, t], f"%r = llvm.select %a, %b, %c : i1, {t}", t)
        branches = (
            f"llvm.cond_br %a, ^then, ^end(%c : {t})\n^then:\nnvvm.barrier\nllvm.br ^end(%b : {t})\n^end(%r: {t}):"
        )
        yield kernel(["i1", t, t], branches, t)
        for value in ("zero", "undef", "poison"):
            yield kernel([], f"%r = llvm.mlir.{value} : {t}", t)
    for t in SCALARS:
        number = "true" if t == "i1" else f"{1 if t in LLVM_INTEGERS else 1.5} : {t}"
        yield kernel([], f"%r = llvm.mlir.constant({number}) : {t}", t)


def memory():
    for t in SCALARS:
        for index in ("i32", "i64"):
            body = f"%q = llvm.getelementptr %pa[%b] : ({GLOBAL_POINTER}, {index}) -> {GLOBAL_POINTER}, {t}\n"
            yield kernel([t, index], f"{body}%r = llvm.load %q : {GLOBAL_POINTER} -> {t}", t)
    for t in (*LLVM_INTEGERS[1:], *LLVM_FLOATS):
        op = "add" if t in LLVM_INTEGERS else "fadd"
        yield kernel([t], f'%r = llvm.atomicrmw {op} %out, %a syncscope("device") monotonic : {GLOBAL_POINTER}, {t}', t)
    for t in ("i32", "i64"):
        swap = f'%s = llvm.cmpxchg %out, %a, %b syncscope("device") monotonic monotonic : {GLOBAL_POINTER}, {t}\n'
        yield kernel([t, t], f"{swap}%r = llvm.extractvalue %s[1] : !llvm.struct<({t}, i1)>", "i1")
    shared = "%m = llvm.mlir.addressof @tile : !llvm.ptr<3>\nllvm.store %a, %m : f32, !llvm.ptr<3>\nnvvm.barrier\n"
    yield kernel(["f32"], f"{shared}%r = llvm.load %m : !llvm.ptr<3> -> f32", "f32")


def vectors():
    for t in VECTORS:
        count, element = t.removeprefix("vector<").removesuffix(">").split("x")
        aligned = f"{{alignment = {int(count) * WIDTH[element] // 8} : i64}}"
        last = f"%i = llvm.mlir.constant({int(count) - 1} : i32) : i32\n"
        loaded = f"{last}%v = llvm.load %pa {aligned} : {GLOBAL_POINTER} -> {t}\n"
        yield kernel([element], f"{loaded}%r = llvm.extractelement %v[%i : i32] : {t}", element)
        start = f"%i = llvm.mlir.constant(0 : i32) : i32\n%v = llvm.mlir.poison : {t}\n"
        inserted = f"{start}%w = llvm.insertelement %a, %v[%i : i32] : {t}\n"
        stored = f"{inserted}llvm.store %w, %out {aligned} : {t}, {GLOBAL_POINTER}\n"
        yield kernel([element], f"{stored}%r = llvm.extractelement %w[%i : i32] : {t}", element)


def shuffles():
    words = "%all = llvm.mlir.constant(-1 : i32) : i32\n%one = llvm.mlir.constant(1 : i32) : i32\n"
    for t in ("i32", "f32"):
        for kind in ("bfly", "up", "down", "idx"):
            yield kernel([t], f"{words}%r = nvvm.shfl.sync {kind} %all, %a, %one, %one : {t} -> {t}", t)


def registers():
    yield from (kernel([], f"%r = {op} : i32", "i32") for op in ALLOWED_OPS if op.startswith("nvvm.read."))


def addresses():
    for width in ("i32", "i64"):
        body = f"%q = llvm.inttoptr %a : {width} to !llvm.ptr<3>\n%r = llvm.ptrtoint %q : !llvm.ptr<3> to {width}"
        yield kernel([width], body, width)
    body = f"%q = llvm.addrspacecast %pa : {GLOBAL_POINTER} to !llvm.ptr\n%r = llvm.ptrtoint %q : !llvm.ptr to i64"
    yield kernel(["i8"], body, "i64")


#: Instructions for the test: texts and constraints, with the types of their one operand and of each result.
ASSEMBLY = {
    ("not.b32 $0, $1;", "=r,r"): ("i32", "i32"),
    ("mov.b32 {$0, $1}, $2;", "=h,=h,r"): ("i32", "i16", "i16"),
    ("mov.b64 {$0, $1}, $2;", "=f,=f,l"): ("i64", "f32", "f32"),
}


def assembly():
    for (text, constraints), (operand, *results) in ASSEMBLY.items():
        kind = results[0] if len(results) == 1 else f"!llvm.struct<({', '.join(results)})>"
        name = "%r" if len(results) == 1 else "%s"
        last = "" if len(results) == 1 else f"\n%r = llvm.extractvalue %s[1] : {kind}"
        asm = f'{name} = llvm.inline_asm has_side_effects asm_dialect = att "{text}", "{constraints}" %a'
        yield kernel([operand], f"{asm} : ({operand}) -> {kind}{last}", results[-1])


@functools.cache
def samples():
    described = [*arithmetic(), *conversions(), *choices(), *memory(), *vectors(), *shuffles(), *registers()]
    return [*described, *addresses(), *assembly()]


def test_there_is_a_sample_of_every_op():
    words = set(re.findall(r"[\w.]+", "\n".join(samples())))
    assert [op for op in ALLOWED_OPS if op not in words] == []


COMPILE = f"""
import sys
from tinyc import pipeline, text
from tinyc.dialects.nvvm.assembly import attach_assembly
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.dialects.registry import context
attach_assembly("test", lambda *entry: entry in {set(ASSEMBLY)!r})
with context():
    module = text.parse(sys.stdin.read())
    pipeline.parse("nvvm-to-ptx").run(module)
    print(ptx_text(module))
"""


@functools.cache
def compiled(target):
    shared = "llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<1 x f32>\n"
    kernels = "".join(f"llvm.func @k{number}{text}\n" for number, text in enumerate(samples()))
    module = f'gpu.module @m [#nvvm.target<O = 3, chip = "{target.chip}", features = "{target.features}">]'
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], input=f"{module} {{ {shared}{kernels} }}", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@each_target
def test_all_of_it_compiles(target):
    assert compiled(target).count(".visible .entry") == len(samples())


@each_target
def test_all_of_it_assembles(target, ptxas):
    assert len(ptxas(compiled(target), target.chip).kernels) == len(samples())
