"""What `gemm.py` tells of products: a row of each, as a table, as CSV and as a roofline, and how good all of them are.

In: products with what was predicted and measured. Out: text. The columns of the CSV from `FLOPs` to `plan` are those of
specification 000 §9, as `tinyc run --log` writes them.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from figures import Figures
from gemm_cases import Product
from gemm_rounds import Measured, Ratio, geometric_mean_and_least
from ptxsim.clock.devices import DEVICES
from ptxsim.clock.report.roofline import RooflineAxes, roofline_canvas
from tinyc.driver.profile import Prediction
from tinyc.text.table import Table

TINYC, PLAIN, CUBLAS, TRITON = "tinyc", "tinyc, plain", "cuBLAS", "Triton"
COLUMNS = (
    *("m", "n", "k", "element", "layout", "epilogue", "device", "arch"),
    *("FLOPs", "bytes", "occupancy", "estimate_us", "actual_us", "plan"),
    *("cublas_us", "triton_us", "cublas_over_tinyc", "low", "high", "triton_over_tinyc", "over_plain", "note"),
)
#: What is asked of all products: how often as long cuBLAS takes, as a geometric mean and at the least; and how often as
#: long a product with what follows takes as it does without.
MEAN, LEAST, FUSED = 1.05, 0.95, 1.03
#: How the roofline shows each.
_KINDS = {TINYC: "first", CUBLAS: "second", TRITON: "third"}


#: The ratios of a row, and their columns: whose time is over whose.
_RATIOS = {"cublas_over_tinyc": (CUBLAS, TINYC), "triton_over_tinyc": (TRITON, TINYC), "over_plain": (TINYC, PLAIN)}
_TIMES = {"actual_us": TINYC, "cublas_us": CUBLAS, "triton_us": TRITON}


@dataclass(frozen=True)
class Row:
    """A product: what the compiler expects (`told`), the seconds by the clock, what was measured, and what went wrong.

    `seconds` are medians by contender, `ratios` those of rounds by their column.
    """

    product: Product
    device: str
    arch: str
    told: Prediction = field(default_factory=Prediction)
    clocked: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    ratios: Mapping[str, Ratio] = field(default_factory=dict[str, Ratio])
    note: str = ""

    def with_measured(self, measured: Measured, note: str) -> "Row":
        """The row with what rounds have given."""
        ratios = {column: measured.ratio(*pair) for column, pair in _RATIOS.items()}
        found = {column: ratio for column, ratio in ratios.items() if ratio is not None}
        return replace(
            self, seconds={name: measured.median(name) for name in measured.seconds}, ratios=found, note=note
        )

    @property
    def cells(self) -> dict[str, object]:
        """The row of the CSV, by column."""
        product, told, spread = self.product, self.told, self.ratios.get("cublas_over_tinyc")
        return {
            **{name: getattr(product, name) for name in ("m", "n", "k", "element", "layout", "epilogue")},
            **{"device": self.device, "arch": self.arch, "FLOPs": product.flops, "bytes": product.bytes},
            **{"occupancy": told.occupancy, "estimate_us": _us(self.clocked), "plan": told.plan, "note": self.note},
            **{column: _us(self.seconds.get(name)) for column, name in _TIMES.items()},
            **{column: _three(ratio.median) for column, ratio in self.ratios.items()},
            **({} if spread is None else {"low": _three(spread.low), "high": _three(spread.high)}),
        }

    @classmethod
    def of_cells(cls, cells: Mapping[str, str]) -> "Row":
        """The row that a line of a CSV has; of ratios other than cuBLAS's it has no quartiles."""
        m, n, k = (int(cells[name]) for name in ("m", "n", "k"))
        product = Product(m, n, k, cells["element"], cells["layout"], cells["epilogue"])
        ratios = {column: float(cells[column]) for column in _RATIOS if cells[column]}
        low, high = (float(cells[name]) if cells[name] else None for name in ("low", "high"))
        return cls(
            product,
            *(cells["device"], cells["arch"]),
            Prediction(occupancy=cells["occupancy"], plan=cells["plan"]),
            float(cells["estimate_us"]) / 1e6 if cells["estimate_us"] else None,
            {name: float(cells[column]) / 1e6 for column, name in _TIMES.items() if cells[column]},
            {column: Ratio(value, low or value, high or value) for column, value in ratios.items()},
            cells["note"],
        )


def _us(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:.3f}"


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """The rows of CSV files that `append_row` has written."""
    found: list[Row] = []
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            found += [Row.of_cells(cells) for cells in csv.DictReader(file)]
    return found


