"""All handlers by op type."""

from tinyc.importers.onnx.handlers import (
    attention,
    convolution,
    elementwise,
    indexing,
    movement,
    norms,
    pooling,
    products,
    quantisation,
    random,
    recurrent,
    reductions,
    resize,
    slicing,
)
from tinyc.importers.onnx.node import Handler

HANDLERS_BY_TYPE: dict[str, Handler] = {
    **elementwise.HANDLERS,
    **movement.HANDLERS,
    **slicing.HANDLERS,
    **indexing.HANDLERS,
    **products.HANDLERS,
    **convolution.HANDLERS,
    **attention.HANDLERS,
    **reductions.HANDLERS,
    **norms.HANDLERS,
    **pooling.HANDLERS,
    **resize.HANDLERS,
    **recurrent.HANDLERS,
    **quantisation.HANDLERS,
    **random.HANDLERS,
}
