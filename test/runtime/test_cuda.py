"""The CUDA device, on a driver that is none: copies, launches and their order, sizes, and every way to fail.

One test runs on a real GPU where there is one.
"""

import dataclasses
import gc
import json
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tinyc
from runtime.cuda_program import KERNELS, PTX, X, Y, fake, program, times
from runtime.fake_driver import FakeDriver, Result
from tinyc.diagnostics import TinycError, Where
from tinyc.expr.extents import parse_extent
from tinyc.runtime import cuda, cuda_driver
from tinyc.runtime.cuda import CudaExecutable
from tinyc.runtime.program import Buffer, ExtentValue, KernelLaunch, Pointer, Program
from tinyc.vocabulary.run_key import RUN_KEY


@pytest.fixture(autouse=True)
def without_ptxas(monkeypatch):
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)


def refused(driver, arch="sm_80", inputs=None, **options) -> TinycError:
    with pytest.raises(TinycError) as caught:
        CudaExecutable(program(**options), PTX, arch, driver).run(inputs or {"x": X, "y": Y})
    return caught.value


def test_the_kernels_run_on_copies_in_the_order_of_their_generations():
    driver = fake()
    x, y = X.copy(), Y.copy()
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    np.testing.assert_array_equal(executable.run({"x": x, "y": y})["z"], (X + 1) * Y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    order = driver.named("cuMemcpyHtoDAsync", "cuLaunchKernel", "cuMemcpyDtoHAsync", "cuStreamSynchronize")
    assert [name[2:8] for name, *_ in order] == [*["Memcpy"] * 3, *["Launch"] * 3, *["Memcpy"] * 2, "Stream"]
    assert [call[2:8] for call in driver.named("cuLaunchKernel")] == [(2, 1, 1, 256, 1, 1)] * 3


def test_who_watches_a_run_is_told_what_each_kernel_has_written():
    one, told = program(), []
    nodes = {"temp_0": "sum", "output_0": "z"}
    buffers = tuple(dataclasses.replace(each, where=Where(nodes.get(each.name))) for each in one.buffers)
    executable = CudaExecutable(dataclasses.replace(one, buffers=buffers), PTX, "sm_80", fake())
    executable.run({"x": X, "y": Y}, observe=lambda name, array: told.append((name, array)))
    assert [name for name, _ in told] == ["sum", "z", "z"]
    for (_, array), expected in zip(told, (X + 1, Y, (X + 1) * Y), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_outputs_are_copied_into_the_arrays_that_are_given():
    z, wide = np.empty(300, np.float32), np.empty(600, np.float32)
    executable = CudaExecutable(program(), PTX, "sm_80", fake())
    for out in (z, wide[::2]):
        assert executable.run({"x": X, "y": Y}, {"z": out})["z"] is out
        np.testing.assert_array_equal(out, (X + 1) * Y)


def test_the_key_of_random_numbers_is_a_parameter_of_the_kernels():
    keys = []
    one = program()
    keyed = [
        dataclasses.replace(each, parameters=(*each.parameters, ExtentValue(parse_extent(RUN_KEY))))
        for each in one.kernels
    ]
    kernels = {each.symbol: (len(each.parameters), lambda _, __, given: keys.append(given[-1])) for each in keyed}
    executable = CudaExecutable(
        dataclasses.replace(one, symbols=("M", RUN_KEY), kernels=tuple(keyed)), PTX, "sm_80", fake(kernels=kernels)
    )
    executable.run({"x": X, "y": Y}, run_key=2**63 - 1)
    executable.run({"x": X, "y": Y})
    assert keys == [2**63 - 1] * 3 + [0] * 3


def test_nothing_of_the_driver_is_touched_before_the_first_run():
    driver = fake()
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    assert driver.calls == []
    assert executable.last_run_seconds is None


def test_kernels_are_loaded_once_and_memory_is_kept_until_it_is_released():
    driver = fake()
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    for count in (300, 1, 7, 300, 1):
        np.testing.assert_array_equal(
            executable.run({"x": X[:count], "y": Y[:count]})["z"], (X + 1)[:count] * Y[:count]
        )
    assert len(driver.named("cuModuleLoadDataEx")) == 1
    assert len(driver.named("cuMemAlloc")) == 3
    assert len(driver.named("cuCtxPushCurrent")) == len(driver.named("cuCtxPopCurrent"))
    executable.release()
    assert driver.memory == {}


def test_the_time_is_that_of_the_kernels():
    driver = fake()
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    executable.run({"x": X, "y": Y})
    assert executable.last_run_seconds == 1.5
    names = [name for name, *_ in driver.named("cuEventRecord", "cuLaunchKernel", "cuMemcpyDtoHAsync")]
    assert names == ["cuEventRecord", *["cuLaunchKernel"] * 3, "cuEventRecord", *["cuMemcpyDtoHAsync"] * 2]


def test_an_empty_grid_is_not_launched():
    driver = fake()
    empty = np.empty(0, np.float32)
    assert CudaExecutable(program(), PTX, "sm_80", driver).run({"x": empty, "y": empty})["z"].shape == (0,)
    assert driver.named("cuLaunchKernel") == []


def test_an_index_out_of_range_is_reported_with_its_kernel_and_the_next_run_starts_afresh():
    noted = []

    def wrong(driver, grid, parameters):
        times(driver, grid, parameters)
        if not noted:
            noted.append(driver.array(parameters[2], 6, np.int64))
            noted[0][:] = 3, -7, 1, 4, 0, 2

    executable = CudaExecutable(program(), PTX, "sm_80", fake(kernels={**KERNELS, "times": (4, wrong)}))
    with pytest.raises(
        TinycError, match=r"index -7 at \[0, 2\] is outside axis 1 of extent 4 in kernel 'times'"
    ) as caught:
        executable.run({"x": X, "y": Y})
    assert caught.value.name == "IndexOutOfRange"
    np.testing.assert_array_equal(executable.run({"x": X, "y": Y})["z"], (X + 1) * Y)


def test_what_is_loaded_is_given_back_when_the_executable_goes():
    driver = fake()
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    executable.run({"x": X, "y": Y})
    executable.release()
    released = [name for name, *_ in driver.calls if name.startswith(("cuModuleUn", "cuStreamD", "cuEventD"))]
    assert released == ["cuModuleUnload", *["cuEventDestroy"] * 5, "cuStreamDestroy"]
    executable.run({"x": X, "y": Y})
    del executable
    gc.collect()
    assert closed(driver) == 2


def closed(driver) -> int:
    """Return how often the device has been opened and closed."""
    opened = len(driver.named("cuDevicePrimaryCtxRetain"))
    assert len(driver.named("cuDevicePrimaryCtxRelease")) == opened
    return opened


def test_a_model_that_is_freed_gives_back_what_it_has_on_the_device(monkeypatch):
    driver = fake(kernels=defaultdict(lambda: (0, lambda *_: None)))
    monkeypatch.setattr(cuda_driver, "_imported", lambda: driver)
    x = {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [4]}}
    model = tinyc.compile({"uops": [x, {"id": "y", "uop": "RELU", "src": ["x"]}]}, target="cuda")
    run = model.run
    run(X=X[:4])
    assert driver.named("cuDevicePrimaryCtxRelease") == []
    tinyc.model_free(model)
    tinyc.model_free(model)
    assert closed(driver) == 1
    assert ".entry" in model.text("ptx")
    with pytest.raises(TinycError, match="has been freed"):
        run(X=X[:4])


def test_threads_take_turns():
    class Slow(FakeDriver):
        def _cuModuleLoadDataEx(self, *arguments):  # noqa: N802 - the driver's name
            time.sleep(0.05)
            return super()._cuModuleLoadDataEx(*arguments)

    driver = Slow(KERNELS)
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: executable.run({"x": X, "y": Y})["z"], range(8)))
    assert all((result == (X + 1) * Y).all() for result in results)
    assert len(driver.named("cuModuleLoadDataEx")) == 1


