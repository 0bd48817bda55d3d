"""Region → GPU: each kernel becomes a `gpu.func` of statements over tiles, as its plan says."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tinyc.analysis.extents import ExtentError
from tinyc.analysis.host_names import host_names
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import to_gpu_contraction, to_gpu_generic
from tinyc.dialects.region.to_gpu_function import Origin
from tinyc.dialects.region.to_gpu_names import buffer_names, identifier
from tinyc.dialects.region.to_gpu_plan import Planned, plans_for
from tinyc.dialects.region.to_gpu_requirements import require_host, require_kernel
from tinyc.dialects.region.verify import block_of, kernels
from tinyc.dialects.tiny.ops import erase_unused
from tinyc.dialects.tiny.verify import functions
from tinyc.mlir import gpu, ir
from tinyc.passes import Pass
from tinyc.target.target import Target
from tinyc.text import where

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
           sm_80); its name, and with it the launches of the host function, is changed where it is no identifier.
        2. A function's arguments are the buffers, a status buffer where indices come from data, and the symbols. A
           kernel whose `tgpu.init` names another one is to be launched after that, with the same arguments.
        3. `tgpu.grid` and `known_block_size` are what it is to be launched with; a grid without blocks is no launch.
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
    After:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
          gpu.func @copy(%x: !buffer {tgpu.name = "in0"}, %y: !buffer {tgpu.name = "out0"}) kernel attributes {
              known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1],
              tgpu.plan = {arch = "sm_80", precision = "ieee", scheme = "generic"}} {
            "tgpu.map"() ({
              %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
              "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
              omp.terminator
            }) : () -> ()
            gpu.return
          }
        }
    Source: specification 000 §4.5, 002 §6.
    """

    arch: str | None = field(default=None, metadata={"doc": "what to compile for: sm_80 or sm_90a [the plans', sm_80]"})

    name: ClassVar[str] = "region-to-gpu"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("tgpu",)

    def run(self, module: Any) -> None:
        """Replace every kernel of `module`."""
        found = kernels(module)
        if not found:
            return
        require_host(module)
        for kernel in found.values():
            erase_unused(block_of(kernel))
            require_kernel(kernel)
        known = host_names(module)
        target, plans = plans_for(found, self.arch, known)
        names, body = _names(found), _module(module, target)
        for name, kernel in found.items():
            buffers = buffer_names(kernel, known.get(name, ()))
            with ir.InsertionPoint(body), kernel.location:
                _build(Origin(kernel, buffers, plans[name].plan), plans[name], names[name])
            kernel.operation.erase()
        _rename_launches(module, names)


@dataclass(frozen=True)
class _Names:
    """What the functions of one region are called: the kernel, and the one that is launched before it, if any."""

    kernel: str
    init: str


def _names(found: Iterable[str]) -> dict[str, _Names]:
    kept = {name for name in found if identifier(name) == name}
    names: dict[str, _Names] = {}
    taken = set(kept)
    for name in found:
        function = name if name in kept else identifier(name, taken)
        init = identifier(f"{function}_init", {*taken, function})
        taken |= {function, init}
        names[name] = _Names(function, init)
    return names


def _module(module: Any, target: Target) -> Any:
    """Create the module of the GPU kernels in front of everything; return its body."""
    symbols = (op.operation.attributes.get("sym_name") for op in module.body.operations)
    taken = {symbol.value for symbol in symbols if isinstance(symbol, ir.StringAttr)}
    attribute = f'#nvvm.target<O = 3, chip = "{target.chip}", features = "{target.features}">'
    with ir.InsertionPoint.at_block_begin(module.body), module.operation.location:
        created = gpu.GPUModuleOp(identifier(MODULE, taken), targets=ir.ArrayAttr.get([ir.Attribute.parse(attribute)]))
    return created.bodyRegion.blocks.append()


def _build(origin: Origin, plan: Planned, names: _Names) -> None:
    try:
        if plan.product is not None:
            to_gpu_contraction.build(origin, names.kernel, plan.product, plan.plan)
        else:
            to_gpu_generic.build(origin, names.kernel, names.init)
    except ExtentError as error:
        message = f"the number of elements that it computes is no extent: {error}; bind some of the symbols"
        raise TinycError("NoGpuKernel", message, where(origin.kernel.location)) from None


def _rename_launches(module: Any, names: dict[str, _Names]) -> None:
    """Make the host functions launch the kernels by the names that they have now."""
    for function in functions(module):
        for op in (op.operation for block in function.regions[0].blocks for op in block.operations):
            if op.name == "region.launch" and op.attributes["kernel"].value in names:
                op.attributes["kernel"] = ir.FlatSymbolRefAttr.get(names[op.attributes["kernel"].value].kernel)
