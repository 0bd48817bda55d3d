"""Runs again and again on a GPU, on a driver that is none: memory and graphs that are kept, arrays that stay there."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tinyc
from importers.documents import node, tensor
from importers.documents import program as document
from runtime.cuda_program import KERNELS, PTX, X, Y, fake, program
from runtime.fake_driver import FakeDriver, Result
from tinyc.diagnostics import TinycError, Where, collect_remarks
from tinyc.expr.extents import parse_extent
from tinyc.runtime import cuda, dlpack
from tinyc.runtime.arrays import InputCheck
from tinyc.runtime.cuda import CudaExecutable
from tinyc.runtime.cuda_driver import Driver
from tinyc.runtime.cuda_memory import KEPT_RESULTS, ResultMemory
from tinyc.runtime.device_array import DeviceArray
from tinyc.runtime.outputs import Output
from tinyc.runtime.program import STATUS_BYTES, Buffer, ExtentValue
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.run_key import RUN_KEY

COPIES = ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync")
GRAPHS = ("cuGraphCreate", "cuGraphInstantiate", "cuGraphLaunch", "cuGraphExecKernelNodeSetParams")


@pytest.fixture(autouse=True)
def without_ptxas(monkeypatch):
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)


@pytest.fixture
def driver() -> FakeDriver:
    return fake()


def on(driver: FakeDriver) -> CudaExecutable:
    return CudaExecutable(program(), PTX, "sm_80", driver)


class Mine:
    """An array of another library in the device's memory."""

    def __init__(self, driver, values, **told):
        _, self.address = driver.cuMemAlloc(max(1, values.nbytes))
        self.driver, self.count = driver, values.size
        self.values[:] = values.reshape(-1)
        shared = {"shape": values.shape, "typestr": values.dtype.str, "version": 3, "data": (self.address, False)}
        self.__cuda_array_interface__ = {**shared, **told}
        driver.calls.clear()

    @property
    def values(self):
        return self.driver.array(self.address, self.count)


class Scarce(FakeDriver):
    """A device with so many bytes of memory."""

    limit = 2**40

    def cuMemAlloc(self, size_bytes):  # noqa: N802 - the driver's name
        if self.used + size_bytes > self.limit:
            return (Result.CUDA_ERROR_OUT_OF_MEMORY, None)
        return super().__getattr__("cuMemAlloc")(size_bytes)

    def cuMemGetInfo(self):  # noqa: N802
        return (Result.CUDA_SUCCESS, self.limit - self.used, self.limit)

    @property
    def used(self):
        return sum(piece.nbytes for piece in self.memory.values())


def names(driver, *wanted):
    return [name for name, *_ in driver.named(*wanted)]


def test_the_second_run_makes_a_graph_and_later_ones_replay_it(driver):
    executable = on(driver)
    for run in range(5):
        x = X + run
        np.testing.assert_array_equal(executable.run({"x": x, "y": Y})["z"], (x + 1) * Y)
    assert len(driver.named("cuLaunchKernel")) == 3, "those of the first run"
    assert names(driver, *GRAPHS) == ["cuGraphCreate", "cuGraphInstantiate", *["cuGraphLaunch"] * 4]
    assert len(driver.named("cuMemAlloc")) == 1
    assert len(driver.named("cuModuleLoadDataEx")) == 1


def test_later_runs_are_copies_and_one_launch(driver):
    executable = on(driver)
    for _ in range(3):
        executable.run({"x": X, "y": Y})
    driver.calls.clear()
    executable.run({"x": X, "y": Y})
    work = ["cuEventRecord", "cuGraphLaunch", "cuEventRecord"]
    copies = [*["cuMemcpyHtoDAsync"] * 3, *work, *["cuMemcpyDtoHAsync"] * 2]
    assert names(driver, *{name for name, *_ in driver.calls}) == [
        "cuCtxPushCurrent", *copies, "cuStreamSynchronize", "cuEventElapsedTime", "cuCtxPopCurrent"
    ]  # fmt: skip


def test_each_size_has_memory_and_a_graph_of_its_own(driver):
    executable = on(driver)
    for _ in range(4):
        for count in (300, 7, 0):
            x, y = X[:count], Y[:count]
            np.testing.assert_array_equal(executable.run({"x": x, "y": y})["z"], (x + 1) * y)
    assert len(driver.named("cuMemAlloc")) == 3
    assert len(driver.named("cuGraphCreate")) == 2, "nothing is launched for 0 elements"
    executable.release()
    assert driver.memory == {}
    assert len(driver.named("cuGraphDestroy")) == len(driver.named("cuGraphExecDestroy")) == 2


