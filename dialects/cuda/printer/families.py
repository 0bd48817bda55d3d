"""Places that are declared alike, as the elements of one array: what loops over them can then be written with.

In: the lines of a function. Out: the same, where declarations that differ in numbers alone (`at3 = row + 16`, `at4 =
row + 32`) are an array and what its elements are, at the place of the first, and the elements stand where the names
stood; and where what is declared once stands before the calls that it stood between, so that calls which are alike are
below each other, but not before a branch, a loop, a wait or a comment. What reads memory moves nowhere.
"""

import functools
import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from tinyc.dialects.cuda.printer.lines import has_effect, read_line

_WORD = re.compile(r"[A-Za-z_]\w*")
#: A place that is declared, or what else is an integer.
_CONSTANT = re.compile(r" *const (bool|u?int\d+_t) (\w+) = (.*;)")
_DECLARED = re.compile(r" *(?:const )?[a-z]\w* (\w+)(?:\[\d+\])?(?: =|;)")
_CHANGED = re.compile(r"(\w+) \+?= ")
_ELEMENT = re.compile(r" *(\w+)\[\d+\] = ")
#: What nothing is declared before that stood behind it.
_ENDS_RUN = re.compile(r".*[{}]$| *(?://|#|extern |__syncthreads|ptx::\w*(?:wait|barrier|setmaxnreg))")
#: An array whose elements a loop uses, or is given by instructions.
_ONE_AFTER_THE_OTHER = re.compile(r"\b(\w+)\[(?!\d+\])[^\[\]]*\](?! = (?!ptx::))")
_INDENT = "  "


@dataclass
class _Family:
    """Declarations that are alike: the names that they declare, and where they stand among the lines."""

    names: list[str]
    places: list[int]


def in_arrays(lines: Sequence[str], apart: Collection[str]) -> tuple[list[str], set[str]]:
    """The lines with arrays, and the arrays' names; families that begin with a name of `apart` stay as they are."""
    arrays = _Arrays(apart)
    return arrays.changed(list(lines), _INDENT), arrays.constants | arrays.read


def never_in_loops(lines: Sequence[str], arrays: Collection[str]) -> set[str]:
    """Those of the arrays that are in these lines, but of which no loop uses one element after the other."""
    text = "\n".join(lines)
    present = set(_WORD.findall(text)).intersection(arrays)
    return present.difference(_ONE_AFTER_THE_OTHER.findall(text))


@dataclass
class _Arrays:
    """Makes the arrays of one function.

    Families that begin with a name of `apart` stay as they are, and `alone` are their names. `constants` are arrays of
    what is computed alone, `read` those of what comes from memory or from instructions.
    """

    apart: Collection[str]
    constants: set[str] = field(default_factory=set[str])
    read: set[str] = field(default_factory=set[str])
    alone: set[str] = field(default_factory=set[str])

    def changed(self, lines: list[str], indent: str) -> list[str]:
        """The lines of a block with arrays: its own, then those of the blocks in it."""
        while (family := self._first_family(lines, indent)) is not None:
            is_read = has_effect(lines[family.places[0]], self.constants)
            kind, other = (self.read, self.constants) if is_read else (self.constants, self.read)
            kind.add(family.names[0])
            other.discard(family.names[0])  # a block beside this one has its own of the name
            lines = _with_array(lines, family, indent)
        found: list[str] = []
        run: list[str] = []
        inner: list[str] = []
        for line in [*lines, "}"]:
            is_inner = line.startswith(f"{indent} ")
            if inner and not is_inner:
                found += self.changed(inner, f"{indent}{_INDENT}")
                inner = []
            if is_inner or _ENDS_RUN.match(line):
                found += self._declared_first(run)
                run = []
            (inner if is_inner else found if _ENDS_RUN.match(line) else run).append(line)
        return found[:-1]

    def _first_family(self, lines: Sequence[str], indent: str) -> _Family | None:
        """The first declarations in a block that are alike."""
        places = [place for place, line in enumerate(lines) if not line.startswith(f"{indent} ")]
        declared = {found[2]: at for at in places if (found := _CONSTANT.match(lines[at])) is not None}
        families: list[_Family] = []
        last: dict[Hashable, _Family] = {}
        for name, place in declared.items():
            key = _key(lines[place])
            if key in last and self._may_move(lines, place, last[key].places[0], declared):
                last[key].names.append(name)
                last[key].places.append(place)
            else:
                last[key] = _Family([name], [place])
                families.append(last[key])
        for each in families:
            if each.names[0] in self.apart:
                self.alone.update(each.names)
            elif len(each.names) > 1:
                return each
        return None

    def _may_move(self, lines: Sequence[str], place: int, to: int, declared: Mapping[str, int]) -> bool:
        """Whether a declaration may stand at a place before it, where these names are declared."""
        words = set(_WORD.findall(lines[place]))
        between = [line for line in lines[to:place] if not _CONSTANT.match(line)]
        changed = {name for line in between for name in _CHANGED.findall(line)}
        if between and has_effect(lines[place], self.constants):
            return False
        return not words & changed and not any(to <= declared.get(word, -1) < place for word in words)

    def _declared_first(self, run: Sequence[str]) -> list[str]:
        """Statements, of which those come first that declare what may stand before the others, and is declared once."""
        count = Counter(map(_key, run))
        first: list[str] = []
        rest: list[str] = []
        later: set[str] = set()
        for line in run:
            element, constant, declared = _ELEMENT.match(line), _CONSTANT.match(line), _DECLARED.match(line)
            is_of_array = (declared or element or line)[1] in self.constants
            may_move = is_of_array or (constant is not None and (count[_key(line)] == 1 or constant[2] in self.alone))
            if may_move and not has_effect(line, self.constants) and not later.intersection(_WORD.findall(line)):
                first.append(line)
                continue
            rest.append(line)
            later.update(_CHANGED.findall(line))
            later.update([declared[1]] if declared else [])
        return first + rest


@functools.lru_cache(maxsize=4096)
def _key(line: str) -> Hashable:
    """What declarations that are alike have in common."""
    read = read_line(0, line)
    if read.is_fixed:
        return line
    texts = tuple(re.sub(rf"\b{read.declared}\b", "", text) for text in read.texts)
    return texts, tuple(each.is_added for each in read.numbers)


def _with_array(lines: Sequence[str], family: _Family, indent: str) -> list[str]:
    """The lines with an array in the place of a family."""
    first, array = family.places[0], family.names[0]
    found = list(lines[:first])
    for number, place in enumerate(family.places):
        declaration = _CONSTANT.match(lines[place])
        assert declaration is not None  # it is one of a family
        found += [f"{indent}{declaration[1]} {array}[{len(family.names)}];"] if number == 0 else []
        found.append(f"{indent}{array}[{number}] = {declaration[3]}")
    elements = {name: f"{array}[{number}]" for number, name in enumerate(family.names)}
    names = re.compile(rf"\b(?:{'|'.join(family.names)})\b")
    rest = (line for place, line in enumerate(lines) if place > first and place not in family.places)
    return found + [names.sub(lambda name: elements[name[0]], line) for line in rest]
