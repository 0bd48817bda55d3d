"""The PTX instructions of the table as C++ functions: inline assembly with a name.

In: an entry of `gpu/instructions`. Out: the function. Its parameters are what the instruction updates or gives, where
that is several registers, then its operands; addresses in global memory and tensor maps are pointers.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence

from tinyc.dialects.gpu.instructions import Instruction, instruction

#: What the functions are members of, so that no tensor's name hides one.
NAMESPACE = "ptx"
_TYPES = {"i32": "uint32_t", "i64": "uint64_t", "f32": "float"}
_REGISTERS = {"i32": "r", "i64": "l", "f32": "f"}
_WIDTH = 108
#: A space where no line ends.
_SPACE = "\xa0"


def function_name(name: str) -> str:
    """What an instruction's function is called."""
    return name.replace(".", "_")


#: Macros for the registers that an instruction updates, where these are many: how many each has.
_MACROS = (64, 16, 4)
_MOST_WRITTEN_OUT = 16
REGISTER_MACROS = """\
// Registers that an instruction updates: `n` elements of an array from the one at `i` on, "+f" or "+r".
#define UPDATED_4(how, d, i) how(d[i]), how(d[i + 1]), how(d[i + 2]), how(d[i + 3])
#define UPDATED_16(how, d, i) \\
  UPDATED_4(how, d, i), UPDATED_4(how, d, i + 4), UPDATED_4(how, d, i + 8), UPDATED_4(how, d, i + 12)
#define UPDATED_64(how, d, i) \\
  UPDATED_16(how, d, i), UPDATED_16(how, d, i + 16), UPDATED_16(how, d, i + 32), UPDATED_16(how, d, i + 48)"""


def takes_pointers(entry: Instruction) -> bool:
    """Whether its operands of 64 bits are addresses; those of a wgmma describe tiles in shared memory."""
    return not entry.name.startswith("wgmma")


def instruction_functions(names: Iterable[str]) -> str:
    """The functions of the named instructions, in their namespace."""
    entries = [entry for entry in map(instruction, sorted(names)) if entry is not None]
    texts = "\n\n".join(map(function_of, entries))
    start, end = f"namespace {NAMESPACE} {{", f"}}  // namespace {NAMESPACE}"
    macros = f"{REGISTER_MACROS}\n\n" if "UPDATED_" in texts else ""
    return f"{macros}// Instructions of PTX by their names.\n{start}\n\n{texts}\n\n{end}"


def function_of(entry: Instruction) -> str:
    """An instruction as a function."""
    is_one = len(entry.given) == 1 and not entry.updated
    kind = _TYPES[entry.given[0]] if is_one else "void"
    parameters, operands = _operands(entry)
    if entry.given and not is_one:
        parameters.insert(0, f"{_result_type(entry)}* d")
    head = f"__device__ __forceinline__ {kind} {function_name(entry.name)}({', '.join(parameters)}) {{"
    given = _given(entry, is_one)
    taken = [f'"{register}"({place})' for register, place in operands]
    clobbers = [] if entry.pure else ['"memory"']
    body = _assembly(entry, [given, taken, clobbers])
    declared, returned = ([f"  {kind} d;"], ["  return d;"]) if is_one else ([], [])
    return "\n".join([head, *declared, *body, *returned, "}"])


def _given(entry: Instruction, is_one: bool) -> list[str]:
    """The operands that the statement gives, by macros where many registers are updated."""
    count = len(entry.given)
    if entry.updated and count > _MOST_WRITTEN_OUT and count % min(_MACROS) == 0:
        how = f'"+{_REGISTERS[entry.given[0]]}"'
        found: list[str] = []
        at = 0
        while at < count:
            size = next(each for each in _MACROS if each <= count - at)
            found.append(f"UPDATED_{size}({how}, d, {at})")
            at += size
        return found
    sign = "+" if entry.updated else "="
    places = ["d"] if is_one else [f"d[{number}]" for number in range(count)]
    return [f'"{sign}{_REGISTERS[each]}"({place})' for each, place in zip(entry.given, places, strict=True)]


def _result_type(entry: Instruction) -> str:
    """The type of what it gives: sums of integers have a sign."""
    kind = entry.given[0]
    return "int32_t" if kind == "i32" and entry.updated else _TYPES[kind]


def _operands(entry: Instruction) -> tuple[list[str], list[tuple[str, str]]]:
    """The parameters, and the register and the place of each operand."""
    parameters: list[str] = []
    places: list[tuple[str, str]] = []
    names = iter("abcefghijklmnopqrstuvwxyz")  # d is what it gives
    kinds = list(entry.operands)
    for count in entry.fragments:
        name = next(names)
        parameters.append(f"const uint32_t* {name}")
        places += [("r", f"{name}[{number}]") for number in range(count)]
        del kinds[:count]
    for kind in kinds:
        name = next(names)
        is_pointer = kind == "i64" and takes_pointers(entry)
        pointer = "void*" if entry.name.startswith(("st.", "red.")) else "const void*"
        parameters.append(f"{pointer if is_pointer else _TYPES[kind]} {name}")
        places.append((_REGISTERS[kind], name))
    return parameters, places


def _assembly(entry: Instruction, operands: Sequence[Sequence[str]]) -> list[str]:
    """The statement: in a line where it fits, else its text and its operands in lines."""
    text = re.sub(r"%(?=[a-z])", "%%", entry.ptx)
    text = re.sub(r"\{(\d+)\}", r"%\1", text)
    while operands and not operands[-1]:
        operands = operands[:-1]
    start = f"  {'asm' if entry.pure else 'asm volatile'}("
    short = "".join(f" : {', '.join(part)}" if part else " :" for part in operands).replace(" : :", " ::")
    line = f'{start}"{text}"{short.replace(":: :", ":::")});'
    if len(line) <= _WIDTH:
        return [line]
    indent = " " * len(start)
    quoted = [f'"{line}"' for line in _wrapped(text, _WIDTH - len(indent))]
    lines = [f"{start if not number else indent}{line}" for number, line in enumerate(quoted)]
    for part in operands:
        operands_apart = ", ".join(each.replace(" ", _SPACE) for each in part)
        found = textwrap.wrap(operands_apart, _WIDTH - len(indent), break_on_hyphens=False) or [""]
        lines += [
            f"{indent}{': ' if not number else '  '}{line}".replace(_SPACE, " ").rstrip()
            for number, line in enumerate(found)
        ]
    lines[-1] += ");"
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """A text in pieces that are the text when they are joined."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return [f"{line} " for line in lines[:-1]] + lines[-1:]
