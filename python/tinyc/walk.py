"""The layers that a program goes through, in walk order: the module and the text of each.

In: a module at the Tiny or the Region layer. Out: later layers, each made from an earlier one by passes when it is
first asked for.
"""

from pathlib import Path
from typing import Any

from tinyc import dialects, pipeline
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.to_llvm import translate
from tinyc.files import write
from tinyc.layers import LAYERS, NAMES, Layer
from tinyc.sources import copy_of

_BY_NAME = {layer.name: layer for layer in LAYERS}


class Walk:
    """One program at every layer; nothing is computed twice."""

    def __init__(self, module: Any) -> None:
        self.entry = "region" if "region" in dialects.present(module) else "tiny"
        self._modules = {self.entry: module}
        self._texts: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Say whether the program goes through the layer: what was read at a later layer has no earlier one."""
        layer = _BY_NAME[name]
        return name == self.entry or (layer.source is not None and self.has(layer.source))

    def way_to(self, name: str) -> tuple[str, ...]:
        """Return the layers from the program's own to the one called `name`."""
        source = _BY_NAME[name].source
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
            pipeline.parse(layer.pipeline).run(module)
            self._modules[name] = module
        return self._modules[name]

    def _layer(self, name: str) -> Layer:
        if name not in _BY_NAME:
            raise TinycError("UnknownLayer", f"there is no layer '{name}'; there are {', '.join(NAMES)}")
        if not self.has(name):
            raise TinycError("UnknownLayer", f"the program was read at layer '{self.entry}' and has no layer '{name}'")
        return _BY_NAME[name]

    def text(self, name: str) -> str:
        """Return the text of a layer.

        Raises:
            TinycError: `UnknownLayer`, or what a pass refuses.
        """
        self._layer(name)
        if name not in self._texts:
            module = self.module(name)
            text = translate(module) if name == "llvm" else module.operation.get_asm(assume_verified=True)
            self._texts[name] = text.rstrip() + "\n"
        return self._texts[name]

    def dump(self, folder: Path, names: tuple[str, ...] = NAMES) -> list[Path]:
        """Write the text of each named layer that the program has to `<NN>_<layer>.mlir`, NN its place in the walk.

        Raises:
            TinycError: `UnreadableFile`: the folder cannot be written.
        """
        written = []
        for name in names:
            self._checked_name(name)
        for number, layer in enumerate(LAYERS):
            if layer.name in names and self.has(layer.name):
                path = folder / f"{number:02d}_{layer.name}{layer.suffix}"
                written.append(write(path, self.text(layer.name), make_folders=True))
        return written

    @staticmethod
    def _checked_name(name: str) -> None:
        if name not in _BY_NAME:
            raise TinycError("UnknownLayer", f"there is no layer '{name}'; there are {', '.join(NAMES)}")
