"""Tensor maps as parameters of a launch: bound at a run's sizes, kept, simulated, and encoded by a driver that is none.

The kernel copies the boxes [8, 8] of the first columns of `x` by TMA, and stores them as they lie in shared memory.
"""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

from runtime.fake_driver import FakeDriver, Result
from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import parse_extent
from tinyc.runtime import cuda
from tinyc.runtime.bound import bind_program
from tinyc.runtime.cuda import CudaExecutable
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json
from tinyc.runtime.program import Alternative, Buffer, KernelLaunch, Pointer, Program, TensorMapParameter
from tinyc.runtime.sim import SimExecutable
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.element_type import ElementType

F32 = ElementType.F32
TILING = Tiling((parse_extent("N"), parse_extent("M")), (parse_extent("4*N"),), (8, 8), 32)
PTX = """
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry boxes(.param .u64 x, .param .u64 y, .param .align 64 .b8 map[128])
{
  .reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;
  .shared .align 8 .b64 full;
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full; setp.eq.u32 %p0, %r0, 0;
  mov.b64 %d1, map; cvta.param.u64 %d1, %d1;
  mov.u32 %r3, %ctaid.x; shl.b32 %r4, %r3, 3; mov.u32 %r5, 0;
  @%p0 mbarrier.init.shared.b64 [%r2], 1; @%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async; bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;
  @%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r5, %r4}], [%r2];
  wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait;
  shl.b32 %r6, %r0, 3; add.u32 %r7, %r6, %r1; ld.shared.v2.u32 {%r8, %r9}, [%r7];
  ld.param.u64 %d2, [y]; shl.b32 %r10, %r3, 8; add.u32 %r10, %r10, %r6; cvt.u64.u32 %d3, %r10; add.u64 %d2, %d2, %d3;
  st.global.v2.u32 [%d2], {%r8, %r9};
  ret;
}
"""


def program(tiling: Tiling = TILING, **facts: object) -> Program:
    boxes = parse_extent("(M - 1) floordiv 8 + 1")
    shapes = {"input_0": (parse_extent("M"), parse_extent("N")), "output_0": (boxes, 8, 8)}
    sizes = {"input_0": parse_extent("4*M*N"), "output_0": parse_extent("256*((M - 1) floordiv 8) + 256")}
    buffers = tuple(Buffer(name, name[:-2], "device", 0, sizes[name], F32, shapes[name]) for name in shapes)
    pointers = tuple(Pointer(name, F32, shapes[name]) for name in shapes)
    parameters = (*pointers, TensorMapParameter("input_0", F32, tiling))
    launch = KernelLaunch(
        "boxes", 0, (boxes, 1, 1), (32, 1, 1), (1, 1, 1), 256, parameters, ("input_0",), ("output_0",)
    )
    launch = dataclasses.replace(launch, **facts)
    return Program("main", ("M", "N"), ("x",), ("y",), (), buffers, (launch,), 0)


def x_of(rows: int, columns: int) -> np.ndarray:
    return np.arange(1, 1 + rows * columns, dtype=np.float32).reshape(rows, columns)


def boxes_of(x: np.ndarray) -> np.ndarray:
    """The boxes as they lie in shared memory: of each two lines of 128 bytes the second has its chunks exchanged."""
    rows = -(-len(x) // 8) * 8
    whole = np.zeros((rows, 8), np.float32)
    whole[: len(x), : x.shape[1]] = x[:, :8]
    boxes = whole.reshape(-1, 8, 2, 4)
    boxes[:, 4:] = boxes[:, 4:, ::-1].copy()
    return boxes.reshape(-1, 8, 8)


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (13, 12), (1, 4), (16, 20)])
def test_the_simulator_copies_by_the_map_of_a_runs_sizes(rows, columns):
    x = x_of(rows, columns)
    np.testing.assert_array_equal(SimExecutable(program(), PTX).run({"x": x})["y"], boxes_of(x))


def test_a_map_stays_a_map_in_json():
    kept = json.loads(json.dumps(frozen_to_json(program())))
    assert frozen_from_json(Program, kept, "program") == program()


