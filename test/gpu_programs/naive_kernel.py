"""The text of a naive kernel, as --region-to-gpu writes it: Y[m, n] = relu(sum_k X[m, k] * W[k, n]) + bias[n]."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Naive:
    """Sizes as extents or symbols; `guarded` says of a side of a tile whether it may reach beyond the tensors."""

    tile: tuple[int, int, int] = (32, 32, 8)
    stages: int = 2
    element: str = "f32"
    accumulator: str = "f32"
    extents: tuple = ("M", "N", "K")
    guarded: bool = True

    def tensor(self, axes, element=None):
        dims = [dict(zip("mnk", self.extents, strict=True))[axis] for axis in axes]
        listed = ", ".join(f'"{dim}"' if isinstance(dim, str) else str(dim) for dim in dims)
        symbolic = any(isinstance(dim, str) for dim in dims)
        shape = "x".join("?" if isinstance(dim, str) else str(dim) for dim in dims)
        return f"tensor<{shape}x{element or self.element}{f', #tiny.dims<[{listed}]>' if symbolic else ''}>"

    def buffer(self, axes, element=None):
        inner = dict(zip("mnk", self.extents, strict=True))[axes[-1]]
        strides = [f'"{inner}"' if isinstance(inner, str) else str(inner), "1"][-len(axes) :]
        return f"!region.memref<{self.tensor(axes, element)}, [{', '.join(strides)}], 128 : i64, true>"

    def _load(self, name, buffer, axes, at):
        rows, columns = (f"array<i64: {'mkn'.index(axis)}>" for axis in axes)
        guarded = '["rows", "columns"]' if self.guarded else "[]"
        positions = ", ".join(f"{'mkn'.index(axis)}" for axis in axes)
        given, product = self.tensor(axes), self.tensor("mkn")
        return f"""
      "tgpu.load_tile"({name}, %stage, %zero, {at}) ({{
        %0 = "region.read"({buffer}) : ({self.buffer(axes)}) -> {given}
        %1 = "tiny.expand"(%0) {{broadcast_dimensions = array<i64: {positions}>}} : ({given}) -> {product}
        "tgpu.yield"(%1) : ({product}) -> ()
        omp.terminator
      }}) {{rows = {rows}, columns = {columns}, batches = array<i64>, guarded = {guarded}}}
        : (!{name[1:]}, index, index, index, index) -> ()"""

    def grid(self):
        counts = []
        for extent, size in zip((self.extents[1], self.extents[0]), (self.tile[1], self.tile[0]), strict=True):
            symbolic = isinstance(extent, str)
            counts.append(f'"({extent} - 1) floordiv {size} + 1"' if symbolic else str((extent - 1) // size + 1))
        return ", ".join([*counts, "1"])

    def text(self):
        (rows, columns, depth), sums = self.tile, self.accumulator
        symbols = [extent for extent in self.extents if isinstance(extent, str)]
        arguments = "".join(f', %{name}: index {{tgpu.extent = "{name}"}}' for name in symbols)
        last = self.extents[2]
        bound = f"%{last}" if isinstance(last, str) else "%size"
        finished, bias = self.tensor("mn", sums), self.tensor("n", sums)
        guarded = '["rows", "columns"]' if self.guarded else "[]"
        return f"""
!a = !tgpu.smem<tensor<{rows}x{depth}x{self.element}>, {self.stages} : i64>
!b = !tgpu.smem<tensor<{depth}x{columns}x{self.element}>, {self.stages} : i64>
!acc = !tgpu.acc<tensor<{rows}x{columns}x{sums}>>
gpu.module @kernels {{
  gpu.func @gemm(%x: {self.buffer("mk")} {{tgpu.name = "x"}}, %w: {self.buffer("kn")} {{tgpu.name = "w"}},
      %bias: {self.buffer("n", sums)} {{tgpu.name = "bias"}}, %y: {self.buffer("mn", sums)} {{tgpu.name = "y"}}
      {arguments})
      kernel attributes {{known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [{self.grid()}]}} {{
    %zero = arith.constant 0 : index
    %rows = arith.constant {rows} : index
    %columns = arith.constant {columns} : index
    %depth = arith.constant {depth} : index
    %stages = arith.constant {self.stages} : index
    %size = arith.constant {last if isinstance(last, int) else 0} : index
    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %m = arith.muli %block_y, %rows : index
    %n = arith.muli %block_x, %columns : index
    %a = "tgpu.alloc_smem"() : () -> !a
    %b = "tgpu.alloc_smem"() : () -> !b
    %none = "tgpu.zero"() : () -> !acc
    %all = scf.for %k = %zero to {bound} step %depth iter_args(%so_far = %none) -> (!acc) {{
      %turn = arith.divui %k, %depth : index
      %stage = arith.remui %turn, %stages : index
{self._load("%a", "%x", "mk", "%m, %k")}
{self._load("%b", "%w", "kn", "%k, %n")}
      gpu.barrier
      %next = "tgpu.fma"(%a, %b, %stage, %so_far) : (!a, !b, index, !acc) -> !acc
      {"gpu.barrier" if self.stages == 1 else ""}
      scf.yield %next : !acc
    }}
    "tgpu.epilogue"(%all, %zero, %m, %n) ({{
    ^bb0(%sum: {finished}):
      %0 = "tiny.relu"(%sum) : ({finished}) -> {finished}
      %1 = "region.read"(%bias) : ({self.buffer("n", sums)}) -> {bias}
      %2 = "tiny.expand"(%1) {{broadcast_dimensions = array<i64: 1>}} : ({bias}) -> {finished}
      %3 = "tiny.add"(%0, %2) : ({finished}, {finished}) -> {finished}
      "region.yield"(%3, %y) {{materialize = "gmem"}} : ({finished}, {self.buffer("mn", sums)}) -> ()
      omp.terminator
    }}) {{rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = {guarded}, kinds = ["column"]}}
      : (!acc, index, index, index) -> ()
    gpu.return
  }}
}}
"""
