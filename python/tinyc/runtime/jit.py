"""LLVM IR to machine code, by llvmlite: a relocatable object, which `object_code` runs.

In: LLVM IR as text, and for which CPU. Out: the object, and what a CPU must have to run it; the assembly of it.
"""

import contextlib
import functools
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tinyc.diagnostics import InternalError, TinycError, progress
from tinyc.runtime import cpu_features
from tinyc.runtime.function_names import KERNEL_PREFIX, SPECULATABLE_PREFIX

#: Of the flags of a module LLVM reads one before all else, by which it ends the process where the module is broken.
_FLAGS = re.compile(r"^[ \t]*!llvm\.module\.flags\s*=\s*!\{[^}]*\}", re.MULTILINE)
#: What objects are made for: their format and their calls are those of Linux.
_TRIPLES = {cpu_features.X86_64: "x86_64-unknown-linux-gnu", cpu_features.AARCH64: "aarch64-unknown-linux-gnu"}


@dataclass(frozen=True)
class ObjectFile:
    """The relocatable object of a module: `image` is ELF, made for `cpu`, this machine's being as LLVM calls it.

    `flags` is what a CPU must have to run it, in the words of /proc/cpuinfo.
    """

    image: bytes
    cpu: str
    flags: tuple[str, ...]


def compile_object(llvm_ir: str, cpu: str | None = None) -> ObjectFile:
    """The object of an LLVM module, for this machine's CPU, a level of x86-64 such as "x86-64-v3", or "aarch64".

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU, or this machine compiles for none.
        InternalError: LLVM refuses the module.
    """
    with _refusals():
        module, machine, needed = _optimised_module(_FLAGS.sub("", llvm_ir), cpu)
        image = machine.emit_object(module)
    return ObjectFile(image, cpu or _binding().get_host_cpu_name(), cpu_features.flags_of(needed))


def comment_of(cpu: str | None) -> str:
    """What begins a comment in the assembly for a CPU."""
    return "#" if cpu_features.architecture_of(cpu) == cpu_features.X86_64 else "//"


def assembly_of(llvm_ir: str, cpu: str | None = None) -> str:
    """The assembly of an LLVM module, with its `.loc`, for a CPU as `compile_object` takes it; raises as that."""
    progress("LLVM, unit", 1, 1)
    with _refusals():
        module, machine, _ = _optimised_module(llvm_ir, cpu)
        return machine.emit_assembly(module)


def printed_ir(llvm_ir: str) -> str:
    """An LLVM module as LLVM prints it: without what nothing in it refers to, numbered in the order of the text.

    Raises:
        InternalError: LLVM does not read it.
    """
    with _refusals():
        return str(_binding().parse_assembly(_FLAGS.sub("", llvm_ir)))


def _optimised_module(llvm_ir: str, cpu: str | None) -> tuple[Any, Any, tuple[str, ...]]:
    """A module once LLVM has optimised it, what emits its code, and the features that this needs.

    Raises:
        TinycError: `UnsupportedTarget`, as `compile_object`, and as `_needed_features`.
    """
    machine, usable = _target_machine(cpu)
    module = _binding().parse_assembly(llvm_ir)
    module.verify()
    needed = _needed_features(module, usable, cpu)
    module.triple = _TRIPLES[cpu_features.architecture_of(cpu)]
    _optimise(module, machine)
    return module, machine, needed


def _needed_features(module: Any, usable: Sequence[str], cpu: str | None) -> tuple[str, ...]:
    """What a module needs of the features that its code may use: tiles where it calls intrinsics for them.

    Raises:
        TinycError: `UnsupportedTarget`: its intrinsics need what is not among them: LLVM would end the process.
    """
    needed = {each.name: cpu_features.intrinsic_features(each.name) for each in module.functions}
    for name, features in needed.items():
        missing = cpu_features.flags_of(feature for feature in features if feature not in usable)
        if missing:
            shown = f"cpu {cpu!r}" if cpu else "this machine's CPU"
            message = f"the code calls {name}, which needs {', '.join(missing)}, and {shown} has not got that"
            raise TinycError("UnsupportedTarget", f"{message}; compile the program anew for the CPU that it is for")
    return cpu_features.features_of_code(usable, chain.from_iterable(needed.values()))


@contextlib.contextmanager
def _refusals() -> Generator[None]:
    """Tell what LLVM does not take.

    Raises:
        InternalError: it has refused something.
    """
    try:
        yield
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the code that tinyc made: {error}") from error


@functools.cache
def _binding() -> Any:
    """Import llvmlite, which takes a tenth of a second, when it is first needed."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _target_machine(cpu: str | None) -> tuple[Any, tuple[str, ...]]:
    """A target machine, and the features that its code may use."""
    binding, architecture = _binding(), cpu_features.architecture_of(cpu)
    if architecture != cpu_features.X86_64:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        target = binding.Target.from_triple(_TRIPLES[architecture])
        return target.create_target_machine(opt=2, reloc="pic", codemodel="small"), ()
    try:
        target = binding.Target.from_triple(_TRIPLES[architecture])
    except RuntimeError:
        message = f"target 'cpu' makes code for x86-64, and this machine, {binding.get_default_triple()}, is another"
        raise TinycError("UnsupportedTarget", f"{message}; use target 'sim' or 'reference'") from None
    here = binding.get_host_cpu_features()
    found = [feature for feature, is_here in here.items() if is_here]
    used = cpu_features.level_features(cpu) if cpu else cpu_features.usable_features(found)
    machine = target.create_target_machine(
        cpu=cpu_features.level_of(cpu) if cpu else binding.get_host_cpu_name(),
        features=cpu_features.feature_switches(used, here),
        opt=2,
        reloc="pic",  # relative to each other, wherever they are loaded
        codemodel="small",
    )
    return machine, used


def _optimise(module: Any, machine: Any) -> None:
    """Run LLVM's O1 on `module`, with vectorisation for `machine`.

    What O2 has more, the loads that GVN finds to be the same above all, --region-to-loops has done.
    """
    binding = _binding()
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.name.startswith(KERNEL_PREFIX) and not function.is_declaration:
            # Inlined into the function that calls all kernels, a kernel would be compiled again at each launch.
            function.add_function_attribute("noinline")
        elif function.name.startswith(SPECULATABLE_PREFIX):
            for attribute in ("noinline", "speculatable"):
                function.add_function_attribute(attribute)
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
