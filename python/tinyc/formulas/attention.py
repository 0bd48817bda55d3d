"""Attention and rotary embedding as formulas.

Scores, softmax and sums are formed in f32 for 16-bit floats, and the result is rounded once. A score that is masked is
the lowest number while the maximum and the sum of a row are formed, and its weight is 0: so a row that sees nothing
gives zeros, unless `zero_unseen` is false, where it is NaN as that of a softmax.
"""

import math

from tinyc.diagnostics import TinycError, either
from tinyc.expr.extents import Dim, bind_option
from tinyc.formulas.elementwise import exp
from tinyc.formulas.padding import concat
from tinyc.formulas.random import dropout as drop
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

_SCORES = ("scaled", "capped", "masked", "weights")
#: Masked scores while a row is reduced: a number, so that no difference of two of them is NaN.
_LOWEST = -3.4028234663852886e38


def attention(
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    lengths: Value | None = None,
    *,
    heads: int = 0,
    kv_heads: int = 0,
    causal: bool = False,
    before: int = -1,
    after: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_element: ElementType | None = None,
    pad_mask: bool = True,
    scores: str = "scaled",
    zero_unseen: bool = True,
    dropout: float = 0.0,
    seed: int = 0,
    stream: int = 0,
    algo_set: str | None = None,
) -> tuple[Value, Value, Value, Value]:
    """`softmax(scale · q · kᵀ, masked) · v`, with the keys and values so far, and scores for inspection.

    Operands are `[batch, heads, length, depth]`, or `[batch, length, heads · depth]` with `heads` and `kv_heads` given;
    each head of `k` and `v` serves as many heads of `q` as there are for it. `past_key` and `past_value` stand before
    `k` and `v`; of the keys of each batch the first `lengths` count. A row sees what `mask` is true for (or is added
    to its score), with `causal` no key behind its own place, and with `before` and `after` at most so many from there.
    A row that sees no key is 0; without `zero_unseen` it is NaN, as the softmax of its scores is. A weight is dropped
    with probability `dropout`, by Philox numbers of `seed` and `stream`, and the others are divided by `1 - dropout`.
    The scores are those `scaled`, `capped` (`softcap · tanh(score / softcap)`), `masked`, or the `weights`.
    """
    if scores not in _SCORES:
        raise TinycError("InvalidAttribute", f"scores is {scores!r}; it is {either(_SCORES)}")
    is_flat, q = q.rank == 3, _heads(q, heads, "q")
    key, value = _heads(k, kv_heads, "k"), _heads(v, kv_heads, "v")
    offset: Dim = 0
    if past_key is not None and past_value is not None:
        offset = past_key.shape[2]
        key, value = concat(past_key, key, axis=2), concat(past_value, value, axis=2)
    elif past_key is not None or past_value is not None:
        raise TinycError("InvalidAttribute", "attention has one of past_key and past_value; it takes both or none")
    queries = _grouped(q, key.shape[1])
    scaled = _scaled_scores(queries, key, scale)
    capped = (scaled / softcap).apply("tanh") * softcap if softcap else scaled
    seen, added = _mask(capped, mask, pad_mask, zero_unseen)
    for each in (_near(capped, offset, lengths, causal, before, after), _valid(capped, lengths)):
        seen = each if seen is None else seen if each is None else seen & each
    masked = capped if added is None else capped + added
    weights = _dropped(_weights(masked, seen, softmax_element, zero_unseen), dropout, seed, stream)
    product = _weighted(weights, value).to(q.element)
    result = _joined_heads(product.reshape(*q.shape[:3], value.shape[3]), is_flat)
    if scores == "masked" and seen is not None:
        masked = masked.where(seen, -math.inf)
    shown = {"scaled": scaled, "capped": capped, "masked": masked, "weights": weights}[scores]
    shown = shown.to(q.element).reshape(*q.shape[:3], key.shape[2])
    return result, key, value, shown


# --- scores and weights: [batch, groups, heads of a group, rows, keys] ------------------------------------------------


