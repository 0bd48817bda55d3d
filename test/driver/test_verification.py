"""`verify` goes down to what the target runs, and names the first layer, value and element that goes wrong."""

import re
from dataclasses import replace

import numpy as np
import pytest

import tinyc
from programs.example_bindings import BIND, EXAMPLES
from tinyc import TinycError
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.driver.compilation import model_of
from tinyc.driver.load import executor_of
from tinyc.driver.sources import read_program
from tinyc.driver.verification import verify_model
from tinyc.executors.random_inputs import random_inputs
from tinyc.runtime.jit import compile_object

X = np.array([[1.25, -2.5], [3.75, 4.0]], np.float32)
REGION = "reference (region) against the reference (tiny)"
THREADS = "threads (gpu) against the reference (tiny)"
LAST = {"cpu": "cpu (llvm) against the reference (tiny)", "sim": "sim (ptx) against the reference (tiny)"}
TITLES = {
    "reference": ["reference (tiny) against the f64 oracle", REGION],
    "cpu": ["reference (tiny) against the f64 oracle", REGION, LAST["cpu"]],
    "sim": ["reference (tiny) against the f64 oracle", REGION, THREADS, LAST["sim"]],
}


def program(uop):
    """Return `y = 1 + sum(uop(x))`, in which `a` and `s` are kernels of their own."""
    return {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": ["M", 2]}},
            {"id": "a", "uop": uop, "src": ["x"]},
            {"id": "s", "uop": "REDUCE", "src": ["a"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
            {"id": "y", "uop": "ADD", "src": ["s", 1]},
        ]
    }


def verified(model):
    return list(verify_model(model, {"X": X}))


def first_failure(steps):
    return next(step for step in steps if step.failure)


@pytest.mark.parametrize("target", TITLES)
def test_layers_that_agree(target):
    steps = verified(tinyc.compile(program("RELU"), target, fusion="none"))
    assert [step.title for step in steps] == TITLES[target]
    assert [step.failure for step in steps] == [None] * len(steps)


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("example", ["attention", "conv2d", "gather", "layer_norm", "topk"])
def test_the_values_of_a_lower_layer_are_compared_each(example, target):
    module = read_program(EXAMPLES / f"{example}.json", BIND[example])
    model = tinyc.compile(module, target)
    steps = list(verify_model(model, random_inputs(module, 0)))
    assert [step.failure for step in steps] == [None] * len(steps)
    written = {node for kernel in model.lowering.program().kernels if (node := kernel.where.node)}
    for step in steps[1:]:
        assert written <= {each.name.partition("#")[0] for each in step.comparisons}, step.title


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_wrong_region_is_named_by_its_first_value(target):
    # Of a Region module in which `a` is another op `s` and `y` are wrong too, but `a` is what went wrong first.
    model = tinyc.compile(program("RELU"), target, fusion="none")
    model.lowering._modules["region"] = tinyc.compile(program("NEG"), target, fusion="none").lowering.module("region")
    first = first_failure(verified(model))
    assert (first.title, first.mismatch.name, first.mismatch.kind) == (REGION, "a", "value")
    assert first.mismatch.mismatch.index == (0, 0)
    assert re.match(r".*: value 'a': .*; element \[0, 0\] is -1.25 and should be 1.25: ", first.failure)


def test_a_wrong_kernel_of_the_gpu_layer_is_named_by_its_first_value():
    model, other = (tinyc.compile(program(uop), "sim", fusion="none") for uop in ("RELU", "NEG"))
    model.lowering._modules["exec"] = other.lowering.module("exec")
    steps = verified(model)
    assert [step.failure is None for step in steps] == [True, True, False, True]
    assert (steps[2].title, steps[2].mismatch.name) == (THREADS, "a")


def with_code(model, old, new):
    """Return a model, the text of whose last layer is edited."""
    lowering = model.lowering
    code = lowering.llvm_ir() if model.target == "cpu" else ptx_text(lowering.module("ptx"))
    edited = re.sub(old, new, code)
    assert edited != code
    made = compile_object(edited).image if model.target == "cpu" else edited.encode()
    return model_of({None: lowering}, model.target, executor_of(replace(model.artifact(), code=made)), [])


@pytest.mark.parametrize(("target", "old"), [("cpu", r"\bfadd (?=float %\d+, %)"), ("sim", r"\badd(?=\.rn\.f32)")])
def test_wrong_code_of_the_target_is_named_by_its_first_value(target, old):
    # `s` adds up what it should not, and `y` is wrong after it.
    model = tinyc.compile(program("RELU"), target, fusion="none")
    steps = verified(with_code(model, old, "fsub " if target == "cpu" else "sub"))
    first = first_failure(steps)
    assert (first.title, first.mismatch.name) == (LAST[target], "s")
    assert first is steps[-1]


def test_a_kernel_that_does_what_none_may_is_the_failure():
    # The four elements of `a` are one access of 16 bytes.
    model = tinyc.compile(program("RELU"), "sim", fusion="none")
    model = with_code(model, r"(st\.global\.v4\.b32 \t\[%rd\d+)\]", r"\1+16]")
    failure = first_failure(verified(model)).failure
    assert failure.startswith(f"{LAST['sim']}: node 'a': error: kernel 'elementwise_relu' is faulty:")
    assert "out-of-bounds: writes 16 bytes" in failure


def test_a_fault_of_the_gpu_layer_is_the_failure():
    # The host says that there are more elements than its buffers have.
    model = tinyc.compile(program("RELU"), "sim", fusion="none")
    text = model.text("exec").replace('#exec.extent<"M">', '#exec.extent<"2*M">')
    model.lowering._modules["exec"] = read_program(text)
    first = first_failure(verified(model))
    assert first.title == THREADS
    assert "kernel 'elementwise_relu' is faulty at the GPU layer: an access is out of bounds" in first.failure


def test_a_target_that_cannot_run_ends_a_verification_after_the_layers_before_it(monkeypatch):
    monkeypatch.setattr("tinyc.runtime.cuda_driver._BINDINGS", "tinyc.there_is_no_such_module")
    steps = verify_model(tinyc.compile(program("RELU"), "cuda", fusion="none"), {"X": X})
    assert [next(steps).failure for _ in range(3)] == [None] * 3
    with pytest.raises(TinycError) as caught:
        next(steps)
    assert caught.value.name == "NoDriver"


def test_what_the_oracle_says_otherwise_is_named_by_its_first_value():
    document = program("RELU")
    document["uops"][1:] = [
        {"id": "large", "uop": "ADD", "src": ["x", 1e9]},
        {"id": "small", "uop": "SUB", "src": ["large", 1e9]},
        {"id": "y", "uop": "MUL", "src": ["small", 2]},
    ]
    oracle, *others = verified(tinyc.compile(document))
    assert (oracle.mismatch.name, oracle.mismatch.kind) == ("small", "value")
    assert [step.failure for step in others] == [None] * 2


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_empty_values_are_seen_too(target):
    seen = {}
    tinyc.compile(program("RELU"), target, fusion="none").run_named({"X": X[:0]}, observe=seen.__setitem__)
    assert {name: array.shape for name, array in seen.items()} == {"a": (0, 2), "s": (0,), "y": (0,)}


def test_a_value_of_another_type_is_the_failure():
    model, other = tinyc.compile(program("RELU"), fusion="none"), program("CAST")
    other["uops"][1]["arg"] = {"to": "fp16"}
    model.lowering._modules["region"] = tinyc.compile(other, fusion="none").lowering.module("region")
    first = first_failure(verified(model))
    assert first.title == REGION
    assert "value 'a' is float16 [2, 2] and should be float32 [2, 2]" in first.failure


@pytest.mark.parametrize("target", ["reference", "cpu", "sim"])
def test_who_runs_a_model_may_look_at_the_values_on_the_way(target):
    model = tinyc.compile(program("RELU"), target, fusion="none")
    seen = {}
    outputs = model.run_named({"X": X}, observe=seen.__setitem__)
    np.testing.assert_array_equal(seen["a"], np.maximum(X, 0))
    np.testing.assert_array_equal(seen["s"], np.maximum(X, 0).sum(1))
    np.testing.assert_array_equal(seen["y"], outputs["y"])
    assert not any(np.shares_memory(seen["y"], output) for output in outputs.values())
