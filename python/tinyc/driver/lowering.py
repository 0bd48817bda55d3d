"""One program at every layer on its way to a target: the module and the text of each listing.

In: a module at any layer, a target, and the options of the passes on the way there. Out: later
layers, each made when it is first asked for, by a slice of one of the pipelines in `tinyc.pipeline`.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.to_llvm.llvm_ir import llvm_ir_of
from tinyc.dialects.exec.to_llvm.units import units_of
from tinyc.dialects.exec.to_program import constants_of, program_of
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.ops import ALGORITHM
from tinyc.driver.assembly import beside_loops
from tinyc.driver.code_text import llvm_ir_in, with_host
from tinyc.driver.layer import entry_layer
from tinyc.driver.listings import LAST_LISTING, LISTINGS, listing_file
from tinyc.executors.rounding import output_tolerances
from tinyc.executors.tolerance import Tolerance
from tinyc.fusion.ledger import Ledger, collect_ledgers
from tinyc.importers.files import write_file
from tinyc.mlir import ir, passmanager
from tinyc.mlir.locations import LINE_SCOPES
from tinyc.passes import Pass, Step
from tinyc.passes.runner import copy_module, run_passes
from tinyc.pipeline import CPU, CUDA_TEXT, GPU, INDEX_BOOK, POLY_VIEW, TINY
from tinyc.plan.attribute import plan_of_attribute
from tinyc.plan.fields import WINOGRAD
from tinyc.runtime.cpu_features import machine_cpu
from tinyc.runtime.jit import assembly_of, comment_of
from tinyc.runtime.program import Program
from tinyc.target import DEFAULT_ARCH, DEFAULT_CPU
from tinyc.text import READABLE_RESOURCE, parse, print_ir


def _through(pipeline: tuple[Step, ...], last: str) -> tuple[Step, ...]:
    """The part of a pipeline that ends with the pass called `last`."""
    return pipeline[: [step.name for step in pipeline].index(last) + 1]


_CPU_STEPS: dict[str, tuple[Step, ...]] = {
    "frontend": (),
    "tiny": TINY,
    "indexbook": INDEX_BOOK,
    "poly_view": POLY_VIEW,
    "region": _through(CPU, "region-specialize"),
    "plan": _through(CPU, "region-pack-weights"),
    "exec": _through(CPU, "region-to-exec"),
    "loops": _through(CPU, "region-to-loops"),
    "llvm": CPU,
    "asm": CPU,
}
_GPU_STEPS: dict[str, tuple[Step, ...]] = {
    "frontend": (),
    "tiny": TINY,
    "indexbook": INDEX_BOOK,
    "poly_view": POLY_VIEW,
    "region": _through(GPU, "region-specialize"),
    "plan": _through(GPU, "region-plan"),
    "gpu": _through(GPU, "region-to-gpu"),
    "exec": _through(GPU, "region-to-exec"),
    "nvvm": _through(GPU, "gpu-to-nvvm"),
    "ptx": GPU,
    "cu": CUDA_TEXT,
}
#: Target → the passes that make each of its listings from a Frontend module.
STEPS = {"cpu": _CPU_STEPS, "sim": _GPU_STEPS, "cuda": _GPU_STEPS, "reference": _CPU_STEPS}


class Lowering:
    """One program on its way to a target; nothing is computed twice.

    `options` are values for options of the passes, such as `arch`; a pass takes those that it has. `line_info` is a
    folder for the listing of the GPU layer: the PTX says by `.loc` which line of it each instruction comes from.
    """

    def __init__(
        self,
        module: ir.Module,
        target: str = "cpu",
        options: Mapping[str, str] | None = None,
        line_info: Path | None = None,
    ) -> None:
        self.target, self.options, self.line_info = target, dict(options or {}), line_info
        self.entry = entry_layer(module, target)
        if self.entry == "plan" and "plan" in self.options:
            self.entry = "region"  # what is given takes the place of what is there
        values = {**self.options, "line_info": line_info is not None}
        if STEPS[target] is _GPU_STEPS:
            values["target"] = self.options.get("arch", DEFAULT_ARCH)  # regions are formed for what runs them
        else:
            values.setdefault("cpu", machine_cpu() or DEFAULT_CPU)
        self._steps = {
            name: tuple(_with_options(step, values) for step in steps) for name, steps in STEPS[target].items()
        }
        self._modules = {self.entry: module}
        self._present: dict[str, set[str] | None] = {}  # whose ops a module has that has been verified
        self._ledgers: list[Ledger] = []
        self._texts: dict[tuple[str, bool, bool], str] = {}

    def for_cpu(self, cpu: str) -> "Lowering":
        """The same program on its way to the code of another CPU."""
        other = Lowering(self._modules[self.entry], self.target, {**self.options, "cpu": cpu}, self.line_info)
        for name, module in self._modules.items():
            if self._steps[name] == other._steps[name]:  # what the CPU makes no difference to, and all for the same one
                other._modules[name], other._present[name] = module, self._present.get(name)
        return other

    def has(self, name: str) -> bool:
        """Whether the program goes through a layer: what was read at a later layer has no earlier one."""
        return _begins_with(self._steps[name], self._steps[self.entry])

    def way_to(self, name: str) -> tuple[str, ...]:
        """The layers from the program's own to the one called `name`."""
        so_far = [*self._steps][: [*self._steps].index(name) + 1]
        return tuple(each for each in so_far if self.has(each) and _begins_with(self._steps[name], self._steps[each]))

    def module(self, name: str) -> ir.Module:
        """The module at a layer; it belongs to the lowering, and must not be changed.

        Raises:
            TinycError: `UnknownLayer`, or what a pass refuses.
        """
        if name not in self._modules:
            self._require(name)
            source = self.way_to(name)[-2]
            module = self._copy(source)
            done, steps = len(self._steps[source]), self._steps[name]
            last = self._steps[LAST_LISTING.get(self.target, name)]
            before = len(self._steps[self.entry])  # the passes of a walk are those that this program takes
            part = done - before, max(len(steps), len(last)) - before
            with collect_ledgers() as ledgers:
                self._present[name] = run_passes(module, steps[done:], part=part, present=self._present.get(source))
            self._ledgers += ledgers
            self._modules[name] = module
        return self._modules[name]

    def ledger(self) -> Ledger:
        """How the regions of the main function came about, on the way to the region layer.

        Raises:
            TinycError: `UnknownLayer`: the program was read at that layer or below; what a pass refuses.
        """
        self._require("tiny")
        self.module("region")
        name = main_function(self.module("tiny")).name.value
        return next(each for each in self._ledgers if each.function == name)

    def tolerances(self, inputs: Mapping[str, np.ndarray]) -> dict[str, Tolerance]:
        """The tolerance of each named value and output on inputs of these shapes.

        Of a Frontend program they are derived where the sums of its ops are written out, in Tiny.
        """
        planned = self.module("plan" if self.has("plan") else self.entry)
        ways = _asks_for_tf32(planned), _has_winograd(planned)
        derived = output_tolerances(self.module(self.entry), inputs, *ways)
        if self.entry != "frontend":
            return derived
        return derived | output_tolerances(self.module("tiny"), inputs, *ways)

    def _copy(self, name: str) -> ir.Module:
        """A copy of the module at a layer: with line info its locations are the lines of the GPU layer's listing."""
        if name != "gpu" or self.line_info is None:
            return copy_module(self.module(name))
        file = write_file(self.line_info / listing_file(self.target, "gpu"), self.text("gpu"), make_folders=True)
        return parse(print_ir(self.module("gpu")), str(file))  # the same lines, and behind them all constants

    def text(self, name: str, stock: bool = False, constants: bool = False) -> str:
        """The text of a layer, IR as `mlir-opt` prints it if `stock`, with all elements of its `constants`.

        Raises:
            TinycError: `UnknownLayer`, or what a pass refuses.
        """
        self._require(name)
        if (name, stock, constants) not in self._texts:
            elide_resources = None if constants else READABLE_RESOURCE
            self._texts[name, stock, constants] = self._printed(name, stock, elide_resources).rstrip() + "\n"
        return self._texts[name, stock, constants]

    def _printed(self, name: str, stock: bool, elide_resources: int | None) -> str:
        """A module as text; the last layers are not MLIR's own."""
        module = self.module(name)
        if name == "llvm":
            return with_host(self.llvm_ir(), name, self._host(), elide_resources)
        if name == "asm":
            return self._assembly(stock)
        if name == "ptx":
            return with_host(ptx_text(module), name, module, elide_resources)
        last = self._steps[name][-1] if self._steps[name] else None
        shown = last.output(module) if isinstance(last, Pass) else None
        return shown if shown is not None else print_ir(module, stock=stock, elide_resources=elide_resources)

    def llvm_ir(self) -> str:
        """The LLVM IR of the kernels, alone."""
        module = self.module("llvm")
        read = llvm_ir_in(module)
        return llvm_ir_of(module) if read is None else read

    def llvm_units(self) -> dict[str, str]:
        """The LLVM IR in units that are compiled each by itself; what was read as LLVM IR is one, as it was read."""
        read = llvm_ir_in(self.module("llvm"))
        return units_of(self.llvm_ir()) if read is None else {"program": read}

    def _assembly(self, stock: bool) -> str:
        """The assembly of the kernels, beside the lines of the loops where the program has these."""
        cpu = self.options.get("cpu")
        if not self.has("loops"):
            return beside_loops(assembly_of(self.llvm_ir(), cpu), "", comment_of(cpu))
        shown = self.text("loops", stock)
        module = parse(print_ir(self.module("loops"), stock=stock), listing_file(self.target, "loops"))
        run_passes(module, self._steps["llvm"][len(self._steps["loops"]) :])
        with module.context:
            passmanager.PassManager.parse(f"builtin.module({LINE_SCOPES})").run(module.operation)
        return beside_loops(assembly_of(llvm_ir_of(module), cpu), shown, comment_of(cpu))

    def program(self) -> Program:
        """The host program, as the devices run it."""
        return program_of(self._host())

    def constants(self) -> Mapping[str, np.ndarray]:
        """The elements of the host program's constants, by buffer."""
        return constants_of(self._host())

    def _host(self) -> ir.Module:
        """The module at the first layer that has the host program as an `exec.function`."""
        return self.module("exec" if self.has("exec") else self.entry)

    def dump(
        self, folder: Path, names: tuple[str, ...] | None = None, stock: bool = False, constants: bool = False
    ) -> list[Path]:
        """Write the text of each named layer, or of all that the program has, to `<NN>_<layer>.mlir`.

        NN is the layer's place in the walk; `stock` and `constants` are those of `text`.

        Raises:
            TinycError: `UnknownLayer`; `UnreadableFile`: the folder cannot be written.
        """
        for name in names or ():
            self._require(name)
        return [
            write_file(folder / listing_file(self.target, name), self.text(name, stock, constants), make_folders=True)
            for name in LISTINGS[self.target]
            if (self.has(name) if names is None else name in names)
        ]

    def _require(self, name: str) -> None:
        if name not in self._steps:
            known = ", ".join(LISTINGS[self.target])
            message = f"there is no layer '{name}' on the way to target '{self.target}'; there are {known}"
            raise TinycError("UnknownLayer", message)
        if not self.has(name):
            known = ", ".join(each for each in LISTINGS[self.target] if self.has(each))
            message = f"the program was read at layer '{self.entry}' and has no layer '{name}'; it has {known}"
            raise TinycError("UnknownLayer", message)


def _begins_with(steps: tuple[Step, ...], first: tuple[Step, ...]) -> bool:
    return steps[: len(first)] == first


def _with_options(step: Step, options: Mapping[str, str | bool]) -> Step:
    """A pass with those of the options that it has."""
    mine = {field.name: options[field.name] for field in dataclasses.fields(step) if field.name in options}
    return dataclasses.replace(step, **mine)


def _has_winograd(module: ir.Module) -> bool:
    """Whether kernels compute convolutions by Winograd's algorithm."""
    attributes = (kernel.op.attributes.get(ALGORITHM, None) for kernel in kernels_of(module).values())
    return any(isinstance(each, ir.StringAttr) and each.value == WINOGRAD for each in attributes)


def _asks_for_tf32(module: ir.Module) -> bool:
    """Whether the plan of a kernel does, at the layer of plans or of GPU kernels."""
    plans = [each.plan for each in (*kernels_of(module).values(), *gpu_kernels_of(module).values())]
    return any(isinstance(plan, ir.DictAttr) and plan_of_attribute(plan).precision == "tf32" for plan in plans)
