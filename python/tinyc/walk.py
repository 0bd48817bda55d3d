"""The layers that a program goes through, in walk order: the module and the text of each.

In: a module at the Tiny layer or a later one, a target, and the options of the passes on the way there. Out: later
layers, each made from an earlier one by passes when it is first asked for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc import dialects, pipeline
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.to_llvm import translate
from tinyc.dialects.region.verify import kernels
from tinyc.files import write
from tinyc.layers import WALKS, Layer, names_of
from tinyc.passes import Pass
from tinyc.pipeline import PASSES, Pipeline
from tinyc.sources import copy_of

_PASSES = {each.name: each for each in PASSES}


class Walk:
    """One program at every layer; nothing is computed twice.

    `options` are values for options of the passes, such as `arch`; a layer says which of them its pass takes.
    """

    def __init__(self, module: Any, target: str = "cpu", options: Mapping[str, str] | None = None) -> None:
        self.target, self.options = target, dict(options or {})
        self._layers = {layer.name: layer for layer in WALKS[target]}
        self.entry = entry_of(module, target)
        if self.entry == "plan" and "plan" in self.options:
            self.entry = "region"  # what is given takes the place of what is there
        self._modules = {self.entry: module}
        self._texts: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Say whether the program goes through the layer: what was read at a later layer has no earlier one."""
        layer = self._layers[name]
        return name == self.entry or (layer.source is not None and self.has(layer.source))

    def way_to(self, name: str) -> tuple[str, ...]:
        """Return the layers from the program's own to the one called `name`."""
        source = self._layers[name].source
        return (name,) if name == self.entry or source is None else (*self.way_to(source), name)

    def module(self, name: str) -> Any:
        """Return the module at a layer; it is the walk's, and must not be changed.

        Raises:
            TinycError: `UnknownLayer`, or what a pass refuses.
        """
        if name not in self._modules:
            layer = self._layer(name)
            assert layer.source is not None
            module = copy_of(self.module(layer.source))
            self._pipeline(layer).run(module)
            self._modules[name] = module
        return self._modules[name]

    def _pipeline(self, layer: Layer) -> Pipeline:
        """Return the passes that make a layer, with the options that are theirs."""
        if not layer.options:
            return pipeline.parse(layer.pipeline)
        given = {name: self.options[name] for name in layer.options if name in self.options}
        return Pipeline((_PASSES[layer.pipeline].from_options(given),))

    def _layer(self, name: str) -> Layer:
        self._check_name(name)
        if not self.has(name):
            raise TinycError("UnknownLayer", f"the program was read at layer '{self.entry}' and has no layer '{name}'")
        return self._layers[name]

    def text(self, name: str) -> str:
        """Return the text of a layer.

        Raises:
            TinycError: `UnknownLayer`, or what a pass refuses.
        """
        layer = self._layer(name)
        if name not in self._texts:
            self._texts[name] = self._printed(layer).rstrip() + "\n"
        return self._texts[name]

    def _printed(self, layer: Layer) -> str:
        """Return a module as text; the last layers are none of MLIR's own."""
        module = self.module(layer.name)
        if layer.name == "llvm":
            return translate(module)
        if layer.suffix != ".mlir":
            last = self._pipeline(layer).steps[-1]
            shown = last.output(module) if isinstance(last, Pass) else None
            if shown is not None:
                return shown
        return module.operation.get_asm(assume_verified=True)

    def dump(self, folder: Path, names: tuple[str, ...] | None = None) -> list[Path]:
        """Write the text of each named layer (default: all) that the program has to `<NN>_<layer>.mlir`.

        NN is the layer's place in the walk.

        Raises:
            TinycError: `UnreadableFile`: the folder cannot be written.
        """
        written = []
        for name in names or ():
            self._check_name(name)
        for number, layer in enumerate(self._layers.values()):
            if (names is None or layer.name in names) and self.has(layer.name):
                path = folder / f"{number:02d}_{layer.name}{layer.suffix}"
                written.append(write(path, self.text(layer.name), make_folders=True))
        return written

    def _check_name(self, name: str) -> None:
        if name not in self._layers:
            known = ", ".join(names_of(self.target))
            message = f"there is no layer '{name}' on the way to target '{self.target}'; there are {known}"
            raise TinycError("UnknownLayer", message)


def entry_of(module: Any, target: str) -> str:
    """Return the layer that a module is at.

    Raises:
        TinycError: `UnsupportedTarget`: the target has no such layer.
    """
    namespaces = dialects.present(module)
    if "gpu" in namespaces:
        if "gpu" not in names_of(target):
            message = (
                f"the program is at layer 'gpu', which target '{target}' does not have; use target 'sim' or 'cuda'"
            )
            raise TinycError("UnsupportedTarget", message)
        return "gpu"
    if "region" not in namespaces:
        return "tiny"
    planned = any("plan" in kernel.operation.attributes for kernel in kernels(module).values())
    return "plan" if planned and "plan" in names_of(target) else "region"
