"""The loader of object code: what LLVM makes runs where it is put, and what the loader does not know is refused."""

import contextlib
import ctypes
import io
import math
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from tinyc.runtime import jit, object_code
from tinyc.runtime.elf_object import read_object
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_code import Code, ObjectError

#: Calls of the C library and within, constants that are aligned, a jump table, addresses of functions.
LLVM_IR = """
@table = private constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5], align 64
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @llvm.floor.f64(double)
declare double @llvm.sin.f64(double)
declare double @llvm.cos.f64(double)
declare float @tanhf(float)

define void @copied(ptr %target, ptr %source, i64 %bytes) {
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  ret void
}
define void @filled(ptr %target, i64 %bytes) {
  call void @llvm.memset.p0.i64(ptr %target, i8 7, i64 %bytes, i1 false)
  ret void
}
define double @of_table(i64 %k) {
  %place = getelementptr double, ptr @table, i64 %k
  %value = load double, ptr %place, align 8
  ret double %value
}
define double @floor_of_table(i64 %k) {
  %value = call double @of_table(i64 %k)
  %floor = call double @llvm.floor.f64(double %value)
  ret double %floor
}
define float @function_of(float %x) {
  %called = load volatile ptr, ptr @pointer
  %y = call float %called(float %x)
  ret float %y
}
@pointer = private constant ptr @tanhf, align 8
define double @sine_times_cosine(double %x) {
  %sine = call double @llvm.sin.f64(double %x)
  %cosine = call double @llvm.cos.f64(double %x)
  %product = fmul double %sine, %cosine
  ret double %product
}
define ptr @address() {
  ret ptr @tanhf
}
declare float @sinf(float)
declare float @cosf(float)
declare float @expf(float)
declare float @erff(float)
declare float @logf(float)
define float @chosen(i64 %k, float %x) {
  switch i64 %k, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e ]
a:
  %1 = call float @sinf(float %x)
  ret float %1
b:
  %2 = call float @cosf(float %x)
  ret float %2
c:
  %3 = call float @expf(float %x)
  ret float %3
d:
  %4 = call float @erff(float %x)
  ret float %4
e:
  %5 = call float @logf(float %x)
  ret float %5
other:
  ret float -1.0
}
"""
NAMES = ("copied", "filled", "of_table", "floor_of_table", "function_of", "sine_times_cosine", "address", "chosen")


@pytest.fixture(scope="module", params=[None, "x86-64"])
def image(request):
    return compile_object(LLVM_IR, request.param).image


@pytest.fixture(scope="module")
def code(image):
    return Code(image, NAMES)


def function(code, name, result, *parameters):
    return ctypes.CFUNCTYPE(result, *parameters)(code.addresses[name])


def test_functions_of_the_c_library_are_called(code):
    source, target = np.arange(1000, dtype=np.uint8), np.zeros(1000, np.uint8)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    function(code, "copied", None, pointer, pointer, size)(target.ctypes.data, source.ctypes.data, 900)
    np.testing.assert_array_equal(target, np.where(np.arange(1000) < 900, source, 0))
    function(code, "filled", None, pointer, size)(target.ctypes.data, 500)
    assert set(target[:500]) == {7}
    tanh = function(code, "function_of", ctypes.c_float, ctypes.c_float)
    assert tanh(0.5) == pytest.approx(np.tanh(0.5))
    both = function(code, "sine_times_cosine", ctypes.c_double, ctypes.c_double)  # one call, of sincos
    assert both(0.5) == pytest.approx(np.sin(0.5) * np.cos(0.5))


def test_an_address_is_that_of_the_c_library(code):
    found = function(code, "address", ctypes.c_void_p)()
    assert found == ctypes.cast(ctypes.CDLL("libm.so.6").tanhf, ctypes.c_void_p).value


def test_constants_jump_tables_and_calls_within(code):
    values = [function(code, name, ctypes.c_double, ctypes.c_int64) for name in ("of_table", "floor_of_table")]
    assert [[value(k) for k in range(4)] for value in values] == [[1.5, 2.5, 3.5, 4.5], [1, 2, 3, 4]]
    chosen = function(code, "chosen", ctypes.c_float, ctypes.c_int64, ctypes.c_float)
    expected = [math.sin(2), math.cos(2), math.exp(2), math.erf(2), math.log(2), -1, -1]
    assert [chosen(k, 2) for k in (0, 1, 2, 3, 4, 5, -9)] == pytest.approx(expected)