def test_a_pitch_that_hardware_has_not_is_refused_or_left_to_a_guarded_alternative():
    with pytest.raises(TinycError, match=r"'boxes' would be launched with .* a stride of 20 bytes.* with M = 8, N = 5"):
        bind_program(program(), [(8, 5)])
    (own,) = program().kernels
    plain = dataclasses.replace(own, symbol="plain", parameters=own.parameters[:2])
    guard = Assumption(parse_extent("4*(N floordiv 4)"), "eq", parse_extent("N"))
    names = {each.name: getattr(own, each.name) for each in dataclasses.fields(Alternative) if each.name != "guards"}
    launch = dataclasses.replace(plain, alternatives=(Alternative(guards=(guard,), **names),))
    whole = dataclasses.replace(program(), kernels=(launch,))
    chosen = {n: bind_program(whole, [(8, n)]).launches[0].kernel.symbol for n in (4, 5, 8)}
    assert chosen == {4: "boxes", 5: "plain", 8: "boxes"}


def test_a_grid_that_clusters_do_not_divide_is_refused():
    clustered = program(cluster=(2, 1, 1))
    assert bind_program(clustered, [(16, 4)]).launches[0].cluster == (2, 1, 1)
    with pytest.raises(TinycError, match="a grid of 3x1x1 CTAs, which clusters of 2x1x1 do not divide") as caught:
        bind_program(clustered, [(17, 4)])
    assert caught.value.name == "AssumptionViolated"


@pytest.mark.parametrize(
    ("tiling", "fault"),
    [
        (Tiling((), (), (), 0), "has 0 dims"),
        (Tiling((8, 8), (32, 32), (8, 8), 0), "2 strides and a box of 2 sides"),
        (Tiling((8, 8), (32,), (8, 257), 0), "a box 8x257; each side"),
        (Tiling((8, 8), (32,), (8, 8), 48), "a swizzle of 48 bytes"),
        (Tiling((8, 8), (32,), (2, 8), 0), "rows of 8 bytes; choose a multiple of 16"),
        (Tiling((8, 8), (32,), (16, 8), 32), "rows of 64 bytes; a swizzle of 32"),
        (Tiling((2**32 + 1,), (), (8,), 0), "a dim of 4294967297"),
        (Tiling((8, 8), (2**40,), (8, 8), 0), "a stride of 1099511627776"),
    ],
)
def test_what_hardware_does_not_take_is_told(tiling, fault):
    assert fault in str(tiling.fault(4))
    assert TILING.fault(4) is None


# --- on a driver that is none -----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def without_ptxas(monkeypatch):
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)


def fake(given: list, **options) -> FakeDriver:
    kernels = {"boxes": (3, lambda _, grid, parameters: given.append((list(grid), parameters)))}
    return FakeDriver(kernels, capability=(9, 0), **options)


def on(driver: FakeDriver, **facts) -> CudaExecutable:
    return CudaExecutable(program(**facts), PTX, "sm_90a", driver)


def test_the_driver_encodes_a_map_once_for_where_its_buffer_is():
    given = []
    driver = fake(given)
    executable = on(driver)
    for _ in range(3):
        executable.run({"x": x_of(16, 12)})
    assert len(driver.named("cuGraphLaunch")) == 2
    ((kind, address, dims, strides, box, modes),) = driver.encoded
    assert (kind, dims, strides, box, modes) == (7, [12, 16], [48], [8, 8], (0, 1, 2, 0))
    assert [parameters[2] for _, parameters in given] == [address] * 3 == [given[0][1][0]] * 3
    executable.run({"x": x_of(24, 8)})
    assert driver.encoded[1][2] == [8, 24]


class Mine:
    """An array [16, 12] of another library in the device's memory, so many bytes behind the start of a piece."""

    def __init__(self, driver, offset):
        _, start = driver.cuMemAlloc(16 * 48 + 64)
        self.address = start + -start % 16 + offset
        shared = {"shape": (16, 12), "typestr": "<f4", "version": 3, "data": (self.address, False)}
        self.__cuda_array_interface__ = shared


