"""Programs as one kernel on the CPU, compared with the reference; and what such programs are often made of."""

import tinyc
from analysis_programs.region_kernels import one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.dialects.registry import context
from tinyc.driver.sources import read_program
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType


def agrees(p: Program, model: tinyc.Model | None = None, **sizes: int) -> bool:
    """Compare one kernel on the CPU with the reference on random inputs, symbols having these sizes.

    `model` is the kernel, if it has been compiled.
    """
    bound = read_program(p.module, sizes)
    inputs = random_inputs(bound, 0)
    found = (model or tinyc.compile(one_kernel_program(p))).run(**inputs)
    expected = tinyc.compile(bound, target="reference").run(**inputs)
    results = compare_all(found, expected, output_tolerances(bound, inputs))
    print(*(each for each in results if not each.ok))
    return all(each.ok for each in results)


def typed(value) -> TensorType:
    """The type of a value."""
    with context():
        return tensor_type(value.type)


def spread(p: Program, value, like, *axes: int):
    """Broadcast what a reduction along `axes` of `like` gives back to its shape."""
    shape = typed(like).shape
    return p.expand(value, shape=shape, broadcast_dimensions=tuple(k for k in range(len(shape)) if k not in axes))


def scaled(p: Program, x, factor: float):
    """Multiply by a number."""
    tensor = typed(x)
    number = p.op("const", value=factor, shape=(), element=tensor.element.value)
    return p.mul(x, p.expand(number, shape=tensor.shape, broadcast_dimensions=()))
