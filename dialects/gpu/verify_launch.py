"""What must hold of how a kernel is launched beyond grid and CTA: clusters, dynamic shared memory, tensor maps, guards.

In: a kernel, the extents that it knows, its architecture. Out: `Malformed` for what the hardware would not launch.
"""

import math
from collections.abc import Mapping, Sequence

from tinyc.dialects.gpu.dialect import TensorMapType
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.launch_attributes import (
    CLUSTER,
    DYNAMIC_SHARED_BYTES,
    GUARDS,
    TENSOR_MAP,
    cluster_of,
    dynamic_shared_bytes_of,
    tensor_map_of,
)
from tinyc.dialects.region import ops as region
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.verifying import Malformed
from tinyc.target.target import Target
from tinyc.vocabulary.attributes import decode, tensor_type
from tinyc.vocabulary.guards import guards_of

#: The first architecture whose copies take tensor maps.
_TMA = (9, 0)


def check_launch(kernel: GpuKernel, symbols: Sequence[str], target: Target) -> None:
    """Check clusters, dynamic shared memory, tensor maps and guards; the grid is known to be one.

    Raises:
        Malformed: one of them cannot be launched.
        TinycError: an extent is none.
    """
    attributes = kernel.op.attributes
    _check_cluster(cluster_of(attributes.get(CLUSTER, None)), attributes.get("tgpu.grid", None), target)
    given = dynamic_shared_bytes_of(attributes.get(DYNAMIC_SHARED_BYTES, None))
    limit = target.shared_bytes_per_cta_optin
    if given > limit:
        raise Malformed(
            f"has {given} bytes of dynamic shared memory; a CTA has {limit} on {target.name}; choose smaller tiles or "
            "fewer stages"
        )
    for argument, note in zip(kernel.arguments, kernel.notes, strict=True):
        if isinstance(argument.type, TensorMapType):
            _check_tensor_map(kernel, note, symbols, target)
        elif TENSOR_MAP in note:
            raise Malformed(f"has {TENSOR_MAP} on argument {argument.arg_number}, which is of type {argument.type}")
    for guard in guards_of(attributes.get(GUARDS, None), GUARDS):
        require_known((guard.lhs, guard.rhs), symbols, "its guards")


def check_named(kernel: GpuKernel, is_own: bool, is_alternative: bool) -> None:
    """Check that a kernel is named by launches as what it is: by itself, or as an alternative.

    Raises:
        Malformed.
    """
    attributes = kernel.op.attributes
    if is_own and GUARDS in attributes:
        raise Malformed(f"has {GUARDS}, which its launch does not ask; name it among the 'alternatives' of a launch")
    if is_alternative and GUARDS not in attributes and "tgpu.sizes" not in attributes:
        raise Malformed(f"is an alternative, and nothing says where; write tgpu.sizes or {GUARDS}")


def require_known(dims: Sequence[Dim], symbols: Sequence[str], what: str) -> None:
    """Check that a kernel knows the symbols of `dims`, which `what` rests on.

    Raises:
        Malformed.
    """
    missing = [name for dim in dims for name in extents.symbols(dim) if name not in symbols]
    if missing:
        raise Malformed(f"needs the extent '{missing[0]}' for {what}; give it an index with tgpu.extent = …")


def _check_cluster(cluster: tuple[int, int, int], grid: ir.Attribute | None, target: Target) -> None:
    shown = "x".join(map(str, cluster))
    if math.prod(cluster) > target.ctas_per_cluster:
        raise Malformed(f"has clusters of {shown} CTAs; {target.name} takes {target.ctas_per_cluster} at most")
    ctas: Sequence[Dim] = decode(grid) if grid is not None else cluster
    if any(isinstance(count, int) and count % size for count, size in zip(ctas, cluster, strict=True)):
        given = "x".join(map(str, ctas))
        raise Malformed(f"has a grid of {given} CTAs, which clusters of {shown} do not divide; round it up")


def _check_tensor_map(
    kernel: GpuKernel, note: Mapping[str, ir.Attribute], symbols: Sequence[str], target: Target
) -> None:
    if target.compute_capability < _TMA:
        raise Malformed(f"has a tensor map; {target.name} has no TMA, which takes them")
    tensor_map = tensor_map_of(note.get(TENSOR_MAP, None))
    buffers = kernel.buffers
    if not 0 <= tensor_map.buffer < len(buffers):
        raise Malformed(f"has a tensor map of buffer {tensor_map.buffer}; it has {len(buffers)}, counted from 0")
    require_known(tensor_map.tiling.extents, symbols, "a tensor map")
    fault = tensor_map.tiling.fault(_element_bytes(kernel, buffers[tensor_map.buffer]))
    if fault is not None:
        raise Malformed(f"has a tensor map of buffer {tensor_map.buffer}, which {fault}")


def _element_bytes(kernel: GpuKernel, buffer: ir.BlockArgument) -> int:
    """Bytes of an element of a buffer, of a region or at the scalar level."""
    if isinstance(buffer.type, region.MemRefType):
        return region.held_tensor(buffer.type).element.size_bytes
    held = kernel.notes[buffer.arg_number].get("tgpu.tensor")
    if isinstance(held, ir.TypeAttr):
        return tensor_type(held.value).element.size_bytes
    element = ir.MemRefType(buffer.type).element_type
    assert isinstance(element, ir.IntegerType | ir.FloatType)
    return element.width // 8
