"""The door to the PTX simulator: what `ptxsim` raises has tinyc's codes here, and the kernels of tinyc run on it."""

from pathlib import Path

import numpy as np
import pytest

import ptxsim
import tinyc
from ptxsim.linking.link import link
from ptxsim.parsing.parser import parse
from tinyc import simulator
from tinyc.diagnostics import TinycError, Where

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNEL = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }"


def raised(call, *arguments, **options):
    with pytest.raises(tinyc.TinycError) as caught:
        call(*arguments, **options)
    return caught.value


def test_malformed_ptx_is_an_error_of_both_families():
    error = raised(simulator.load, KERNEL.replace("ret", "vanish"))
    assert isinstance(error, simulator.PtxError)
    assert isinstance(error, ptxsim.PtxError)
    assert (error.name, error.code, error.line, error.column) == ("InvalidPtx", "TC311", 4, 36)
    assert error.where == Where(line=4, column=36)
    assert str(error.at(Where(file="k.ptx"))).startswith("k.ptx:4:36: error: ")
    assert str(error.at(Where(file="k.ptx"))).endswith(" [TC311 InvalidPtx]")


def test_what_is_not_text_is_an_error():
    assert raised(simulator.load, b"").code == "TC311"


def test_what_does_not_fit_is_an_error_with_its_code():
    module = simulator.load(KERNEL)
    one = (1, 1, 1)
    errors = [
        raised(module.kernel, "kk"),
        raised(module.shared_memory, "kk"),
        raised(module.launch, "k", one, one, [np.int64(1)]),
        raised(module.launch, "k", one, (0, 1, 1), [np.int32(1)]),
        raised(module.launch, "k", one, one, [np.int32(1)], checks=("races", "bound")),
        raised(module.launch, "k", one, one, [np.int32(1)], ignore=("rece",)),
        raised(module.time, "k", one, one, [np.int32(1)], device="v100"),
        raised(module.time, "kk", one, one, [np.int32(1)]),
        raised(simulator.TensorMap.tiled, 1, np.zeros(8, np.float32), (8,), (), (0,), (1,)),
    ]
    assert {(error.name, error.code) for error in errors} == {("InputMismatch", "TC401")}


def test_a_launch_reports_as_ptxsim_does():
    report = simulator.load(KERNEL).launch("k", (1, 1, 1), (1, 1, 1), [np.int32(1)])
    assert isinstance(report, simulator.Report)
    assert report.ok


def test_a_tensor_map_is_the_simulator_s():
    made = simulator.TensorMap.tiled(1, np.zeros(8, np.float32), (8,), (), (8,), (1,))
    assert isinstance(made, simulator.TensorMap)
    assert isinstance(made, ptxsim.TensorMap)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (7, 5, 3), (33, 65, 40)])
def test_the_running_example_computes_the_right_numbers(arch, m, n, k):
    plan = {"scheme": "naive_2x2_per_thread"}
    model = tinyc.compile("examples/gemm_bias_relu.json", target="cuda", arch=arch, plan=plan)
    text = model.text("ptx")
    module = simulator.load(text)
    generator = np.random.default_rng(1)
    x, w, bias = (generator.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    y = np.full((m, n), np.nan, np.float16)
    (name,) = module.kernels
    grid = (-(-n // 64), -(-m // 64), 1)
    report = module.launch(name, grid, (16, 16, 1), [x, w, bias, y, np.int64(m), np.int64(k), np.int64(n)])
    assert report.ok, str(report)
    want = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(y, want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_the_kernels_that_tinyc_emits_are_linked(arch: str):
    model = tinyc.compile(EXAMPLES / "softmax.json", target="cuda", arch=arch, fusion="none")
    kernels = link(parse(model.text("ptx"))).kernels
    assert [each.opcode for each in kernels["reduce_max"].instructions].count("ld") > 2


def test_an_error_about_a_variable_is_one_of_tinycs():
    text = ".version 8.6\n.target sm_80\n.address_size 64\n.const .u32 c;\n.visible .entry k() { ret; }\n"
    module = simulator.load(text)
    module.variable("c").write(np.uint32(3))
    assert module.variable("c").read() == 3
    for wrong in (lambda: module.variable("d"), lambda: module.variable("c").write(b"")):
        with pytest.raises(TinycError) as error:
            wrong()
        assert error.value.name == "InputMismatch"


def test_a_device_is_one_of_the_architecture_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "versions_in_use", lambda: "")
    assert [simulator.clocked_device(arch) for arch in ("sm_80", "sm_90a")] == ["a100", "h100"]
    assert simulator.clocked_device("sm_90a", "h200") == "h200"
    assert "the clock has no device of sm_100a; there are a100 (sm_80), " in str(
        raised(simulator.clocked_device, "sm_100a")
    )
    assert raised(simulator.clocked_device, "sm_80", "v100").name == "InputMismatch"


def test_the_clock_says_what_is_missing_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ptxsim.InputError("there is no ptxas")

    monkeypatch.setattr(simulator, "versions_in_use", missing)
    assert str(raised(simulator.clocked_device, "sm_80")) == "error: there is no ptxas [TC401 InputMismatch]"
