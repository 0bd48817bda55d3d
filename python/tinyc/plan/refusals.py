"""What speaks against a plan for a kernel, collected to be reported together.

In: violations, each of one field. Out: errors at the kernel's place.
"""

from tinyc.diagnostics import TinycError, Where


class PlanRefusals:
    """The violations of a plan for the kernel called `kernel`, which is at `where`; false while nothing does."""

    def __init__(self, kernel: str, where: Where) -> None:
        self._kernel, self._where = kernel, where
        self.errors: list[TinycError] = []

    def __bool__(self) -> bool:
        return bool(self.errors)

    def anew(self) -> "PlanRefusals":
        """None yet, for the same kernel."""
        return PlanRefusals(self._kernel, self._where)

    def add(self, name: str, field: str, message: str) -> None:
        """Note an error called `name`; `message` goes on after the field's name: given, expected, what to do."""
        text = f"the plan of @{self._kernel}: '{field}' {message}"
        self.errors.append(TinycError(name, text, self._where))

    def raise_all(self) -> None:
        """Raise the errors, if there are any.

        Raises:
            TinycError: all of them.
        """
        if self.errors:
            raise TinycError.several(self.errors)