def test_a_graph_takes_the_map_of_another_array_and_what_is_not_aligned_is_copied():
    given = []
    driver = fake(given)
    executable, arrays = on(driver), [Mine(driver, 0), Mine(driver, 0), Mine(driver, 4)]
    for each in (arrays[0], arrays[0], arrays[1]):
        executable.run({"x": each})
        assert given[-1][1][2] == each.address
    assert len(driver.named("cuGraphExecKernelNodeSetParams")) == 1
    with collect_remarks() as remarks:
        executable.run({"x": arrays[2]})
    assert given[-1][1][2] not in [each.address for each in arrays]
    assert [each.code for each in remarks] == ["input-copied"]


def test_clusters_are_an_attribute_of_the_launch_and_of_a_graphs_node():
    given = []
    driver = fake(given)
    executable = on(driver, cluster=(2, 1, 1))
    for _ in range(2):
        executable.run({"x": x_of(16, 4)})
    assert [grid for grid, _ in given] == [[2, 1, 1]] * 2
    ((_, _, kernel, _, _),) = driver.named("cuLaunchKernelEx")
    ((_, node, _, value),) = driver.named("cuGraphKernelNodeSetAttribute")
    assert (kernel, node) == (0, "graph 0 node 0")
    assert vars(value.clusterDim) == {"x": 2, "y": 1, "z": 1}


def test_a_tensor_without_elements_has_no_map():
    given = []
    driver = fake(given)
    on(driver).run({"x": x_of(8, 0)})
    assert driver.encoded == []
    assert given[0][1][2] == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"failing": {"cuTensorMapEncodeTiled": Result.CUDA_ERROR_INVALID_VALUE}},
            "DeviceFailure",
            r"'boxes': the driver takes no tensor map of input_0 \(f32, dims 4x8, .*CUDA_ERROR_INVALID_VALUE",
        ),
        ({"failing": {"cuFuncSetAttribute": Result.CUDA_ERROR_INVALID_VALUE}}, "LaunchTooLarge", "needs 240000 bytes"),
    ],
)
def test_what_the_driver_refuses_is_told_with_the_kernel(options, error, message):
    facts = {"dynamic_shared_bytes": 240000} if error == "LaunchTooLarge" else {}
    with pytest.raises(TinycError, match=message) as caught:
        on(fake([], **options), **facts).run({"x": x_of(8, 4)})
    assert caught.value.name == error


def test_a_driver_without_tensor_maps_is_told():
    driver = fake([])
    driver._cuGetProcAddress = lambda *_: 0
    with pytest.raises(TinycError, match="the CUDA driver has no cuTensorMapEncodeTiled, which kernel 'boxes' needs"):
        on(driver).run({"x": x_of(8, 4)})


def test_the_bindings_have_what_launches_are_made_of():
    real = pytest.importorskip("cuda.bindings.driver")

    class Real(FakeDriver):
        CUlaunchConfig, CUlaunchAttribute = real.CUlaunchConfig, real.CUlaunchAttribute
        CUlaunchAttributeID, CUkernelNodeAttrID = real.CUlaunchAttributeID, real.CUkernelNodeAttrID
        CUkernelNodeAttrValue = real.CUkernelNodeAttrValue

        def _cuStreamCreate(self, flags):  # noqa: N802 - the driver's name
            return real.CUstream(71)

        def _cuLaunchKernelEx(self, config, kernel, parameters, extra):  # noqa: N802
            shared = config.sharedMemBytes
            seen.append((config.gridDimX, config.blockDimX, shared, int(config.hStream), config.numAttrs))
            size = config.attrs[0].value.clusterDim
            seen.append((size.x, size.y, size.z))

    seen = []
    driver = Real({"boxes": (3, None)}, capability=(9, 0))
    driver.failing = dict.fromkeys(("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"), Result.CUDA_SUCCESS)
    on(driver, cluster=(2, 1, 1), dynamic_shared_bytes=200_000).run({"x": x_of(16, 4)})
    assert seen == [(2, 32, 200_000, 71, 1), (2, 1, 1)]


def test_the_bindings_have_every_function_that_is_called():
    real = pytest.importorskip("cuda.bindings.driver")
    files = Path(cuda.__file__).parent.glob("cuda*.py")
    called = {name for file in files for name in re.findall(r'"(cu[A-Z][A-Za-z]+)"', file.read_text())}
    assert {"cuLaunchKernelEx", "cuGraphKernelNodeSetAttribute", "cuEventElapsedTime"} <= called
    assert [name for name in sorted(called) if not hasattr(real, name)] == []
