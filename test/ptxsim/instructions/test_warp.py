"""Exchange within a warp: which lane each lane reads, and that lanes wait for each other."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words

FULL = "0xffffffff"


def shuffled(mode: str, offset: int, c: int) -> list[tuple[int, bool]]:
    """The source lane and the predicate of each lane, by the pseudo-code of the ISA."""
    segment, bound = c >> 8 & 31, c & 31
    result = []
    for lane in range(32):
        most, least = (lane & segment) | (bound & ~segment & 31), lane & segment
        j, valid = {
            "up": (lane - offset, lane - offset >= most),
            "down": (lane + offset, lane + offset <= most),
            "bfly": (lane ^ offset, lane ^ offset <= most),
            "idx": (least | (offset & ~segment & 31), (least | (offset & ~segment & 31)) <= most),
        }[mode]
        result.append((j if valid else lane, valid))
    return result


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize(("offset", "c"), [(1, 0x1F), (5, 0x181F), (16, 0x1F), (3, 0), (9, 0x1008), (31, 0x1C03)])
def test_a_shuffle_reads_the_lane_that_the_isa_says(mode, offset, c):
    body = f"""add.u32 %r1, %r0, 100; shfl.sync.{mode}.b32 %r2|%p0, %r1, {offset}, {c}, {FULL};
    selp.u32 %r3, 1000, 0, %p0; add.u32 %r2, %r2, %r3; st.global.u32 [%d0], %r2;"""
    assert words(body).tolist() == [100 + lane + 1000 * valid for lane, valid in shuffled(mode, offset, c)]


def test_lanes_wait_for_those_that_the_mask_names():
    # the even lanes come to the shuffle first, the odd ones make a detour
    body = f"""and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, %r0; @%p0 bra meet; mul.lo.u32 %r2, %r0, 10;
    meet: shfl.sync.bfly.b32 %r3, %r2, 1, 0x1f, {FULL}; st.global.u32 [%d0], %r3;"""
    assert words(body).tolist() == [(t ^ 1) * (10 if t % 2 == 0 else 1) for t in range(32)]


def test_halves_of_a_warp_exchange_apart():
    body = """setp.lt.u32 %p0, %r0, 16; @%p0 bra low; vote.sync.ballot.b32 %r1, 1, 0xffff0000; bra.uni end;
    low: vote.sync.ballot.b32 %r1, 1, 0x0000ffff; end: st.global.u32 [%d0], %r1;"""
    body = body.replace("%r1, 1,", "%r1, %p1,").replace("setp", "setp.eq.u32 %p1, %r0, %r0; setp", 1)
    assert words(body).tolist() == [0xFFFF] * 16 + [0xFFFF0000] * 16


@pytest.mark.parametrize(
    ("mode", "bound", "expected"),
    [("all", 32, 1), ("all", 31, 0), ("any", 1, 1), ("any", 0, 0), ("uni", 0, 1), ("uni", 5, 0), ("uni", 32, 1)],
)
def test_votes(mode, bound, expected):
    body = f"setp.lt.u32 %p0, %r0, {bound}; vote.sync.{mode}.pred %p1, %p0, {FULL}; selp.u32 %r1, 1, 0, %p1;"
    assert words(body + "st.global.u32 [%d0], %r1;").tolist() == [expected] * 32


def test_a_ballot_leaves_out_lanes_that_have_exited():
    body = "setp.ge.u32 %p0, %r0, 20; @%p0 exit; setp.ge.u32 %p1, %r0, 4; vote.sync.ballot.b32 %r1, %p1, 0xffffffff;"
    assert words(body + "st.global.u32 [%d0], %r1;")[:20].tolist() == [0xFFFF0] * 20


def test_match_any_finds_equal_lanes():
    body = f"and.b32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, {FULL}; st.global.u32 [%d0], %r2;"
    assert words(body).tolist() == [0x11111111 << t % 4 for t in range(32)]


@pytest.mark.parametrize(("divisor", "expected"), [(32, 0xFFFFFFFF), (31, 0)])
def test_match_all_says_whether_all_are_equal(divisor, expected):
    body = f"div.u32 %r1, %r0, {divisor}; match.all.sync.b32 %r2|%p0, %r1, {FULL}; st.global.u32 [%d0], %r2;"
    assert words(body).tolist() == [expected] * 32


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add.u32", sum(range(-16, 16)) % 2**32),
        ("min.s32", -16 % 2**32),
        ("max.s32", 15),
        ("max.u32", 2**32 - 1),
        ("and.b32", 0),
        ("or.b32", 2**32 - 1),
        ("xor.b32", 0),
    ],
)
def test_reductions(operation, expected):
    body = f"sub.u32 %r1, %r0, 16; redux.sync.{operation} %r2, %r1, {FULL}; st.global.u32 [%d0], %r2;"
    assert words(body).tolist() == [expected] * 32


def test_one_lane_is_elected():
    body = f"elect.sync %r1|%p0, {FULL}; selp.u32 %r2, 100, 200, %p0; add.u32 %r1, %r1, %r2; st.global.u32 [%d0], %r1;"
    out = words(body, 64)
    assert sorted(set(out.tolist())) == [100, 200]
    assert (out == 100).sum() == 2


def test_lanes_that_meet_at_two_places_are_a_deadlock():
    body = f"""setp.lt.u32 %p0, %r0, 16; @%p0 bra low; shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, {FULL}; ret;
    low: shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, {FULL}; ret;"""
    assert kinds(launch(kernel(OWN_WORD + body), [np.zeros(32, np.uint32)])) == {"deadlock"}


#: Instructions that take all lanes of a warp.
_WARP_WIDE = (
    f"vote.sync.ballot.b32 %r2, %p0, {FULL};",
    f"shfl.sync.idx.b32 %r2, %r0, 0, 0x1f, {FULL};",
    "bar.warp.sync -1;",
)


@pytest.mark.parametrize("instruction", _WARP_WIDE)
def test_lanes_that_skip_a_warp_wide_instruction_have_exited_or_are_found_at_another(instruction):
    # `if (t < 16) __ballot_sync(0xffffffff, 1);` and then: the kernel's end; another warp-wide instruction; a barrier
    def found(rest: str) -> set[str]:
        body = (
            f"{OWN_WORD} setp.ge.u32 %p0, %r0, 16; @%p0 bra past; {instruction} st.global.u32 [%d0], %r0; past: {rest}"
        )
        return kinds(launch(kernel(f"{body} ret;"), [np.zeros(32, np.uint32)]))

    assert found("") == found("st.global.u32 [%d0], 7;") == set()
    assert found(f"match.any.sync.b32 %r3, %r0, {FULL};") == {"deadlock"}
    assert found("bar.sync 0;") == {"barrier-divergence"}
    # one `__syncwarp()` may be met by another
    assert found("bar.warp.sync -1;") == (set() if instruction.startswith("bar") else {"deadlock"})


def test_a_lane_that_its_mask_does_not_name_is_reported():
    body = OWN_WORD + "shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, 0x0000ffff; ret;"
    assert kinds(launch(kernel(body), [np.zeros(32, np.uint32)])) == {"barrier-divergence"}


@pytest.mark.parametrize("instruction", ["shfl.bfly.b32 %r1, %r0, 1, 0x1f;", "vote.any.pred %p0, %p0;"])
def test_forms_without_sync_are_errors(instruction):
    with pytest.raises(PtxError, match="not an instruction"):
        ptxsim.load(kernel(f"mov.u32 %r0, 1; {instruction} ret;", ""))


#: %r1 is the mask of the tile of 16 lanes that a lane is in.
_TILES = "setp.lt.u32 %p0, %r0, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p0;"


# Two tiles of a warp execute one instruction at the same time, each with a mask of its own.
@pytest.mark.parametrize(
    ("instruction", "low", "high"),
    [
        ("vote.sync.ballot.b32 %r2, %p1, %r1;", 0xFFF8, 0xFFFF0000),
        ("setp.ge.u32 %p1, %r0, 16; vote.sync.all.pred %p2, %p1, %r1; selp.u32 %r2, 1, 0, %p2;", 0, 1),
        ("redux.sync.add.u32 %r2, %r0, %r1;", 120, 376),
        ("match.any.sync.b32 %r2, 5, %r1;", 0xFFFF, 0xFFFF0000),
        ("elect.sync %r2|%p2, %r1;", 0, 16),
        ("shfl.sync.idx.b32 %r2, %r0, 4, 0x101f, %r1;", 4, 20),
    ],
)
def test_tiles_of_a_warp_do_not_mix(instruction, low, high):
    out = words(f"{_TILES} setp.ge.u32 %p1, %r0, 3; {instruction} st.global.u32 [%d0], %r2;")
    assert out.tolist() == [low] * 16 + [high] * 16


# Lanes 0 to 2 come first, then the whole other tile, and the rest of the first tile last.
def test_a_tile_that_is_complete_does_not_let_another_one_go():
    body = """setp.lt.u32 %p2, %r0, 3; setp.ge.u32 %p3, %r0, 16; @%p2 bra meet; @%p3 bra upper; bra lower;
    meet: shfl.sync.idx.b32 %r2, %r0, 4, 0x101f, %r1; st.global.u32 [%d0], %r2; ret;
    upper: add.u32 %r5, %r0, 1; bra meet;
    lower: add.u32 %r5, %r0, 1; bra meet;"""
    assert words(_TILES + body).tolist() == [4] * 16 + [20] * 16
