"""What the rules of a scheme are given: a region's product, a target, and where refusals go."""

from dataclasses import dataclass

from tinyc.diagnostics import TinycError
from tinyc.plan.workload import Product, Workload
from tinyc.target.target import Target


class Refusals:
    """What speaks against a plan for a region, collected to be reported together; false while nothing does."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._errors: list[TinycError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    def add(self, name: str, field: str, message: str) -> None:
        """Note an error called `name`; `message` goes on after the field's name: value, limit, what to do."""
        text = f"the plan of @{self._workload.name}: '{field}' {message}"
        self._errors.append(TinycError(name, text, self._workload.where))

    def error(self) -> TinycError:
        """Return all of them as one error; there is at least one."""
        return TinycError.several(self._errors)


@dataclass(frozen=True)
class Case:
    """A contraction that a plan is completed for."""

    product: Product
    target: Target
    refusals: Refusals

    @property
    def axes(self) -> list[str]:
        """The axes that the product has."""
        return ["m", "n", "k", *(["batch"] if self.product.batch != 1 else [])]

    def refuse(self, name: str, field: str, message: str) -> None:
        """Note a refusal, as `Refusals.add`."""
        self.refusals.add(name, field, message)

    def has_axis(self, field: str, axis: str) -> bool:
        """Say whether the product has the axis that `axis`, such as `m.o`, is a part of; refuse the plan if not."""
        if axis.partition(".")[0] in self.axes:
            return True
        message = f"has the axis '{axis}', and the region's axes are {', '.join(self.axes)}; name one of them"
        self.refuse("PlanMismatch", field, message)
        return False
