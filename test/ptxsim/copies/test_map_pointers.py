"""A tensor map whose parameter is a pointer: its bytes are in global memory, and the kernel gets their address."""

import numpy as np
import pytest

from ptxsim import Report, TensorMap
from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import kernel, kinds, launch
from ptxsim_cases.map_kernels import ACQUIRE, LOAD, distinct
from ptxsim_cases.tensor_maps import tiled

_PARAMETERS = ".param .u64 map, .param .u64 out"
#: %d1 is the address of the map; the rest as `map_kernels` has it.
_SETUP = """
.shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 full;
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full; mul.wide.u32 %d5, %r0, 4; setp.eq.u32 %p0, %r0, 0;
ld.param.u64 %d1, [map]; ld.param.u64 %d3, [out];
@%p0 mbarrier.init.shared.b64 [%r2], 1; @%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async; bar.sync 0;
"""


def run(body: str, **options) -> tuple[Report, np.ndarray]:
    """The report, and what came of the box [4, 8] of distinct numbers."""
    out = np.full((4, 8), -1, np.float32)
    tensor = tiled(distinct(5, 12), (8, 4))
    return launch(kernel(_SETUP + body + "\nret;", _PARAMETERS), [tensor, out], **options), out


# The ISA: "the tensormap-proxy is not acquired from generic-proxy at CUDA Kernel start".
@pytest.mark.parametrize(
    ("fence", "options", "found"),
    [
        (ACQUIRE, {}, set()),
        ("", {}, {"proxy-fence-missing"}),
        ("", {"ignore": ("proxy-fence-missing",)}, set()),
        ("", {"checks": ("bounds", "uninitialized", "barriers")}, set()),
        (ACQUIRE, {"grid": (3, 1, 1)}, set()),
    ],
)
def test_a_copy_takes_the_map_at_the_pointer_that_its_thread_has_acquired(fence: str, options: dict, found: set[str]):
    report, out = run(fence + LOAD, **options)
    assert kinds(report) == found, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


@pytest.mark.parametrize("space", ["", ".global"])
def test_generic_and_global_pointers_name_the_same_map(space: str):
    convert = "cvta.to.global.u64 %d1, %d1; cvta.global.u64 %d1, %d1;" if space else ""
    report, out = run(convert + ACQUIRE + LOAD)
    assert report.ok, str(report)
    assert out[0, 0] == 1


def places(*tensors: TensorMap) -> list[int]:
    """The addresses that a kernel gets for these."""
    names = [f"p{number}" for number in range(len(tensors))]
    loads = [f"ld.param.u64 %d1, [{name}]; st.global.u64 [%d0+{8 * i}], %d1;" for i, name in enumerate(names)]
    text = kernel(
        f"ld.param.u64 %d0, [out]; {' '.join(loads)} ret;", ", ".join(f".param .u64 {each}" for each in ("out", *names))
    )
    out = np.zeros(len(tensors), np.uint64)
    assert launch(text, [out, *tensors], 1).ok
    return out.tolist()


def test_a_map_that_is_given_twice_has_one_place():
    array = distinct(5, 12)
    one, other = tiled(array, (8, 4)), tiled(array, (4, 4))
    first, second, third = places(one, other, one)
    assert first == third != second
    assert first % 64 == second % 64 == 0


def test_every_launch_begins_with_the_map_as_it_is_given():
    change = """@%p0 tensormap.replace.tile.global_dim.global.b1024.b32 [%d1], 0, 4;
    @%p0 fence.proxy.tensormap::generic.release.gpu; """
    tensor = tiled(distinct(5, 12), (8, 4))
    for body, columns in ((change + ACQUIRE + LOAD, 4), (ACQUIRE + LOAD, 8)):
        out = np.full((4, 8), -1, np.float32)
        report = launch(kernel(f"{_SETUP}{body}\nret;", _PARAMETERS), [tensor, out])
        assert report.ok, str(report)
        assert (out[:, :columns] == distinct(5, 12)[:4, :columns]).all()
        assert (out[:, columns:] == 0).all()


def test_its_bytes_have_a_name_in_findings_and_counters():
    report, _ = run("ld.global.u32 %r4, [%d1+128]; ld.global.u32 %r4, [%d1+8];", names=("x", "out"))
    (finding,) = report.findings
    assert (finding.kind, finding.variable) == ("out-of-bounds", "map of x+128 (map of x has 128 bytes)")
    (count,) = report.counters.arrays
    assert (count.name, count.arguments, count.read) == ("map of x", (0,), 32 * 4)


# A number of 8 bytes is a pointer as far as PTX says; of other widths it is not.
def test_a_map_for_a_parameter_of_another_width_is_an_error():
    with pytest.raises(InputError, match="128 bytes are given for parameter 0 'n', which has 4"):
        launch(kernel("ret;", ".param .u32 n"), [tiled(distinct(4, 8), (8, 4))])
