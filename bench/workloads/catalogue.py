"""The programs by name, each with how many regions it may have at the most.

The bounds are those that region formation is built for: an element-wise graph, a normalisation, a contraction with all
that can be computed at its operands and its result are one region each. They hold at the sizes of a network, `large`;
by default a program is small, and of odd sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import networks, operators
from .graph import Program


@dataclass(frozen=True)
class Workload:
    """A program by its sizes, sizes as networks have them, and the most regions that it may have at those.

    `most_apart` has how many for a machine and an element type that are other than for the rest.
    """

    build: Callable[..., Program]
    large: Mapping[str, int]
    most_regions: int = 1
    most_apart: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    @property
    def name(self) -> str:
        """The name of the builder."""
        return self.build.__name__

    def most(self, machine: str, dtype: str) -> int:
        """The most regions that it may have on a machine, with an element type."""
        return self.most_apart.get((machine, dtype), self.most_regions)


_ROWS = {"rows": 1024, "columns": 1024}
_IMAGES = {"batch": 8, "channels": 64, "height": 32, "width": 32}
_HEADS = {"batch": 2, "heads": 8, "rows": 512, "depth": 64}
_PRODUCT = {"m": 512, "n": 512, "k": 512}
_BLOCK = {"batch": 2, "rows": 256, "width": 256, "heads": 4, "hidden": 1024}

_ALL = (
    *(Workload(each, _ROWS) for each in (operators.softmax, operators.log_softmax)),
    *(Workload(each, _ROWS) for each in (operators.layer_norm, operators.rms_norm)),
    Workload(operators.group_norm, {**_IMAGES, "groups": 8}),
    *(Workload(each, _IMAGES) for each in (operators.instance_norm, operators.batch_norm_relu)),
    *(Workload(each, _ROWS) for each in (operators.row_sum, operators.column_sum, operators.full_sum)),
    Workload(operators.sum_of_expanded, _ROWS),
    Workload(operators.cumulative_sum, {"rows": 1024, "length": 1024}),
    *(Workload(each, _ROWS) for each in (operators.gelu_tanh, operators.gelu_erf, operators.silu)),
    *(Workload(each, _ROWS) for each in (operators.swiglu_gate, operators.bias_residual)),
    *(Workload(each, _HEADS) for each in (operators.rotary_halves, operators.rotary_pairs)),
    *(Workload(each, _ROWS) for each in (operators.cast, operators.transpose, operators.affine_relu, operators.chain)),
    Workload(operators.embedding, {"words": 10_000, "rows": 512, "columns": 512}),
    *(Workload(each, _IMAGES) for each in (operators.max_pooling, operators.average_pooling)),
    Workload(operators.conv_bias_relu, {"batch": 2, "inner": 32, "outer": 32, "height": 28, "width": 28}),
    *(Workload(each, _PRODUCT) for each in (operators.gemm, operators.gemm_epilogue)),
    # Weights that warps cast on the way to mma.sync cost each row of tiles anew: a pass over them before is faster.
    Workload(operators.gemm_prologue, _PRODUCT, most_apart={("sm_80", "fp16"): 2}),
    Workload(networks.mlp, {"rows": 256, "inner": 256, "hidden": 1024, "outer": 256}, 2),
    Workload(networks.gelu_mlp, {"rows": 256, "width": 256, "hidden": 1024}, 2),
    Workload(networks.resnet, {"batch": 2, "channels": 32, "height": 28, "width": 28}, 2),
    Workload(networks.attention, _HEADS, 3),
    Workload(networks.transformer_gelu, _BLOCK, 9),
    Workload(networks.transformer_swiglu, _BLOCK, 12),
)
WORKLOADS = {each.name: each for each in _ALL}