def test_the_sizes_of_long_ago_are_given_back(driver, monkeypatch):
    monkeypatch.setattr(cuda, "KEPT_SIZES", 2)
    executable = on(driver)
    for count in (1, 2, 1, 3, 1):
        executable.run({"x": X[:count], "y": Y[:count]})
    assert len(driver.named("cuMemAlloc")) == 3
    assert len(driver.memory) == 2


def test_memory_of_other_sizes_is_given_back_where_it_is_short():
    driver = Scarce(KERNELS)
    executable = on(driver)
    for count in (300, 200, 300):
        x, y = X[:count], Y[:count]
        np.testing.assert_array_equal(executable.run({"x": x, "y": y})["z"], (x + 1) * y)
        driver.limit = 30_000  # 300 elements take 26 KB
    assert len(driver.memory) == 1


@pytest.mark.parametrize("function", ["cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiate"])
def test_without_graphs_kernels_are_launched_one_by_one(function):
    driver = fake(failing={function: Result.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH})
    executable = on(driver)
    for _ in range(4):
        np.testing.assert_array_equal(executable.run({"x": X, "y": Y})["z"], (X + 1) * Y)
    assert len(driver.named("cuLaunchKernel")) == 12
    assert len(driver.named(function)) == 1, "it is tried once"
    assert len(driver.named("cuGraphDestroy")) == len(driver.graphs)


def test_a_run_that_is_watched_launches_kernels_and_leaves_the_graph_right(driver):
    executable, told = on(driver), []
    for step in range(6):
        observe = (lambda name, value: told.append(name)) if step in (1, 3) else None
        x = X * step
        np.testing.assert_array_equal(executable.run({"x": x, "y": Y}, observe=observe)["z"], (x + 1) * Y)
    assert len(driver.named("cuLaunchKernel")) == 9
    assert len(driver.named("cuGraphCreate")) == 1


def test_the_key_of_random_numbers_is_written_into_the_graph():
    keys, one = [], program()
    keyed = [
        dataclasses.replace(each, parameters=(*each.parameters, ExtentValue(parse_extent(RUN_KEY))))
        for each in one.kernels
    ]
    kernels = {each.symbol: (len(each.parameters), lambda _, __, given: keys.append(given[-1])) for each in keyed}
    one = dataclasses.replace(one, symbols=("M", RUN_KEY), kernels=tuple(keyed))
    executable = CudaExecutable(one, PTX, "sm_80", fake(kernels=kernels))
    for key in (0, 5, 5, 2**63 - 1, 0):
        executable.run({"x": X, "y": Y}, run_key=key)
    assert keys == [each for key in (0, 5, 5, 2**63 - 1, 0) for each in [key] * 3]


def test_arrays_of_the_device_are_read_and_written_where_they_are(driver):
    executable, y = on(driver), Mine(driver, Y)
    for run in range(4):
        x, z = Mine(driver, X + run), Mine(driver, np.zeros(300, np.float32))
        assert executable.run({"x": x, "y": y}, {"z": z})["z"] is z
        np.testing.assert_array_equal(z.values, (X + run + 1) * Y)
        assert [size for _, _, _, size, _ in driver.named(*COPIES)] == [2 * STATUS_BYTES] * 2, "the status slots"
        assert len(driver.named("cuMemAlloc")) == (run == 0), "the arena and the slots"
    assert names(driver, *GRAPHS) == [*["cuGraphExecKernelNodeSetParams"] * 3, "cuGraphLaunch"]


def test_only_the_nodes_whose_arrays_are_others_are_written_anew(driver):
    executable, x, y, z = on(driver), *(Mine(driver, each) for each in (X, Y, X))
    for _ in range(3):
        executable.run({"x": x, "y": y}, {"z": z})
    driver.calls.clear()
    executable.run({"x": x, "y": y}, {"z": z})
    assert names(driver, *GRAPHS) == ["cuGraphLaunch"]
    executable.run({"x": Mine(driver, X), "y": y}, {"z": z})
    assert names(driver, *GRAPHS) == ["cuGraphExecKernelNodeSetParams", "cuGraphLaunch"]


