"""The C source between the caller and `kernel_main`: it checks, gives each run an arena, and says what was wrong.

In: the names of an interface, and the CPU's features that the kernels need. Out: text of C11 with POSIX threads.
"""

from collections.abc import Sequence

from tinyc.c_library.interface import CInterface
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.maximum import maximum_dims
from tinyc.expr.terms import AnyDivision
from tinyc.runtime.cpu_features import TILES_CALL
from tinyc.runtime.program import STATUS_WORDS, Buffer
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES, aligned_size

#: The feature that Linux is asked for, and not the CPU: tile registers.
TILES = "amx-tile"
#: Features that older compilers know no name of: the register and the bit of CPUID, leaf 7, subleaf 1.
_SUBLEAF = {"avxvnni": ("eax", 4), "avx512bf16": ("eax", 5), "avxvnniint8": ("edx", 4)}
#: The file with the bytes of the ConstPool, beside the source.
POOL_FILE = "pool"
_TEXT = """\
#include "{header}"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kernel_main(void **bufs, int64_t *shape_vars);
{pool}

enum {{ ALIGNMENT = {alignment}, STATUS_SLOTS = {slots}, STATUS_WORDS = {words}, BUFFERS = {buffers}, READ = {read} }};

static _Thread_local char message[512];

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...) {{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return status;
}}

/* Arithmetic of sizes; `ok` is cleared where a number does not fit, or is divided by what is no divisor. */
static int64_t add(int64_t a, int64_t b, int *ok) {{
  int64_t sum = 0;
  *ok &= !__builtin_add_overflow(a, b, &sum);
  return sum;
}}

static int64_t multiply(int64_t a, int64_t b, int *ok) {{
  int64_t product = 0;
  *ok &= !__builtin_mul_overflow(a, b, &product);
  return product;
}}

static int64_t floor_divide(int64_t a, int64_t b, int *ok) {{
  *ok &= b > 0;
  return b > 0 ? a / b - (a % b < 0) : 0;
}}

/* What runs need beside the caller's tensors; one of them for each run at a time. */
struct {prefix}_arena {{
  struct {prefix}_arena *next;
  size_t size;
  unsigned char *memory;
  int64_t status[STATUS_SLOTS > 0 ? STATUS_SLOTS * STATUS_WORDS : 1];
}};

struct {prefix} {{
  pthread_mutex_t lock;
  struct {prefix}_arena *idle;
  void *pool; /* weights and constants */
}};

static void drop(struct {prefix}_arena *arena) {{
  if (arena) free(arena->memory);
  free(arena);
}}

/* An arena of the model that no run has, at least `size` bytes large; NULL: there is no memory. */
static struct {prefix}_arena *take({prefix}_t *model, size_t size) {{
  pthread_mutex_lock(&model->lock);
  struct {prefix}_arena *arena = model->idle;
  if (arena) model->idle = arena->next;
  pthread_mutex_unlock(&model->lock);
  if (arena && arena->size >= size) return arena;
  drop(arena);
  arena = calloc(1, sizeof *arena);
  if (!arena) return NULL;
  arena->size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->size && !(arena->memory = aligned_alloc(ALIGNMENT, arena->size))) {{
    drop(arena);
    return NULL;
  }}
  return arena;
}}

static void give_back({prefix}_t *model, struct {prefix}_arena *arena) {{
  pthread_mutex_lock(&model->lock);
  arena->next = model->idle;
  model->idle = arena;
  pthread_mutex_unlock(&model->lock);
}}

/* The bytes of each tensor, and of the arena last; what is wrong with the sizes. */
static int check_sizes(const {prefix}_params *params, int64_t *bytes) {{
  int ok = 1;
  int64_t left, right;
  (void)params, (void)left, (void)right;
{sizes}
  return {ok};
too_large:
  return fail({invalid_sizes}, "a size does not fit into 63 bits, or is divided by less than 1; give other sizes");
}}

{tables}
static int check_tensors(void *const *tensors, const int64_t *bytes) {{
  for (int k = 0; k < BUFFERS; ++k) {{
    if (!bytes[k]) continue;
    if (!tensors[k]) return fail({invalid_argument}, "%s is NULL; give its address", names[k]);
    if ((uintptr_t)tensors[k] % element_bytes[k])
      return fail({invalid_argument}, "%s is at %p, no multiple of its element's %d bytes", names[k], tensors[k],
                  element_bytes[k]);
    for (int other = 0; other < k; ++other)
      if (k >= READ && bytes[other] && (char *)tensors[k] < (char *)tensors[other] + bytes[other] &&
          (char *)tensors[other] < (char *)tensors[k] + bytes[k])
        return fail({invalid_argument}, "%s overlaps %s; give separate memory", names[k], names[other]);
  }}
  return {ok};
}}

/* The first index that a kernel has met outside of its axis. */
static int check_status(const int64_t *status) {{
  for (int slot = 0; slot < STATUS_SLOTS; ++slot) {{
    const int64_t *noted = status + slot * STATUS_WORDS;
    if (noted[0])
      return fail({index_out_of_range}, "index %lld in kernel %s is outside axis %lld of extent %lld",
                  (long long)noted[1], kernels[slot], (long long)noted[2], (long long)noted[3]);
  }}
  return {ok};
}}

int {prefix}_init({prefix}_t **model) {{
  if (!model) return fail({invalid_argument}, "the address of the model is NULL; give one");
  *model = NULL;
{features}
  {prefix}_t *made = calloc(1, sizeof *made);
  if (!made) return fail({out_of_memory}, "there is no memory for the model");
{prepare}
  pthread_mutex_init(&made->lock, NULL);
  *model = made;
  return {ok};
}}

int {prefix}_run({prefix}_t *model, const {prefix}_params *params) {{
  if (!model || !params) return fail({invalid_argument}, "the %s is NULL; give its address",
                                      model ? "Param-Block" : "model");
  int64_t bytes[BUFFERS + 1];
  int status = check_sizes(params, bytes);
  if (status) return status;
  void *bufs[BUFFERS + 3] = {{{addresses}}};
  status = check_tensors(bufs, bytes);
  if (status) return status;
  struct {prefix}_arena *arena = take(model, (size_t)bytes[BUFFERS]);
  if (!arena) return fail({out_of_memory}, "there is no memory for an arena of %lld bytes", (long long)bytes[BUFFERS]);
  memset(arena->status, 0, sizeof arena->status);
  bufs[BUFFERS] = arena->memory, bufs[BUFFERS + 1] = arena->status, bufs[BUFFERS + 2] = model->pool;
  int64_t shape_vars[] = {{{symbols}}};
  kernel_main(bufs, shape_vars);
  status = check_status(arena->status);
  give_back(model, arena);
  return status;
}}

void {prefix}_free({prefix}_t *model) {{
  if (!model) return;
  for (struct {prefix}_arena *arena = model->idle, *next; arena; arena = next) {{
    next = arena->next;
    drop(arena);
  }}
  pthread_mutex_destroy(&model->lock);
{release}  free(model);
}}

int64_t {prefix}_required_memory(const {prefix}_params *params) {{
  int64_t bytes[BUFFERS + 1];
  if (!params) return fail(-1, "the Param-Block is NULL; give its address");
  return check_sizes(params, bytes) ? -1 : bytes[BUFFERS];
}}

const char *{prefix}_error(void) {{ return message; }}
"""
#: The ConstPool as the kernels read it: a file beside the source, in the library's read-only memory.
_POOL = """
extern const unsigned char pool_image[] __attribute__((visibility("hidden")));
__asm__(".pushsection .rodata\\n.balign {alignment}\\npool_image:\\n.incbin \\"{file}\\"\\n.byte 0\\n.popsection");
"""
#: Where kernels prepare what they keep of weights and constants, each model has a pool of its own.
_PREPARE = """\
  if (!(made->pool = aligned_alloc(ALIGNMENT, {size}))) {{
    free(made);
    return fail({out_of_memory}, "there is no memory for the weights");
  }}
  memcpy(made->pool, pool_image, {bytes});
  void *bufs[BUFFERS + 3] = {{[BUFFERS + 2] = made->pool}};
  int64_t shape_vars[{symbols}] = {{0}};
  prepare_main(bufs, shape_vars);"""
