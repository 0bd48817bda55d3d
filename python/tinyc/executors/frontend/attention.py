"""Attention, rotary embedding: a head and a row at a time."""

import numpy as np

from tinyc.executors import philox
from tinyc.executors.frontend.elementwise import NumpyFunctions


def _split(x: np.ndarray, heads: int) -> np.ndarray:
    return x if x.ndim == 4 else np.stack(np.split(x, heads, axis=2), axis=1)


def _attention(
    q,
    k,
    v,
    mask,
    past_key,
    past_value,
    lengths,
    heads,
    kv_heads,
    causal,
    before,
    after,
    scale,
    softcap,
    softmax_element,
    pad_mask,
    scores,
    zero_unseen,
    dropout,
    seed,
    stream,
    algo_set,
) -> tuple[np.ndarray, ...]:
    is_flat, q, k, v = q.ndim == 3, _split(q, heads), _split(k, kv_heads), _split(v, kv_heads)
    offset = 0
    if past_key is not None:
        offset, k, v = past_key.shape[2], np.concatenate([past_key, k], 2), np.concatenate([past_value, v], 2)
    batch, count, rows, depth = q.shape
    keys, served = k.shape[2], count // k.shape[1]
    bias = _bias(mask, (batch, count, rows, keys), pad_mask)
    result, shown = np.zeros((batch, count, rows, v.shape[3])), np.zeros((batch, count, rows, keys))
    drawn = philox.uniform(batch * count * rows * keys, seed, stream).reshape(batch, count, rows, keys)
    for b, h, i in np.ndindex(batch, count, rows):
        row = k[b, h // served].astype(np.float64) @ q[b, h, i].astype(np.float64)
        row = row * (1 / np.sqrt(depth) if scale is None else scale)
        capped = np.tanh(row / softcap) * softcap if softcap else row
        place = i + (offset if lengths is None else int(lengths[b]) - rows)
        seen = bias[b, h, i] != -np.inf
        for key in range(keys):
            seen[key] &= not (causal and key > place) and not (0 <= after < key - place)
            seen[key] &= not (0 <= before < place - key) and (lengths is None or key < lengths[b])
        masked, weights = np.full(keys, -np.inf), np.zeros(keys)
        masked[seen] = capped[seen] + bias[b, h, i][seen]
        if seen.any():
            terms = np.exp(masked[seen] - masked[seen].max())
            weights[seen] = terms / terms.sum()
        elif not zero_unseen:
            weights[:] = np.nan
        weights = np.where(drawn[b, h, i] < dropout, 0, weights / (1 - dropout))
        shown[b, h, i] = {"scaled": row, "capped": capped, "masked": masked, "weights": weights}[scores]
        result[b, h, i] = weights @ v[b, h // served]
    if is_flat:
        result = np.concatenate([result[:, each] for each in range(count)], axis=2)
    return result, k, v, shown


def _bias(mask: np.ndarray | None, shape: tuple[int, ...], pad: bool) -> np.ndarray:
    """What is added to each score: 0 and -inf for a mask of bools."""
    if mask is None:
        return np.zeros(shape)
    added = np.where(mask, 0.0, -np.inf) if mask.dtype == np.bool_ else mask.astype(np.float64)
    if pad and added.ndim and added.shape[-1] < shape[-1]:
        added = np.pad(added, [(0, 0)] * (added.ndim - 1) + [(0, shape[-1] - added.shape[-1])], constant_values=-np.inf)
    return np.broadcast_to(added, shape)


def _rotary_embedding(x, cos, sin, positions, heads, depth, interleaved) -> np.ndarray:
    split = _split(x, heads).astype(np.float64)
    depth = depth or split.shape[3]
    if positions is not None:
        cos, sin = cos[positions], sin[positions]
    result = split.copy()
    for j in range(depth // 2):
        one, other = (2 * j, 2 * j + 1) if interleaved else (j, j + depth // 2)
        turn = (cos[:, None, :, j] + 1j * sin[:, None, :, j]) * (split[..., one] + 1j * split[..., other])
        result[..., one], result[..., other] = turn.real, turn.imag
    return np.concatenate([result[:, each] for each in range(heads)], axis=2) if x.ndim == 3 else result


def _linear_attention(q, k, v, past, decay, beta, heads, kv_heads, rule, scale) -> tuple[np.ndarray, np.ndarray]:
    q, k, v = _split(q, heads), _split(k, kv_heads), _split(v, kv_heads)
    batch, count, length, depth = q.shape
    state = np.zeros((batch, kv_heads, depth, v.shape[3])) if past is None else past.astype(np.float64)
    gates = None if decay is None else np.exp(_split(decay, kv_heads).astype(np.float64))
    result = np.zeros((batch, length, count * v.shape[3]))
    for b, place, head in np.ndindex(batch, length, kv_heads):
        own, key, value = state[b, head], k[b, head, place], v[b, head, place].astype(np.float64)
        if gates is not None:
            own = own * gates[b, head, place][:, None]
        if beta is not None:
            value = beta[b, place, min(head, beta.shape[2] - 1)] * (value - own.T @ key)
        state[b, head] = own + np.outer(key, value)
        for each in range(head * count // kv_heads, (head + 1) * count // kv_heads):
            read = q[b, each, place] @ state[b, head] * (scale or 1 / np.sqrt(depth))
            result[b, place, each * v.shape[3] : (each + 1) * v.shape[3]] = read
    return result, state


IN_NUMPY: NumpyFunctions = {
    "attention": _attention,
    "rotary_embedding": _rotary_embedding,
    "linear_attention": _linear_attention,
}
