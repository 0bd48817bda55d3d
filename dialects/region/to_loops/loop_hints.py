"""What LLVM is asked to do with loops, by a plan or for what they compute, as annotations of these loops.

In: the field `loop` of a plan, whose axes are counted as the kernel's nest counts them; or the function of a kernel.
Out: an attribute of loops, which MLIR carries into LLVM's metadata of loops.
"""

from collections.abc import Collection
from dataclasses import dataclass

from tinyc.codegen.software_math import FUNCTIONS
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.to_llvm.llvm_ir import LOOP_ANNOTATION
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.splits import innermost_loops
from tinyc.mlir import func, ir, scf
from tinyc.mlir.bodies import ops_inside
from tinyc.mlir.locations import where
from tinyc.plan.attribute import plan_of_attribute
from tinyc.plan.fields import Plan

#: How many vectors of a loop are computed at a time whose functions are chains of dependent instructions.
_INTERLEAVED = 4


@dataclass(frozen=True)
class LoopHints:
    """The vectors and the unrolling that are asked for along an axis each: (axis, width) and (axis, factor)."""

    vectorize: tuple[int, int] | None = None
    unroll: tuple[int, int] | None = None

    @classmethod
    def of(cls, kernel: Kernel) -> "LoopHints":
        """What the plan of a kernel asks for."""
        plan = Plan() if kernel.plan is None else plan_of_attribute(kernel.plan, where(kernel.location))
        loop = plan.loop or {}
        vectorize, unroll = loop.get("vectorize"), loop.get("unroll")
        return cls(
            None if vectorize is None else (vectorize["axis"], vectorize["width"]),
            None if unroll is None else (unroll["axis"], unroll["factor"]),
        )

    def mark(self, counter: ir.Value, axes: Collection[int], *, is_in_order: bool = False) -> None:
        """Annotate the loop whose index a value is, which runs along some axes; another value is of no loop.

        What is computed in order has no vectors: LLVM would add up in another order.
        """
        found: dict[str, str] = {}
        if self.vectorize is not None and self.vectorize[0] in axes and not is_in_order:
            width = self.vectorize[1]
            found["vectorize"] = "disable = true" if width == 1 else f"disable = false, width = {width} : i32"
        if self.unroll is not None and self.unroll[0] in axes:
            found["unroll"] = _unrolling(self.unroll[1])
        if found:
            _annotate(counter, found)

    def keep_innermost(self, kernel: Kernel, function: ir.Operation) -> None:
        """Leave vectors to innermost loops, which alone can have them, and check that there are loops for each choice.

        Raises:
            TinycError: `PlanMismatch`: no loop runs along the axis.
        """
        annotated = [op for op in ops_inside(function) if LOOP_ANNOTATION in op.attributes]
        for op in annotated:
            if self.vectorize is not None and any(isinstance(each, scf.ForOp) for each in ops_inside(op.operation)):
                is_unrolled = self.unroll is not None and "unroll" in str(op.attributes[LOOP_ANNOTATION])
                del op.attributes[LOOP_ANNOTATION]
                if is_unrolled and self.unroll is not None:
                    op.attributes[LOOP_ANNOTATION] = _annotation({"unroll": _unrolling(self.unroll[1])})
        left = [str(op.attributes[LOOP_ANNOTATION]) for op in annotated if LOOP_ANNOTATION in op.attributes]
        for what, asked, which in (
            ("vectorize", self.vectorize, "innermost loop of its own, in any order,"),
            ("unroll", self.unroll, "loop of its own"),
        ):
            if asked is not None and not any(what in each for each in left):
                message = f"'loop' has '{what}' of axis {asked[0]}, along which no {which} runs; leave it out"
                raise TinycError("PlanMismatch", f"the plan of @{kernel.name}: {message}", where(kernel.location))


def mark_unrolled(counter: ir.Value, factor: int) -> None:
    """Annotate the loop whose index a value is: so many of its steps are written out."""
    _annotate(counter, {"unroll": _unrolling(factor)})


def interleave_functions(function: func.FuncOp) -> None:
    """Ask for several vectors at a time in innermost loops that compute what has no instruction (`software_math`).

    A vector by itself waits for each instruction of its long chain, and the next one is too far behind to begin.
    """
    for loop in innermost_loops(function):
        is_free = LOOP_ANNOTATION not in loop.attributes and not list(loop.initArgs)
        if is_free and any(type(op) in FUNCTIONS for op in ops_inside(loop.operation)):
            loop.attributes[LOOP_ANNOTATION] = _annotation({"interleave": f"count = {_INTERLEAVED} : i32"})


def _unrolling(factor: int) -> str:
    """How a loop is unrolled: in full by 0, not by 1, else by the factor."""
    return {0: "full = true", 1: "disable = true"}.get(factor, f"count = {factor} : i32")


def _annotate(counter: ir.Value, parts: dict[str, str]) -> None:
    block = counter.owner
    loop = block.owner if isinstance(block, ir.Block) else None
    if isinstance(loop, scf.ForOp) and counter == loop.induction_variable:
        loop.attributes[LOOP_ANNOTATION] = _annotation(parts)


def _annotation(parts: dict[str, str]) -> ir.Attribute:
    shown = ", ".join(f"{name} = <{what}>" for name, what in parts.items())
    return ir.Attribute.parse(f"#llvm.loop_annotation<{shown}>")
