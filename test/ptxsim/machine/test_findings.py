"""Findings: one for each kind and instruction, ignored ones, and what shared addresses are called."""

import numpy as np
import pytest

from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import kernel, kinds, launch

#: Thread 0 stores words of the tile, each by an instruction of its own; thread 32, which goes round a loop before,
#: loads them all by one.
RACING = """
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, 0; setp.ge.u32 %p0, %r0, 32; @%p0 bra WAIT;
setp.ne.u32 %p0, %r0, 0; @%p0 ret;
STORES
ret;
WAIT: add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 100; @%p0 bra WAIT;
setp.ne.u32 %p0, %r0, 32; @%p0 ret; mov.u32 %r2, 0;
LOAD: mad.lo.u32 %r3, %r2, 4, %r1;
ld.shared.u32 %r4, [%r3];
add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, COUNT; @%p0 bra LOAD;
ret;
"""
TILE = ".shared .align 8 .b8 tile[1024];"
DYNAMIC = ".extern .shared .align 16 .b8 pool[];"


def line_of(text, instruction):
    return next(number for number, line in enumerate(text.splitlines(), 1) if instruction in line)


def racing(count):
    """A module in which one load races with `count` stores."""
    stores = "\n".join(f"st.shared.u32 [%r1+{4 * number}], 1;" for number in range(count))
    return kernel(RACING.replace("STORES", stores).replace("COUNT", str(count)), "", TILE)


@pytest.mark.parametrize(("count", "end"), [(1, ","), (3, ","), (8, ","), (12, " …,")])
def test_an_access_that_races_with_several_instructions_is_one_finding_that_names_their_lines(count, end):
    text = racing(count)
    (finding,) = launch(text, [], 64).findings
    first = line_of(text, "st.shared.u32 [%r1+0]")
    lines = ", ".join(str(first + number) for number in range(min(count, 8)))
    assert (finding.kind, finding.line) == ("race", line_of(text, "ld.shared"))
    assert (
        f"another thread writes at line{'s' * (count > 1)} {lines}{end} and nothing orders the two" in finding.message
    )
    assert finding.occurrences == count


@pytest.mark.parametrize("ignore", [("race",), ("deadlock", "race:{line}")])
def test_an_ignored_finding_is_counted_and_not_reported(ignore):
    text = racing(2)
    named = [each.format(line=line_of(text, "ld.shared")) for each in ignore]
    report = launch(text, [], 64, ignore=named)
    assert report.ok
    assert report.ignored == 1


@pytest.mark.parametrize("ignore", [("race:1",), ("misaligned",), ()])
def test_a_finding_of_another_line_or_kind_is_reported(ignore):
    report = launch(racing(2), [], 64, ignore=ignore)
    assert kinds(report) == {"race"}
    assert report.ignored == 0


@pytest.mark.parametrize(
    ("ignore", "message"),
    [
        (("raec",), "there is no kind of finding 'raec'; did you mean 'race'"),
        (("races",), "did you mean 'race'"),
        (("race:x",), "'race:x' names no line; write race, or race:LINE"),
        (("race:",), "names no line"),
        ("race", r"as in \('race',\)"),
    ],
)
def test_what_is_no_kind_cannot_be_ignored(ignore, message):
    with pytest.raises(InputError, match=message):
        launch(kernel("ret;", ""), [], ignore=ignore)


@pytest.mark.parametrize(
    ("offset", "called"),
    [
        (0, "first+0"),
        (12, "first+12"),
        (16, "second+0"),
        (24, "second+8 (second has 8 bytes)"),
        (4096, "second+4080 (second has 8 bytes)"),
    ],
)
def test_a_shared_address_is_called_by_its_variable(offset, called):
    body = f"mov.u32 %r0, first; ld.shared.u32 %r1, [%r0+{offset}]; ld.shared.u32 %r1, [second]; ret;"
    module = ".shared .align 16 .b8 first[16]; .shared .align 8 .b8 second[8];"
    finding = launch(kernel(body, "", module), [], 1).findings[0]
    assert finding.variable == called
    assert f"address {finding.address:#x} = {called}, by" in str(finding)


