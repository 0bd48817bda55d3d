"""Convolutions, and the fold of windows: by loops over the positions of the kernel, or over windows."""

import itertools

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions


def _conv(x, w, bias, strides, dilations, pads, groups, layout, algo_set) -> np.ndarray:
    x = np.moveaxis(x, -1, 1) if layout == "nhwc" else x
    spatial, kernel = x.ndim - 2, w.shape[2:]
    strides, dilations = strides or (1,) * spatial, dilations or (1,) * spatial
    pads = pads or (0,) * (2 * spatial)
    x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:spatial], pads[spatial:], strict=True)]).astype(_wide(x))
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    places = [(n - r - 1) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides, strict=True)]
    result = np.zeros((x.shape[0], w.shape[0], *places), x.dtype)
    channels, filters = w.shape[1], w.shape[0] // groups
    for tap in itertools.product(*map(range, kernel)):
        cut = tuple(
            slice(t * d, t * d + (p - 1) * s + 1, s) for t, d, s, p in zip(tap, dilations, strides, places, strict=True)
        )
        for group in range(groups):
            own = slice(group * filters, (group + 1) * filters)
            seen = x[(slice(None), slice(group * channels, (group + 1) * channels), *cut)]
            result[:, own] += np.einsum("nc...,oc->no...", seen, w[(own, slice(None), *tap)])
    return _finished(result, bias, layout)


def _conv_transpose(x, w, bias, strides, dilations, pads, output_padding, groups, layout) -> np.ndarray:
    x = np.moveaxis(x, -1, 1) if layout == "nhwc" else x
    spatial, kernel = x.ndim - 2, w.shape[2:]
    strides, dilations = strides or (1,) * spatial, dilations or (1,) * spatial
    pads, behind = pads or (0,) * (2 * spatial), output_padding or (0,) * spatial
    whole = [s * (n - 1) + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], strides, dilations, kernel, strict=True)]
    extra = [max(o - p, 0) for o, p in zip(behind, pads[spatial:], strict=True)]
    filters, channels = w.shape[1], w.shape[0] // groups
    shape = [n + e for n, e in zip(whole, extra, strict=True)]
    result = np.zeros((x.shape[0], filters * groups, *shape), _wide(x))
    for tap in itertools.product(*map(range, kernel)):
        cut = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s)
            for t, d, s, n in zip(tap, dilations, strides, x.shape[2:], strict=True)
        )
        for group in range(groups):
            own = slice(group * channels, (group + 1) * channels)
            added = np.einsum("nc...,co->no...", x[:, own].astype(result.dtype), w[(own, slice(None), *tap)])
            result[(slice(None), slice(group * filters, (group + 1) * filters), *cut)] += added
    for axis in range(spatial):
        low, high = pads[axis], whole[axis] - pads[spatial + axis] + behind[axis]
        padded = np.pad(result, [(max(-low, 0), 0) if each == 2 + axis else (0, 0) for each in range(result.ndim)])
        shift = max(-low, 0)
        index = [slice(None)] * result.ndim
        index[2 + axis] = slice(low + shift, high + shift)
        result = padded[tuple(index)]
    return _finished(result, bias, layout)


def _fold(x, shape, kernel, strides, dilations, pads) -> np.ndarray:
    spatial = len(shape)
    strides, dilations = strides or (1,) * spatial, dilations or (1,) * spatial
    pads = pads or (0,) * (2 * spatial)
    padded = [n + before + after for n, before, after in zip(shape, pads[:spatial], pads[spatial:], strict=True)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded, dilations, kernel, strides, strict=True)]
    columns = x.reshape(x.shape[0], -1, *kernel, *counts)
    result = np.zeros((*columns.shape[:2], *padded), x.dtype)
    for tap in itertools.product(*map(range, kernel)):
        for window in itertools.product(*map(range, counts)):
            at = tuple(w * s + t * d for w, s, t, d in zip(window, strides, tap, dilations, strict=True))
            result[(slice(None), slice(None), *at)] += columns[(slice(None), slice(None), *tap, *window)]
    inner = tuple(slice(before, before + n) for before, n in zip(pads[:spatial], shape, strict=True))
    return result[(slice(None), slice(None), *inner)]


def _wide(x: np.ndarray) -> np.dtype:
    return np.dtype(np.float64) if x.dtype.kind == "f" else np.dtype(np.int64)


def _finished(result: np.ndarray, bias: np.ndarray | None, layout: str) -> np.ndarray:
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * (result.ndim - 2))
    return np.moveaxis(result, 1, -1) if layout == "nhwc" else result


IN_NUMPY: NumpyFunctions = {"conv": _conv, "conv_transpose": _conv_transpose, "fold": _fold}
