"""The machine code that ptxas makes of a product's kernel, and the loop in which it multiplies.

In: PTX text. Out: `KernelSass`: what ptxas takes and warns of, the instructions, those of the innermost loop that has
products. ptxas and nvdisasm are needed.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from ptxsim.clock.sass.listing import SassFunction, SassInstruction, read_listing
from ptxsim.clock.sass.resources import PtxasWarning, ResourceUse, read_resources, read_warnings
from ptxsim.clock.sass.toolchain import disassemble, find_sass_tools

#: Instructions that multiply matrices.
PRODUCTS = ("HMMA", "HGMMA", "IMMA", "IGMMA")


@dataclass(frozen=True)
class KernelSass:
    """The code of one kernel."""

    function: SassFunction
    resources: ResourceUse
    warnings: tuple[PtxasWarning, ...]

    @property
    def opcodes(self) -> set[str]:
        """The instructions that it has, without their modifiers."""
        return {each.opcode for each in self.function.instructions}

    @property
    def is_spilt(self) -> bool:
        """Whether registers go to local memory, or a stack is there."""
        use = self.resources
        return bool(use.spill_store_bytes or use.spill_load_bytes or use.stack_bytes)

    @cached_property
    def main_loop(self) -> tuple[SassInstruction, ...]:
        """The instructions of the innermost loop that multiplies, without those of waits that may be skipped.

        Empty where products are in no loop.
        """
        loops = _natural_loops(self.function)
        multiplying = [loop for loop in loops.values() if self._products(loop)]
        if not multiplying:
            return ()
        inner = min(multiplying, key=len)
        head = next(block for block, loop in loops.items() if loop is inner)
        waiting = set().union(*(loop for loop in loops.values() if loop < inner))
        skipped = {block for block in waiting if _can_go_round(head, inner - {block}, self.function)}
        return tuple(each for each in self.function.instructions if each.block in inner - skipped)

    @property
    def products_of_loop(self) -> int:
        """The products in the main loop."""
        return sum(each.opcode in PRODUCTS for each in self.main_loop)

    @property
    def per_product(self) -> float:
        """Instructions of the main loop for each product in it."""
        return len(self.main_loop) / self.products_of_loop

    @property
    def between_products(self) -> list[str]:
        """What stands between the first and the last product of the main loop, products aside."""
        at = [number for number, each in enumerate(self.main_loop) if each.opcode in PRODUCTS]
        return [each.name for each in self.main_loop[at[0] : at[-1]] if each.opcode not in PRODUCTS]

    def _products(self, blocks: Collection[int]) -> int:
        return sum(each.opcode in PRODUCTS for block in blocks for each in self.function.blocks[block])


def sass_of(ptx: str, arch: str, part: str = "") -> KernelSass:
    """The code of the kernel whose name has `part`, of several the first one that multiplies.

    Raises:
        InputError: ptxas or nvdisasm is missing.
        PtxError: ptxas refuses the PTX.
    """
    made = disassemble(ptx, arch, find_sass_tools())
    resources, functions = read_resources(made.said), read_listing(made.listing)
    named = [each for each in resources if part in each]
    name = next((each for each in named if _multiplies(functions[each])), named[0])
    warnings = tuple(each for each in read_warnings(made.said) if each.kernel in ("", name))
    return KernelSass(functions[name], resources[name], warnings)


def _multiplies(function: SassFunction) -> bool:
    return any(each.opcode in PRODUCTS for each in function.instructions)


def _natural_loops(function: SassFunction) -> dict[int, set[int]]:
    """The blocks of each loop, by its first: those that come to a jump back without passing where it goes to."""
    before: dict[int, set[int]] = {block: set() for block in range(len(function.successors))}
    for block, ways in enumerate(function.successors):
        for way in ways:
            before[way].add(block)
    loops: dict[int, set[int]] = {}
    for block, ways in enumerate(function.successors):
        for head in (way for way in ways if way <= block):
            loops[head] = loops.get(head, set()) | _body(head, block, before)
    return loops


def _can_go_round(head: int, blocks: set[int], function: SassFunction) -> bool:
    """Whether a way through these blocks alone leads from a loop's first one back to it."""
    found, new = set[int](), [head] if head in blocks else []
    while new:
        for way in function.successors[new.pop()]:
            if way == head:
                return True
            if way in blocks and way not in found:
                found.add(way)
                new.append(way)
    return False


def _body(head: int, end: int, before: dict[int, set[int]]) -> set[int]:
    found, new = {head}, [end]
    while new:
        block = new.pop()
        if block not in found:
            found.add(block)
            new += before[block]
    return found
