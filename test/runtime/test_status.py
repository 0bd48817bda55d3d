"""An index that is out of range is reported by the kernel in its status slot, and raised with the kernel's name."""

import numpy as np
import pytest

from runtime.hand_made import CPUS, buffer, executable, function, kernel, tensor
from tinyc.diagnostics import TinycError

TAKE = """
func.func @{name}(
    %x: memref<4xf32>, %i: memref<2xi64>, %y: memref<2xf32>, %status: memref<36xi64>, %low: index, %high: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %first_axis = arith.constant 0 : i64
  %places = arith.constant 2 : i64
  %extent = arith.constant 4 : i64
  scf.for %k = %low to %high step %c1 {{
    %given = memref.load %i[%k] : memref<2xi64>
    %at = arith.index_cast %given : i64 to index
    %inside = arith.cmpi ult, %at, %c4 : index
    %safe = arith.select %inside, %at, %c0 : index
    scf.if %inside {{
    }} else {{
      %place = arith.index_cast %k : index to i64
      memref.store %places, %status[%c0] : memref<36xi64>
      memref.store %given, %status[%c1] : memref<36xi64>
      memref.store %first_axis, %status[%c2] : memref<36xi64>
      memref.store %extent, %status[%c3] : memref<36xi64>
      memref.store %place, %status[%c4] : memref<36xi64>
    }}
    %v = memref.load %x[%safe] : memref<4xf32>
    memref.store %v, %y[%k] : memref<2xf32>
  }}
  return
}}
"""
X = np.array([10, 11, 12, 13], np.float32)


def two_takes() -> str:
    """Return y = x[i] and z = x[j], each by a kernel with a status slot of its own."""
    data, index, taken = tensor([4], "f32"), tensor([2], "i64"), tensor([2], "f32")
    body = buffer("input_0", data, 16) + buffer("input_1", index, 16) + buffer("input_2", index, 16)
    body += buffer("output_0", taken, 8) + buffer("output_1", taken, 8)
    for slot, (name, source, target) in enumerate((("first", 1, 0), ("second", 2, 1))):
        names = ["input_0", f"input_{source}", f"output_{target}"]
        pointers = [f'#exec.ptr<"{n}", {t}>' for n, t in zip(names, (data, index, taken), strict=True)]
        body += kernel(name, [*pointers, f"#exec.status<{slot}>"], names[:2], names[2:], 2)
    kernels = TAKE.format(name="first") + TAKE.format(name="second")
    return kernels + function(body, [], ["x", "i", "j"], ["y", "z"])


def indices(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("cpu", CPUS)
def test_indices_in_range_are_taken(cpu):
    outputs = executable(two_takes(), cpu).run({"x": X, "i": indices(3, 0), "j": indices(1, 1)})
    np.testing.assert_array_equal(outputs["y"], [13, 10])
    np.testing.assert_array_equal(outputs["z"], [11, 11])


@pytest.mark.parametrize("wrong", [4, -1, 2**40])
def test_an_index_out_of_range_names_the_kernel_its_inputs_and_the_index(wrong):
    program = executable(two_takes())
    with pytest.raises(TinycError) as caught:
        program.run({"x": X, "i": indices(0, 1), "j": indices(wrong, 1)})
    assert caught.value.name == "IndexOutOfRange"
    place = "outside axis 0 of extent 4 in kernel 'second', which reads input 'x' and input 'j'"
    assert f"index {wrong} at [0] is {place}; " in caught.value.message


def test_a_run_after_an_error_starts_afresh():
    program = executable(two_takes())
    with pytest.raises(TinycError):
        program.run({"x": X, "i": indices(9, 9), "j": indices(0, 0)})
    outputs = program.run({"x": X, "i": indices(1, 2), "j": indices(0, 0)})
    np.testing.assert_array_equal(outputs["y"], [11, 12])
