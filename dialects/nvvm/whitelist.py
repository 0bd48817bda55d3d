"""What LLVM's NVPTX backend is known to take: ops, the types of their values, and their attributes.

Each entry was compiled for every target of tinyc's and assembled by `ptxas`. What is missing was found to end the
process (functions without an instruction, such as `llvm.intr.sin`; conversions between floats and i128), to be computed
only about (`llvm.intr.exp2`, `llvm.frem`), or was not needed yet.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LLVM_INTEGERS = ("i1", "i8", "i16", "i32", "i64")
LLVM_FLOATS = ("f16", "bf16", "f32", "f64")
GLOBAL_POINTER, SHARED_POINTER = "!llvm.ptr<1>", "!llvm.ptr<3>"
POINTERS = (GLOBAL_POINTER, SHARED_POINTER)
#: To anything, such as a parameter that is passed by value.
GENERIC_POINTER = "!llvm.ptr"
SCALARS = (*LLVM_INTEGERS, *LLVM_FLOATS)
#: What one access to memory moves: 2 to 16 elements that are 16 bytes at most.
VECTORS = tuple(
    f"vector<{count}x{element}>"
    for elements, most in ((("i8",), 16), (("i16", "f16", "bf16"), 8), (("i32", "f32"), 4), (("i64", "f64"), 2))
    for element in elements
    for count in (2, 4, 8, 16)
    if count <= most
)
#: Products of i64 are as wide as that; no conversion to a float is.
WIDE = (*LLVM_INTEGERS, "i128")
#: What a compare-and-swap, and an addition that says whether it overflowed, return.
_PAIRS = ("!llvm.struct<(i32, i1)>", "!llvm.struct<(i64, i1)>")

#: Attribute → the values that it may have, listed or described; None: any.
Attributes = Mapping[str, tuple[str, ...] | re.Pattern[str] | None]


@dataclass(frozen=True)
class Allowed:
    """One op: the types that its operands and results may have, and its attributes.

    It may also be on structs of scalars where it `takes_structs`.
    """

    types: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict[str, "tuple[str, ...] | re.Pattern[str] | None"])
    takes_structs: bool = False


# Software functions rely on each operation being rounded by itself.
_EXACT: Attributes = {"fastmathFlags": ("#llvm.fastmath<none>",)}
#: LLVM ends the process, or gives up, at alignments and counts of threads that are none.
_ALIGNMENTS = tuple(f"{2**power} : i64" for power in range(12))
_THREADS = re.compile(r"array<i32: [1-9]\d{0,3}(, [1-9]\d{0,3}){2}>")
_FEW = re.compile(r"[1-9]\d{0,2} : i32")
_CLUSTER = re.compile(r"array<i32: [1-8](, [1-8]){2}>")
_NOT_ATOMIC: Attributes = {"ordering": ("0 : i64",), "alignment": _ALIGNMENTS}
_RELAXED = ("2 : i64",)
_SCOPE = ('"device"',)


def _same(allowed: Allowed, prefix: str, *names: str) -> dict[str, Allowed]:
    return {f"{prefix}{name}": allowed for name in names}


ALLOWED_OPS: Mapping[str, Allowed] = {
    # Control flow
    "llvm.return": Allowed(),
    "llvm.br": Allowed((*WIDE, *LLVM_FLOATS, *POINTERS), {"loop_annotation": None}),
    "llvm.cond_br": Allowed((*WIDE, *LLVM_FLOATS, *POINTERS), {"operandSegmentSizes": None, "loop_annotation": None}),
    "llvm.select": Allowed((*WIDE, *LLVM_FLOATS, *POINTERS), _EXACT),
    # Constants
    "llvm.mlir.constant": Allowed((*WIDE, *LLVM_FLOATS), {"value": None}),
    **_same(Allowed((*WIDE, *LLVM_FLOATS, *POINTERS)), "llvm.mlir.", "zero", "undef"),
    "llvm.mlir.poison": Allowed((*WIDE, *LLVM_FLOATS, *VECTORS, *POINTERS)),
    # Memory
    "llvm.mlir.addressof": Allowed((SHARED_POINTER,), {"global_name": None}),
    "llvm.getelementptr": Allowed(
        (*POINTERS, "i32", "i64"), {"elem_type": SCALARS, "noWrapFlags": None, "rawConstantIndices": None}
    ),
    "llvm.load": Allowed((*SCALARS, *VECTORS, *POINTERS), _NOT_ATOMIC),
    "llvm.store": Allowed((*SCALARS, *VECTORS, *POINTERS), _NOT_ATOMIC),
    "llvm.insertelement": Allowed((*SCALARS, *VECTORS)),
    "llvm.extractelement": Allowed((*SCALARS, *VECTORS)),
    "llvm.atomicrmw": Allowed(
        (*LLVM_INTEGERS[1:], *LLVM_FLOATS, *POINTERS),
        {"bin_op": ("1 : i64", "11 : i64"), "ordering": _RELAXED, "syncscope": _SCOPE},  # add, fadd
    ),
    "llvm.cmpxchg": Allowed(
        ("i32", "i64", *_PAIRS, *POINTERS),
        {"success_ordering": _RELAXED, "failure_ordering": _RELAXED, "syncscope": _SCOPE},
    ),
    "llvm.extractvalue": Allowed((*SCALARS, *_PAIRS), {"position": None}, takes_structs=True),
    **_same(Allowed((*POINTERS, GENERIC_POINTER, "i32", "i64")), "llvm.", "ptrtoint", "inttoptr"),
    "llvm.addrspacecast": Allowed((*POINTERS, GENERIC_POINTER)),
    # Instructions that LLVM has no name for: the texts that `assembly` knows.
    "llvm.inline_asm": Allowed(
        SCALARS,
        {
            **dict.fromkeys(("asm_string", "constraints"), None),
            "has_side_effects": ("unit",),
            "asm_dialect": ("0 : i64",),
            "tail_call_kind": ("#llvm.tailcallkind<none>",),
        },
        takes_structs=True,
    ),
    # Integers
    **_same(Allowed(WIDE, {"overflowFlags": None}), "llvm.", "add", "sub", "mul", "shl"),
    **_same(Allowed(WIDE, {"isExact": None}), "llvm.", "lshr", "ashr"),
    **_same(Allowed(LLVM_INTEGERS, {"isExact": None}), "llvm.", "sdiv", "udiv"),
    **_same(Allowed(LLVM_INTEGERS), "llvm.", "srem", "urem"),
    **_same(Allowed(WIDE), "llvm.", "and", "xor", "sext"),
    "llvm.or": Allowed(WIDE, {"isDisjoint": None}),
    "llvm.zext": Allowed(WIDE, {"nonNeg": None}),
    "llvm.trunc": Allowed(WIDE, {"overflowFlags": None}),
    "llvm.icmp": Allowed((*WIDE, *POINTERS), {"predicate": None}),
    **_same(Allowed(LLVM_INTEGERS), "llvm.intr.", "smax", "smin", "umax", "umin"),
    **_same(Allowed(("i32", "i64", *_PAIRS)), "llvm.intr.", "uadd.with.overflow"),
    "llvm.intr.ctlz": Allowed(LLVM_INTEGERS, {"is_zero_poison": None}),
    # Floats
    **_same(Allowed(LLVM_FLOATS, _EXACT), "llvm.", "fadd", "fsub", "fmul", "fdiv", "fneg", "fpext", "fptrunc"),
    "llvm.fcmp": Allowed((*LLVM_FLOATS, "i1"), {**_EXACT, "predicate": None}),
    **_same(Allowed(SCALARS), "llvm.", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast"),
    **_same(
        Allowed(LLVM_FLOATS, _EXACT),
        "llvm.intr.",
        *("sqrt", "fma", "fabs", "copysign", "floor", "ceil", "trunc", "roundeven", "maximum", "minimum"),
    ),
    # Threads
    **_same(Allowed(("i32",)), "nvvm.read.ptx.sreg.", *(f"{r}.{d}" for r in ("tid", "ntid") for d in "xyz")),
    **_same(Allowed(("i32",)), "nvvm.read.ptx.sreg.", *(f"{r}.{d}" for r in ("ctaid", "nctaid") for d in "xyz")),
    "nvvm.shfl.sync": Allowed(("i32", "f32"), {"kind": None}),
    "nvvm.barrier": Allowed(("i32",), {"operandSegmentSizes": ("array<i32: 0, 0, 0>", "array<i32: 1, 1, 0>")}),
}

#: What a kernel's function may say.
KERNEL: Attributes = {
    "sym_name": None,
    "function_type": None,
    "arg_attrs": None,
    "CConv": ("#llvm.cconv<ccc>",),
    "linkage": ("#llvm.linkage<external>",),
    "unnamed_addr": ("0 : i64",),
    "visibility_": ("0 : i64",),
    "gpu.kernel": None,
    "nvvm.kernel": None,
    "nvvm.reqntid": _THREADS,
    "nvvm.maxntid": _THREADS,
    "nvvm.minctasm": _FEW,
    "nvvm.maxnreg": _FEW,
    "nvvm.cluster_dim": _CLUSTER,
}
ARGUMENT_TYPES = (*SCALARS, GLOBAL_POINTER, GENERIC_POINTER)
ARGUMENT: Attributes = {
    "llvm.align": _ALIGNMENTS,
    **dict.fromkeys(("llvm.noalias", "llvm.readonly", "llvm.writeonly"), ("unit",)),
}
#: What an argument that is a tensor map says, 128 bytes by value: all of it, and nothing else.
TENSOR_MAP_ARGUMENT: Mapping[str, str] = {
    "llvm.byval": "!llvm.array<128 x i8>",
    "llvm.align": "64 : i64",
    "nvvm.grid_constant": "unit",
}

#: Of shared memory whose size the launch says.
DYNAMIC_LINKAGE = "#llvm.linkage<external>"
#: What shared memory may say.
SHARED_MEMORY: Attributes = {
    "sym_name": None,
    "global_type": None,
    "addr_space": ("3 : i32",),
    "alignment": _ALIGNMENTS,
    "linkage": ("#llvm.linkage<internal>", DYNAMIC_LINKAGE),
    "unnamed_addr": ("0 : i64",),
    "visibility_": ("0 : i64",),
}

#: The versions of PTX that LLVM knows; it takes any other word for none and writes its oldest.
PTX_VERSIONS = (80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92)
