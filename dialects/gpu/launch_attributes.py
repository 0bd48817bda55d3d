"""What the attributes of a kernel say of its launch beyond grid and CTA: clusters, dynamic shared memory, maps, guards.

In: attributes of a `gpu.func` or of one of its arguments. Out: plain data. `kernel` reads by this what verifies, and
`verify_launch` what may not.

    tgpu.cluster = array<i32: 2, 1, 1>               CTAs of a cluster along x, y and z; left out: 1
    tgpu.dynamic_shared_bytes = 229376 : i64         shared memory of a CTA that is sized at the launch; left out: 0
    tgpu.guards = [["8*(K floordiv 8)", "eq", "K"]]  where a launch may take it in the place of the kernel that it names
    tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}
                                                     of an argument: of which buffer it is a map, innermost dim first
    tgpu.workspace                                   of an argument: memory that is the launch's own
"""

from tinyc.dialects.launch import TensorMapArgument
from tinyc.mlir import ir
from tinyc.mlir.verifying import Malformed
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.attributes import extents_attribute
from tinyc.vocabulary.guards import canonical_extents

CLUSTER, DYNAMIC_SHARED_BYTES, GUARDS = "tgpu.cluster", "tgpu.dynamic_shared_bytes", "tgpu.guards"
TENSOR_MAP, WORKSPACE = "tgpu.tensor_map", "tgpu.workspace"
_MAP_KEYS = ("buffer", "dims", "strides", "box", "swizzle")

# What each reader raises is `Malformed`, or a TinycError of an extent that is none.


def cluster_of(given: ir.Attribute | None) -> tuple[int, int, int]:
    """CTAs of a cluster along x, y and z."""
    if given is None:
        return 1, 1, 1
    sizes = list(given) if isinstance(given, ir.DenseI32ArrayAttr) else []
    if len(sizes) != 3 or any(size < 1 for size in sizes):
        raise Malformed(f"has {CLUSTER} = {given}; it must be the CTAs of a cluster, array<i32: x, y, z>")
    return sizes[0], sizes[1], sizes[2]


def dynamic_shared_bytes_of(given: ir.Attribute | None) -> int:
    """Bytes of dynamic shared memory."""
    if given is None:
        return 0
    if not isinstance(given, ir.IntegerAttr) or given.value < 0:
        raise Malformed(f"has {DYNAMIC_SHARED_BYTES} = {given}; it must be a number of bytes")
    return given.value


def tensor_map_of(given: ir.Attribute | None) -> TensorMapArgument:
    """The tensor map that an argument is."""
    entries = {each.name: each.attr for each in given} if isinstance(given, ir.DictAttr) else {}
    if sorted(entries) != sorted(_MAP_KEYS):
        raise Malformed(f"has {TENSOR_MAP} = {given}; it must be a dictionary of {', '.join(_MAP_KEYS)}")
    box = canonical_extents(entries["box"], "box")
    sides = tuple(side for side in box if isinstance(side, int))
    if len(sides) != len(box):
        raise Malformed(f"has a tensor map with box = {entries['box']}; its sides are numbers")
    dims, strides = (canonical_extents(entries[name], name) for name in ("dims", "strides"))
    return TensorMapArgument(_number(entries, "buffer"), Tiling(dims, strides, sides, _number(entries, "swizzle")))


def _number(entries: dict[str, ir.Attribute], name: str) -> int:
    given = entries[name]
    if not isinstance(given, ir.IntegerAttr) or isinstance(given, ir.BoolAttr):
        raise Malformed(f"has a tensor map with {name} = {given}; it must be a number")
    return given.value


def tensor_map_attribute(tensor_map: TensorMapArgument) -> ir.DictAttr:
    """The attribute that says a tensor map, which `tensor_map_of` reads."""
    i64, tiling = ir.IntegerType.get_signless(64), tensor_map.tiling
    return ir.DictAttr.get(
        {
            "buffer": ir.IntegerAttr.get(i64, tensor_map.buffer),
            "dims": extents_attribute(tiling.dims),
            "strides": extents_attribute(tiling.strides),
            "box": extents_attribute(tiling.box),
            "swizzle": ir.IntegerAttr.get(i64, tiling.swizzle),
        }
    )