def test_results_stay_on_the_device_where_all_inputs_are_there(driver):
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    z = executable.run({"x": x, "y": y})["z"]
    assert isinstance(z, DeviceArray)
    assert repr(z) == "<tinyc.DeviceArray of float32 [300]>"
    told = z.__cuda_array_interface__
    assert (told["shape"], told["typestr"], told["version"], told["stream"]) == ((300,), "<f4", 3, None)
    np.testing.assert_array_equal(driver.array(told["data"][0], 300), (X + 1) * Y)
    np.testing.assert_array_equal(z.numpy(), (X + 1) * Y)
    again = executable.run({"x": z, "y": y})["z"]
    np.testing.assert_array_equal(again.numpy(), ((X + 1) * Y + 1) * Y)
    assert isinstance(executable.run({"x": x, "y": Y})["z"], np.ndarray)


def test_results_that_nobody_has_leave_their_memory_to_later_ones(driver):
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    for _ in range(5):
        z = executable.run({"x": x, "y": y})["z"]
    assert len(driver.named("cuMemAlloc")) == 3, "the arena, a result, and one beside it"
    executable.release()
    np.testing.assert_array_equal(z.numpy(), (X + 1) * Y)
    del executable, z
    assert len(driver.memory) == 2, "x and y"
    assert len(driver.named("cuDevicePrimaryCtxRetain")) == len(driver.named("cuDevicePrimaryCtxRelease")) == 2


def result_of(memory, count):
    return memory.array(Output("z", "f32", np.dtype(np.float32), (count,)))


def test_of_what_results_leave_some_is_kept(driver):
    memory = ResultMemory(Driver(driver), "Fake GPU")
    for count in range(100):
        result_of(memory, count)
    assert len(driver.memory) == KEPT_RESULTS + 1
    before = {*driver.memory}
    kept = [result_of(memory, 100 - each) for each in range(1, KEPT_RESULTS)]
    assert {*driver.memory} == before, "the last ones"
    driver.calls.clear()
    del kept, memory
    assert driver.memory == {}
    assert names(driver, "cuCtxSynchronize", "cuMemFree") == ["cuCtxSynchronize", *["cuMemFree"] * (KEPT_RESULTS + 1)]


def test_what_a_result_leaves_is_used_again_when_the_device_is_done_with_it(driver):
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    z = executable.run({"x": x, "y": y})["z"]
    other = executable.run({"x": x, "y": y})["z"]
    assert driver.named("cuCtxSynchronize") == [], "nobody has left any"
    address = z.address
    del z
    driver.calls.clear()
    assert executable.run({"x": x, "y": y})["z"].address == address != other.address
    assert names(driver, "cuCtxSynchronize", "cuGraphLaunch", "cuMemAlloc") == ["cuCtxSynchronize", "cuGraphLaunch"]


def test_what_results_leave_is_given_back_where_memory_is_short():
    driver = Scarce(KERNELS)
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    executable.run({"x": x, "y": y})
    one, two = (Mine(driver, each[:299]) for each in (X, Y))
    driver.limit = driver.used
    executable.run({"x": one, "y": two})  # in the memory of the result and of the arena for 300 elements
    assert len(driver.memory) == 6, "four arrays, an arena, and a result"


def test_the_pool_takes_the_memory_of_other_sizes_where_it_is_short():
    weight = Buffer("weight_0", "weight", "device", 0, 20, ElementType.F32, (5,))
    one, driver = program(), Scarce(KERNELS)
    one = dataclasses.replace(one, buffers=(*one.buffers, weight), weights=("w",), pool_bytes=4096)
    executable = CudaExecutable(one, PTX, "sm_80", driver)
    executable.pool.set({"w": np.ones(5, np.float32)})
    plain = on(Scarce(KERNELS))
    plain.run({"x": X, "y": Y})
    driver.limit = plain._binding.used + 3000  # 300 elements and 7 beside them, but not the pool
    with pytest.raises(TinycError, match="the program needs 4096 bytes of Fake GPU's memory"):
        executable.run({"x": X, "y": Y})
    np.testing.assert_array_equal(executable.run({"x": X[:7], "y": Y[:7]})["z"], (X[:7] + 1) * Y[:7])


def test_a_result_that_cannot_be_copied_tells_of_the_device(driver):
    executable = on(driver)
    z = executable.run({"x": Mine(driver, X), "y": Mine(driver, Y)})["z"]
    driver.failing = {"cuMemcpyDtoH": Result.CUDA_ERROR_ILLEGAL_ADDRESS}
    with pytest.raises(TinycError, match="copying a result from Fake GPU: cuMemcpyDtoH failed") as caught:
        z.numpy()
    assert caught.value.name == "DeviceFailure"


