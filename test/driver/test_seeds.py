"""Random numbers of runs: a program's own seeds, or new ones in each run that the same seed repeats on every target."""

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from tinyc.diagnostics import TinycError

TARGETS = ("cpu", "sim", "reference")
RANDOM = program(
    tensor("x", "N"),
    node("u", "RAND", distribution="uniform", seed=7, stream=0, dtype="fp32", shape=["N"]),
    node("n", "RAND", distribution="normal", seed=-3, stream=2**40, dtype="fp32", shape=["N"]),
    node("s", "ADD", "x", "u"),
    node("t", "ADD", "x", "n"),
    outputs=["s", "t"],
)
X = np.zeros(37, np.float32)


def runs(target, *options):
    model = tinyc.compile(RANDOM, target=target)
    return [np.stack(model(X, **each)) for each in options]


def test_without_a_seed_each_run_has_the_programs_own_numbers():
    for target in TARGETS:
        first, second, after = runs(target, {}, {}, {"seed": 0})
        np.testing.assert_array_equal(first, second)
        assert (first != after).mean() > 0.9
    model = tinyc.compile(RANDOM)
    model(X, seed=3)
    np.testing.assert_allclose(np.stack(model(X)), first, rtol=1e-5, atol=1e-6)


def test_with_a_seed_each_run_has_new_numbers_and_the_same_seed_repeats_them():
    options = [{"seed": 5}, {"seed": 5}, {"seed": 6}, {"seed": 5}, {"seed": 5, "offset": 1}, {"seed": 5}]
    found = {target: runs(target, *options) for target in TARGETS}
    for target in TARGETS:
        a, b, other, c, b_again, c_again = found[target]
        for one, two in ((a, b), (a, other), (b, other), (b, c), (a, c)):
            assert (one != two).mean() > 0.9
        np.testing.assert_array_equal(b, b_again)
        np.testing.assert_array_equal(c, c_again)
        np.testing.assert_array_equal(np.stack(found[target])[:, 0], np.stack(found["reference"])[:, 0])  # uniform
        np.testing.assert_allclose(np.stack(found[target]), np.stack(found["reference"]), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(a, runs(target, {"seed": 5})[0])


def test_numbers_of_a_seed_are_uniform_and_of_two_runs_independent():
    u = np.stack([tinyc.compile(RANDOM)(np.zeros(20_000, np.float32), seed=1, offset=k)[0] for k in range(2)])
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(u)[0, 1]) < 0.03


def test_a_run_that_fails_does_not_count():
    model = tinyc.compile(RANDOM)
    with pytest.raises(TinycError):
        model(X.astype(np.float64), seed=5)
    np.testing.assert_array_equal(np.stack(model(X, seed=5)), runs("cpu", {"seed": 5})[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed is -1; give an integer in 0 … 2^64 - 1"),
        ({"seed": 1.5}, "seed is 1.5; give"),
        ({"seed": True}, "seed is True; give"),
        ({"seed": 1, "offset": 2**64}, "offset is 18446744073709551616; give"),
        ({"offset": 1}, "offset is 1, and there is no seed that it is for; give one"),
    ],
)
def test_what_is_no_seed_is_refused(options, message):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(RANDOM)(X, **options)
    assert caught.value.name == "InputMismatch"
    assert message in caught.value.message


def test_the_largest_seed_and_offset_are_taken():
    model = tinyc.compile(RANDOM)
    last = model(X, seed=np.uint64(2**64 - 1), offset=2**64 - 1)[0]
    assert (last != model(X, seed=2**64 - 1)[0]).any()  # the counter begins again


@pytest.mark.parametrize("layer", ["tiny", "region", "plan", "gpu"])
def test_every_layer_of_text_keeps_the_key(layer):
    text = tinyc.compile(RANDOM, target="sim").text(layer)
    model = tinyc.compile(text, target="sim")
    np.testing.assert_array_equal(np.stack(model(X, seed=5)), runs("sim", {"seed": 5})[0])


def test_no_extent_is_called_as_the_key():
    named = program(tensor("x", "rand.key"), node("y", "NEG", "x"))
    with pytest.raises(TinycError, match=r"'rand.key' is the key of random numbers; call the extent otherwise"):
        tinyc.compile(named)


def test_the_cuda_file_runs_with_the_programs_own_seeds():
    text = tinyc.compile(RANDOM, target="cuda").text("cu")
    assert "[N=<size>]" in text
    assert "rand.key" not in text.partition("int main(")[2]
    assert "int64_t rand_key" in text


def test_kernels_without_random_numbers_take_no_key():
    plain = tinyc.compile(program(tensor("x", "N"), node("y", "NEG", "x")), target="sim")
    assert not any("rand.key" in plain.text(layer) for layer in ("gpu", "exec"))
