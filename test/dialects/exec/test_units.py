"""A program is taken apart into units: each function is in one of them, and each has all that it needs."""

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

import tinyc
from programs.example_bindings import BIND, EXAMPLES
from tinyc.diagnostics import InternalError
from tinyc.dialects.exec.to_llvm.units import units_of
from tinyc.executors.random_arrays import random_arrays
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.jit import compile_object

LLVM_IR = """\
source_filename = "any"

@table = private constant [4 x i8] c"@ab\\22"
@other = internal constant i64 7

declare float @expf(float) #1

define internal float @shared(float %0) {
  %2 = call float @deeper(float %0)
  ret float %2
}

define internal float @deeper(float %0) #0 {
  %2 = call float @expf(float %0)
  ret float %2
}

; Function Attrs: nounwind
define void @kernel.a(ptr %0, i64 %1) #0 {
  %3 = load float, ptr %0
  %4 = call float @shared(float %3)
  store float %4, ptr %0
  ret void
}

define void @"kernel.a \\C3\\A9"(ptr %0, i64 %1) {
  %3 = load i8, ptr @table
  switch i8 %3, label %5 [
    i8 1, label %4
  ]

4:
  call void @kernel.ab(ptr %0, i64 %1)
  ret void

5:
  ret void
}

define void @kernel.ab(ptr %0, i64 %1) {
  %3 = load i64, ptr @other
  store i64 %3, ptr %0
  ret void
}

define void @kernel_main(ptr %0, ptr %1) {
  call void @kernel.a(ptr %0, i64 0)
  call void @"kernel.a \\C3\\A9"(ptr %0, i64 0)
  call void @kernel.ab(ptr %0, i64 0)
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { memory(none) }
"""


def functions_of(llvm_ir):
    """Return the visible functions that a text defines, its local ones, and those that it declares."""
    visible, local, declared = [], [], []
    for each in llvm.parse_assembly(llvm_ir).functions:
        kind = declared if each.is_declaration else visible if each.linkage == llvm.Linkage.external else local
        kind.append(each.name)
    return visible, local, declared


def test_a_unit_has_its_kernel_what_is_local_and_declarations():
    units = units_of(LLVM_IR)
    assert {name: functions_of(text) for name, text in units.items()} == {
        "kernel.a": (["kernel.a"], ["shared", "deeper"], ["expf"]),
        r"kernel.a \C3\A9": (["kernel.a é"], [], ["kernel.ab"]),
        "kernel.ab": (["kernel.ab"], [], []),
        "host": (["kernel_main"], [], ["kernel.a", "kernel.a é", "kernel.ab"]),
    }
    constants = {name: re.findall("^(@.*)$", text, re.MULTILINE) for name, text in units.items()}
    assert constants[r"kernel.a \C3\A9"] == ['@table = private constant [4 x i8] c"@ab\\22"']
    assert constants["kernel.ab"] == ["@other = internal constant i64 7"]
    assert constants["kernel.a"] == constants["host"] == []


def test_what_stands_beside_a_kernel_does_not_change_its_unit():
    other = LLVM_IR.replace("i64 7", "i64 8").replace("#1", "#2").replace("#0", "#1")
    units, others = units_of(LLVM_IR), units_of(other)
    assert {name for name in units if units[name] != others[name]} == {"kernel.ab"}


def test_a_name_that_nothing_has_is_refused():
    with pytest.raises(InternalError, match="use of undefined value '@missing'"):
        units_of(LLVM_IR.replace("@expf(float %0)\n", "@missing(float %0)\n"))


@pytest.mark.parametrize("fusion", [None, "none"])
@pytest.mark.parametrize("example", BIND)
def test_each_function_of_a_program_is_in_one_unit(example, fusion):
    lowering = tinyc.compile(EXAMPLES / f"{example}.json", bind=BIND[example], fusion=fusion).lowering
    whole, units = lowering.llvm_ir(), lowering.llvm_units()
    visible, local, outside = functions_of(whole)
    parts = {name: functions_of(text) for name, text in units.items()}
    assert sorted(name for defined, _, _ in parts.values() for name in defined) == sorted(visible)
    assert all(parts[name][0] == [name] for name in parts if name != "host")
    assert {name for _, copied, _ in parts.values() for name in copied} == {*local}
    assert {name for _, _, declared in parts.values() for name in declared} - {*visible} == {*outside}


@pytest.mark.parametrize("example", ["attention", "layer_norm", "mlp_gelu_000", "softmax"])
def test_units_compute_the_bits_that_the_whole_computes(example):
    model = tinyc.compile(EXAMPLES / f"{example}.json", bind=BIND[example], fusion="none")
    assert len(model.lowering.llvm_units()) > 2
    whole = CpuExecutable(
        model.lowering.program(), compile_object(model.lowering.llvm_ir()).image, model.artifact().arrays
    )
    inputs = random_arrays(model.boundary, 0)
    for name, array in model.run_named(inputs).items():
        np.testing.assert_array_equal(whole.run(inputs)[name], array)


def test_what_was_read_as_llvm_ir_is_one_unit_as_it_was_written():
    read = tinyc.compile(tinyc.compile(EXAMPLES / "softmax.json").text("llvm")).lowering
    assert read.llvm_units() == {"program": read.llvm_ir()}
