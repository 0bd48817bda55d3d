"""The examples and the programs of the benches on the CPU and on the simulator, with fusion and without."""

import pytest

import tinyc
from parameters import in_turn
from programs.example_bindings import BIND, EXAMPLES
from tinyc import pipeline
from tinyc.driver.sources import read_program
from tinyc.executors import reference
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.fusion.request import NO_FUSION
from workloads import WORKLOADS


def check(source, target, fusion, bind=None):
    """Compare a program with the reference; return the number of its kernels."""
    model = tinyc.compile(source, target, bind=bind, fusion=fusion)
    check_numbers(model, model.lowering.module("tiny"))
    return len(model.lowering.program().kernels)


def check_numbers(model, module):
    """Compare what a model computes with the reference of a program."""
    inputs = random_inputs(module, seed=0)
    expected, tolerances = reference.evaluate_module(module, inputs), output_tolerances(module, inputs)
    for comparison in compare_all(model.run(**inputs), expected, tolerances):
        assert comparison.ok, str(comparison)


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("name", BIND)
def test_an_example_agrees_with_the_reference_without_fusion(name, target):
    check(EXAMPLES / f"{name}.json", target, NO_FUSION, BIND[name])


@in_turn("name", "target", WORKLOADS, ["cpu", "sim"])
def test_a_workload_agrees_with_the_reference_with_fusion_and_without(name, target):
    fused, apart = (check(WORKLOADS[name].build(), target, fusion) for fusion in (None, NO_FUSION))
    assert fused <= apart


@in_turn("name", "way", WORKLOADS, [("cpu", "sim", "sm_90a"), ("sm_80", "cpu", None), ("sm_90a", "sim", "sm_80")])
def test_regions_formed_for_one_machine_are_built_for_another(name, way):
    machine, target, arch = way
    source = WORKLOADS[name].build()
    regions = read_program(source, {})
    pipeline.parse(f"tiny-to-region{{target={machine}}}").run(regions)
    check_numbers(tinyc.compile(str(regions), target, arch=arch), read_program(source, {}))
