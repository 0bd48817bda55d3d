"""A whole program as one kernel on the CPU: the reference's numbers, whatever the steps and phases are."""

import pytest

import tinyc
from analysis_programs.region_kernels import one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.analysis.cpu_steps import CpuSteps
from tinyc.dialects.registry import context
from tinyc.driver.verification import output_tolerances
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.vocabulary.attributes import tensor_type


def agrees(p: Program, **sizes: int) -> bool:
    """Compare one kernel on the CPU with the reference on random inputs, for some sizes of its symbols."""
    inputs = random_inputs(p.module, 0, sizes) if sizes else random_inputs(p.module, 0)
    expected = tinyc.compile(p.module, target="reference").run(**inputs)
    found = tinyc.compile(one_kernel_program(p)).run(**inputs)
    results = compare_all(found, expected, output_tolerances(p.module, inputs))
    print(*(each for each in results if not each.ok))
    return all(each.ok for each in results)


def steps(p: Program) -> CpuSteps | None:
    """The steps of a program as one kernel."""
    with context():
        return one_kernel(p).nest.steps


def spread(p: Program, value, like, axis: int):
    """Broadcast what a reduction along `axis` of `like` gives, back to its shape."""
    shape = tensor_type(like.type).shape
    where = tuple(k for k in range(len(shape)) if k != axis)
    return p.expand(value, shape=shape, broadcast_dimensions=where)


def softmax(p: Program, x, axis: int = -1):
    axis %= len(tensor_type(x.type).shape)
    element = tensor_type(x.type).element.value
    most = p.op("reduce", x, op="max", axes=(axis,), element=element)
    e = p.exp2(p.sub(x, spread(p, most, x, axis)))
    return p.mul(e, spread(p, p.recip(p.sum(e, axis, element=element)), x, axis))


def layer_norm(p: Program, x, size: float):
    axis = len(tensor_type(x.type).shape) - 1
    mean = scaled(p, p.sum(x, axis), 1 / size)
    centred = p.sub(x, spread(p, mean, x, axis))
    variance = scaled(p, p.sum(p.mul(centred, centred), axis), 1 / size)
    return p.mul(centred, spread(p, p.rsqrt(variance), x, axis)), mean, variance


def scaled(p: Program, x, factor: float):
    tensor = tensor_type(x.type)
    number = p.op("const", value=factor, shape=(), element=tensor.element.value)
    return p.mul(x, p.expand(number, shape=tensor.shape, broadcast_dimensions=()))


@pytest.mark.parametrize(
    "shape", ["5", "1 1", "3 1", "1 7", "0 4", "4 0", "6 5", "3 200", "2 3 130", "300 5", "7 1024"]
)
def test_a_softmax_is_one_kernel(shape):
    p = Program(x=f"f32 {shape}")
    assert agrees(p.result(softmax(p, p["x"])))
    assert steps(p) is not None
