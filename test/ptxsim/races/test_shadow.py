"""What a shadow remembers when accesses become smaller than its granules."""

import numpy as np

from ptxsim.races.shadow import Shadow

BYTES, START, END = 4096, 1024, 1090


def places(shadow: Shadow, size: int, *index: int) -> np.ndarray:
    return shadow.places(np.array(index), size)


def test_smaller_granules_have_the_history_of_the_larger_ones():
    shadow = Shadow(BYTES, [(START, END)], 2, by_warp=True, granule=16)
    at = places(shadow, 16, START, START + 64)  # the second ends behind what is allocated
    shadow.note_write(at, np.array([0, 0]), np.array([1 << 34, 2 << 34]), strong=False)
    shadow.note_read(at[:1], np.array([1]), np.array([3 << 34]))
    fine = places(shadow, 4, *range(START, START + 80, 4))
    assert shadow.granule == 4
    assert (shadow.written[fine] >> 34).tolist() == [1] * 4 + [0] * 12 + [2] * 4
    read = shadow.reads_at(fine)
    assert read is not None
    assert (read >> 34).tolist() == [[0, 3]] * 4 + [[0, 0]] * 16


def test_what_nobody_has_read_has_no_reads():
    shadow = Shadow(BYTES, [(START, END)], 2, by_warp=False, granule=16)
    assert shadow.reads_at(places(shadow, 16, START)) is None
    assert places(shadow, 1, START).tolist() == [START]  # the memory is as large as before
