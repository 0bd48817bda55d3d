"""The counters of a launch by array: what is read and written of each, and what is nobody's."""

import numpy as np

from ptxsim.counters import counter_tables
from ptxsim_cases.kernel_text import kernel, launch

PARAMETERS = ".param .u64 x, .param .u64 y"
BOTH = "ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mov.u32 %r0, %tid.x;"
#: Each thread's word of x and of y.
OWN = BOTH + "mul.wide.u32 %d2, %r0, 4; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;"


def words(count=64):
    return np.zeros(count, np.uint32)


def counted(body, *arrays, threads=32):
    """What a launch says of each array: name, bytes read and written, sectors of both."""
    return [
        (each.name, each.read, each.written, each.sectors_read, each.sectors_written)
        for each in launch(kernel(body, PARAMETERS), list(arrays), threads).counters.arrays
    ]


def test_bytes_and_sectors_are_those_of_the_arrays_that_are_accessed():
    copy = OWN + "ld.global.u32 %r1, [%d0]; st.global.u32 [%d1], %r1; ret;"
    assert counted(copy, words(), words(), threads=64) == [("x", 256, 0, 8, 0), ("y", 0, 256, 0, 8)]


def test_what_an_atomic_updates_is_read_and_written():
    add = BOTH + "red.global.add.u32 [%d1], %r0; ret;"
    assert counted(add, words(), words()) == [("y", 128, 128, 1, 1)]


def test_an_access_of_lanes_to_several_arrays_is_counted_for_each():
    odd = OWN + "and.b32 %r1, %r0, 1; setp.ne.u32 %p0, %r1, 0; selp.b64 %d3, %d1, %d0, %p0; ld.global.u32 %r1, [%d3];"
    assert counted(odd + "ret;", words(), words()) == [("x", 64, 0, 4, 0), ("y", 64, 0, 4, 0)]


def test_what_is_outside_of_every_array_is_counted_for_none():
    assert counted(OWN + "ld.global.u32 %r1, [%d0]; ret;", words(8), words()) == [("x", 32, 0, 1, 0)]
    assert counted(OWN + "sub.u64 %d0, %d0, 1048704; ld.global.u32 %r1, [%d0]; ret;", words(8), words()) == []


def test_arrays_that_have_bytes_in_common_are_counted_as_one():
    whole = words(64)
    report = launch(kernel(OWN + "ld.global.u32 %r1, [%d1]; ret;", PARAMETERS), [whole[:48], whole[16:]], 32)
    (array,) = report.counters.arrays
    assert (array.name, array.arguments, array.read) == ("x, y", (0, 1), 128)


def test_arrays_are_a_table():
    report = launch(kernel(OWN + "ld.global.u32 %r1, [%d0]; ret;", PARAMETERS), [words(), words()], 32)
    table = next(each for each in counter_tables(report.counters) if "array" in each.title)
    assert table.columns == ("array", "read", "written", "sectors read", "sectors written")
    assert table.rows == (("x", 128, 0, 4, 0),)


def test_variables_of_the_module_are_told_apart_from_arguments():
    body = "mov.u64 %d0, count; ld.global.u32 %r1, [%d0]; ret;"
    report = launch(kernel(body, PARAMETERS, ".global .u32 count = 1;"), [words(), words()], 1)
    (array,) = report.counters.arrays
    assert (array.name, array.arguments, array.read) == ("variables of the module", (), 4)
