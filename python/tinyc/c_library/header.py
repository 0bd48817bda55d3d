"""The header of a C library.

In: the names of its interface. Out: text, for C99 and C++.
"""

from tinyc.c_library.interface import CInterface
from tinyc.runtime.program import Buffer
from tinyc.vocabulary.element_type import ElementType

#: What a run may come to: the name of each status, and what it means.
STATUSES = (
    ("OK", "the outputs are written"),
    ("INVALID_ARGUMENT", "an address is NULL, is not aligned, or an output overlaps another tensor"),
    ("INVALID_SIZES", "the sizes are none that the program runs at"),
    ("OUT_OF_MEMORY", "there is no memory for the arena"),
    ("INDEX_OUT_OF_RANGE", "an element that is an index is outside of its axis; the outputs are not defined"),
    ("UNSUPPORTED_CPU", "the kernels use instructions that this CPU does not have"),
)
_TEXT = """\
/* {title}

   Written by tinyc. All functions may be called from several threads at once, on one model too: each run has an arena
   of its own, which is kept for the next one. */
#ifndef {guard}
#define {guard}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What a call comes to. */
enum {{
{statuses}
}};

/* The model: nothing of it is the caller's to read. */
typedef struct {prefix} {prefix}_t;

/* The Param-Block: what one run reads and writes. Every tensor is dense and row-major, an address is a multiple of its
   element's size, and may be NULL where the tensor has no elements. No output may overlap another tensor. */
typedef struct {{
{fields}
}} {prefix}_params;

/* Make a model: *model is set if the result is {ok}. */
int {prefix}_init({prefix}_t **model);

/* Run it once. The inputs are never written to. */
int {prefix}_run({prefix}_t *model, const {prefix}_params *params);

/* Give back all memory of a model that no run is using any more. NULL is ignored. */
void {prefix}_free({prefix}_t *model);

/* The bytes of the arena that a run at the sizes of `params` takes; the addresses are not looked at. -1 for sizes that
   the program does not run at. */
int64_t {prefix}_required_memory(const {prefix}_params *params);

/* What was wrong in the last call of this thread that failed: one line. */
const char *{prefix}_error(void);
{random}
#ifdef __cplusplus
}}
#endif

#endif
"""
_RANDOM = """
/* The `run_key` for run number `offset` under `seed`, by which random numbers are new in each run; those of run_key 0
   are the program's own. */
int64_t {prefix}_run_key(uint64_t seed, uint64_t offset);
"""


def exported_functions(interface: CInterface) -> list[str]:
    """The names of the functions that the header declares."""
    names = ["init", "run", "free", "required_memory", "error", *(["run_key"] if interface.is_random else [])]
    return [f"{interface.prefix}_{name}" for name in names]


def storage_in_c(element: ElementType) -> str:
    """The C type that holds an element: of a 16-bit float its bits, of a bool 0 or 1."""
    return "uint16_t" if element.is_small_float else element.c_name


def header_text(interface: CInterface) -> str:
    """The header."""
    prefix = interface.prefix
    statuses = [f"  {interface.upper(name)} = {number}" for number, (name, _) in enumerate(STATUSES)]
    width = max(map(len, statuses)) + 1
    shown = [
        f"{line + ('' if line == statuses[-1] else ','):<{width}} /* {meaning} */"
        for line, (_, meaning) in zip(statuses, STATUSES, strict=True)
    ]
    return _TEXT.format(
        title=_comment(f"The model '{interface.program.name}' for the CPU."),
        guard=interface.upper("H"),
        prefix=prefix,
        statuses="\n".join(shown),
        fields="\n".join(_fields(interface)),
        ok=interface.upper("OK"),
        random=_RANDOM.format(prefix=prefix) if interface.is_random else "",
    )


def _fields(interface: CInterface) -> list[str]:
    declared = [(_pointer(interface, buffer), _described(name, buffer)) for name, buffer in interface.boundary]
    declared += [(f"int64_t {interface.fields[symbol]};", f"the size '{symbol}'") for symbol in interface.symbols]
    if interface.is_random:
        (key,) = (symbol for symbol in interface.program.symbols if symbol not in interface.symbols)
        declared.append((f"int64_t {interface.fields[key]};", "0, or what run_key gives"))
    width = max((len(text) for text, _ in declared), default=0)
    return [f"  {text:<{width}} /* {_comment(meaning)} */" for text, meaning in declared]


def _pointer(interface: CInterface, buffer: Buffer) -> str:
    kind = f"{'const ' if buffer.kind == 'input' else ''}{storage_in_c(buffer.element)}"
    return f"{kind} *{interface.fields[buffer.name]};"


def _described(name: str, buffer: Buffer) -> str:
    return f"{buffer.kind} '{name}': {buffer.element.json_name} [{', '.join(map(str, buffer.shape))}]"


def _comment(text: str) -> str:
    """A text that ends no comment, whatever the user's names are."""
    return "".join(each if " " <= each <= "~" else "?" for each in text).replace("*/", "* /").replace("/*", "/ *")
