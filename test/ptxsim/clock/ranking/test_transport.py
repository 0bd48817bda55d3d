"""Launches as bytes: what arrives is what was sent, arrays of zeros take no room, one array stays one."""

import ml_dtypes
import numpy as np
import pytest

from ptxsim import TensorMap
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.transport import argument_arrays, receive_launches, send_launches
from ptxsim.errors import InputError


def launch_of(*args):
    return KernelLaunch("text", "k", (2, 1, 1), (32, 1, 1), args, 64, (2, 1, 1))


def sent_and_received(launch):
    (received,) = receive_launches(send_launches([launch]))
    return received


def test_a_launch_arrives_as_it_was_sent():
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    received = sent_and_received(launch_of(numbers, np.int32(7), b"bytes"))
    assert (received.ptx, received.kernel, received.grid, received.block) == ("text", "k", (2, 1, 1), (32, 1, 1))
    assert (received.dynamic_shared_bytes, received.cluster) == (64, (2, 1, 1))
    assert np.array_equal(received.args[0], numbers)
    assert (received.args[1], received.args[1].dtype, received.args[2]) == (7, np.int32, b"bytes")


def test_an_array_of_zeros_goes_as_its_shape_and_type():
    sent = send_launches([launch_of(np.zeros((4096, 4096), ml_dtypes.bfloat16))])
    assert len(sent) < 1000
    (array,) = receive_launches(sent)[0].args
    assert (array.shape, array.dtype, array.any()) == ((4096, 4096), ml_dtypes.bfloat16, False)


def test_an_array_with_one_number_goes_with_its_contents():
    array = np.zeros((64, 64), np.float16)
    array[63, 63] = 1
    (received,) = sent_and_received(launch_of(array)).args
    assert np.array_equal(received, array)


@pytest.mark.parametrize("value", [0, 1])
def test_an_array_that_is_given_twice_arrives_as_one(value):
    array = np.full((64, 64), value, np.float16)
    mapped = TensorMap.tiled(2, array, [64, 64], [128], [64, 8], [1, 1], swizzle="128B")
    first, second, other = sent_and_received(launch_of(array, array, mapped)).args
    assert first is second
    assert other.global_address is first
    assert (other.box, other.swizzle, other.shape) == (mapped.box, "128B", mapped.shape)


def test_launches_of_one_message_may_share_arrays():
    array = np.zeros(8, np.float32)
    one, two = receive_launches(send_launches([launch_of(array), launch_of(array)]))
    assert one.args[0] is two.args[0]


def test_the_arrays_of_arguments_are_told_once():
    one, two = np.zeros((64, 64), np.float16), np.ones(2)
    mapped = TensorMap.tiled(2, one, [64, 64], [128], [64, 8], [1, 1])
    assert [id(each) for each in argument_arrays([mapped, np.int32(1), two, one, two])] == [id(one), id(two)]


def test_arrays_that_share_memory_are_refused():
    base = np.zeros(64, np.float32)
    message = r"array arguments of shapes \[64\] and \[32\] share memory.*give copies, or one array twice"
    with pytest.raises(InputError, match=message):
        send_launches([launch_of(base, base[32:])])
