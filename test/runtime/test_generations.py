"""Several generations: what lies between kernels is in the arena, and a place may be used again."""

from itertools import pairwise

import numpy as np
import pytest

from runtime.hand_made import CPUS, buffer, executable, function, kernel, tensor

SHAPE = tensor(["M", 3], "f32")
STRIDE = "256*((3*M - 1) floordiv 64) + 256"  # the buffer's 12*M bytes, rounded up to 256


def add_one() -> str:
    return """
func.func @add_one(%x: memref<?x3xf32>, %y: memref<?x3xf32>, %m: index, %low: index, %high: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %low to %high step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x3xf32>
      %r = arith.addf %v, %one : f32
      memref.store %r, %y[%i, %j] : memref<?x3xf32>
    }
  }
  return
}
"""


def chain() -> str:
    """Return y = x + 4 in four generations; the third value lies where the first did."""
    names = ["input_0", "temp_0", "temp_1", "temp_2", "output_0"]
    launches = [
        kernel(
            "add_one",
            [f'#exec.ptr<"{source}", {SHAPE}>', f'#exec.ptr<"{target}", {SHAPE}>', '#exec.extent<"M">'],
            [source],
            [target],
            "M",
            generation,
        )
        for generation, (source, target) in enumerate(pairwise(names))
    ]
    buffers = [buffer(name, SHAPE, "12*M", STRIDE if name == "temp_1" else 0) for name in names]
    total = "512*((3*M - 1) floordiv 64) + 512"
    return add_one() + function("".join([*buffers, *launches]), ["M"], ["x"], ["y"], total)


@pytest.mark.parametrize("cpu", CPUS)
def test_values_pass_through_the_arena(cpu):
    program = executable(chain(), cpu)
    for rows in (1, 2, 5, 16, 129, 0):
        x = np.random.default_rng(rows).random((rows, 3), np.float32)
        np.testing.assert_array_equal(program.run({"x": x})["y"], x + 1 + 1 + 1 + 1)


def test_outputs_are_fresh_and_inputs_are_left_alone():
    program = executable(chain())
    x = np.ones((4, 3), np.float32)
    first, second = program.run({"x": x})["y"], program.run({"x": x})["y"]
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, x)
    np.testing.assert_array_equal(x, np.ones((4, 3), np.float32))


def test_a_kernel_that_writes_nothing_does_not_run_however_long_its_loop_is():
    source = """
func.func @copy(%x: memref<?x?xi8>, %y: memref<?x?xi8>, %m: index, %n: index, %low: index, %high: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi8>
      memref.store %v, %y[%i, %j] : memref<?x?xi8>
    }
  }
  return
}
"""
    kind, names = tensor(["M", "N"], "i8"), ["input_0", "output_0"]
    pointers = [*(f'#exec.ptr<"{name}", {kind}>' for name in names), '#exec.extent<"M">', '#exec.extent<"N">']
    body = "".join(buffer(name, kind, "M*N") for name in names) + kernel("copy", pointers, names[:1], names[1:], "M")
    program = executable(source + function(body, ["M", "N"], ["x"], ["y"]))
    assert program.run({"x": np.empty((2**50, 0), np.int8)})["y"].shape == (2**50, 0)


def test_one_array_may_be_passed_as_two_inputs():
    source = """
func.func @add(%x: memref<4xi32>, %z: memref<4xi32>, %y: memref<4xi32>, %low: index, %high: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {
    %a = memref.load %x[%i] : memref<4xi32>
    %b = memref.load %z[%i] : memref<4xi32>
    %r = arith.addi %a, %b : i32
    memref.store %r, %y[%i] : memref<4xi32>
  }
  return
}
"""
    kind, names = tensor([4], "i32"), ["input_0", "input_1", "output_0"]
    pointers = [f'#exec.ptr<"{name}", {kind}>' for name in names]
    body = "".join(buffer(name, kind, 16) for name in names) + kernel("add", pointers, names[:2], names[2:], 4)
    program = executable(source + function(body, [], ["x", "z"], ["y"]))
    x = np.arange(4, dtype=np.int32)
    np.testing.assert_array_equal(program.run({"x": x, "z": x})["y"], [0, 2, 4, 6])


def test_a_tensor_of_rank_0_is_one_number():
    source = """
func.func @negate(%x: memref<f64>, %y: memref<f64>, %low: index, %high: index) {
  %v = memref.load %x[] : memref<f64>
  %r = arith.negf %v : f64
  memref.store %r, %y[] : memref<f64>
  return
}
"""
    kind, names = tensor([], "f64"), ["input_0", "output_0"]
    pointers = [f'#exec.ptr<"{name}", {kind}>' for name in names]
    body = "".join(buffer(name, kind, 8) for name in names) + kernel("negate", pointers, names[:1], names[1:], 1)
    result = executable(source + function(body, [], ["x"], ["y"])).run({"x": np.float64(3)})["y"]
    assert (result.shape, result.dtype, result[()]) == ((), np.float64, -3)
