"""A kernel of NVVM's ops that takes a tensor map, from the text of a module with its host program to the simulator."""

import numpy as np
import pytest

from tinyc import pipeline, text
from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.nvvm import assembly
from tinyc.dialects.nvvm.assembly import attach_assembly
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.runtime.sim import SimExecutable

#: The instructions by which thread 0 has a box copied to shared memory, and all threads wait for it.
ASSEMBLY = {
    "mbarrier.init.shared.b64 [$0], 1; fence.mbarrier_init.release.cluster;": "r",
    "mbarrier.arrive.expect_tx.shared.b64 _, [$0], 256;": "r",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];": (
        "r,l,r,r,r"
    ),
    "{.reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra again;}": "r",
}
INIT, EXPECT, COPY, WAIT = (
    f'llvm.inline_asm has_side_effects asm_dialect = att "{each}", "{constraints},~{{memory}}"'
    for each, constraints in ASSEMBLY.items()
)
SOURCE = f"""
!matrix = tensor<?x?xf32, #tiny.dims<["M", "N"]>>
!boxes = tensor<?x8x8xf32, #tiny.dims<["(M - 1) floordiv 8 + 1", 8, 8]>>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {{
  llvm.mlir.global external @tile() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>
  llvm.mlir.global internal @full() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<1 x i64>
  llvm.func @boxes(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>,
      %map: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}})
      attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %count = llvm.mlir.constant(64 : i32) : i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %full = llvm.mlir.addressof @full : !llvm.ptr<3>
    %to = llvm.ptrtoint %tile : !llvm.ptr<3> to i32
    %barrier = llvm.ptrtoint %full : !llvm.ptr<3> to i32
    %from = llvm.ptrtoint %map : !llvm.ptr to i64
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %row = llvm.mul %cta, %eight : i32
    %is_first = llvm.icmp "eq" %thread, %zero : i32
    llvm.cond_br %is_first, ^copy, ^wait
  ^copy:
    {INIT} %barrier : (i32) -> ()
    {EXPECT} %barrier : (i32) -> ()
    {COPY} %to, %from, %zero, %row, %barrier : (i32, i64, i32, i32, i32) -> ()
    llvm.br ^wait
  ^wait:
    nvvm.barrier
    {WAIT} %barrier : (i32) -> ()
    %at = llvm.getelementptr %tile[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %value = llvm.load %at : !llvm.ptr<3> -> f32
    %first = llvm.mul %cta, %count : i32
    %place = llvm.add %first, %thread : i32
    %out = llvm.getelementptr %y[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %value, %out : f32, !llvm.ptr<1>
    llvm.return
  }}
}}
"exec.function"() ({{
  "exec.buffer"() {{buffer = "input_0", kind = "input", memory_space = "device", offset = 0, size = "4*M*N",
    tensor = !matrix}} : () -> ()
  "exec.buffer"() {{buffer = "output_0", kind = "output", memory_space = "device", offset = 0,
    size = "256*((M - 1) floordiv 8) + 256", tensor = !boxes}} : () -> ()
  "exec.kernel"() {{symbol = @boxes, generation = 0, grid = ["(M - 1) floordiv 8 + 1", 1, 1], block = [64, 1, 1],
    cluster = [1, 1, 1], dynamic_shared_bytes = 256, parameters = [#exec.ptr<"input_0", !matrix>,
      #exec.ptr<"output_0", !boxes>, #exec.tensor_map<"input_0", f32, ["N", "M"], ["4*N"], [8, 8], 0>],
    reads = ["input_0"], writes = ["output_0"]}} : () -> ()
  omp.terminator
}}) {{sym_name = "main", symbols = ["M", "N"], inputs = ["x"], outputs = ["y"], arena_bytes = 0}} : () -> ()
"""


@pytest.fixture(scope="module")
def executable():
    known = {(each, f"{constraints},~{{memory}}") for each, constraints in ASSEMBLY.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "_tables", {})
        attach_assembly("test", lambda *entry: entry in known)
        module = text.parse(SOURCE)
        with module.context:
            program = program_of(module)
            pipeline.parse("nvvm-to-ptx").run(module)
            return SimExecutable(program, ptx_text(module))


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (13, 12), (1, 4), (16, 20)])
def test_boxes_are_those_of_the_tensor_and_zeros_beyond_it(executable, rows, columns):
    x = np.arange(1, 1 + rows * columns, dtype=np.float32).reshape(rows, columns)
    expected = np.zeros((-(-rows // 8) * 8, 8), np.float32)
    expected[:rows, :columns] = x[:, :8]
    np.testing.assert_array_equal(executable.run({"x": x})["y"].reshape(-1, 8), expected)
