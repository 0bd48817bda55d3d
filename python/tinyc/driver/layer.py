"""Which layer a module is at, and whether everything is there that it takes to run it.

In: a module that verifies. Out: the name of its layer, as `listings` has it, or the reason why it is no program.
"""

from tinyc.diagnostics import TinycError, either
from tinyc.dialects import registry
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.plan import is_planned
from tinyc.driver.code_text import check_parameters, llvm_ir_in
from tinyc.driver.listings import LAST_LISTING
from tinyc.mlir import gpu, ir
from tinyc.target import GENERIC_CPU, SM80, Machine

_TINY = {"builtin", "func", "tiny"}
_FRONTEND = {*_TINY, "frontend"}  # constants, and relations between extents, are of Tiny
_REGION = {*_TINY, "region", "omp"}  # omp.terminator ends a kernel
_GPU = {*_REGION, "gpu", "tgpu", "scf", "arith", "math", "memref"}
_LOOPS = {"builtin", "func", "omp", "exec", "scf", "arith", "math", "memref", "vector"}
#: Layer → the namespaces of its ops.
_NAMESPACES = {
    "frontend": _FRONTEND,
    "tiny": _TINY,
    "region": _REGION,
    "plan": _REGION,
    "gpu": _GPU,
    "exec": {*_GPU, "exec"},
    "loops": _LOOPS,
    "llvm": _LOOPS,
    "nvvm": {"builtin", "omp", "exec", "gpu", "nvvm", "llvm"},
    "ptx": {"builtin", "omp", "exec", "gpu"},
}
#: The layers that the reference reads, and from which every target can be reached.
SHARED_LAYERS = ("frontend", "tiny", "region", "plan")
#: The layers whose host program is an `exec.function`, buffers and launches; before, it is a function of tensors.
_LOWERED = ("exec", "loops", "llvm", "nvvm", "ptx")


def layer_of(module: ir.Module) -> str:
    """The layer that the code of a module is at."""
    return _layer(module, registry.present(module))


def _layer(module: ir.Module, present: set[str]) -> str:
    if llvm_ir_in(module) is not None:
        return "llvm"
    if "gpu" in present:
        return _layer_on_gpu(module, present)
    if "llvm" in present:
        return "llvm"
    if present & {"exec", "memref"}:
        return "exec" if "region" in present else "loops"
    if "frontend" in present:
        return "frontend"
    if "region" not in present:
        return "tiny"
    return "plan" if any(is_planned(kernel) for kernel in kernels_of(module).values()) else "region"


def _layer_on_gpu(module: ir.Module, present: set[str]) -> str:
    if any(isinstance(op, gpu.BinaryOp) for op in module.body.operations):
        return "ptx"
    if "llvm" in present:
        return "nvvm"
    return "exec" if "exec" in present else "gpu"


def check_program(module: ir.Module) -> str:
    """Check that a module is a program: kernels with what launches them, or functions of tensors; return its layer.

    Raises:
        TinycError: `InvalidIr`, with what is missing and what makes it.
    """
    present = registry.present(module)
    layer = _layer(module, present)
    if layer == "llvm" and llvm_ir_in(module) is None:
        message = "a module of the LLVM dialect is no program; give LLVM IR, as tinyc compile --dump llvm writes it"
        raise TinycError("InvalidIr", message)
    if layer in _LOWERED and len(exec_functions(module)) != 1:
        _refuse_without_host(layer, len(exec_functions(module)))
    if layer == "llvm":
        check_parameters(module)
    foreign = present - _NAMESPACES[layer]
    if foreign:
        raise TinycError(
            "InvalidIr",
            f"the module is at layer '{layer}', and has ops of {', '.join(sorted(foreign))}; tinyc runs modules of "
            f"{either(_NAMESPACES)}, as tinyc compile --dump writes them",
        )
    return layer


def require_reference(module: ir.Module, option: str) -> None:
    """Check that the reference reads a program, which `option` needs.

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    layer = layer_of(module)
    if layer not in SHARED_LAYERS:
        known = f"the reference reads programs of {either(SHARED_LAYERS)}"
        message = f"{option}: {known}, and this one is at layer '{layer}'; "
        remedy = "say with --against what it was made of" if option == "verify" else "give it at an earlier layer"
        raise TinycError("UnsupportedTarget", message + remedy)


def _refuse_without_host(layer: str, found: int) -> None:
    given = f"{found} exec.functions" if found else "no exec.function"
    raise TinycError(
        "InvalidIr",
        f"the kernels are at layer '{layer}', and there is {given}, the host program that launches them; give the one "
        f"file that tinyc compile --dump {layer} writes, or run --region-to-exec before the kernels are lowered",
    )


def _machine_of(target: str) -> Machine:
    """A machine of the kind that kernels run on."""
    return GENERIC_CPU if target in ("cpu", "reference") else SM80


def entry_layer(module: ir.Module, target: str) -> str:
    """The layer at which a program enters the walk to a target.

    Raises:
        TinycError: `UnsupportedTarget`: it is on another way already.
    """
    layer = layer_of(module)
    if layer == "plan" and not any(is_planned(each, _machine_of(target)) for each in kernels_of(module).values()):
        return "region"  # its plans are for another kind of machine
    if layer in SHARED_LAYERS:
        return layer
    on_gpu = layer == "gpu" or program_of(module).is_on_device
    ways = [repr(each) for each in LAST_LISTING if (each != "cpu") == on_gpu]
    if repr(target) not in ways:
        message = f"the program is at layer '{layer}' on the way to {either(ways)}, and the target is '{target}'"
        raise TinycError("UnsupportedTarget", f"{message}; use target {either(ways)}, or an earlier layer")
    return layer
