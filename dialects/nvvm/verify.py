"""What may reach LLVM's NVPTX backend, which ends the process where it meets something that it cannot select.

In: a module with `gpu.module`s. Out: whether everything in them is in `whitelist.py`; what is not is reported at its
op. It is a list of what is known to work, not of what is known to fail.
"""

import functools
import re
from collections.abc import Hashable, Iterator, Mapping

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.codegen.identifiers import PTX_IDENTIFIER
from tinyc.dialects.nvvm.assembly import fits_registers, is_known_asm
from tinyc.dialects.nvvm.whitelist import (
    ALLOWED_OPS,
    ARGUMENT,
    ARGUMENT_TYPES,
    DYNAMIC_LINKAGE,
    GENERIC_POINTER,
    KERNEL,
    PTX_VERSIONS,
    SCALARS,
    SHARED_MEMORY,
    TENSOR_MAP_ARGUMENT,
    Attributes,
)
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import around
from tinyc.mlir.verifying import Violation, report_violations
from tinyc.target import TARGETS

_TARGET = re.compile(r'#nvvm\.target<(?:O = [0-3], )?chip = "(\w+)", features = "\+ptx(\d+)">')
_ARRAY = re.compile(r"!llvm\.array<(\d+) x (\w+)>")
_STRUCT = re.compile(r"!llvm\.struct<\((.+)\)>")


def verify(module: ir.Module) -> bool:
    """Check every `gpu.module` of a module; report each violation at its op and return whether there was none."""
    return report_violations(each for op in gpu_modules(module) for each in _violations(op))


def gpu_modules(module: ir.Module) -> list[gpu.GPUModuleOp]:
    """The `gpu.module`s of a module."""
    return [op for op in module.body.operations if isinstance(op, gpu.GPUModuleOp)]


def _violations(kernels: gpu.GPUModuleOp) -> Iterator[Violation]:
    yield from _target(kernels)
    for op in kernels.bodyRegion.blocks[0].operations:
        if isinstance(op, mlir.llvm.LLVMFuncOp):
            yield from _kernel(op.operation)
        elif isinstance(op, mlir.llvm.GlobalOp):
            yield from _shared(op.operation)
        else:
            name = op.operation.name
            yield around(op), f"'{name}' is not a part of a gpu.module that goes to the backend{_REMEDY}"


_REMEDY = "; lower the kernels with --gpu-to-nvvm"
_NO_FUNCTION = "; compute it by arithmetic, as tinyc.codegen.software_math does"


def _target(kernels: gpu.GPUModuleOp) -> Iterator[Violation]:
    """Check that a `gpu.module` has one target, which LLVM and tinyc know."""
    targets = list(kernels.targets or ())
    chips = {target.chip: int(target.features.removeprefix("+ptx")) for target in TARGETS}
    match = _TARGET.fullmatch(str(targets[0])) if len(targets) == 1 else None
    if match is None or match[1] not in chips or int(match[2]) not in PTX_VERSIONS or int(match[2]) < chips[match[1]]:
        least = " or ".join(f'<O = 3, chip = "{chip}", features = "+ptx{ptx}">' for chip, ptx in chips.items())
        given = ", ".join(map(str, targets)) or "none"
        yield kernels.location, f"the gpu.module needs one target, #nvvm.target{least} or a later PTX; it has {given}"


def _kernel(function: ir.Operation) -> Iterator[Violation]:
    """Check a kernel: its name, its signature, and all of its ops."""
    yield from _name(function)
    yield from _attributes(function, KERNEL)
    blocks = function.regions[0].blocks
    if "nvvm.kernel" not in function.attributes or not len(blocks):
        yield function.location, "'llvm.func' must be a kernel, nvvm.kernel, with a body: nothing calls functions"
        return
    signature = str(function.attributes["function_type"])
    if not signature.startswith("!llvm.func<void ("):
        yield function.location, f"'llvm.func' is a kernel and must return nothing, not be of type {signature}"
    yield from _arguments(function)
    texts = _TypeTexts()
    # An op is judged by its name, its attributes and its types; one that is like another is not judged again.
    sound: set[Hashable] = set()
    for op in (op.operation for block in blocks for op in block.operations):
        taken, given = (tuple([each.type for each in values]) for values in (op.operands, op.results))
        likeness = op.name, taken, given, *op.attributes.items()
        if likeness not in sound:
            violations = list(_op(op, texts))
            if not violations:
                sound.add(likeness)
            yield from violations


