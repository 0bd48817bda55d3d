"""Folds (col2im) in the two ways in which Tiny spells them."""

from analysis_programs.contraction_programs import shape_of
from analysis_programs.tiny_programs import Program
from tinyc.expr.axes import Axis, term


def spread(p: Program, x, stride: int):
    """Return ``[…, N]`` with ``stride - 1`` zeros behind each element: ``[…, N*stride]``."""
    if stride == 1:
        return x
    shape = shape_of(x)
    x, zeros = p.reshape(x, shape=(*shape, 1)), (0,) * len(shape)
    x = p.pad(x, lo=(*zeros, 0), hi=(*zeros, stride - 1), value=0.0)
    return p.reshape(x, shape=(*shape[:-1], shape[-1] * stride))


def skewed(p: Program, x, stride: int, dilation: int, pad: int = 0):
    """Fold ``[…, taps, windows]``: the rows of the taps behind each other, read with a skew of `dilation`."""
    x = spread(p, x, stride)
    *lead, taps, length = shape_of(x)
    margin = dilation * (taps - 1)
    x = p.pad(x, lo=(0,) * (len(lead) + 2), hi=(*(0 for _ in lead), 0, margin), value=0.0)
    x = p.reshape(x, shape=(*lead, taps * (length + margin)))
    x = p.pool(x, kernel=(taps,), stride=(1,), dilation=(length + margin - dilation,))
    return p.shrink(
        x,
        lo=(*(0 for _ in lead), pad, 0),
        hi=(*lead, length + margin - (stride - 1) - pad, taps),
        step=(1,) * (len(lead) + 2),
    )


def diagonal(p: Program, x, stride: int, dilation: int):
    """Fold ``[taps, windows]``: a window of every tap's row at every position, of which the diagonal is kept."""
    x = spread(p, p.flip(x, axes=(0,)), stride)
    taps, _ = shape_of(x)
    margin = dilation * (taps - 1)
    x = p.pad(x, lo=(0, margin), hi=(0, margin), value=0.0)
    x = p.pool(x, kernel=(taps,), stride=(1,), dilation=(dilation,))
    _, positions, _ = shape_of(x)
    return p.view(x, shape=(positions, taps), map=(term(Axis(1)), term(Axis(0)), term(Axis(1))))
