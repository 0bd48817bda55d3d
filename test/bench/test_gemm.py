"""What `bench/gemm.py` does without a GPU: its programs, turns and ratios, its files, and launches on a fake driver."""

import itertools

import numpy as np
import pytest

import gemm
import tinyc
from gemm_cases import EPILOGUES, KINDS, LAYOUTS, SHAPES, Product, products, shapes_of
from gemm_report import CUBLAS, PLAIN, TINYC, TRITON, Row, append_row, clock_device, figures_of, read_rows, roofline
from gemm_rounds import LEAST_ROUNDS, WARM_ROUNDS, Measured, measure
from gemm_tinyc import CompiledProduct, StreamLaunch
from runtime.fake_driver import FakeDriver
from tinyc.driver.profile import Prediction
from tinyc.plan.fields import Plan
from tinyc.runtime import assembler
from tinyc.vocabulary.element_type import BY_NAME

SMALL = Product(64, 128, 96)


@pytest.mark.parametrize(("element", "layout", "epilogue"), [*itertools.product(KINDS, LAYOUTS, EPILOGUES)])
def test_a_program_is_the_product_that_its_name_says(element, layout, epilogue):
    product, random = Product(5, 7, 3, element, layout, epilogue), np.random.default_rng(0)
    model = tinyc.compile(product.program, target="reference")
    types = {each.name: each.type.element.dtype for each in model.signature.inputs}
    given = {name: random.integers(-9, 9, shape).astype(types[name]) for name, shape in product.shapes.items()}
    a, b = (
        given[name].astype(np.float64).T if lies == "t" else given[name]
        for name, lies in zip("ab", layout, strict=True)
    )
    c = a.astype(np.float64) @ b.astype(np.float64)
    expected = {
        "none": c,
        "bias_relu": np.maximum(c + given.get("bias", 0), 0),
        "residual": c + given.get("residual", 0),
    }
    (found,) = model.run(**given).values()
    assert found.dtype == BY_NAME[{"f16": "f16", "bf16": "bf16", "i8": "i32", "tf32": "f32"}[element]].dtype
    np.testing.assert_array_equal(found.astype(np.float64), expected[epilogue])


def test_products_differ_in_one_way_or_are_all_there_are():
    one_way = [*products(shapes_of(["llm", "8x16x32"]), [*KINDS], LAYOUTS, EPILOGUES, crossed=False)]
    assert len(one_way) == 3 * (1 + 3 + 3 + 2)
    assert one_way[0] == Product(4096, 4096, 14336)
    assert one_way[-1] == Product(8, 16, 32, "tf32")
    assert len([*products(shapes_of(["llm"]), [*KINDS], LAYOUTS, EPILOGUES, crossed=True)]) == 2 * 4 * 4 * 3
    assert sum(map(len, SHAPES.values())) == 21
    with pytest.raises(ValueError, match="'huge' is no set of shapes; choose cubes, llm"):
        shapes_of(["huge"])


# Times drift by a factor of three, as those of a GPU that gets hot: the ratio of rounds does not.
def test_contenders_take_turns_and_ratios_are_those_of_rounds():
    order: list[str] = []

    def contender(name, seconds):
        def once():
            order.append(name)
            return seconds * (1 + len(order) / 20)

        return once

    found = measure({"a": contender("a", 2.0), "b": contender("b", 1.0)}, seconds=1.0)
    assert {name: len(each) for name, each in found.seconds.items()} == dict.fromkeys("ab", LEAST_ROUNDS)
    rounds = order[2 * WARM_ROUNDS :]
    assert rounds[:4] == ["a", "b", "b", "a"]
    assert found.ratio("a", "b").median == pytest.approx(2, rel=0.1)
    assert found.ratio("a", "c") is None


def measured_row(product, tinycs, cublas, triton, **more):
    times = {TINYC: tinycs, CUBLAS: cublas, TRITON: triton, **more}
    row = Row(product, "NVIDIA H100 80GB HBM3", "sm_90a", Prediction(occupancy="0.25", plan="mma, tile"), 1.1 * tinycs)
    return row.with_measured(Measured({name: [each] * 3 for name, each in times.items()}), "")