def test_code_cannot_be_written(code):
    place = code.addresses["chosen"]
    ranges = [line.split()[:2] for line in Path("/proc/self/maps").read_text().splitlines()]
    found = [
        rights for span, rights in ranges if int(span.partition("-")[0], 16) <= place < int(span.partition("-")[2], 16)
    ]
    assert found == ["r-xp"]


def test_two_codes_of_one_object_are_apart(image):
    one, two = (Code(image, ["chosen"]) for _ in range(2))
    assert one.addresses != two.addresses
    del one
    assert function(two, "chosen", ctypes.c_float, ctypes.c_int64, ctypes.c_float)(9, 2) == -1


def made_of(llvm_ir):
    return compile_object(llvm_ir).image


UNKNOWN = "declare void @no_such_function()\ndefine void @f() {\n  call void @no_such_function()\n  ret void\n}"
VARIABLE = "@v = global i64 3\ndefine i64 @f() {\n  %x = load i64, ptr @v\n  ret i64 %x\n}"
THREAD = "@v = thread_local global i64 3\ndefine i64 @f() {\n  %x = load i64, ptr @v\n  ret i64 %x\n}"


@pytest.mark.parametrize(
    ("llvm_ir", "message"),
    [
        (UNKNOWN, "the machine code calls 'no_such_function', and there are no symbols outside of it but memcpy, "),
        (VARIABLE, "the machine code has variables, in section .data; kernels have none"),
        (THREAD, "the machine code has variables, in section .tdata; kernels have none"),
        ("define void @g() {\n  ret void\n}", "the machine code has no function f"),
    ],
)
def test_what_kernels_do_not_have_is_refused(llvm_ir, message):
    with pytest.raises(ObjectError, match=f"^{message}"):
        Code(made_of(llvm_ir), ["f"])


def test_what_is_no_object_of_this_machine_is_refused(image):
    with pytest.raises(ObjectError, match="the machine code does not load: "):
        Code(b"\x7fELF", ["chosen"])
    other = bytearray(image)
    other[18:20] = (183).to_bytes(2, "little")  # e_machine: AArch64
    message = r"is an ELF object of type 1 for machine 183; it should be of type 1 \(relocatable\) for machine 62"
    with pytest.raises(ObjectError, match=message):
        Code(bytes(other), ["chosen"])


def test_a_damaged_object_is_read_or_refused(image):
    random, ends = np.random.default_rng(0), (*range(0, 64), *range(64, len(image), 97))
    for end in ends:
        with pytest.raises(ObjectError):
            Code(image[:end], ["chosen"])
    for _ in range(2000):
        damaged = bytearray(image)
        damaged[random.integers(len(image))] = random.integers(256)
        with contextlib.suppress(ValueError, IndexError, OverflowError):
            read_object(bytes(damaged), 0)


def test_a_relocation_that_is_not_known_or_leaves_the_memory_is_refused(image):
    table = ELFFile(io.BytesIO(image)).get_section_by_name(".rela.text")["sh_offset"]
    for place, data, message in (
        (table + 8, (23).to_bytes(4, "little"), "has a relocation of type 23 for '.*', not known"),
        (table, (2**40).to_bytes(8, "little"), "has a relocation outside of its section"),
    ):
        other = image[:place] + data + image[place + len(data) :]
        with pytest.raises(ObjectError, match=message):
            Code(other, ["chosen"])


def test_code_that_is_not_position_independent_is_refused(monkeypatch):
    binding = jit._binding()
    target = binding.Target.from_triple("x86_64-unknown-linux-gnu")
    static = target.create_target_machine(opt=0, reloc="static", codemodel="small")
    monkeypatch.setattr(jit, "_target_machine", lambda _: (static, ()))
    with pytest.raises(ObjectError, match=r"has a relocation of type (10|11) for '.*', not known"):
        Code(compile_object(LLVM_IR).image, ["of_table"])


def test_a_system_that_forbids_it_is_told(image, monkeypatch):
    class Forbidding:
        def __init__(self, *_, **__):
            self.mprotect = type("Function", (), {"__call__": lambda *_: -1})()

    real = ctypes.CDLL
    monkeypatch.setattr(
        object_code.ctypes, "CDLL", lambda *a, **k: Forbidding() if k.get("use_errno") else real(*a, **k)
    )
    with pytest.raises(ObjectError, match="the system does not let memory be executed that was written"):
        Code(image, ["chosen"])
