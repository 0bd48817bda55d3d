"""The programs by name, each with how many regions it may have at the most.

The bounds are those that region formation is built for: an element-wise graph, a normalisation, a contraction with all
that can be computed at its operands and its result are one region each. Sizes are small and odd by default.
"""

from collections.abc import Callable
from dataclasses import dataclass

from . import networks, operators
from .graph import Program


@dataclass(frozen=True)
class Workload:
    """A program by its sizes, and the most regions that it may have at any of them."""

    build: Callable[..., Program]
    most_regions: int

    @property
    def name(self) -> str:
        """The name of the builder."""
        return self.build.__name__


_ONE_REGION = (
    *(operators.softmax, operators.log_softmax, operators.layer_norm, operators.rms_norm),
    *(operators.group_norm, operators.instance_norm, operators.batch_norm_relu),
    *(operators.row_sum, operators.column_sum, operators.full_sum, operators.sum_of_expanded, operators.cumulative_sum),
    *(operators.gelu_tanh, operators.gelu_erf, operators.silu, operators.swiglu_gate),
    *(operators.rotary_halves, operators.rotary_pairs, operators.bias_residual, operators.cast, operators.transpose),
    *(operators.affine_relu, operators.chain, operators.embedding, operators.max_pooling, operators.average_pooling),
    *(operators.conv_bias_relu, operators.gemm, operators.gemm_prologue, operators.gemm_epilogue),
)
_SEVERAL_REGIONS = (
    Workload(networks.mlp, 2),
    Workload(networks.gelu_mlp, 2),
    Workload(networks.resnet, 2),
    Workload(networks.attention, 3),
    Workload(networks.transformer_gelu, 9),
    Workload(networks.transformer_swiglu, 12),
)
WORKLOADS = {each.name: each for each in (*(Workload(build, 1) for build in _ONE_REGION), *_SEVERAL_REGIONS)}