def test_rows_come_back_from_their_file_and_are_judged(tmp_path):
    fast = measured_row(SMALL, 1e-5, 1.2e-5, 1.5e-5)
    fused = measured_row(Product(64, 128, 96, "i8", "nt", "bias_relu"), 1e-5, 0.9e-5, 2e-5, **{PLAIN: 0.9e-5})
    failed = Row(Product(64, 128, 96, "tf32"), "NVIDIA H100 80GB HBM3", "sm_90a", note="Triton: out of memory")
    for each in (fast, fused, failed):
        append_row(tmp_path / "rows.csv", each)
    rows = read_rows([tmp_path / "rows.csv"])
    assert [each.cells for each in rows] == [each.cells for each in (fast, fused, failed)]
    head = (tmp_path / "rows.csv").read_text().splitlines()[0]
    assert "FLOPs,bytes,occupancy,estimate_us,actual_us,plan" in head
    found = {what: (measured, kept) for what, measured, _, kept in figures_of(rows).rows}
    assert found["products that did not compile, did not run or are wrong"] == ("1 ", "MISSED")
    assert found["cuBLAS's time over tinyc's, geometric mean"] == ("1.04 ×", "MISSED")
    assert found[f"the same at worst: {fused.product}"][0] in ("0.9 ×", "2 ×")
    assert found[f"with an epilogue over without, at worst: {fused.product}"] == ("1.11 ×", "MISSED")
    assert found["the clock's time over the measured one, geometric mean"][0] == "1.1 ×"


def test_the_roofline_has_a_point_for_each_time():
    svg = roofline([measured_row(SMALL, 1e-5, 1.2e-5, 1.5e-5)])
    assert svg.count("<circle") == 4
    assert "<title>64x128x96 f16 nn none, cuBLAS</title>" in svg
    names = ("NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A100-SXM4-40GB", "NVIDIA RTX A6000", "NVIDIA L4")
    assert [clock_device(name) for name in names] == ["h100", "h200", "a100", "a6000", None]


class OtherStream(FakeDriver):
    """A driver whose streams are not that of the caller."""

    def _cuStreamCreate(self, flags):  # noqa: N802 - the driver's name
        return 1


# The grid of a persistent kernel is what the driver is given; maps are encoded once for addresses that stay.
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_launches_go_to_the_callers_stream_with_its_addresses(arch, monkeypatch):
    monkeypatch.setattr(assembler, "find_ptxas", lambda: None)
    compiled, seen = CompiledProduct.of(SMALL, arch, Plan(scheme="mma")), []
    (launch,) = compiled.bound.launches
    driver = OtherStream(capability=(9, 0))
    driver.kernels = {
        each.symbol: (len(each.parameters), lambda _, grid, given: seen.append((tuple(grid), given)))
        for each in compiled.bound.program.launches
    }
    addresses = {"a": 0x10000, "b": 0x20000, "c": 0x30000}
    ready = StreamLaunch(compiled, addresses, stream=71, binding=driver)
    for _ in range(3):
        ready()
    assert [grid for grid, _ in seen] == [launch.grid] * 3
    assert set(addresses.values()) <= set(seen[0][1])
    assert len(driver.named("cuGraphLaunch")) == 2
    assert {each[1] for each in driver.encoded} <= set(addresses.values())
    ready.close()


def test_without_a_gpu_it_says_so_and_what_works(monkeypatch, capsys):
    def absent():
        raise tinyc.TinycError("NoDriver", "there is no GPU")

    monkeypatch.setattr(gemm, "require_gpu", absent)
    monkeypatch.setattr("sys.argv", ["gemm.py", "--shapes", "llm"])
    assert gemm.main() == 2
    assert "--predict tells what the clock predicts, without a GPU" in capsys.readouterr().err


def test_predictions_are_written_and_collected(monkeypatch, capsys, tmp_path):
    stem = tmp_path / "predicted"
    asked = ["--predict", "--shapes", "128x128x64", "--types", "f16", "--layouts", "nn", "--epilogues", "none"]
    monkeypatch.setattr("sys.argv", ["gemm.py", *asked, "--plan", '{"scheme": "mma"}', "--output", str(stem)])
    assert gemm.main() == 0
    (row,) = read_rows([stem.with_suffix(".csv")])
    assert row.clocked
    assert row.told.plan.startswith("mma, tile")
    assert "nothing was measured" in stem.with_suffix(".txt").read_text()
    again = tmp_path / "again"
    monkeypatch.setattr("sys.argv", ["gemm.py", "--collect", str(stem.with_suffix(".csv")), "--output", str(again)])
    assert gemm.main() == 0
    assert again.with_suffix(".svg").read_text() == stem.with_suffix(".svg").read_text()


def test_what_cannot_be_is_refused(capsys):
    for line, said in (
        (["--part", "3/2"], "'3/2' does not read as a part, such as 1/8"),
        (["--device", "h100"], "it is what --predict is for"),
        (["--shapes", "4096"], "'4096' is no set of shapes"),
    ):
        with pytest.raises(SystemExit):
            gemm.read_options(line)
        assert said in capsys.readouterr().err
