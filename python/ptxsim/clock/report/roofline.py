"""A roofline: FLOPs of a byte against FLOP/s, under what the device gives; a point for each kernel.

In: estimates on one device, with names. Out: the text of an SVG file. Both axes are logarithmic. The slope is HBM's
peak of the data sheet, the ceilings are the peaks of the tensor cores (f16) and of f32; the bar of a point is its
uncertainty. A kernel without FLOPs has no place on it, and is told in a line.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

from ptxsim.clock.devices import Device
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.report.canvas import LINE_HEIGHT, Canvas
from ptxsim.clock.report.quantities import rate_text, seconds_text, share_text

#: Pixels: the chart, and what stands left, above and below it.
_WIDTH, _HEIGHT, _LEFT, _TOP, _BELOW = 640.0, 400.0, 110.0, 40.0, 50.0
#: FLOPs of a byte, and FLOP/s under the highest ceiling, in powers of ten, that are shown at the least.
_INTENSITIES, _DECADES = (-1, 4), 4
_KINDS = ("first", "second")


class RooflineAxes:
    """Where intensities (FLOPs of a byte) and rates (FLOP/s) are, in pixels, so that all points have a place."""

    def __init__(self, device: Device, points: Sequence[tuple[float, float]]) -> None:
        top = log10(max([device.tensor_flops_per_second, *(rate for _, rate in points)]))
        self.rates = min([floor(top) - _DECADES + 1, *(floor(log10(rate)) for _, rate in points)]), ceil(top)
        powers = [log10(intensity) for intensity, _ in points]
        self.intensities = (
            min([_INTENSITIES[0], *map(floor, powers)]),
            max([_INTENSITIES[1], *map(ceil, powers)]),
        )

    def at(self, intensity: float, rate: float) -> tuple[float, float]:
        """The place of FLOPs of a byte and FLOP/s, at the edge where it is outside."""
        x = _part(log10(intensity), self.intensities)
        y = _part(log10(rate), self.rates)
        return _LEFT + _WIDTH * x, _TOP + _HEIGHT * (1 - y)


def roofline_svg(estimates: Mapping[str, Estimate]) -> str:
    """The chart of one kernel or two, by their names; they are on the device of the first one."""
    device = next(iter(estimates.values())).device
    placed = {
        name: (each.flops_per_second / each.bytes_per_second, each.flops_per_second)
        for name, each in estimates.items()
        if each.flops_per_second > 0 and each.bytes_per_second > 0
    }
    axes = RooflineAxes(device, list(placed.values()))
    kinds = {name: _KINDS[number % 2] for number, name in enumerate(estimates)}
    told = {name: _told(name, each) for name, each in estimates.items()}
    canvas = roofline_canvas(device, axes, {told[name]: kind for name, kind in kinds.items()})
    for name, place in placed.items():
        _draw_point(canvas, axes, place, estimates[name].uncertainty, (kinds[name], told[name]))
    return canvas.svg()


def roofline_canvas(device: Device, axes: RooflineAxes, legend: Mapping[str, str]) -> Canvas:
    """The chart of a device without points; what each kind of these means stands below, kinds by their words."""
    canvas = Canvas(_LEFT + _WIDTH + 40, _TOP + _HEIGHT + _BELOW + LINE_HEIGHT * len(legend))
    canvas.words(_LEFT, _TOP - LINE_HEIGHT, f"roofline, {device.title}", kind="title")
    _draw_axes(canvas, axes)
    _draw_ceilings(canvas, axes, device)
    for number, (words, kind) in enumerate(legend.items()):
        below = _TOP + _HEIGHT + _BELOW + LINE_HEIGHT * number
        canvas.box(_LEFT, below - 10, 10, 10, kind)
        canvas.words(_LEFT + 16, below, words)
    return canvas


def _draw_axes(canvas: Canvas, axes: RooflineAxes) -> None:
    (left, right), (low, high) = axes.intensities, axes.rates
    for power in range(left, right + 1):
        canvas.line([axes.at(10.0**power, 10.0**low), axes.at(10.0**power, 10.0**high)], "grid")
        x, y = axes.at(10.0**power, 10.0**low)
        canvas.words(x, y + LINE_HEIGHT, f"{10.0**power:g}", "middle")
    for power in range(low, high + 1):
        canvas.line([axes.at(10.0**left, 10.0**power), axes.at(10.0**right, 10.0**power)], "grid")
        x, y = axes.at(10.0**left, 10.0**power)
        canvas.words(x - 8, y + 4, rate_text(10.0**power, "FLOP"), "end")
    corner = axes.at(10.0**left, 10.0**low)
    canvas.line([axes.at(10.0**left, 10.0**high), corner, axes.at(10.0**right, 10.0**low)], "axis")
    canvas.words(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 2 * LINE_HEIGHT, "FLOPs of a byte of HBM", "middle")


def _draw_ceilings(canvas: Canvas, axes: RooflineAxes, device: Device) -> None:
    memory = device.memory_bytes_per_second
    right, low = 10.0 ** axes.intensities[1], 10.0 ** axes.rates[0]
    slope_start = max(10.0 ** axes.intensities[0], low / memory)
    for name, peak in (("tensor f16", device.tensor_flops_per_second), ("f32", device.f32_flops_per_second)):
        canvas.line([axes.at(peak / memory, peak), axes.at(right, peak)], "ceiling")
        x, y = axes.at(right, peak)
        canvas.words(x, y - 6, f"{name} {rate_text(peak, 'FLOP')}", "end")
    peak = device.tensor_flops_per_second
    canvas.line([axes.at(slope_start, slope_start * memory), axes.at(peak / memory, peak)], "ceiling")
    x, y = axes.at(max(slope_start, 1.0), max(slope_start, 1.0) * memory)
    canvas.words(x - 8, y - 6, f"HBM {rate_text(memory, 'B')}", "end")


def _draw_point(
    canvas: Canvas, axes: RooflineAxes, place: tuple[float, float], uncertainty: float, shown: tuple[str, str]
) -> None:
    kind, told = shown
    intensity, rate = place
    bar = [axes.at(intensity, rate / (1 + uncertainty)), axes.at(intensity, rate * (1 + uncertainty))]
    canvas.line(bar, kind)
    canvas.point(*axes.at(intensity, rate), kind, told)


def _told(name: str, estimate: Estimate) -> str:
    time = f"{seconds_text(estimate.seconds)} ± {share_text(estimate.uncertainty)}"
    bytes_text = rate_text(estimate.bytes_per_second, "B")
    if estimate.flops_per_second <= 0 or estimate.bytes_per_second <= 0:
        lacks = "FLOPs" if estimate.flops_per_second <= 0 else "bytes of HBM"
        return f"{name}: no {lacks}, and so no point; {time}, {bytes_text}"
    return f"{name}: {rate_text(estimate.flops_per_second, 'FLOP')}, {bytes_text}; {time}"


def _part(value: float, ends: tuple[int, int]) -> float:
    return min(1.0, max(0.0, (value - ends[0]) / (ends[1] - ends[0])))
