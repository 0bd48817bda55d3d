"""What the plan of a contraction on a CPU is chosen from: tiles by their predicted time, and those that cannot be.

In: a plan with some of the fields, a candidate with its kernel. Out: a `PlanSearch`. Its times are those of all threads
together that share the tiles, as the mean for machines of several numbers of threads (`analysis.product_cost`).
"""

from tinyc.analysis.candidate import Candidate
from tinyc.analysis.judged_products import STRIDE_HINT, JudgedProduct, judged_products, stride_of
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.analysis.loop_choices import LoopChoices
from tinyc.analysis.product_cost import ProductShape
from tinyc.dialects.region import ops as region
from tinyc.plan.fields import Plan
from tinyc.schemes.names import CPU_FORMS
from tinyc.schemes.search import PlanSearch, PrunedPlan, RankedPlan
from tinyc.target import CpuTarget


def search_tiles(plan: Plan, candidate: Candidate, target: CpuTarget) -> PlanSearch:
    """What the tiles of a contraction are chosen from, where a plan is given that is not refused."""
    assert isinstance(candidate.op, region.KernelOp)  # plans are for kernels
    kernel = kernel_loops(candidate.op)
    assert not isinstance(kernel, str), kernel  # it has loops of a product
    choices = LoopChoices(plan, _nothing, candidate.kept)
    judged = list(judged_products(kernel, choices, dot=region.dot_form(candidate.op)))
    built = [each for each in judged if not each.faults]
    ranked = tuple(RankedPlan(_alone(each), each.time.seconds, each.time.limiter, _terms(each)) for each in built)
    pruned = tuple(PrunedPlan(_alone(each), each.faults) for each in judged if each.faults)
    return PlanSearch(_problem(built[0].shape, target), ranked, pruned)


def _nothing(_name: str, _field: str, _message: str) -> None:
    """What speaks against the plan has been said."""


def _problem(shape: ProductShape, target: CpuTarget) -> str:
    """What times are predicted for: sizes, those that are not known being usual ones, and threads."""
    sizes = {"batch": shape.batch, "m": shape.rows, "n": shape.columns, "k": shape.products}
    shown = [f"{axis} = {size}" for axis, size in sizes.items() if axis != "batch" or size > 1]
    threads = ", ".join(str(count) for count, _ in target.products.machines)
    return f"{', '.join(shown)}; threads together, the mean for {threads} of them"


def _alone(judged: JudgedProduct) -> Plan:
    """The plan that asks for tiles and leaves open what the search does not decide."""
    asked = judged.product.asked
    return Plan(
        scheme=next(name for name, form in CPU_FORMS.items() if form == "PRODUCT"),
        tile=asked.tile,
        layout_hints={STRIDE_HINT: stride_of(judged.product.sides)},
        pack={"A": asked.packs_left, "B": asked.packs_right},
    )


def _terms(judged: JudgedProduct) -> dict[str, float]:
    """How many tiles there are, and the parts of the time in percent."""
    time = judged.time
    parts = {f"{name.replace(' ', '_')}_percent": round(100 * part / time.seconds, 1) for name, part in time.parts}
    return {"tiles": time.turns, **parts}