def append_row(path: Path, row: Row) -> None:
    """Append a row to a CSV file, which gets a head where it is new: what has been measured outlives an outage."""
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        writer.writerow(row.cells)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows to a CSV file, which has no others then."""
    path.unlink(missing_ok=True)
    for row in rows:
        append_row(path, row)


def table_of(rows: Sequence[Row]) -> Table:
    """A line for each product: speeds in TFLOP/s, by the clock and measured, and ratios of times."""
    columns = (
        "product",
        "plan",
        "clock",
        TINYC,
        CUBLAS,
        TRITON,
        "cuBLAS / tinyc",
        "Triton / tinyc",
        "over plain",
        "note",
    )
    note = "TFLOP/s of medians (clock: predicted); ratios of times are medians of rounds, with their quartiles"
    return Table("products", columns, tuple(map(_line, rows)), note)


def _line(row: Row) -> tuple[str, ...]:
    def speed(seconds: float | None) -> str:
        return "" if seconds is None else f"{row.product.flops / seconds / 1e12:.4g}"

    ratios = {column: _three(ratio.median) for column, ratio in row.ratios.items()}
    return (
        *(str(row.product), row.told.plan, speed(row.clocked)),
        *(speed(row.seconds.get(name)) for name in (TINYC, CUBLAS, TRITON)),
        str(row.ratios.get("cublas_over_tinyc", "")),
        *(ratios.get("triton_over_tinyc", ""), ratios.get("over_plain", ""), row.note),
    )


def figures_of(rows: Sequence[Row]) -> Figures:
    """How good all products are together, beside what is asked."""
    figures = Figures(f"{len(rows)} products")
    figures.row("products that did not compile, did not run or are wrong", sum(bool(each.note) for each in rows), "", 0)
    if found := _ratios(rows, "cublas_over_tinyc"):
        mean, worst = geometric_mean_and_least([*found.values()])
        figures.row("cuBLAS's time over tinyc's, geometric mean", mean, "×", least=MEAN)
        figures.row(f"the same at worst: {min(found, key=found.__getitem__)}", worst, "×", least=LEAST)
    if found := _ratios(rows, "triton_over_tinyc"):
        mean, worst = geometric_mean_and_least([*found.values()])
        figures.row("Triton's time over tinyc's, geometric mean", mean, "×")
        figures.row(f"the same at worst: {min(found, key=found.__getitem__)}", worst, "×")
    if found := _ratios(rows, "over_plain"):
        worst = max(found, key=found.__getitem__)
        figures.row(f"with an epilogue over without, at worst: {worst}", found[worst], "×", FUSED)
    clocked = [each.clocked / each.seconds[TINYC] for each in rows if each.clocked and TINYC in each.seconds]
    if clocked:
        figures.row("the clock's time over the measured one, geometric mean", geometric_mean_and_least(clocked)[0], "×")
    return figures


def _ratios(rows: Sequence[Row], column: str) -> dict[str, float]:
    return {str(row.product): row.ratios[column].median for row in rows if column in row.ratios}


def clock_device(name: str) -> str | None:
    """What the clock calls a GPU; None where it knows none like it."""
    return next((each for each in DEVICES if each in name.lower()), None)


def roofline(rows: Sequence[Row]) -> str:
    """The text of an SVG file: each product's FLOPs of the bytes that it has to move, and the speeds it is computed at.

    Hollow points are the clock's predictions. Ceilings are those of f16, and of f32 on the CUDA cores; of an H100 where
    the clock does not know the GPU.
    """
    points: list[tuple[float, float, str, str]] = []
    for row in rows:
        intensity = row.product.flops / row.product.bytes
        timed = [("predicted", "by the clock", row.clocked)]
        timed += [(kind, name, row.seconds.get(name)) for name, kind in _KINDS.items()]
        points += [
            (intensity, row.product.flops / seconds, kind, f"{row.product}, {name}")
            for kind, name, seconds in timed
            if seconds is not None
        ]
    described = DEVICES[clock_device(rows[0].device) or "h100"]
    axes = RooflineAxes(described, [(intensity, rate) for intensity, rate, _, _ in points])
    shown = {kind for _, _, kind, _ in points}
    legend = {name: kind for name, kind in (*_KINDS.items(), ("tinyc by the clock", "predicted")) if kind in shown}
    canvas = roofline_canvas(described, axes, legend)
    for intensity, rate, kind, told in points:
        canvas.point(*axes.at(intensity, rate), kind, told)
    return canvas.svg()
