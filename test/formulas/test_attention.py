"""Attention in its forms against numpy a row at a time, rows that see nothing, rotary embedding, linear attention."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.expr import extents
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

TOLERANCES = {"rtol": 1e-4, "atol": 1e-5}


def random(*shape: int, dtype=np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def operands(dtype=np.float32, heads: int = 4, groups: int = 2, rows: int = 3, keys: int = 5) -> dict[str, np.ndarray]:
    """Queries, keys and values of random numbers."""
    shapes = {"q": (2, heads, rows, 6), "k": (2, groups, keys, 6), "v": (2, groups, keys, 7)}
    return {name: random(*shape, dtype=dtype, seed=len(name) + shape[2]) for name, shape in shapes.items()}


def test_weights_are_dropped_by_philox_and_the_others_scaled():
    given = operands(rows=9, keys=70)
    assert_op_agrees("attention", given, **TOLERANCES, dropout=0.25, seed=7, causal=True, scores="weights")
    dropped, whole = (results_of("attention", given, dropout=part, seed=7, scores="weights")[3] for part in (0.25, 0.0))
    kept = dropped != 0
    assert abs(kept.mean() - 0.75) < 0.03
    np.testing.assert_allclose(dropped[kept], whole[kept] / 0.75, rtol=1e-5)
    other = results_of("attention", given, dropout=0.25, seed=8, scores="weights")[3]
    assert (kept != (other != 0)).mean() > 0.2


def test_a_dropout_is_a_probability():
    types = {name: TensorType(ElementType.F32, x.shape) for name, x in operands().items()}
    with pytest.raises(tinyc.TinycError, match=r"dropout is 1.0; it is a probability from 0 to below 1"):
        module_of("attention", types, dropout=1.0)


def test_attention_is_a_softmax_of_scores_times_values():
    given = operands(heads=2)
    q, k, v = (each.astype(np.float64) for each in given.values())
    scores = q @ k.swapaxes(2, 3) / np.sqrt(6)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    expected = [each.astype(np.float32) for each in (weights @ v, k, v, scores)]
    assert_op_agrees("attention", given, expected, **TOLERANCES)


@pytest.mark.parametrize(
    "attributes",
    [
        {"causal": True},
        {"scale": 0.3, "softcap": 2.0, "scores": "capped"},
        {"before": 1, "after": 0, "scores": "masked"},
        {"before": 1, "softmax_element": ElementType.F64, "scores": "weights"},
    ],
)
def test_forms_of_attention(attributes):
    assert_op_agrees("attention", operands(), **TOLERANCES, **attributes)


def test_16_bit_floats_are_rounded_once():
    assert_op_agrees("attention", operands(np.float16), rtol=2e-3, atol=1e-5, scores="weights")


def test_heads_may_stand_behind_each_other():
    given = {"q": random(2, 3, 24), "k": random(2, 5, 12, seed=1), "v": random(2, 5, 14, seed=2)}
    assert_op_agrees("attention", given, **TOLERANCES, heads=4, kv_heads=2)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (4, 3, 5), (2, 4, 3, 4)])
def test_masks_broadcast_and_may_be_shorter(shape):
    mask = random(*shape) > 0 if len(shape) % 2 else random(*shape)
    assert_op_agrees("attention", {**operands(), "mask": mask}, **TOLERANCES, scores="weights")


@pytest.mark.parametrize("mask", [np.zeros((3, 5), bool), np.full((3, 5), -np.inf, np.float32)])
def test_a_row_that_sees_nothing_may_be_nan_as_its_softmax_is(mask):
    given = {**operands(), "mask": mask}
    given["mask"][1, 2] = True if mask.dtype == bool else 0.5
    found = results_of("attention", given, zero_unseen=False)[0]
    np.testing.assert_array_equal(np.isnan(found).all(axis=(0, 1, 3)), [True, False, True])
    np.testing.assert_array_equal(
        np.isnan(results_of("attention", given, "frontend", zero_unseen=False)[0]), np.isnan(found)
    )
    assert not np.isnan(found[:, :, 1]).any()


@pytest.mark.parametrize("mask", [np.zeros((3, 5), bool), np.full((3, 5), -np.inf, np.float32)])
def test_a_row_that_sees_nothing_gives_zeros(mask):
    given = {**operands(), "mask": mask}
    given["mask"][1, 2] = True if mask.dtype == bool else 0.5
    given["q"][:, :, 0] = 1e30  # scores that are infinite or no numbers must not reach the result
    result, _, _, weights = results_of("attention", given, scores="weights")
    assert not result[:, :, [0, 2]].any()
    assert not weights[:, :, [0, 2]].any()
    np.testing.assert_array_equal(weights[:, :, 1], np.broadcast_to(np.eye(5, dtype=np.float32)[2], (2, 4, 5)))


@pytest.mark.parametrize("attributes", [{}, {"causal": True, "before": 2}])
def test_keys_and_values_of_before_stand_in_front(attributes):
    past = {"past_key": random(2, 2, 4, 6, seed=7), "past_value": random(2, 2, 4, 7, seed=8)}
    assert_op_agrees("attention", {**operands(), **past}, **TOLERANCES, **attributes)


@pytest.mark.parametrize("attributes", [{"causal": True}, {"before": 1}])
def test_each_batch_may_have_its_number_of_keys(attributes):
    lengths = np.array([5, 2], np.int64)  # the second batch has fewer keys than rows
    assert_op_agrees("attention", {**operands(), "lengths": lengths}, **TOLERANCES, **attributes)


def test_rows_keys_and_batches_may_be_symbols():
    b, m, n = (extents.symbol(name) for name in "BMN")
    shapes = {"q": (b, 4, m, 6), "k": (b, 2, n, 6), "v": (b, 2, n, 7)}
    types = {name: TensorType(ElementType.F32, shape) for name, shape in shapes.items()}
    model = tinyc.compile(module_of("attention", types, causal=True), "cpu")
    for rows, keys in ((3, 5), (1, 8)):
        given = operands(rows=rows, keys=keys)
        for one, other in zip(
            model.run_named(given).values(), results_of("attention", given, "frontend", causal=True), strict=True
        ):
            np.testing.assert_allclose(one, other, **TOLERANCES)


@pytest.mark.parametrize(("interleaved", "depth", "is_flat"), [(True, 0, True), (True, 4, False), (False, 4, True)])
def test_rotary_embedding_turns_pairs(interleaved, depth, is_flat):
    half = (depth or 6) // 2
    angles = random(9, half)
    given = {"x": random(2, 3, 24) if is_flat else random(2, 4, 3, 6), "cos": np.cos(angles), "sin": np.sin(angles)}
    given["positions"] = np.array([[0, 3, 8], [5, 5, 1]], np.int64)
    attributes = {"interleaved": interleaved, "depth": depth, "heads": 4 if is_flat else 0}
    assert_op_agrees("rotary_embedding", given, **TOLERANCES, **attributes)
    (turned,) = results_of("rotary_embedding", given, **attributes)
    np.testing.assert_allclose(np.linalg.norm(turned), np.linalg.norm(given["x"]), rtol=1e-5)


@pytest.mark.parametrize(
    ("rule", "has_past"), [("linear", True), ("gated", False), ("delta", True), ("gated_delta", False)]
)
def test_linear_attention_updates_a_state(rule, has_past):
    given = {"q": random(2, 3, 16), "k": random(2, 3, 8, seed=1), "v": random(2, 3, 10, seed=2)}
    given |= {"past": random(2, 2, 4, 5)} if has_past else {}
    given |= {"decay": -np.abs(random(2, 3, 2 if has_past else 8))} if "gated" in rule else {}
    given |= {"beta": np.abs(random(2, 3, 1 if has_past else 2))} if "delta" in rule else {}
    assert_op_agrees("linear_attention", given, **TOLERANCES, heads=4, kv_heads=2, rule=rule)


def test_keys_have_a_head():
    q, k = (TensorType(ElementType.F32, (1, heads, 3, 8)) for heads in (4, 0))
    with pytest.raises(tinyc.TinycError, match="the 4 heads of q are no multiple of the 0 of k and v"):
        module_of("attention", {"q": q, "k": k, "v": k})
