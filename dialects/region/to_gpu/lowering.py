"""Region → GPU: each kernel becomes a `gpu.func` of statements over tiles, as its plan says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.graphs import functions_of
from tinyc.analysis.host_names import host_names
from tinyc.codegen.identifiers import legal_identifier
from tinyc.diagnostics import remark
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.bind import shown_sizes
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.to_gpu.function import Origin
from tinyc.dialects.region.to_gpu.names import buffer_names
from tinyc.dialects.region.to_gpu.parts import in_parts, is_in_parts
from tinyc.dialects.region.to_gpu.plans import PlannedKernel, plans_for
from tinyc.dialects.region.to_gpu.requirements import require_few_parameters, require_host, require_kernel
from tinyc.dialects.tiny.ops import erase_unused
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import where
from tinyc.mlir.names import declared_symbols
from tinyc.passes import Pass
from tinyc.schemes.registry import SCHEME_OF
from tinyc.target.target import Target

#: What the one module of kernels is called.
MODULE = "kernels"


@dataclass(frozen=True)
class RegionToGpu(Pass):
    """Make GPU kernels of the regions.

    Requires:
        1. The module holds `region.kernel`s, whose outputs are all materialised in "gmem"; --region-to-exec has not run
           yet: it comes next. A region without a plan gets the default one, with a remark.
    Ensures:
        1. Each `region.kernel` is a `gpu.func` of one `gpu.module` for the architecture `arch` (default: the plans', or
           sm_80); its name, and with it the launches of the host function, is changed where it is not an identifier.
        2. A function's arguments are the buffers, workspaces that only its launch uses, a status buffer where indices
           come from data, the symbols, and tensor maps. A kernel whose `tgpu.init` names another one is to be launched
           after that, with the same arguments but for tensor maps.
        3. A kernel whose plan takes rows in parts is two: the first reduces the parts, the second what these give.
        4. `tgpu.grid` and `known_block_size` are what it is to be launched with; a grid without CTAs is not launched.
           `tgpu.in_place` has the pairs of buffers that may be one memory: what is read, and the result in its place.
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
    After:
        !b = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] { gpu.func @copy(
            %x: !b {tgpu.name = "in0"}, %y: !b {tgpu.name = "out0"}) kernel attributes {tgpu.grid = [1, 1, 1],
            known_block_size = array<i32: 256, 1, 1>, tgpu.in_place = [array<i64: 0, 1>], tgpu.plan = {
            arch = "sm_80", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}} {
          "tgpu.map_runs"() ({ %0 = "region.read"(%x) : (!b) -> tensor<4xf32>
            "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !b) -> ()
            omp.terminator }) {width = 4 : i64} : () -> () gpu.return } }
    Source: specification 000 §4.5, 002 §6.
    """

    arch: str | None = field(default=None, metadata={"doc": "what to compile for: sm_80 or sm_90a [the plans', sm_80]"})

    name: ClassVar[str] = "region-to-gpu"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("tgpu",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def run(self, module: ir.Module) -> None:
        """Replace every kernel of `module`."""
        kernels = kernels_of(module)
        if not kernels:
            return
        require_host(module)
        for kernel in kernels.values():
            erase_unused(kernel.block)
            require_kernel(kernel)
        target, whole = plans_for(kernels, self.arch, host_names(module))
        planned = [part for each in _with_alternatives(module, whole) for part in in_parts(module, each)]
        known, names = host_names(module), _names([each.kernel.name for each in planned])
        body = _module(module, target)
        for each in planned:
            kernel = each.kernel
            require_few_parameters(kernel, target)
            buffers = buffer_names(kernel, known.get(kernel.name, ()))
            origin = Origin(kernel, each.candidate, each.plan, target, *names[kernel.name], buffers)
            with ir.InsertionPoint(body), kernel.location:
                SCHEME_OF[str(each.plan.scheme)].build(origin)
            kernel.op.erase()
        written = {op.name.value for op in body.operations if isinstance(op, gpu.GPUFuncOp)}
        _rename_launches(module, names, written)


def _with_alternatives(module: ir.Module, planned: Sequence[PlannedKernel]) -> list[PlannedKernel]:
    """The kernels, without the alternatives that cannot take a kernel's place: either of the two is in parts.

    A remark tells of each that is left out.
    """
    in_two = {each.kernel.name for each in planned if is_in_parts(each)}
    left_out = {
        name
        for launch in _launches(module)
        for name in launch.alternatives
        if launch.kernel.value in in_two or name in in_two
    }
    kept = [each for each in planned if each.kernel.name not in left_out]
    for launch in _launches(module):
        names = [ir.FlatSymbolRefAttr.get(name) for name in launch.alternatives if name not in left_out]
        if launch.alternatives:
            launch.attributes[region.ALTERNATIVES] = ir.ArrayAttr.get(names)
    for each in (each for each in planned if each.kernel.name in left_out):
        sizes = ", ".join(filter(None, (shown_sizes(each.kernel.sizes), *map(str, each.kernel.guards))))
        message = f"@{each.kernel.name} is left out: it or its kernel takes rows in parts, which is two kernels"
        remark("alternative-left-out", where(each.kernel.location), message, kernel=each.kernel.name, sizes=sizes)
        each.kernel.op.erase()
    return kept


def _launches(module: ir.Module) -> list[region.LaunchOp]:
    ops = [op for each in functions_of(module) for block in each.regions[0].blocks for op in block.operations]
    return [op for op in ops if isinstance(op, region.LaunchOp)]


def _names(kernels: Sequence[str]) -> dict[str, tuple[str, str, str, str]]:
    """Names for the functions of each region: the kernel, the one that goes before it, an alternative of each."""
    kept = {name for name in kernels if legal_identifier(name) == name}
    names: dict[str, tuple[str, str, str, str]] = {}
    taken = set(kept)
    for name in kernels:
        function = name if name in kept else legal_identifier(name, taken)
        init = legal_identifier(f"{function}_init", {*taken, function})
        alternative = legal_identifier(f"{function}_aligned", {*taken, function, init})
        other_init = legal_identifier(f"{alternative}_init", {*taken, function, init, alternative})
        taken |= {function, init, alternative, other_init}
        names[name] = function, init, alternative, other_init
    return names


def _module(module: ir.Module, target: Target) -> ir.Block:
    """Create the module of the GPU kernels in front of everything; return its body."""
    attribute = f'#nvvm.target<O = 3, chip = "{target.chip}", features = "{target.features}">'
    targets = ir.ArrayAttr.get([ir.Attribute.parse(attribute)])
    name = legal_identifier(MODULE, declared_symbols(module.body))
    with ir.InsertionPoint.at_block_begin(module.body), module.operation.location:
        return gpu.GPUModuleOp(name, targets=targets).bodyRegion.blocks.append()


def _rename_launches(module: ir.Module, names: Mapping[str, tuple[str, ...]], written: Collection[str]) -> None:
    """Make the host functions launch the kernels by the names that they have now, and alternatives that there are."""
    for op in _launches(module):
        name = op.kernel.value
        if name not in names:
            continue
        # Of a kernel that is two, the one that is guarded by what its loads need is asked for first.
        both = [each for other in (*op.alternatives, name) for each in (names[other][2], names[other][0])]
        *known, function = (each for each in both if each in written)
        op.attributes["kernel"] = ir.FlatSymbolRefAttr.get(function)
        if known:
            op.attributes[region.ALTERNATIVES] = ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in known])