def test_the_32_bits_around_the_last_element_of_a_buffer_are_its_own():
    seen = []

    def note(driver, grid, parameters):
        *pointers, _ = parameters
        seen.extend(pointers)
        assert all(driver.array(pointer + 4, 1, np.uint32).size for pointer in pointers)

    names = ("input_0", "output_0")
    buffers = [Buffer(name, name.partition("_")[0], "device", 0, 6, "f16", (3,)) for name in names]
    arena = [Buffer("temp_0", "arena", "device", 64, 6, "f16", (3,))]
    pointers = [Pointer(name, "f16", (3,)) for name in (*names, "temp_0")]
    one = (1, 1, 1)
    kernels = (
        KernelLaunch("note", 0, one, one, one, 0, (*pointers, ExtentValue(3)), ("input_0",), ("output_0", "temp_0")),
    )
    halves = Program("main", (), ("x",), ("z",), (), (*buffers, *arena), kernels, 70)
    executable = CudaExecutable(halves, PTX, "sm_80", fake(kernels={"note": (4, note)}))
    executable.run({"x": np.zeros(3, np.float16)})
    first, *rest = sorted(seen)
    assert all((address - first) % 64 == 0 for address in rest), "no buffer begins in the last word of another"
    assert len(rest) == 2


@pytest.mark.parametrize(
    ("arch", "capability", "assembled_for"),
    [("sm_80", (8, 0), "sm_80"), ("sm_80", (8, 6), "sm_86"), ("sm_80", (9, 0), "sm_90"), ("sm_90a", (9, 0), "sm_90a")],
)
def test_ptxas_assembles_for_the_device(monkeypatch, arch, capability, assembled_for):
    asked = []
    monkeypatch.setattr(cuda, "find_ptxas", lambda: "ptxas")
    monkeypatch.setattr(
        cuda, "assemble", lambda ptx, arch: asked.append((ptx, arch)) or type("Code", (), {"cubin": b"code"})
    )
    driver = fake(capability=capability)
    CudaExecutable(program(), PTX, arch, driver).run({"x": X, "y": Y})
    assert asked == [(PTX, assembled_for)]
    assert driver.named("cuModuleLoadDataEx")[0][1] == b"code"