#: Philox-4x32-10, as `executors.philox.run_key`.
_RUN_KEY = """
int64_t {prefix}_run_key(uint64_t seed, uint64_t offset) {{
  uint32_t counter[4] = {{(uint32_t)offset, (uint32_t)(offset >> 32), 0, 0}};
  uint32_t key[2] = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
  for (int round = 0; round < 10; ++round) {{
    const uint64_t left = (uint64_t)0xD2511F53 * counter[0], right = (uint64_t)0xCD9E8D57 * counter[2];
    counter[0] = (uint32_t)(right >> 32) ^ counter[1] ^ key[0];
    counter[2] = (uint32_t)(left >> 32) ^ counter[3] ^ key[1];
    counter[1] = (uint32_t)right, counter[3] = (uint32_t)left;
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }}
  return (int64_t)(((uint64_t)counter[1] << 32 | counter[0]) & INT64_MAX);
}}
"""


def source_text(interface: CInterface, header: str, features: Sequence[str]) -> str:
    """The source; `header` is the header's file, `features` what the CPU has to have, by name."""
    program, boundary = interface.program, interface.boundary
    prepares = bool(program.of_stage(prepare=True))
    statuses = ("OK", "INVALID_ARGUMENT", "INVALID_SIZES", "OUT_OF_MEMORY", "INDEX_OUT_OF_RANGE")
    text = _TEXT.format(
        header=header,
        prefix=interface.prefix,
        alignment=ALIGNMENT_BYTES,
        slots=program.status_slots,
        words=STATUS_WORDS,
        buffers=len(boundary),
        read=len(program.inputs),
        pool=_pool(prepares) if program.pool else "",
        prepare=_prepare(interface) if prepares else "  made->pool = (void *)pool_image;" if program.pool else "",
        release="  free(model->pool);\n" if prepares else "",
        sizes="\n".join(f"  {line}" for line in _size_checks(interface)),
        tables=_tables(interface),
        features="\n".join(f"  {line}" for line in _feature_checks(interface, features)),
        addresses=", ".join(f"(void *)params->{interface.fields[buffer.name]}" for _, buffer in boundary) or "NULL",
        symbols=", ".join(f"params->{interface.fields[symbol]}" for symbol in program.symbols) or "0",
        **{name.lower(): interface.upper(name) for name in statuses},
    )
    return text + (_RUN_KEY.format(prefix=interface.prefix) if interface.is_random else "")