def _heads(x: Value, heads: int, name: str) -> Value:
    """`[batch, heads, length, depth]` of an operand that has its heads behind each other."""
    if x.rank == 4:
        return x
    if x.rank != 3 or heads < 1:
        raise TinycError(
            "AxisSizeMismatch", f"attention takes 4 axes, or 3 and the number of heads; {name} is {x.type}"
        )
    batch, length, width = x.shape
    if isinstance(width, int) and width % heads:
        raise TinycError("AxisSizeMismatch", f"{name} is {x.type}; its last axis is no multiple of {heads} heads")
    return x.reshape(batch, length, heads, width // heads).permute(0, 2, 1, 3)


def _grouped(q: Value, groups: Dim) -> Value:
    """The heads of `q` by the head of `k` that serves them."""
    batch, heads, length, depth = q.shape
    if not isinstance(heads, int) or not isinstance(groups, int):
        message = f"the numbers of heads, {heads} and {groups}, must be known; bind them: {bind_option(heads, groups)}"
        raise TinycError("InvalidExtent", message)
    if not groups or heads % groups:
        raise TinycError("AxisSizeMismatch", f"the {heads} heads of q are no multiple of the {groups} of k and v")
    return q.reshape(batch, groups, heads // groups, length, depth)


def _scaled_scores(queries: Value, key: Value, scale: float | None) -> Value:
    batch, groups, heads, rows, depth = queries.shape
    if scale is None:
        if not isinstance(depth, int):
            raise TinycError("InvalidExtent", f"attention needs its depth, which is {depth}; state the scale")
        scale = 1 / math.sqrt(depth)
    queries.builder.assume_equal(batch, key.shape[0], "the batches of query and key")
    queries.builder.assume_equal(depth, key.shape[3], "the depths of a head of query and key")
    joint = (batch, groups, heads, rows, key.shape[2], depth)
    left, right = queries.expand(joint, (0, 1, 2, 3, 5)), key.expand(joint, (0, 1, 4, 5))
    return (left * right).reduce("sum", 5) * scale


def _dropped(weights: Value, ratio: float, seed: int, stream: int) -> Value:
    """Weights of which some are 0, and the others larger for it."""
    if not 0 <= ratio < 1:
        raise TinycError("InvalidAttribute", f"dropout is {ratio}; it is a probability from 0 to below 1")
    if not ratio:
        return weights
    part, training = (weights.builder.full(*each, ()) for each in ((ratio, ElementType.F32), (True, ElementType.BOOL)))
    return drop(weights, part, training, seed=seed, stream=stream)[0]


def _joined_heads(result: Value, is_flat: bool) -> Value:
    """`[batch, length, heads · depth]` of `[batch, heads, length, depth]`, where the operands were flat."""
    batch, count, length, depth = result.shape
    return result.permute(0, 2, 1, 3).reshape(batch, length, count * depth) if is_flat else result


def _weighted(weights: Value, value: Value) -> Value:
    """The sum of values by their weights."""
    if weights.element != value.element:
        wide = max(weights.element, value.element, key=lambda each: each.bits).accumulator
        weights, value = weights.to(wide), value.to(wide)
    batch, groups, heads, rows, keys = weights.shape
    pairs = {"batches": (batch, value.shape[0]), "heads": (groups, value.shape[1]), "lengths": (keys, value.shape[2])}
    for what, (one, other) in pairs.items():
        weights.builder.assume_equal(one, other, f"the {what} of key and value")
    joint = (batch, groups, heads, rows, value.shape[3], keys)
    left, right = weights.expand(joint, (0, 1, 2, 3, 5)), value.permute(0, 1, 3, 2).expand(joint, (0, 1, 4, 5))
    return (left * right).reduce("sum", 5)


def _weights(scores: Value, seen: Value | None, element: ElementType | None, zero_unseen: bool) -> Value:
    """The softmax of the scores that are seen, in no less than the type that is asked for."""
    wide = max(scores.element, (element or scores.element).accumulator, key=lambda each: each.bits)
    scores = scores.to(wide)
    if seen is not None:
        scores = scores.where(seen, _LOWEST if zero_unseen else -math.inf)
    terms = exp(scores - scores.reduce("max", 4, keep=True))
    weights = terms / terms.reduce("sum", 4, keep=True)
    return weights if seen is None or not zero_unseen else weights.where(seen, 0)


# --- what a row sees --------------------------------------------------------------------------------------------------


def _mask(scores: Value, mask: Value | None, pad: bool, zero_unseen: bool) -> tuple[Value | None, Value | None]:
    """Where a mask lets scores be seen, and what it adds to them."""
    if mask is None:
        return None, None
    keys, own = scores.shape[4], mask.shape[-1] if mask.rank else 1
    if pad and isinstance(keys, int) and isinstance(own, int) and own < keys and mask.rank:
        mask = mask.pad_axis(mask.rank - 1, 0, keys - own, False if mask.element.is_bool else -math.inf)
    if mask.rank > 2:
        groups, heads = scores.shape[1:3]
        split = (1, 1) if mask.shape[-3] == 1 else (groups, heads)
        mask = mask.reshape(*mask.shape[:-3], *split, *mask.shape[-2:])
    if mask.element.is_bool:
        return mask, None
    added = mask.to(scores.element)
    return added > -math.inf if zero_unseen else None, added


def _near(scores: Value, offset: Dim, lengths: Value | None, causal: bool, before: int, after: int) -> Value | None:
    """Where a key is near enough to the place of a row."""
    if causal:
        after = 0
    if before < 0 and after < 0:
        return None
    builder, (rows, keys) = scores.builder, scores.shape[3:]
    place, key = (builder.iota(ElementType.I32, (rows, keys), axis) for axis in (0, 1))
    if lengths is not None:
        first = lengths.to(ElementType.I32) - builder.extent(rows, ElementType.I32)
        place = place + first.unsqueeze(1, 2, 3, 4)
    elif offset != 0:
        place = place + builder.extent(offset, ElementType.I32)
    seen = None
    if after >= 0:
        seen = key < place + (after + 1)
    if before >= 0:
        recent = place - (before + 1) < key
        seen = recent if seen is None else seen & recent
    return seen


def _valid(scores: Value, lengths: Value | None) -> Value | None:
    """Where a key is one of the first, as many as each batch has."""
    if lengths is None:
        return None
    key = scores.builder.iota(ElementType.I32, (scores.shape[4],), 0)
    return key < lengths.to(ElementType.I32).unsqueeze(1, 2, 3, 4)


# --- rotary embedding -------------------------------------------------------------------------------------------------


def rotary_embedding(
    x: Value,
    cos: Value,
    sin: Value,
    positions: Value | None = None,
    *,
    heads: int = 0,
    depth: int = 0,
    interleaved: bool = False,
) -> Value:
    """Rotate pairs of the last axis by angles: of `depth` elements, all of them if 0, the rest stays as it is.

    `x` is `[batch, heads, length, depth]`, or `[batch, length, heads · depth]` with `heads` given. Pairs are the two
    halves, with `interleaved` neighbours. `cos` and `sin` are `[batch, length, depth / 2]`, or a row for each position,
    with `positions[batch, length]`.
    """
    split = _heads(x, heads, "x") if x.rank == 3 else x
    whole = split.shape[3]
    if not isinstance(whole, int):
        message = f"rotary_embedding needs its depth, which is {whole}; bind it: {bind_option(whole)}"
        raise TinycError("InvalidExtent", message)
    depth = depth or whole
    if depth % 2 or depth > whole:
        raise TinycError("InvalidAttribute", f"depth is {depth}; it is even, and at most the {whole} of {x.type}")
    wide = split.slice(3, 0, depth).to(x.element.accumulator)
    cosine, sine = (_angles(each, positions, depth // 2).to(wide.element) for each in (cos, sin))
    if interleaved:
        pairs = wide.reshape(*wide.shape[:3], depth // 2, 2)
        one, other = (pairs.slice(4, each, each + 1).reshape(*pairs.shape[:4]) for each in (0, 1))
        real, imaginary = one * cosine - other * sine, one * sine + other * cosine
        turned = concat(real.unsqueeze(4), imaginary.unsqueeze(4), axis=4).reshape(*wide.shape)
    else:
        one, other = wide.slice(3, 0, depth // 2), wide.slice(3, depth // 2, depth)
        turned = concat(one * cosine - other * sine, one * sine + other * cosine, axis=3)
    result = concat(turned.to(x.element), split.slice(3, depth, whole), axis=3)
    return result.permute(0, 2, 1, 3).reshape(*x.shape) if x.rank == 3 else result


def _angles(cache: Value, positions: Value | None, half: int) -> Value:
    """A row of numbers for each batch and place, the same for all heads."""
    rows = cache if positions is None else cache.gather(positions, 0)
    if rows.rank != 3 or rows.shape[2] != half:
        message = f"angles are [batch, length, {half}], or [positions, {half}] with positions, not {cache.type}"
        raise TinycError("AxisSizeMismatch", message)
    return rows.unsqueeze(1)


# --- linear attention -------------------------------------------------------------------------------------------------

_RULES = ("linear", "gated", "delta", "gated_delta")


def linear_attention(
    q: Value,
    k: Value,
    v: Value,
    past: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
    *,
    heads: int,
    kv_heads: int,
    rule: str = "gated_delta",
    scale: float = 0.0,
) -> tuple[Value, Value]:
    """Attention by a state `S[batch, heads, depth, width]` instead of keys: the results, and the state behind them.

    At each place of `[batch, length, heads · depth]` operands, `S += k ⊗ v`, and the result is `scale · qᵀ S`; 0 is a
    scale of `1 / sqrt(depth)`. A `gated` rule has `S` times `exp(decay)` first, with a number for each head or each
    element of a key; a `delta` rule has `beta · (v - Sᵀ k)` in place of `v`. Unrolled over the length.
    """
    if rule not in _RULES:
        raise TinycError("InvalidAttribute", f"rule is {rule!r}; it is {either(_RULES)}")
    for name, operand, wanted in (("decay", decay, "gated" in rule), ("beta", beta, "delta" in rule)):
        if (operand is not None) != wanted:
            raise TinycError("InvalidAttribute", f"the rule {rule!r} takes {'a' if wanted else 'no'} {name}")
    element, wide = q.element, q.element.accumulator
    queries = _grouped(_heads(q, heads, "q").to(wide), kv_heads)
    key, value = _heads(k, kv_heads, "k").to(wide), _heads(v, kv_heads, "v").to(wide)
    batch, groups, _, length, depth = queries.shape
    if not isinstance(length, int) or not isinstance(depth, int) or not length:
        message = f"linear_attention is unrolled: its length and depth, {length} and {depth}, must be positive numbers"
        hint = "" if length == 0 else f"; bind them: {bind_option(length, depth)}"
        raise TinycError("InvalidExtent", message + hint)
    start = (batch, groups, depth, value.shape[3])
    state = q.builder.full(0, wide, start) if past is None else past.to(wide)
    gates = None if decay is None else exp(_heads(decay.to(wide), kv_heads, "decay"))
    rates = None if beta is None else beta.to(wide).permute(0, 2, 1).unsqueeze(3)
    results: list[Value] = []
    for place in range(length):
        row, added = _at(key, place), _at(value, place)
        if gates is not None:
            state = state * _at(gates, place).unsqueeze(3)
        if rates is not None:
            added = (added - (state * row.unsqueeze(3)).reduce("sum", 2)) * _at(rates, place)
        state = state + row.unsqueeze(3) * added.unsqueeze(2)
        query = queries.slice(3, place, place + 1).reshape(*queries.shape[:3], depth)
        results.append((query.unsqueeze(4) * state.unsqueeze(2)).reduce("sum", 3).unsqueeze(3))
    stacked = _stacked(results) * (scale or 1 / math.sqrt(depth))
    flat = stacked.reshape(batch, heads, length, value.shape[3]).permute(0, 2, 1, 3)
    result = flat.reshape(batch, length, heads * value.shape[3]).to(element)
    return result, state.to(element if past is None else past.element)


def _at(x: Value, place: int) -> Value:
    """A place of `[batch, heads, length, depth]`."""
    return x.slice(2, place, place + 1).reshape(*x.shape[:2], x.shape[3])


def _stacked(parts: list[Value]) -> Value:
    """Parts behind each other along the places, by halves."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return concat(_stacked(parts[:middle]), _stacked(parts[middle:]), axis=3)


FORMULAS: dict[str, Function] = {
    "attention": attention,
    "rotary_embedding": rotary_embedding,
    "linear_attention": linear_attention,
}