def test_an_output_that_an_input_is_in_is_copied_on_the_device(driver):
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    with collect_remarks() as remarks:
        assert executable.run({"x": x, "y": y}, {"z": y})["z"] is y
    np.testing.assert_array_equal(y.values, (X + 1) * Y)
    assert [each.code for each in remarks] == ["output-copied"]
    assert len(driver.named("cuMemcpyDtoDAsync")) == 1


def test_a_run_waits_for_the_streams_of_its_arrays(driver):
    executable = on(driver)
    x, y, z = Mine(driver, X, stream=9), Mine(driver, Y, stream=9), Mine(driver, Y, stream=1)
    executable.run({"x": x, "y": y}, {"z": z})
    waits = driver.named("cuStreamWaitEvent")
    assert sorted(call[2] for call in driver.calls if call[0] == "cuEventRecord" and call[2] in (1, 9)) == [1, 9]
    assert len(waits) == 2
    assert driver.calls.index(waits[-1]) < driver.calls.index(driver.named("cuLaunchKernel")[0])


def test_dlpack_goes_in_and_out(driver):
    executable, x, y = on(driver), Mine(driver, X), Mine(driver, Y)
    z = executable.run({"x": x, "y": y})["z"]

    class Exported:
        def __dlpack_device__(self):
            return z.__dlpack_device__()

        def __dlpack__(self, stream):
            assert stream == 1
            return z.__dlpack__(stream=stream)

    driver.calls.clear()
    again = executable.run({"x": Exported(), "y": y})["z"]
    np.testing.assert_array_equal(again.numpy(), ((X + 1) * Y + 1) * Y)
    assert len(driver.named("cuStreamWaitEvent")) == 1


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"strides": (8,)},
            "input 'x', a Mine, is not dense row-major, and on the GPU nothing is copied; make it",
        ),
        ({"mask": 1}, "is a masked array; a tensor has no mask: fill it"),
        ({"typestr": "what"}, "has a __cuda_array_interface__ that does not read: "),
        ({"typestr": "<f8"}, "input 'x' is of type float64; the program declares fp32"),
        ({"typestr": ">f4"}, "input 'x' is of type >f4; the program declares fp32"),
        ({"shape": (30, 10)}, "input 'x' has shape [30, 10]; the program declares an array of fp32 [M]"),
    ],
)
def test_arrays_of_the_device_that_do_not_fit_are_refused(driver, told, message):
    with pytest.raises(TinycError) as caught:
        on(driver).run({"x": Mine(driver, X, **told), "y": Y})
    assert caught.value.name == "InputMismatch"
    assert message in caught.value.message
    assert driver.calls == []


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"data": (64, True)}, "out: the array for output 'z' is read-only"),
        ({"strides": (8,)}, "out: the array for output 'z', a Mine, is not dense row-major"),
        ({"shape": (100,)}, "out: the array for output 'z' has shape [100]; this run gives fp32 [300]"),
    ],
)
def test_arrays_of_the_device_that_take_no_output_are_refused(driver, told, message):
    with pytest.raises(TinycError) as caught:
        on(driver).run({"x": X, "y": Y}, {"z": Mine(driver, X, **told)})
    assert caught.value.name == "OutputMismatch"
    assert message in caught.value.message


def test_an_array_of_another_device_is_refused(driver):
    class Other:
        def __dlpack_device__(self):
            return 2, 1

        def __dlpack__(self, stream):
            return capsule

    z = on(driver).run({"x": Mine(driver, X), "y": Mine(driver, Y)})["z"]
    capsule = dlpack.capsule_of(dlpack.Content(z.address, z.dtype, z.shape, None, (2, 1)), z)
    with pytest.raises(TinycError, match="is on GPU number 1, and programs run on number 0; copy it there"):
        on(driver).run({"x": Other(), "y": Y})


@pytest.mark.parametrize("of", ["input", "output"])
@pytest.mark.parametrize("is_managed", [0, 1])
def test_the_driver_is_asked_where_an_array_is_that_does_not_tell(driver, of, is_managed):
    x, y, other = Mine(driver, X), Mine(driver, Y), Mine(driver, X)

    def attribute(which, address):
        ordinal = which is driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(address == other.address) * (1 if ordinal else is_managed)

    driver._cuPointerGetAttribute = attribute
    inputs, out = ({"x": other, "y": y}, {}) if of == "input" else ({"x": x, "y": y}, {"z": other})
    if is_managed:
        on(driver).run(inputs, out)
        return
    with pytest.raises(
        TinycError, match=f"{of} '[xz]', a Mine, is on GPU number 1, and programs run on number"
    ) as caught:
        on(driver).run(inputs, out)
    assert caught.value.name == ("InputMismatch" if of == "input" else "OutputMismatch")
    assert driver.named("cuLaunchKernel") == []


