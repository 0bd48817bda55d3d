"""DLPack capsules: numpy reads ours, we read numpy's, and memory is kept as long as one of them needs it."""

import gc
import weakref

import numpy as np
import pytest

from tinyc.runtime import dlpack
from tinyc.vocabulary.element_type import ElementType

#: Element type → the numpy type of its arrays; a bool is a byte.
DTYPES = {element: element.dtype for element in ElementType}

HOST = (1, 0)


class Owner:
    """What keeps the memory of an array."""

    def __init__(self, array):
        self.array = array


class Exported:
    """An array that numpy takes by a capsule of ours."""

    def __init__(self, array, owner=None):
        content = dlpack.Content(array.ctypes.data, array.dtype, array.shape, None, HOST)
        self.capsule = dlpack.capsule_of(content, owner or array)

    def __dlpack_device__(self):
        return HOST

    def __dlpack__(self, **options):
        capsule, self.capsule = self.capsule, None
        return capsule


@pytest.mark.parametrize("element", [each for each in DTYPES if each != "bf16"])  # which numpy takes from no one
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (1, 2, 1, 3)])
def test_numpy_reads_a_capsule(element, shape):
    array = np.arange(np.prod(shape, dtype=int)).astype(DTYPES[element]).reshape(shape)
    read = np.from_dlpack(Exported(array))
    assert (read.dtype, read.shape) == (array.dtype, shape)
    np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("element", DTYPES)
def test_a_capsule_says_what_was_put_in(element):
    content = dlpack.Content(4096, DTYPES[element], (2, 3), None, (2, 1))
    assert dlpack.content_of(dlpack.capsule_of(content, None)) == content


def test_a_capsule_of_numpys_is_read_with_its_strides():
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    for view in (array, array[1:, ::2], array.T):
        content = dlpack.content_of(view.__dlpack__())
        assert content.address == view.ctypes.data
        assert (content.dtype, content.shape, content.device) == (view.dtype, view.shape, HOST)
        assert content.strides in (None, tuple(stride // 2 for stride in view.strides))


def test_elements_that_no_tensor_has_are_refused():
    with pytest.raises(ValueError, match=r"its elements are of DLPack's type 5 with 64 bits × 1"):
        dlpack.content_of(np.zeros(2, np.complex64).__dlpack__())


def test_memory_is_kept_until_whoever_takes_it_lets_go():
    array = np.arange(5, dtype=np.float32)
    owner = Owner(array)
    gone = weakref.ref(owner)
    read = np.from_dlpack(Exported(array, owner))
    del owner
    gc.collect()
    assert gone() is not None
    del read
    gc.collect()
    assert gone() is None


def test_a_capsule_that_nobody_takes_lets_go_at_its_end():
    owner = Owner(np.zeros(3))
    gone = weakref.ref(owner)
    exported = Exported(owner.array, owner)
    del owner
    assert gone() is not None
    del exported
    gc.collect()
    assert gone() is None
