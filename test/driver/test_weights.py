"""Constants and weights end to end: what is given once, on every executor, and what is made of it once."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from parameters import pairwise
from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.to_program import constants_of, program_of
from tinyc.vocabulary.element_type import ElementType

TARGETS = ("cpu", "sim", "reference")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.arange(12, dtype=np.float32).reshape(3, 4)


def weight(id, *shape, dtype="fp32"):
    return node(id, "INPUT", tensor_id=id, dtype=dtype, shape=list(shape), weight=True)


def summed():
    """Return a program with a sum over a weight that is a kernel of its own, where a kernel has one op."""
    return program(
        tensor("X", 4),
        weight("W", 3, 4),
        node("c", "CONST", values=[1, 2, 3, 4], dtype="fp32"),
        node("s", "REDUCE", "W", op="SUM", axes=[0], dtype="fp32"),
        node("t", "MUL", "s", "c"),
        node("y", "ADD", "t", "X"),
    )


def refused(call, *arguments, **named) -> TinycError:
    with pytest.raises(TinycError) as caught:
        call(*arguments, **named)
    return caught.value


@pytest.fixture(params=TARGETS)
def target(request):
    return request.param


@pairwise(element=ElementType, shape=[(), (0, 2), (3,), (5, 30)], target=TARGETS)
def test_a_constant_of_any_type_is_returned_as_it_is_and_moved(element, shape, target):
    array = (np.arange(int(np.prod(shape))).reshape(shape) % 2 + (0 if element.is_bool else 3)).astype(element.dtype)
    wide = array.astype(np.float64) if element is ElementType.BF16 else array
    arg = {"values": wide.reshape(-1).tolist(), "shape": list(shape), "dtype": element.json_name}
    moved = node("m", "RESHAPE", "c", result_shape=[array.size])
    model = tinyc.compile(program(node("c", "CONST", **arg), moved, outputs=["c", "m"]), target=target)
    outputs = model.run()
    assert outputs["c"].dtype == outputs["m"].dtype == element.dtype
    assert outputs["c"].shape == shape
    assert outputs["c"].tobytes() == outputs["m"].tobytes() == array.tobytes()


def test_weights_are_set_once_and_again_and_kept(target):
    model = tinyc.compile(summed(), target=target, fusion="none")
    assert (model.inputs, model.weights) == (("X",), ("W",))
    assert "weights (W: fp32 [3, 4]): (X: fp32 [4]) -> (y: fp32 [4])>" in repr(model)
    x = np.ones(4, np.float32)
    for factor in (1, 2):
        given = W * factor
        model.set_weights({"W": given})
        given[...] = np.nan  # it is the model's own copy that counts
        for _ in range(2):
            np.testing.assert_array_equal(model(x), W.sum(0) * factor * [1, 2, 3, 4] + 1)


def test_what_is_made_of_weights_is_made_once(monkeypatch):
    model = tinyc.compile(summed(), target="sim", fusion="none", weights={"W": W})
    kernels = model.lowering.program().kernels
    assert [(kernel.prepare, kernel.generation) for kernel in kernels] == [(True, 0), (True, 1), (False, 2)]
    launches = []
    for _ in range(3):
        model(np.ones(4, np.float32))
        launches.append(len(model.reports))
    model.set_weights({"W": W})
    model(np.ones(4, np.float32))
    assert [*launches, len(model.reports)] == [3, 1, 1, 3]


def test_a_run_that_fails_while_it_prepares_prepares_again(monkeypatch):
    model = tinyc.compile(summed(), target="cpu", fusion="none", weights={"W": W})

    def stopped(name, array):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.run_named({"X": np.ones(4, np.float32)}, observe=stopped)
    np.testing.assert_array_equal(model(np.ones(4, np.float32)), W.sum(0) * [1, 2, 3, 4] + 1)


def test_threads_prepare_once():
    model = tinyc.compile(summed(), target="cpu", fusion="none", weights={"W": W})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: model(np.full(4, k, np.float32)), range(64)))
    for k, each in enumerate(found):
        np.testing.assert_array_equal(each, W.sum(0) * [1, 2, 3, 4] + k)


def test_weights_are_declared_when_a_program_is_compiled(target):
    source = program(tensor("X", 2, 3), tensor("W", 3, 4), node("y", "MATMUL", "X", "W"))
    named = tinyc.compile(source, target=target, weights=["W"])
    assert refused(named, X).name == "InputMismatch"
    named.set_weights({"W": W})
    given = tinyc.compile(source, target=target, weights={"W": W})
    for model in (named, given):
        np.testing.assert_array_equal(model(X), X @ W)
    assert "tiny.weight" in named.text("tiny")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["V"], "weights: the program has no input 'V'"),
        ("W", "'weights' is a str; give a list of names, or a mapping"),
        ([1], "'weights' is a list; give a list of names"),
        ({"W": np.ones((3, 4))}, "weight 'W' is of type float64; the program declares fp32"),
        ({"W": np.ones((4, 3), np.float32)}, "weight 'W' has shape [4, 3]; the program declares fp32 [3, 4]"),
        ({"W": [1, 2]}, "weight 'W' is a list; give a numpy array"),
    ],
)
def test_what_are_no_weights_of_the_program_is_refused(weights, message, target):
    source = program(tensor("X", 2, 3), tensor("W", 3, 4), node("y", "MATMUL", "X", "W"))
    error = refused(tinyc.compile, source, target=target, weights=weights)
    assert error.name == "InputMismatch"
    assert message in str(error)


def test_a_run_without_its_weights_or_with_them_is_refused_by_name(target):
    model = tinyc.compile(summed(), target=target)
    x = np.ones(4, np.float32)
    assert "the weights 'W' have not been set; give them with model.set_weights" in str(refused(model, x))
    model.set_weights({})
    assert refused(model, x).name == "InputMismatch"
    model.set_weights({"W": W})
    for run in (lambda: model.run(X=x, W=W), lambda: model(x, W=W)):
        assert "'W' is a weight, which is given once: model.set_weights({'W': …}), not a run" in str(refused(run))
    wrong = refused(model.set_weights, {"W": 2 * W, "V": W})
    assert "the program has no weight 'V'; there are W" in str(wrong)
    assert "the weights are not a mapping" in str(refused(model.set_weights, [W]))
    np.testing.assert_array_equal(model(x), W.sum(0) * [1, 2, 3, 4] + 1)  # as before what was refused
    model.free()
    assert refused(model.set_weights, {"W": W}).name == "ModelFreed"


def test_the_extents_of_a_weight_are_numbers(target):
    source = program(tensor("X", 2, "K"), tensor("W", "K", 4), node("y", "MATMUL", "X", "W"))
    error = refused(tinyc.compile, source, target=target, weights=["W"])
    assert (error.name, error.where.node) == ("InvalidExtent", "W")
    assert "'W' is declared a weight, and has symbolic extents, fp32 [K, 4]; bind them" in error.message
    model = tinyc.compile(source, target=target, weights={"W": W}, bind={"K": 3})
    np.testing.assert_array_equal(model(X), X @ W)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_the_layers_below_run_with_their_constants_and_weights(target, tmp_path):
    model = tinyc.compile(summed(), target=target, fusion="none", weights={"W": W}, dump=tmp_path)
    expected = model(np.ones(4, np.float32))
    for layer in ("region", "exec", "llvm" if target == "cpu" else "ptx"):
        (file,) = tmp_path.glob(f"*_{layer}.*")
        again = tinyc.compile(file, target=target, weights={"W": W})
        assert (again.inputs, again.weights) == (("X",), ("W",))
        np.testing.assert_array_equal(again(np.ones(4, np.float32)), expected)
    assert "weights: the program was lowered already" in str(refused(tinyc.compile, file, target=target, weights=["X"]))


def test_a_large_constant_stands_in_no_text_for_people_and_is_not_read_from_one(tmp_path):
    np.savez(tmp_path / "w.npz", w=np.arange(20_000, dtype=np.float32))
    source = program(node("c", "CONST", file="w.npz", name="w"), node("y", "NEG", "c"))
    (tmp_path / "p.json").write_text(json.dumps(source))
    model = tinyc.compile(tmp_path / "p.json")
    for layer in ("tiny", "region", "exec", "loops", "llvm"):
        assert len(model.text(layer)) < 20_000
    error = refused(tinyc.compile, model.text("exec"))
    assert "are not in this text, which was written for reading" in error.message
    np.testing.assert_array_equal(model(), -np.arange(20_000, dtype=np.float32))
    whole = text.print_ir(model.lowering.module("exec"))
    np.testing.assert_array_equal(tinyc.compile(whole)(), model())


def test_equal_constants_share_a_buffer_and_a_mapped_one_is_read_when_the_program_runs(tmp_path):
    np.savez(tmp_path / "w.npz", w=np.zeros(2**17, np.int32))
    (tmp_path / "p.json").write_text(
        json.dumps(
            program(
                *(node(f"c{k}", "CONST", file="w.npz", name="w") for k in range(2)),
                node("s", "CONST", values=[7] * 70, dtype="i32"),
                node("t", "CONST", values=[7] * 70, dtype="i32"),
                node("y", "ADD", "c0", "c1"),
                node("z", "ADD", "s", "t"),
            )
        )
    )
    model = tinyc.compile(tmp_path / "p.json")
    module = model.lowering.module("exec")
    assert [each.name for each in program_of(module).pool] == ["constant_0", "constant_1"]
    held = constants_of(module)
    assert isinstance(held["constant_0"], np.memmap)
    assert not any(each.flags.writeable for each in held.values())
    assert not model.run()["y"].any()


@pytest.mark.parametrize("change", ["cut off", "written to"])
@pytest.mark.parametrize("use", ["run", "save", "text"])
def test_a_file_of_weights_that_changes_before_it_is_read_is_refused(tmp_path, change, use):
    path = tmp_path / "w.npz"
    np.savez(path, w=np.zeros(2**17, np.int32))
    (tmp_path / "p.json").write_text(
        json.dumps(program(node("c", "CONST", file="w.npz", name="w"), node("y", "ADD", "c", "c")))
    )
    model = tinyc.compile(tmp_path / "p.json")
    if change == "cut off":
        os.truncate(path, 1000)
    else:
        os.utime(path, ns=(0, 1))
    calls = {
        "run": model.run,
        "save": lambda: model.save(tmp_path / "m.tinyc"),
        "text": lambda: text.print_ir(model.lowering.module("exec")),
    }
    error = refused(calls[use])
    assert (error.name, error.where.file) == ("UnreadableFile", str(path))
    assert "the file has changed since it was mapped into memory: it " in error.message


def test_the_command_line_draws_weights_as_it_does_inputs(tmp_path, capsys):
    from tinyc.driver.cli import main

    path = tmp_path / "p.json"
    path.write_text(json.dumps(summed()))
    assert main(["run", str(path), "--random", "0", "--check"]) == 0
    assert main(["verify", str(path), "--target", "sim"]) == 0
    assert "all layers agree" in capsys.readouterr().out


def test_a_constant_is_read_from_memory_and_nothing_is_fused_with_it():
    error = refused(tinyc.compile, summed(), fusion={"fuse": [("c", "t")]})
    assert (error.name, error.message.partition(":")[0]) == (
        "IllegalFusion",
        "'c', which 't' reads, is a constant in memory",
    )


def test_runs_beside_a_change_of_weights_have_those_of_before_or_after():
    document = program(
        tensor("X", 4000), weight("W", 4000), weight("V", 4000), node("a", "ADD", "X", "W"), node("y", "ADD", "a", "V")
    )
    model = tinyc.compile(document, fusion="none")
    x, sets = np.zeros(4000, np.float32), [dict.fromkeys("WV", np.full(4000, each, np.float32)) for each in (1, 2)]
    model.set_weights(sets[0])
    done = threading.Event()

    def change():
        while not done.is_set():
            for each in sets:
                model.set_weights(each)

    thread = threading.Thread(target=change)
    thread.start()
    found = {float(each) for _ in range(1500) for each in np.unique(model(x))}
    done.set()
    thread.join()
    assert found == {2.0, 4.0}