def _arguments(function: ir.Operation) -> Iterator[Violation]:
    arguments = function.regions[0].blocks[0].arguments
    given = function.attributes.get("arg_attrs", None)
    notes = [each for each in given if isinstance(each, ir.DictAttr)] if isinstance(given, ir.ArrayAttr) else []
    for position, argument in enumerate(arguments):
        what, kind = f"argument {position}", str(argument.type)
        known = {note.name: note.attr for note in notes[position]} if position < len(notes) else {}
        if kind not in ARGUMENT_TYPES:
            yield function.location, f"{what} is {kind}; it may be {', '.join(ARGUMENT_TYPES)}"
        elif kind != GENERIC_POINTER:
            yield from _values(function, what, known, ARGUMENT)
        else:
            yield from _values(function, what, known, {name: (text,) for name, text in TENSOR_MAP_ARGUMENT.items()})
            if len(known) < len(TENSOR_MAP_ARGUMENT):
                expected = ", ".join(TENSOR_MAP_ARGUMENT)
                yield function.location, f"{what} is {kind}; it must be a tensor map by value, with {expected}"


def _shared(memory: ir.Operation) -> Iterator[Violation]:
    """Check a global: an array of scalars in shared memory, which nothing fills in, and which may be dynamic."""
    yield from _name(memory)
    yield from _attributes(memory, SHARED_MEMORY)
    held = _ARRAY.fullmatch(str(memory.attributes["global_type"]))
    if held is None or held[2] not in SCALARS or len(memory.regions[0].blocks):
        yield memory.location, "'llvm.mlir.global' must be an array of scalars in shared memory, without a value"
    elif (str(memory.attributes["linkage"]) == DYNAMIC_LINKAGE) != (held[1] == "0"):
        yield memory.location, "'llvm.mlir.global' is external where it is dynamic, and has no elements then"


class _TypeTexts(dict[ir.Type, str]):
    """The texts of types, each of which is printed once: values are many and types are few."""

    def __missing__(self, kind: ir.Type) -> str:
        return self.setdefault(kind, str(kind))


def _op(op: ir.Operation, texts: _TypeTexts) -> Iterator[Violation]:
    allowed = ALLOWED_OPS.get(op.name)
    if allowed is None:
        remedy = _NO_FUNCTION if op.name.startswith("llvm.intr.") else _REMEDY
        yield around(op), f"'{op.name}' is not known to the NVPTX backend{remedy}"
        return
    yield from _attributes(op, allowed.attributes)
    for kind in dict.fromkeys(texts[value.type] for value in (*op.operands, *op.results)):
        if kind not in allowed.types and not (allowed.takes_structs and _is_struct(kind)):
            taken = ", ".join(allowed.types) or "no value"
            yield around(op), f"'{op.name}' on {kind}: the NVPTX backend is known to take it on {taken}"
    assembly = op.opview
    if isinstance(assembly, mlir.llvm.InlineAsmOp):
        yield from _assembly(assembly)


@functools.lru_cache(maxsize=256)
def _is_struct(kind: str) -> bool:
    """Whether a type is a struct of scalars."""
    held = _STRUCT.fullmatch(kind)
    return held is not None and all(each in SCALARS for each in held[1].split(", "))


def _assembly(op: "mlir.llvm.InlineAsmOp") -> Iterator[Violation]:
    shown = f"'{op.operation.name}' of {op.asm_string} with {op.constraints}"
    if not is_known_asm(op):
        yield around(op), f"{shown} is no instruction that kernels are written with"
    elif not fits_registers(op):
        types = ", ".join(str(value.type) for value in (*op.results, *op.operands))
        yield around(op), f"{shown} is on {types}, which are not the types of its registers"


def _attributes(op: ir.Operation, allowed: Attributes) -> Iterator[Violation]:
    yield from _values(op, f"'{op.name}'", {name: op.attributes[name] for name in op.attributes}, allowed)


def _values(
    op: ir.Operation, what: str, attributes: Mapping[str, ir.Attribute], allowed: Attributes
) -> Iterator[Violation]:
    """Check the attributes of `what`, which is an op or a part of it."""
    for name, attribute in attributes.items():
        if name not in allowed:
            yield around(op), f"{what} has the attribute {name}; it may have {', '.join(allowed) or 'none'}"
            continue
        values, given = allowed[name], str(attribute)
        if isinstance(values, re.Pattern):
            if not values.fullmatch(given):
                yield around(op), f"{what}: {name} is {given}; it must be of the form {values.pattern}"
        elif values is not None and given not in values:
            yield around(op), f"{what}: {name} is {given}; it may be {', '.join(values)}"


def _name(op: ir.Operation) -> Iterator[Violation]:
    name = ir.StringAttr(op.attributes["sym_name"]).value
    if not PTX_IDENTIFIER.fullmatch(name):
        yield around(op), f"'{name}' is not an identifier of PTX; use letters, digits and _, and start with a letter"
