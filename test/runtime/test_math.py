"""Functions of `math` in generated code: vector instructions, or the C library of the process."""

import math

import numpy as np
import pytest

from runtime.hand_made import CPUS, elementwise, executable

FUNCTIONS = {
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "floor": np.floor,
    "erf": np.vectorize(math.erf),
}


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_the_mathematical_one(name, dtype, cpu):
    element = f"f{np.dtype(dtype).itemsize * 8}"
    program = executable(elementwise(f"%r = math.{name} %v : {element}", element, element), cpu)
    values = np.random.default_rng(1).uniform(0.01, 4, 1003).astype(dtype)
    expected = FUNCTIONS[name](values.astype(np.float64))
    np.testing.assert_allclose(program.run({"x": values})["y"], expected, rtol=1e-6 if dtype == np.float32 else 1e-14)


def test_a_kernel_named_like_a_function_of_the_c_library_does_not_replace_it():
    source = elementwise("%r = math.exp2 %v : f32", "f32", "f32").replace("@each", "@exp2f")
    values = np.array([1.0, 3.0], np.float32)
    np.testing.assert_array_equal(executable(source).run({"x": values})["y"], [2.0, 8.0])