def test_memory_that_the_driver_does_not_know_is_left_to_it(driver):
    x = Mine(driver, X)
    driver.failing = {"cuPointerGetAttribute": Result.CUDA_ERROR_INVALID_VALUE}
    np.testing.assert_array_equal(on(driver).run({"x": x, "y": Y})["z"], (X + 1) * Y)


class Refusing:
    """An array of another library that is not handed over."""

    def __init__(self, name, error):
        self.name, self.error = name, error

    def __getattr__(self, name):
        """Return what a library has that refuses: the interface fails, DLPack's functions do when they are called."""
        if name == self.name == "__cuda_array_interface__":
            raise self.error
        if self.name == "__cuda_array_interface__" or not name.startswith("__dlpack"):
            raise AttributeError(name)
        return self.refused if name == self.name else lambda **_: (2, 0)

    def refused(self, **_):
        raise self.error


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("error", [BufferError, RuntimeError, TypeError, ValueError])
@pytest.mark.parametrize("name", ["__cuda_array_interface__", "__dlpack__", "__dlpack_device__"])
def test_what_a_library_refuses_is_a_mismatch(driver, target, error, name):
    array, executable = Refusing(name, error("it requires grad")), on(driver)
    if target == "cpu":
        executable._check = InputCheck(executable.program)
    for given, out in (({"x": array, "y": Y}, {}), ({"x": X, "y": Y}, {"z": array})):
        with pytest.raises(TinycError) as caught:
            executable.run(given, out)
        assert caught.value.name == ("OutputMismatch" if out else "InputMismatch")
        assert "a Refusing" in caught.value.message
        if target == "cuda" and name != "__dlpack_device__":
            assert "is not handed over by its library: it requires grad; give a copy that is" in caught.value.message


@pytest.mark.parametrize("target", ["cpu", "sim", "reference"])
def test_other_targets_name_arrays_of_a_gpu_and_say_what_to_do(driver, target):
    model = tinyc.compile(document(tensor("X", 4), node("y", "NEG", "X")), target=target)
    theirs = Mine(driver, X[:4])
    with pytest.raises(TinycError, match="input 'X', a Mine, is in the memory of a GPU; copy it to a numpy array"):
        model(theirs)
    with pytest.raises(TinycError, match="output 'y' is a Mine in the memory of a GPU; give a numpy array of fp32"):
        model(X[:4], out=theirs)


def test_what_ends_a_run_early_leaves_nothing_on_its_way(driver):
    executable, one = on(driver), program()
    executable.program = dataclasses.replace(
        one, buffers=tuple(dataclasses.replace(each, where=Where(each.name)) for each in one.buffers)
    )

    def stop(name, value):
        driver.calls.clear()
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            executable.run({"x": X, "y": Y}, observe=stop)
        assert names(driver, *{name for name, *_ in driver.calls}) == ["cuStreamSynchronize", "cuCtxPopCurrent"]
    np.testing.assert_array_equal(executable.run({"x": X, "y": Y})["z"], (X + 1) * Y)
    assert len(driver.memory) == 1


def test_threads_take_turns_with_one_graph(driver):
    executable = on(driver)
    with ThreadPoolExecutor(8) as pool:
        results = [*pool.map(lambda run: (run, executable.run({"x": X + run, "y": Y})["z"]), range(40))]
    assert all((found == (X + run + 1) * Y).all() for run, found in results)
    assert len(driver.named("cuGraphCreate")) == 1
    assert len(driver.named("cuMemAlloc")) == 1


def test_each_launch_is_timed_by_events_where_somebody_asks(driver):
    executable, noted = on(driver), []
    for _ in range(3):
        executable.run({"x": X, "y": Y}, timer=lambda bound, launch, seconds: noted.append((launch, seconds)))
    assert [(launch.kernel.symbol, seconds) for launch, seconds in noted[:3]] == [
        ("add_one", 1.5), ("copy", 1.5), ("times", 1.5)
    ]  # fmt: skip
    assert len(driver.named("cuLaunchKernel")) == len(noted) == 9
    assert driver.named("cuGraphCreate") == []
