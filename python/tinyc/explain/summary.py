"""`tinyc explain --summary`: what a model is made of, and what each region of it is predicted to take.

In: a program on its way to a target, all of its sizes known, and the ledger of that way. Out: tables.
"""

from collections.abc import Iterator, Sequence

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.ops import ConstOp
from tinyc.driver.lowering import Lowering
from tinyc.executors.signature import signature_of
from tinyc.explain.arena import lower_bound_bytes
from tinyc.expr import extents
from tinyc.expr.maximum import maximum_at
from tinyc.fusion.ledger import RegionEntry
from tinyc.runtime.program import Program
from tinyc.target import Machine
from tinyc.target.target import Target
from tinyc.text.table import Table
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType, symbols_of

_TOTALS = ("what", "count", "bytes")
#: How many letters the names of a region's nodes take at the most, apart from how many there are.
_MAX_NAMES = 48
_MEASURED = "times as they are measured: tinyc run --profile"
_REGIONS = ("region", "kernel", "nodes", "FLOPs", "bytes", "predicted us", "part of all", "limited by")


def summary_tables(lowering: Lowering, machine: Machine) -> tuple[Table, Table]:
    """The totals of a program, and a row for each region in the order in which they run, predicted for a machine.

    Raises:
        TinycError: `UnboundSymbol`: a size is not known.
    """
    function = main_function(lowering.module("tiny"))
    signature = signature_of(function)
    unbound = symbols_of([each.type for each in signature.inputs])
    if unbound:
        names = ",".join(f"{name}=…" for name in unbound)
        raise TinycError("UnboundSymbol", f"the sizes {', '.join(unbound)} are not known; give --bind {names}")
    stored = [
        tensor_type(op.output.type)
        for op in function.entry_block.operations
        if isinstance(op, ConstOp) and op.is_stored
    ]
    parameters = [*stored, *(each.type for each in signature.weights)]
    regions = lowering.ledger().regions
    totals = _totals(
        [each.type for each in signature.run_inputs],
        parameters,
        [each.type for each in signature.outputs],
        regions,
        lowering.program(),
    )
    rows = _rows(regions)
    title = f"regions, {_predicted_for(machine)}"
    return Table("model", _TOTALS, tuple(totals)), Table(title, _REGIONS, tuple(rows), _MEASURED)


def _predicted_for(machine: Machine) -> str:
    """The machine whose rates the times are predicted from: what it does at most."""
    rates = machine.rates
    shown = [f"{rates.bytes_per_second / 1e9:g} GB/s", f"{rates.flops_per_second / 1e9:g} GFLOP/s in f32"]
    name = machine.name
    if isinstance(machine, Target):
        name = f"{name} ({machine.product})"
        shown.append(f"{machine.f16_tensor_flops_per_second / 1e9:g} by tensor cores in f16")
    return f"predicted for {name}: {', '.join(shown)}, {rates.launch_seconds * 1e6:g} us a launch"


def _totals(
    inputs: Sequence[TensorType],
    parameters: Sequence[TensorType],
    outputs: Sequence[TensorType],
    regions: Sequence[RegionEntry],
    program: Program,
) -> Iterator[tuple[object, ...]]:
    for what, types in (("inputs", inputs), ("parameters", parameters), ("outputs", outputs)):
        count = sum(_elements(each) for each in types) if what == "parameters" else len(types)
        yield what, count, sum(_elements(each) * each.element.size_bytes for each in types)
    arena = maximum_at(program.arena_bytes, {})
    yield "arena (buffers; at the least)", len(program.arena_lifetimes), f"{arena}; {lower_bound_bytes(program, {})}"
    yield "regions (moved by them)", len(regions), sum(_moved(each) for each in regions)
    yield "FLOPs", sum(each.cost["flops"] for each in regions), ""
    yield "predicted us", round(sum(each.cost["us"] for each in regions), 1), ""


def _elements(tensor: TensorType) -> int:
    return extents.evaluate(extents.product(tensor.shape), {})


def _moved(region: RegionEntry) -> float:
    return region.cost["read_bytes"] + region.cost["written_bytes"]


def _rows(regions: Sequence[RegionEntry]) -> Iterator[tuple[object, ...]]:
    total = sum(each.cost["us"] for each in regions) or 1.0
    for each in regions:
        memory, compute, launch = (each.cost[f"{term}_us"] for term in ("memory", "compute", "launch"))
        limiter = "launch" if launch > max(memory, compute) else "memory" if memory >= compute else "arithmetic"
        shown = f"{100 * each.cost['us'] / total:.1f} %"
        numbers = each.cost["flops"], _moved(each), each.cost["us"]
        yield each.name, each.scheme, _shortened(each.writes), *numbers, shown, limiter


def _shortened(names: Sequence[str]) -> str:
    """Names as one text; of many the first and the last, and how many there are, each without its middle if long."""
    text = " ".join(names)
    if len(text) <= _MAX_NAMES:
        return text
    if len(names) == 1:
        return _cut(text, _MAX_NAMES)
    first, last = (_cut(each, _MAX_NAMES // 2) for each in (names[0], names[-1]))
    return f"{first} {last}" if len(names) == 2 else f"{first} … {last} ({len(names)} in all)"


def _cut(name: str, letters: int) -> str:
    """A name of at most so many letters; of a longer one its begin and its end, which tells more of a path."""
    kept = letters // 3
    return name if len(name) <= letters else f"{name[:kept]}…{name[kept + 1 - letters :]}"
