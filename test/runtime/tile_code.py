"""LLVM IR of a kernel in the tile registers of AMX, which code may have beside kernels that use none."""


def tile_code(dot: str) -> str:
    """Return a kernel that adds the products of a tile with itself to it, by the instruction `dot`."""
    return f"""
define void @kernel.tiles(ptr %x) {{
  %a = call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %x, i64 64)
  %b = call x86_amx @llvm.x86.{dot}.internal(i16 16, i16 64, i16 64, x86_amx %a, x86_amx %a, x86_amx %a)
  call void @llvm.x86.tilestored64.internal(i16 16, i16 64, ptr %x, i64 64, x86_amx %b)
  ret void
}}
declare x86_amx @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)
declare x86_amx @llvm.x86.{dot}.internal(i16, i16, i16, x86_amx, x86_amx, x86_amx)
declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)
"""