def _pool(prepares: bool) -> str:
    declared = "void prepare_main(void **bufs, int64_t *shape_vars);" if prepares else ""
    return declared + _POOL.format(alignment=ALIGNMENT_BYTES, file=POOL_FILE)


def _prepare(interface: CInterface) -> str:
    """What `init` does for a program that keeps more than it is given."""
    bytes_of_pool = interface.program.pool_bytes
    return _PREPARE.format(
        size=aligned_size(max(bytes_of_pool, 1)),
        bytes=bytes_of_pool,
        symbols=max(len(interface.program.symbols), 1),
        out_of_memory=interface.upper("OUT_OF_MEMORY"),
    )


def string_literal(text: str) -> str:
    """A string of C: what is no plain character as octal digits."""
    return f'"{"".join(map(_in_literal, text))}"'


def _in_literal(character: str) -> str:
    if " " <= character <= "~" and character not in '"\\?':
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def _tables(interface: CInterface) -> str:
    """What the tensors and the kernels that check indices are called, and the sizes of elements."""
    names = [string_literal(f"{buffer.kind} '{name}'") for name, buffer in interface.boundary]
    sizes = [str(buffer.element.size_bytes) for _, buffer in interface.boundary]
    slots = {kernel.status.slot: kernel.symbol for kernel in interface.program.kernels if kernel.status}
    kernels = [string_literal(slots.get(slot, "")) for slot in range(interface.program.status_slots)]
    return "".join(
        f"static const {kind} {name}[] = {{{', '.join(entries) or empty}}};\n"
        for kind, name, entries, empty in (
            ("char *const", "names", names, '""'),
            ("int", "element_bytes", sizes, "1"),
            ("char *const", "kernels", kernels, '""'),
        )
    )