def test_without_a_ptxas_that_knows_the_device_the_driver_compiles_the_ptx(monkeypatch):
    def too_old(ptx, arch):
        raise TinycError("UnsupportedTarget", "ptxas is too old")

    for known in (None, "ptxas"):
        monkeypatch.setattr(cuda, "find_ptxas", lambda known=known: known)
        monkeypatch.setattr(cuda, "assemble", too_old)
        driver = fake()
        CudaExecutable(program(), PTX, "sm_80", driver).run({"x": X, "y": Y})
        assert driver.named("cuModuleLoadDataEx")[0][1] == PTX.encode() + b"\0"


@pytest.mark.parametrize(
    ("arch", "capability", "needs"),
    [("sm_90a", (8, 0), "9.0;"), ("sm_90a", (10, 0), "9.0;"), ("sm_80", (7, 5), "8.0 or newer;")],
)
def test_a_device_that_does_not_run_the_code_is_refused(arch, capability, needs):
    driver = fake(capability=capability)
    error = refused(driver, arch)
    assert error.name == "UnsupportedTarget"
    assert f"code for {arch} needs {needs} compile with another arch" in error.message
    assert closed(driver) == 1


@pytest.mark.parametrize(("axis", "remedy"), [(0, "smaller inputs"), (1, "to block.x"), (2, "smaller batches")])
def test_a_grid_that_the_device_does_not_take_names_axis_and_remedy(axis, remedy):
    grid = [1, 1, 1]
    grid[axis] = parse_extent("300*M")
    driver = fake(grid_limits=(65535, 65535, 65535))
    error = refused(driver, grid=tuple(grid))
    assert error.name == "LaunchTooLarge"
    assert f"kernel 'add_one' needs a grid of 90000 CTAs along {'xyz'[axis]}, and Fake GPU takes 65535" in error.message
    assert remedy in error.message
    assert driver.named("cuMemAlloc") == []


def test_bindings_that_are_missing(monkeypatch):
    monkeypatch.setattr(cuda_driver, "_BINDINGS", "cuda.bindings.there_is_no_such_module")
    error = refused(None)
    assert error.name == "NoDriver"
    assert "pip install 'tinyc[cuda]', or compile with target='cpu'" in error.message


def test_a_library_that_is_missing():
    class WithoutLibrary(FakeDriver):
        def cuInit(self, flags):  # noqa: N802 - the driver's name
            raise RuntimeError("Failure finding\nlibcuda.so")

    error = refused(WithoutLibrary())
    assert error.name == "NoDriver"
    assert "there is no CUDA driver (Failure finding libcuda.so); install NVIDIA's driver" in error.message


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        ({"cuInit": Result.CUDA_ERROR_NO_DEVICE}, "the CUDA driver finds no GPU; see what nvidia-smi"),
        (
            {"cuInit": Result.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
            "cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (meaning of 803); mend its installation",
        ),
    ],
)
def test_a_driver_that_cannot_be_used(failing, message):
    error = refused(fake(failing=failing))
    assert error.name == "NoDriver"
    assert message in error.message


def test_no_device_is_visible(monkeypatch):
    monkeypatch.setattr(FakeDriver, "_cuDeviceGetCount", lambda driver: 0)
    assert refused(fake()).name == "NoDriver"


def test_memory_that_the_device_does_not_have():
    driver = fake(failing={"cuMemAlloc": Result.CUDA_ERROR_OUT_OF_MEMORY})
    driver.cuMemGetInfo = lambda: (Result.CUDA_SUCCESS, 10, 20)
    error = refused(driver)
    assert error.name == "OutOfMemory"
    sizes = 3 * 1280 + 20480 + 768  # inputs and output, the arena of 68 * 300 bytes, the status slots
    assert f"needs {sizes} bytes of Fake GPU's memory, of which 10 of 20 bytes are free" in error.message


