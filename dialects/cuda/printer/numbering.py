"""Names that differ in a number, numbered again: loops and arrays have taken the place of many.

In: the lines of a function. Out: the same, where the names that are declared with one word before their number have
the numbers 0, 1, 2 … in the order of their declarations, and none where there is one such name.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

_DECLARED = re.compile(r" *(?:const )?[a-z]\w* (([a-z_]+)\d+)(?:\[\d+\])?(?: =|;)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def numbered_again(lines: Sequence[str]) -> list[str]:
    """The lines with these names."""
    stems: dict[str, dict[str, None]] = defaultdict(dict)
    for line in lines:
        if found := _DECLARED.match(line):
            stems[found[2]][found[1]] = None
    declared = {name for names in stems.values() for name in names}
    taken = {word for line in lines for word in _WORD.findall(line)} - declared
    renamed: dict[str, str] = {}
    for stem, names in stems.items():
        free = [f"{stem}{number}" for number in range(len(names)) if f"{stem}{number}" not in taken]
        if len(names) == 1 and stem not in taken:
            free = [stem]
        if len(free) == len(names):
            renamed.update(zip(names, free, strict=True))
    return [_WORD.sub(lambda word: renamed.get(word[0], word[0]), line) for line in lines]
