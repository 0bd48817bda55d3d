"""Recurrences that are written out step by step: kernels and code grow with the steps, and not faster."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from analysis_programs.tiny_programs import Program
from tinyc.analysis.graphs import main_function
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.dialects.region.kernel import kernels_of
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.fusion.formation import form_regions
from tinyc.fusion.pricing import Pricing
from tinyc.fusion.stops import MAX_NESTED_REDUCTIONS
from tinyc.schemes.cpu import CpuGeneric
from tinyc.target import GENERIC_CPU, SM80

MACHINES = pytest.mark.parametrize("machine", [GENERIC_CPU, SM80], ids=lambda each: each.name)


def lstm(steps):
    """An LSTM of two rows, four numbers each."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((1, 16, width)).astype(np.float32), name)
        for name, width in (("w", 3), ("r", 4))
    ]
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)],
        "lstm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [steps, 1, 2, 4])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def lines_of_loops(steps):
    """How many lines the loops of an LSTM have."""
    return len(Lowering(read_program(lstm(steps))).text("loops").splitlines())


def test_the_code_of_a_recurrence_grows_as_its_steps():
    four, eight, sixteen = (lines_of_loops(steps) for steps in (4, 8, 16))
    assert eight < 3 * four
    assert sixteen < 2.5 * eight


def phases_of(loops):
    """The accesses of each phase."""
    return sorted(len(phase.block.accesses) for phase in loops.phases)


@pytest.mark.parametrize("steps", [2, 4, 8])
def test_a_kernel_reads_what_its_group_was_priced_for(steps):
    lowering = Lowering(read_program(lstm(steps)))
    module = lowering.module("tiny")
    with module.context:
        regions = form_regions(main_function(module), GENERIC_CPU).regions
    built = lowering.module("region")
    with built.context:
        found = [kernel_loops(kernel.op) for kernel in kernels_of(built).values()]
    assert not any(isinstance(each, str) for each in found)
    priced = {tuple(phases_of(each.priced.candidate.loops)) for each in regions}
    assert {tuple(phases_of(each.loops)) for each in found} == priced


def test_no_kernel_has_many_reductions_inside_of_each_other():
    p = Program(x="f32 2 2 2 2 2 2")
    x = p["x"]
    for axis in reversed(range(6)):
        x = p.sum(p.tanh(x), axis)
    p.result(x)
    alone = Pricing(GENERIC_CPU, [CpuGeneric()])  # as if nothing else took it: each element by itself
    with p.module.context:
        regions = form_regions(main_function(p.module), GENERIC_CPU, pricing=alone).regions
    nested = [each.priced.candidate.loops.nested_reductions for each in regions]
    assert sum(nested) == 6
    assert max(nested) == MAX_NESTED_REDUCTIONS


@MACHINES
def test_a_returned_product_is_written_where_its_reader_is_taken_back(machine):
    p = Program(q="f32 6 4 8", k="f32 6 8 6", bias="f32 4 6")
    left = p.expand(p.reshape(p["q"], shape="6 4 1 8"), shape="6 4 6 8", broadcast_dimensions=(0, 1, 2, 3))
    right = p.permute(p["k"], perm=(0, 2, 1))
    right = p.expand(p.reshape(right, shape="6 1 6 8"), shape="6 4 6 8", broadcast_dimensions=(0, 1, 2, 3))
    scores = p.sum(p.mul(left, right), 3)
    biased = p.add(scores, p.expand(p["bias"], shape="6 4 6", broadcast_dimensions=(1, 2)))
    greatest = p.expand(
        p.reduce(biased, axes=(2,), op="max", element="f32"), shape="6 4 6", broadcast_dimensions=(0, 1)
    )
    powers = p.exp2(p.sub(biased, greatest))
    total = p.expand(p.sum(powers, 2), shape="6 4 6", broadcast_dimensions=(0, 1))
    p.result(p.fdiv(powers, total), scores)
    with p.module.context:
        formation = form_regions(main_function(p.module), machine)
    assert set(formation.graph.outputs) <= {name for each in formation.regions for name in each.results}