def test_memory_beyond_what_an_address_can_reach():
    class OfThisMachine(FakeDriver):
        def cuMemAlloc(self, size_bytes):  # noqa: N802 - the driver's name
            return np.uint64(size_bytes)  # raises OverflowError, as the bindings do

    driver = OfThisMachine(KERNELS)
    driver.cuMemGetInfo = lambda: (Result.CUDA_SUCCESS, 10, 20)
    huge = dataclasses.replace(program(), arena_bytes=2**70)
    with pytest.raises(TinycError, match="bytes of Fake GPU's memory, of which 10 of 20") as caught:
        CudaExecutable(huge, PTX, "sm_80", driver).run({"x": X, "y": Y})
    assert caught.value.name == "OutOfMemory"


@pytest.mark.parametrize("function", ["cuStreamCreate", "cuEventCreate", "cuModuleLoadDataEx", "cuModuleGetFunction"])
def test_a_device_that_cannot_be_made_ready_is_closed(function):
    driver = fake(failing={function: Result.CUDA_ERROR_ILLEGAL_ADDRESS})
    error = refused(driver)
    assert error.name == "DeviceFailure"
    assert function in error.message
    assert closed(driver) == 1  # while the error, and all that it refers to, is alive


def test_an_arena_that_only_the_device_has_to_hold_is_not_held_against_this_machine():
    driver = fake(failing={"cuMemAlloc": Result.CUDA_ERROR_OUT_OF_MEMORY})
    driver.cuMemGetInfo = lambda: (Result.CUDA_SUCCESS, 10, 20)
    huge = dataclasses.replace(program(), arena_bytes=2**50)
    with pytest.raises(TinycError, match=rf"the program needs {2**50 + 3 * 1280 + 768} bytes of Fake GPU's memory"):
        CudaExecutable(huge, PTX, "sm_80", driver).run({"x": X, "y": Y})


def test_a_failure_on_the_device_is_named_and_everything_given_back():
    driver = fake(failing={"cuStreamSynchronize": Result.CUDA_ERROR_ILLEGAL_ADDRESS})
    executable = CudaExecutable(program(), PTX, "sm_80", driver)
    message = r"on Fake GPU: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS \(meaning of 700\)"
    with pytest.raises(TinycError, match=message) as caught:
        executable.run({"x": X, "y": Y})
    assert caught.value.name == "DeviceFailure"
    assert closed(driver) == 1
    assert driver.memory == {}
    assert len(driver.named("cuCtxPushCurrent")) == len(driver.named("cuCtxPopCurrent"))
    driver.failing.clear()
    np.testing.assert_array_equal(executable.run({"x": X, "y": Y})["z"], (X + 1) * Y)


def test_what_the_drivers_compiler_says_is_passed_on():
    class Refusing(FakeDriver):
        def cuModuleLoadDataEx(self, code, count, options, values):  # noqa: N802 - the driver's name
            values[0][:11] = b"no kernel\0x"
            return (Result.CUDA_ERROR_INVALID_PTX, None)

    error = refused(Refusing(KERNELS))
    assert error.name == "DeviceFailure"
    assert "CUDA_ERROR_INVALID_PTX (meaning of 218); the driver says: no kernel;" in error.message


def test_wrong_inputs_are_refused_without_the_driver():
    driver = fake()
    assert refused(driver, inputs={"x": X, "y": Y[:3]}).name == "InputMismatch"
    assert driver.calls == []


def test_a_program_runs_on_a_real_gpu(monkeypatch):
    try:
        cuda_driver.Device().close()
    except TinycError as error:
        if error.name != "NoDriver":
            raise
        pytest.skip(f"did not run on a GPU: {error.message}")
    monkeypatch.undo()  # with ptxas, where there is one
    shapes = {"X": ["M", "K"], "W": ["M", "K"]}
    nodes = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": "fp32", "shape": shape}}
        for name, shape in shapes.items()
    ]
    nodes += [
        {"id": "p", "uop": "MUL", "src": ["X", "W"]},
        {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": ["K"], "dtype": "fp32"}},
    ]
    model = tinyc.compile(json.dumps({"uops": nodes}), target="cuda")
    for rows, columns in ((1, 1), (7, 5), (300, 129), (0, 3), (3, 0)):
        x, w = (np.random.default_rng(rows).random((rows, columns), np.float32) for _ in "xw")
        np.testing.assert_allclose(model(x, w), (x * w).sum(axis=1), rtol=1e-5)
