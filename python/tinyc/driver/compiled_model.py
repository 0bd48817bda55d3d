"""A compiled program: what `tinyc.compile` gives, a model with the texts of its layers."""

from collections.abc import Mapping, Sequence

from tinyc.diagnostics import Remark
from tinyc.driver.listings import LAST_LISTING
from tinyc.driver.lowering import Lowering
from tinyc.driver.model import Executor, Model
from tinyc.driver.predictions import predictions
from tinyc.driver.profile import Prediction, WrittenNodes
from tinyc.executors.signature import boundary_of
from tinyc.runtime.bound import BoundProgram


class CompiledModel(Model):
    """A model with its `lowering`, the program at every layer."""

    def __init__(self, lowering: Lowering, target: str, executor: Executor, remarks: list[Remark]) -> None:
        super().__init__(boundary_of(lowering.module(lowering.entry)).signature, target, executor, remarks)
        self.lowering = lowering
        # The reference runs what was read.
        self.layers = lowering.way_to(LAST_LISTING.get(target, lowering.entry))

    def _predicted(
        self, bound: BoundProgram, kernels: Mapping[WrittenNodes, Sequence[str]]
    ) -> Mapping[WrittenNodes, Prediction]:
        return predictions(self.lowering, bound, kernels)

    def text(self, layer: str) -> str:
        """The text of a layer: "tiny", "indexbook", "poly_view", "region", and those of the target.

        They are "exec", "loops" and "llvm", and for a GPU "plan", "gpu", "exec", "nvvm", "ptx" and "cu".

        Raises:
            TinycError: `UnknownLayer`: there is no such layer, or the program was read at a later one.
        """
        return self.lowering.text(layer)
