"""LLVM IR to machine code in this process, by llvmlite.

In: LLVM IR as text, and for which CPU. Out: the addresses of functions, which live as long as the `Code` that has them.
"""

import functools
import itertools
import re
from collections.abc import Sequence
from typing import Any

from tinyc.diagnostics import InternalError, progress

_NUMBER = itertools.count()
#: Of the flags of a module LLVM reads one before all else, by which it ends the process where the module is broken.
_FLAGS = re.compile(r"^[ \t]*!llvm\.module\.flags\s*=\s*!\{[^}]*\}", re.MULTILINE)
#: What --exec-to-llvm puts in front of a kernel's name.
KERNEL_PREFIX = "kernel."
#: And in front of the name of its loops, which that function calls.
LOOPS_PREFIX = "loops."
#: A function of this prefix may be called before it is known to be needed.
SPECULATABLE_PREFIX = "index."


class Code:
    """The machine code of one LLVM module, with the addresses of the functions that are `exported`.

    `cpu` is an LLVM name such as "x86-64", or None for this machine's.
    """

    def __init__(self, llvm_ir: str, exported: Sequence[str], cpu: str | None = None) -> None:
        binding, machine = _binding(), _target_machine(cpu)
        progress("LLVM, step", 1, 2)
        try:
            module = binding.parse_assembly(_FLAGS.sub("", llvm_ir))
            module.verify()
            _optimise(module, machine)
            progress("LLVM, step", 2, 2)
            library = binding.JITLibraryBuilder().add_object_img(machine.emit_object(module)).add_current_process()
            # The engine must not outlive the machine's target data, nor the code its engine.
            self._engine = binding.create_lljit_compiler(machine, use_jit_link=False)
            for name in exported:
                library.export_symbol(name)
            self._library = library.link(self._engine, f"tinyc.{next(_NUMBER)}")
        except RuntimeError as error:
            raise InternalError(f"LLVM refuses the code that tinyc made: {error}") from error
        self.addresses: dict[str, int] = {name: self._library[name] for name in exported}


@functools.cache
def _binding() -> Any:
    """Import llvmlite, which takes a tenth of a second, when it is first needed."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _target_machine(cpu: str | None) -> Any:
    """A target machine; a CPU that is named has the features of its name only."""
    binding = _binding()
    name = cpu or binding.get_host_cpu_name()
    features = "" if cpu else binding.get_host_cpu_features().flatten()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=2, reloc="pic", codemodel="small"
    )


def _optimise(module: Any, machine: Any) -> None:
    """Run LLVM's O2 on `module`, with vectorisation for `machine`."""
    binding = _binding()
    module.triple, module.data_layout = binding.get_default_triple(), str(machine.target_data)
    for function in module.functions:
        if function.name.startswith(KERNEL_PREFIX) and not function.is_declaration:
            # Inlined into the function that calls all kernels, a kernel would be compiled again at each launch.
            function.add_function_attribute("noinline")
        elif function.name.startswith(SPECULATABLE_PREFIX):
            for attribute in ("noinline", "speculatable"):
                function.add_function_attribute(attribute)
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def object_code(llvm_ir: str, cpu: str | None = None) -> bytes:
    """The machine code of an LLVM module, position independent, as a relocatable object; `cpu` as for `Code`."""
    binding, machine = _binding(), _target_machine(cpu)
    module = binding.parse_assembly(_FLAGS.sub("", llvm_ir))
    module.verify()
    _optimise(module, machine)
    return machine.emit_object(module)


def host_features() -> frozenset[str]:
    """The features of this machine's CPU, by LLVM's names."""
    return frozenset(name for name, enabled in _binding().get_host_cpu_features().items() if enabled)
