"""The ConstPool of a program: filled when it is needed, prepared once, on a driver that is none, too."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from runtime.fake_driver import FakeDriver
from tinyc.diagnostics import TinycError
from tinyc.runtime import cuda
from tinyc.runtime.const_pool import ConstPool
from tinyc.runtime.cuda import CudaExecutable
from tinyc.runtime.program import Buffer, KernelLaunch, Pointer, Program
from tinyc.vocabulary.element_type import ElementType

C, W, X = (np.arange(start, start + 5, dtype=np.float32) for start in (10, 20, 30))


def buffer(name, kind, offset=0):
    return Buffer(name, kind, "device", offset, 20, ElementType.F32, (5,))


def kernel(symbol, generation, reads, writes, prepare=False):
    pointers = tuple(Pointer(name, ElementType.F32, (5,)) for name in (*reads, *writes))
    one = (1, 1, 1)
    return KernelLaunch(symbol, generation, one, (32, 1, 1), one, 0, pointers, reads, writes, prepare=prepare)


def program() -> Program:
    """Return `y = (w + c) + x`, whose first sum is prepared."""
    pool = [buffer("weight_0", "weight"), buffer("constant_0", "constant", 256), buffer("prepared_0", "prepared", 512)]
    return Program(
        "main",
        (),
        ("x",),
        ("y",),
        (),
        (buffer("input_0", "input"), buffer("output_0", "output"), *pool),
        (
            kernel("add", 0, ("weight_0", "constant_0"), ("prepared_0",), prepare=True),
            kernel("add", 1, ("prepared_0", "input_0"), ("output_0",)),
        ),
        0,
        ("w",),
        768,
    )


class Told(dict):
    """A mapping that notes what is asked of it."""

    asked = 0

    def __getitem__(self, name):
        self.asked += 1
        return super().__getitem__(name)


def test_constants_are_read_when_the_memory_is_first_needed():
    constants = Told({"constant_0": C})
    pool = ConstPool(program(), constants)
    assert constants.asked == 0
    memory = pool.image().memory
    assert memory.ctypes.data % 256 == 0
    assert memory[256:276].tobytes() == C.tobytes()
    assert (memory[512:] == 0xFF).all()  # nobody has prepared anything
    assert pool.image().memory is memory
    assert constants.asked == 1


def only_prepared(array=C):
    """Return the pool of a program whose constant nobody reads but a kernel that prepares, and that kernel."""
    one = program()
    pool = ConstPool(one, {"constant_0": array, "weight_0": W}, reads_in_place=True)
    return pool, one.kernels[0]


def test_a_constant_that_only_kernels_that_prepare_read_is_read_where_it_is():
    pool, kernel = only_prepared()
    with pool.reading() as (image, _), image.passing.read_by(kernel) as arrays:
        assert arrays["constant_0"] is C
        assert list(arrays) == ["constant_0"], "a weight is in the pool: it is handed out, and set again in part"
    assert image.memory[:20].tobytes() == W.tobytes()
    assert (image.memory[20:256] == 0xFF).all()
    assert (image.memory[276:] == 0xFF).all()


def test_runs_that_read_a_constant_find_it_in_the_pool():
    one = program()
    run = replace(one.kernels[1], reads=("prepared_0", "constant_0", "input_0"))
    pool = ConstPool(replace(one, kernels=(one.kernels[0], run)), {"constant_0": C}, reads_in_place=True)
    assert pool.image().memory[256:276].tobytes() == C.tobytes()
    with pool.reading() as (image, _), image.passing.read_by(one.kernels[0]) as arrays:
        assert arrays == {}


@pytest.mark.parametrize(
    "array",
    [
        np.broadcast_to(np.float32(3), 5),
        np.arange(10, dtype=np.float32)[::2],
        np.frombuffer(bytes(range(23)), np.uint8)[3:].view(np.float32),
    ],
    ids=["one element", "every other one", "between words"],
)
def test_kernels_get_dense_aligned_elements(array):
    pool, kernel = only_prepared(array)
    with pool.reading() as (image, _), image.passing.read_by(kernel) as arrays:
        assert arrays["constant_0"].flags.c_contiguous
        assert arrays["constant_0"].ctypes.data % 4 == 0
        assert arrays["constant_0"].tobytes() == array.tobytes()


def test_a_pool_beside_one_that_runs_read_has_the_same_passing_constants():
    pool, kernel = only_prepared()
    with pool.reading():
        pool.set({"w": X})
        with pool.reading() as (after, _), after.passing.read_by(kernel) as arrays:
            assert arrays["constant_0"] is C
            assert after.memory[:20].tobytes() == X.tobytes()
            assert (after.memory[276:] == 0xFF).all()


def test_a_constant_without_elements_is_refused():
    with pytest.raises(TinycError, match="constant_0"):
        ConstPool(program(), {})


def test_what_is_refused_changes_no_weight():
    pool = ConstPool(program(), {"constant_0": C})
    pool.set({"w": W})
    with pytest.raises(TinycError) as caught:
        pool.set({"w": X, "v": X})
    assert caught.value.name == "InputMismatch"
    np.testing.assert_array_equal(pool.arrays["w"], W)


def test_weights_are_handed_out_read_only_and_as_they_were_then():
    pool = ConstPool(program(), {"constant_0": C, "weight_0": W})
    given = pool.by_buffer()
    pool.set({"w": X})
    np.testing.assert_array_equal(given["weight_0"], W)
    np.testing.assert_array_equal(pool.arrays["w"], X)
    assert not given["weight_0"].flags.writeable
    assert not pool.arrays["w"].flags.writeable


def test_weights_are_handed_out_of_one_moment():
    pool, begun = ConstPool(program(), {"constant_0": C, "weight_0": W}), threading.Event()

    class Slow(dict):
        def items(self):
            begun.set()
            threading.Event().wait(0.2)
            return super().items()

    thread = threading.Thread(target=lambda: pool.set(Slow(w=X)))
    thread.start()
    assert begun.wait(10)
    np.testing.assert_array_equal(pool.by_buffer()["weight_0"], X)
    thread.join(10)


def test_one_thread_prepares_and_the_others_wait():
    pool = ConstPool(program(), {"constant_0": C})
    pool.set({"w": W})
    firsts, begun, go = [], threading.Event(), threading.Event()

    def run():
        with pool.reading() as (_, is_first):
            firsts.append(is_first)
            if is_first:
                begun.set()
                assert go.wait(10)

    threads = [threading.Thread(target=run) for _ in range(4)]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    assert firsts == [True]
    go.set()
    for thread in threads:
        thread.join(10)
    assert sorted(firsts) == [False, False, False, True]
    pool.set({"w": X})
    with pool.reading() as (_, is_first):
        assert is_first


def test_a_run_has_the_weights_that_it_began_with():
    pool = ConstPool(program(), {"constant_0": C, "weight_0": W})
    with pool.reading() as (before, _):
        pool.set({"w": X})
        np.testing.assert_array_equal(before.memory[:20].view(W.dtype), W)
        with pool.reading() as (after, is_first):
            assert is_first
            np.testing.assert_array_equal(after.memory[:20].view(W.dtype), X)
            np.testing.assert_array_equal(after.memory[256:276].view(C.dtype), C)
    assert after.version > before.version
    pool.set({"w": W})
    assert pool.image() is after, "nobody reads it: its memory is written, no other is taken"


def test_what_fails_while_it_prepares_has_not_prepared():
    pool = ConstPool(program(), {"constant_0": C})
    with pytest.raises(ZeroDivisionError), pool.reading():
        raise ZeroDivisionError
    with pool.reading() as (_, is_first):
        assert is_first


def test_a_gpu_gets_the_pool_and_prepares(monkeypatch):
    def add(driver, grid, parameters):
        left, right, target = parameters
        driver.array(target, 5)[:] = driver.array(left, 5) + driver.array(right, 5)

    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)
    driver = FakeDriver(kernels={"add": (3, add)})
    ptx = ".version 8.0\n.target sm_80\n"
    executable = CudaExecutable(program(), ptx, "sm_80", driver, arrays={"constant_0": C})
    with pytest.raises(TinycError, match="the weights 'w' have not been set"):
        executable.run({"x": X})
    for weight in (W, 2 * W):
        executable.pool.set({"w": weight})
        for _ in range(2):
            np.testing.assert_array_equal(executable.run({"x": X})["y"], weight + C + X)


def test_a_pool_of_empty_tensors_has_a_place_on_a_gpu(monkeypatch):
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)
    one = program()
    buffers = tuple(replace(each, offset=0, size=0, shape=(0,)) for each in one.buffers)
    empty = np.empty(0, np.float32)
    driver = FakeDriver(kernels={"add": (3, lambda *_: None)})
    executable = CudaExecutable(
        replace(one, buffers=buffers, pool_bytes=0), ".target sm_80\n", "sm_80", driver, arrays={"constant_0": empty}
    )
    executable.pool.set({"w": empty})
    assert executable.run({"x": empty})["y"].shape == (0,)
