"""Allocation, and LLVM IR that cannot be run: errors, never the end of the process."""

import numpy as np
import pytest

from tinyc.diagnostics import InternalError, TinycError
from tinyc.runtime.arena import ALIGNMENT_BYTES, allocate_arena, allocate_array
from tinyc.runtime.jit import compile_object


@pytest.mark.parametrize("size", [1, 64, 1000])
def test_the_arena_is_aligned_and_of_its_size(size):
    arena = allocate_arena(size)
    assert arena.nbytes == size
    assert arena.ctypes.data % ALIGNMENT_BYTES == 0


@pytest.mark.parametrize("shape", [(2**60,), (2**40, 2**40), (2**63,), (2**70,)])
def test_an_allocation_that_fails_is_an_error(shape):
    with pytest.raises(TinycError, match="there is no memory for output 'y'") as caught:
        allocate_array(shape, np.dtype(np.float64), "output 'y'")
    assert caught.value.name == "OutOfMemory"


def test_code_that_llvm_refuses_is_an_internal_error():
    with pytest.raises(InternalError, match="LLVM refuses the code that tinyc made") as caught:
        compile_object("this is no LLVM IR")
    assert "expected top-level entity" in str(caught.value)