def _feature_checks(interface: CInterface, features: Sequence[str]) -> list[str]:
    status, checks = interface.upper("UNSUPPORTED_CPU"), list[str]()
    if not _SUBLEAF.keys().isdisjoint(features):
        checks.append("unsigned eax = 7, ebx, ecx = 1, edx;")
        checks.append('__asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));')
        checks.append("(void)eax, (void)ebx, (void)edx;")
    for feature in features:
        message = f"the kernels use {feature}, which this CPU does not have; emit the library for another CPU"
        has = f'__builtin_cpu_supports("{feature}")'
        if feature == TILES:
            checks.append("extern long syscall(long number, ...);")
            has = f"(syscall({', '.join(map(str, TILES_CALL))}) == 0)"
        if feature in _SUBLEAF:
            register, bit = _SUBLEAF[feature]
            has = f"({register} >> {bit} & 1)"
        checks.append(f"if (!{has}) return fail({status}, {string_literal(message)});")
    return checks


# --- sizes ------------------------------------------------------------------------------------------------------------


def _size_checks(interface: CInterface) -> list[str]:
    """Statements that check the sizes of a run, and compute the bytes of its memory."""
    program, code = interface.program, _expressions(interface)
    lines: list[str] = []
    for symbol in interface.symbols:
        field = f"params->{interface.fields[symbol]}"
        lines.append(_check(interface, f"{field} < 0", f"{symbol} is %lld; a size is at least 0", field))
    for assumption in program.assumptions:
        lines += _assumption(interface, code, assumption)
    for name, buffer in ((buffer.name, buffer) for buffer in program.buffers):
        shown = next((f"'{user}'" for user, each in interface.boundary if each is buffer), name)
        lines += _extent_checks(interface, code, shown, buffer)
    arena, *others = maximum_dims(program.arena_bytes)
    sizes: list[Dim] = [*(buffer.size for _, buffer in interface.boundary), arena]
    lines += [f"bytes[{position}] = {code.of(size)};" for position, size in enumerate(sizes)]
    for each in others:
        lines += [f"left = {code.of(each)};", "if (left > bytes[BUFFERS]) bytes[BUFFERS] = left;"]
    return [*lines, "if (!ok) goto too_large;"]


def _assumption(interface: CInterface, code: Interpretation[str], assumption: Assumption) -> list[str]:
    sign = "==" if assumption.predicate == "eq" else "<="
    message = f"the program needs {_as_it_is(str(assumption))}, and that is %lld and %lld; give sizes that fit"
    return [
        f"left = {code.of(assumption.lhs)}, right = {code.of(assumption.rhs)};",
        "if (!ok) goto too_large;",
        _check(interface, f"!(left {sign} right)", message, "left", "right"),
    ]


def _extent_checks(interface: CInterface, code: Interpretation[str], name: str, buffer: Buffer) -> list[str]:
    """What no symbol and no number is may be negative."""
    lines: list[str] = []
    for axis, extent in enumerate(buffer.shape):
        if not extents.is_nonnegative(extent):
            message = f"axis {axis} of {_as_it_is(name)} would have %lld elements; give larger sizes"
            lines += [f"left = {code.of(extent)};", "if (!ok) goto too_large;"]
            lines.append(_check(interface, "left < 0", message, "left"))
    return lines


def _check(interface: CInterface, wrong: str, message: str, *values: str) -> str:
    shown = "".join(f", (long long){value}" for value in values)
    return f"if ({wrong}) return fail({interface.upper('INVALID_SIZES')}, {string_literal(message)}{shown});"


def _as_it_is(text: str) -> str:
    """A text of the user's in a format of printf."""
    return text.replace("%", "%%")


def _expressions(interface: CInterface) -> Interpretation[str]:
    """Extents as C expressions that notice an overflow."""

    def divide(_: AnyDivision, numerator: str, divisor: str) -> str:
        return f"floor_divide({numerator}, {divisor}, &ok)"

    return Interpretation[str](
        "INT64_C({})".format,
        divide,
        lambda symbol: f"params->{interface.fields[symbol]}",
        add="add({}, {}, &ok)".format,
        multiply="multiply({}, {}, &ok)".format,
    )
