"""The listings of each target: slices of its pipelines, and what they are called."""

import pytest

from tinyc import pipeline
from tinyc.driver.listings import LISTINGS
from tinyc.driver.lowering import STEPS, Lowering
from tinyc.driver.sources import read_program
from tinyc.passes import Upstream, runner
from workloads import WORKLOADS


@pytest.mark.parametrize("target", LISTINGS)
def test_every_listing_has_its_passes_in_walk_order(target):
    assert tuple(STEPS[target]) == LISTINGS[target]


@pytest.mark.parametrize("target", LISTINGS)
def test_a_listing_ends_with_the_pass_that_makes_it(target):
    last = {name: steps[-1].name for name, steps in STEPS[target].items() if steps and name not in ("llvm", "asm")}
    for name, made_by in last.items():
        plan = "pack-weights" if STEPS[target] is STEPS["cpu"] else "plan"
        layers = {"indexbook": "index-book", "poly_view": "poly", "region": "specialize", "plan": plan, "cu": "cuda"}
        layer = layers.get(name, name)
        assert made_by.endswith(f"-{layer}")


def test_the_pipelines_are_of_passes_that_are_listed():
    every = (pipeline.CPU, pipeline.GPU, pipeline.CUDA_TEXT, pipeline.INDEX_BOOK, pipeline.POLY_VIEW)
    ours = {type(step) for steps in every for step in steps if not isinstance(step, Upstream)}
    # A program is inlined when it is read, and the ways out of gpu expand the kernels themselves.
    assert ours == set(pipeline.PASSES) - {pipeline.TinyInline, pipeline.GpuExpand}


@pytest.mark.parametrize("step", pipeline.LOOPS_TO_LLVM, ids=lambda step: step.name)
def test_a_pass_of_mlirs_in_a_pipeline_is_one(step):
    (read,) = pipeline.parse(step.text()).steps
    assert read.name == step.name


def test_a_module_is_verified_once_after_each_pass(monkeypatch):
    module = read_program(WORKLOADS["mlp"].build())
    verified, verify = [], runner.verify_layers
    monkeypatch.setattr(runner, "verify_layers", lambda each: verified.append(each) or verify(each))
    Lowering(module, "cpu").module("llvm")
    assert len(verified) == 1 + len(STEPS["cpu"]["llvm"]) - len(STEPS["cpu"]["tiny"])
