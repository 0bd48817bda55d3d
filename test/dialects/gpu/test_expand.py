"""What --gpu-expand calls the arrays that statements reserve."""

import re

from tinyc import pipeline, text


def test_each_of_many_tiles_in_shared_memory_has_an_identifier():
    tile = "!tgpu.smem<tensor<4x4xf32>, 1 : i64>"
    statements = "\n".join(f'"tgpu.alloc_smem"() : () -> {tile}' for _ in range(30))
    module = text.parse(f"""
    gpu.module @kernels {{
      gpu.func @f(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>) kernel attributes {{
          known_block_size = array<i32: 2, 2, 1>, tgpu.grid = [1, 1, 1]}} {{
        {statements}
        gpu.return
      }}
    }}""")
    pipeline.parse("gpu-expand").run(module)
    arrays = re.findall(r"memref\.global \"private\" @(\S+)", text.print_ir(module, stock=True))
    assert len(set(arrays)) == 30
    assert all(re.fullmatch(r"f_[A-Z]\d*", name) for name in arrays)
