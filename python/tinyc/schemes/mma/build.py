"""Scheme `mma`, region → statements: the one template of kernels that multiply on tensor cores.

A kernel is five slots around a loop along k over circular buffers of tiles, in this order:

    load        what brings a tile of an operand to shared memory: `StatementWriter.load`, or TMA in `specialised`
    stage       how loads and products tell each other about the stages: groups and barriers, or mbarriers
    multiply    the product of the tiles of a stage: by warps, or by warpgroups
    epilogue    what the region makes of the accumulators: `StatementWriter.epilogue`
    store       how that gets to the outputs: `StatementWriter.store`, or TMA in `specialised`

Branches are by architecture (products of warps or of warpgroups), by schedule and by tails alone: shapes of the
contraction only decide what the bodies and the matrices of the statements are.
"""

import dataclasses

from tinyc.diagnostics import remark
from tinyc.dialects.gpu.dynamic_memory import dynamic_bytes
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.launch_attributes import DYNAMIC_SHARED_BYTES, GUARDS
from tinyc.dialects.region.to_gpu.function import Origin
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.mlir import gpu, ir
from tinyc.mlir.constants import i64
from tinyc.schemes.mma.case import mma_case
from tinyc.schemes.mma.parts import Parts
from tinyc.schemes.mma.plan import unaligned_plan
from tinyc.schemes.mma.simple import build_of_threads
from tinyc.schemes.mma.slices import build_of_sums, build_zero_semaphores
from tinyc.schemes.mma.specialised import build_of_warpgroups
from tinyc.schemes.mma.tiling import workspaces_of
from tinyc.vocabulary.guards import guards_attribute


def build_product(origin: Origin) -> None:
    """Write the function of a kernel; where its loads need pitches that not all sizes have, one for these, too.

    The other one is then what the host launches by default, and this an alternative that is guarded by what it needs.
    """
    parts = Parts.of(origin)
    _tell_of_orientation(parts)
    if not parts.needs:
        _tell_of_loads(parts)
        _write(_unaligned(parts) if parts.tiling.is_persistent and not parts.is_specialised else parts)
        return
    aligned = dataclasses.replace(origin, name=origin.alternative_name, init_name=origin.alternative_init_name)
    unaligned = _unaligned(parts)
    workspaces = workspaces_of(parts.product, [parts.tiling, unaligned.tiling], dict(origin.candidate.limits))
    _tell_of_guards(parts)
    function = _write(dataclasses.replace(parts, origin=aligned, workspaces=workspaces))
    function.attributes[GUARDS] = guards_attribute([*origin.kernel.guards, *(_guard(*need) for need in parts.needs)])
    _write(dataclasses.replace(unaligned, workspaces=workspaces))


def _tell_of_orientation(parts: Parts) -> None:
    """Remark on a kernel that computes the transposed output."""
    if not parts.is_transposed:
        return
    candidate, unit = parts.origin.candidate, "warpgroup" if parts.unit.is_wgmma else "warp"
    n, m = parts.tiling.unit_tile
    message = (
        f"@{candidate.name} multiplies the transposed operands: of the {m}x{n} accumulators of a {unit}, n is along "
        f"the {parts.unit.rows} rows of an instruction"
    )
    if parts.unit.admits(m, n):
        name = " and ".join(parts.product.lhs.names) or "the right operand"
        message += f", since {name} is made in registers, which warpgroups do with the operand along the rows"
    remark("product-transposed", candidate.where, message, kernel=candidate.name)


def _tell_of_loads(parts: Parts) -> None:
    """Remark on each operand whose tiles do not come as they best do."""
    candidate, product = parts.origin.candidate, parts.product
    for operand, load in zip((product.lhs, product.rhs), parts.loads, strict=True):
        if load.reason:
            name = " and ".join(operand.names) or "an operand"
            kind = "cp_async" if load.kind == "tma" and not parts.is_specialised else load.kind
            way = {
                "tma": "by TMA",
                "cp_async": f"by cp.async, {load.bytes} bytes at a time",
                "registers": "through registers",
            }[kind]
            if load.source is not None:
                way += f", as {load.source}, and makes {parts.unit.factor} of it in registers"
            message = f"@{candidate.name} loads {name} {way}, since {load.reason}"
            remark("operand-staged", candidate.where, message, kernel=candidate.name, operand=name, load=kind)


def _tell_of_epilogue(parts: Parts) -> None:
    """Remark on an epilogue whose reads wait for one another; where another kernel finishes sums, there is none."""
    if not parts.pieces or not parts.tiling.finishes:
        return
    candidate, accumulators = parts.origin.candidate, parts.tiling.accumulators_per_thread
    message = (
        f"@{candidate.name} finishes {parts.pieces} pieces of 16 x 8 accumulators at a time: beside {accumulators} "
        "accumulators a thread has no registers for all that the epilogue reads"
    )
    remark("epilogue-in-pieces", candidate.where, message, kernel=candidate.name, pieces=parts.pieces)


def _tell_of_guards(parts: Parts) -> None:
    """Remark on the sizes at which the host launches the alternative."""
    candidate, name = parts.origin.candidate, parts.origin.alternative_name
    needs = " and ".join(f"{extent} is a multiple of {multiple}" for extent, multiple in parts.needs)
    message = f"@{candidate.name}: @{name} is launched where {needs}; elsewhere operands lie as they happen to"
    remark("kernel-guarded", candidate.where, message, kernel=candidate.name, alternative=name)


def _write(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function that is launched for a product, and the one before it where k is sliced."""
    origin = parts.origin
    if parts.tiling.slices == 1:
        return _write_product(parts)
    if not parts.tiling.finishes:
        _write_product(dataclasses.replace(parts, origin=dataclasses.replace(origin, name=origin.init_name)))
        function = _sized(build_of_sums(parts))
    else:
        build_zero_semaphores(parts, origin.init_name)
        function = _write_product(parts)
    function.attributes["tgpu.init"] = ir.FlatSymbolRefAttr.get(origin.init_name)
    return function


def _write_product(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function that multiplies, by whether its warpgroups are specialised."""
    _tell_of_epilogue(parts)
    return _sized(build_of_warpgroups(parts) if parts.is_specialised else build_of_threads(parts))


def _sized(function: gpu.GPUFuncOp) -> gpu.GPUFuncOp:
    """A function, with the shared memory that it is launched with."""
    size = i64(dynamic_bytes(GpuKernel(function)))
    function.attributes[DYNAMIC_SHARED_BYTES] = size
    return function


def _unaligned(parts: Parts) -> Parts:
    """The parts of the kernel that takes operands wherever they are."""
    origin = parts.origin
    case = mma_case(origin.candidate, origin.target, origin.plan.precision or "ieee")
    assert not isinstance(case, str)  # the scheme has accepted it
    return Parts.of(dataclasses.replace(origin, plan=unaligned_plan(origin.plan, case)), guarded=False)


def _guard(extent: Dim, multiple: int) -> Assumption:
    """That an extent is a multiple of a number."""
    return Assumption(extents.floordiv(extent, multiple) * multiple, "eq", extent)
