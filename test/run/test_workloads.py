"""The programs that benches and tests share: each runs, and computes what numpy says."""

import math

import numpy as np
import pytest

import tinyc
from programs.workload_formulas import FORMULAS
from tinyc.executors.random_inputs import random_inputs
from workloads import WORKLOADS, deep, movements

#: What 16-bit floats lose between the layers of a network, whose values are about 1.
TOLERANCES = {"fp32": 2e-5, "fp16": 8e-3}


def test_every_workload_has_a_formula():
    assert FORMULAS.keys() == WORKLOADS.keys()


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_computes_its_formula(name, dtype):
    model = tinyc.compile(WORKLOADS[name].build(dtype=dtype), target="reference")
    inputs = random_inputs(model.lowering.module("tiny"), 0)
    (result,) = model.run(**inputs).values()
    exact = FORMULAS[name](*(array.astype(np.float64) for array in inputs.values()))
    assert result.shape == exact.shape
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(result.astype(np.float64), exact, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_sizes_as_networks_have_them(name):
    workload = WORKLOADS[name]
    small, large = (
        tinyc.compile(workload.build(**sizes), target="reference").signature for sizes in ({}, workload.large)
    )
    sizes = [sum(math.prod(each.type.shape) for each in signature.inputs) for signature in (small, large)]
    assert sizes[1] > 10 * sizes[0]


@pytest.mark.parametrize("graph", [deep, movements])
def test_a_long_graph_has_the_nodes_that_are_asked_for(graph):
    program = graph(200)
    assert 200 <= len(program["uops"]) < 300
    (result,) = tinyc.compile(program, target="reference").signature.outputs
    assert result.type.shape in ((1, 128, 64), (8, 12))


@pytest.mark.parametrize("rows", ["M", 3])
def test_rows_may_be_a_symbol(rows):
    model = tinyc.compile(WORKLOADS["layer_norm"].build(rows=rows, columns=4), target="reference")
    assert model(*(np.ones(shape, np.float32) for shape in ((3, 4), (4,), (4,)))).tolist() == [[1.0] * 4] * 3