def test_an_address_in_dynamic_shared_memory_is_called_by_the_external_array():
    body = "ld.shared.u32 %r0, [tile]; mov.u32 %r1, pool; ld.shared.u32 %r1, [%r1+20]; ret;"
    report = launch(kernel(body, "", TILE + DYNAMIC), [], 1, dynamic_shared_bytes=64)
    assert [finding.variable for finding in report.findings] == ["tile+0", "pool+20"]


@pytest.mark.parametrize(
    ("offset", "called"),
    [(-4, "4 bytes before array 'out'"), (8, "byte 8 of array 'out', which has 8 bytes"), (1 << 40, None)],
)
def test_a_global_address_is_called_by_the_array_of_its_parameter(offset, called):
    text = kernel(
        f"ld.param.u64 %d0, [out]; mov.u64 %d1, {offset}; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], 1; ret;"
    )
    (finding,) = launch(text, [np.zeros(2, np.uint32)], 1).findings
    assert finding.variable == called


def test_an_argument_may_be_called_otherwise():
    text = kernel("ld.param.u64 %d0, [out]; st.global.u32 [%d0-4], 1; ret;")
    (finding,) = launch(text, [np.zeros(2, np.uint32)], 1, names=["o"]).findings
    assert finding.variable == "4 bytes before array 'o'"


@pytest.mark.parametrize(
    ("module", "access", "called"),
    [
        (".global .align 4 .u32 cnt[4];", "st.global.u32 [cnt+16], 1;", "cnt+16 (cnt has 16 bytes)"),
        (".global .align 4 .u32 cnt[4];", "st.global.u32 [cnt-8], 1;", "8 bytes before 'cnt'"),
        (".const .align 4 .u32 table[2];", "ld.const.u32 %r0, [table+8];", "table+8 (table has 8 bytes)"),
        ("", ".local .align 4 .b8 frame[8]; ld.local.u32 %r0, [frame+4];", "frame+4"),
    ],
)
def test_a_variable_of_another_space_has_its_name(module, access, called):
    (finding,) = launch(kernel(f"{access} ret;", "", module), [], 1).findings
    assert finding.variable == called


def test_a_race_on_a_counter_names_the_counter():
    body = "mov.u32 %r0, %tid.x; st.global.u32 [cnt+4], %r0; ret;"
    (finding,) = launch(kernel(body, "", ".global .align 4 .u32 cnt[4];"), [], 2).findings
    assert (finding.kind, finding.variable) == ("race", "cnt+4")


def test_an_address_that_is_near_nothing_has_no_name():
    report = launch(
        kernel("mov.u64 %d0, 2048; ld.global.u32 %r0, [%d0]; ld.shared.u32 %r0, [tile]; ret;", "", TILE), [], 1
    )
    assert [finding.variable for finding in report.findings] == [None, "tile+0"]


@pytest.mark.parametrize(("dynamic_shared_bytes", "says"), [(0, True), (16, False)])
def test_a_launch_that_gives_no_dynamic_shared_memory_is_told_so(dynamic_shared_bytes, says):
    body = "mov.u32 %r1, pool; st.shared.u32 [%r1+64], 0; ret;"
    text = kernel(body, "", DYNAMIC)
    (finding,) = launch(text, [], 1, dynamic_shared_bytes=dynamic_shared_bytes).findings
    assert finding.kind == "out-of-bounds"
    assert ("no dynamic shared memory for 'pool' (dynamic_shared_bytes, --dynamic-shared)" in finding.message) == says


def test_an_address_before_the_external_array_is_not_its_fault():
    text = kernel("mov.u32 %r1, 16; st.shared.u32 [%r1], 0; mov.u32 %r1, pool; ret;", "", TILE + DYNAMIC)
    (finding,) = launch(text, [], 1).findings
    assert "dynamic" not in finding.message
    assert finding.variable == "1008 bytes before 'pool'"
