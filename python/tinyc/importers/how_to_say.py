"""What to write for an op that Tiny JSON lacks: names from other frameworks, each with its formula in uops."""

from collections.abc import Iterable

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.importers.json_text import shown_json

#: Name in capitals without `_` → what says it; `x` and `y` are its sources. A word in capitals is a uop, or its `op`.
HOW_TO_SAY: dict[str, str] = {
    # element-wise
    "ADDN": "ADD of two at a time",
    "CEIL": "NEG of FLOOR of NEG of x",
    **dict.fromkeys(("CLAMP", "CLIP"), "MIN of the upper bound and MAX of the lower bound and x"),
    "COS": "SIN of x + 1.5707963267948966",
    "COSH": "(EXP of x + EXP of NEG of x) · 0.5",
    **dict.fromkeys(("DIV", "DIVIDE", "TRUEDIV"), "FDIV of floats, IDIV of integers"),
    "ELU": "WHERE of CMP_LT of 0 and x, then x, else SUB of EXP of x and 1",
    "ERFC": "SUB of 1 and ERF of x",
    "EXP10": "EXP2 of x · 3.321928094887362",
    "EXPM1": "SUB of EXP of x and 1",
    "GELU": "x · 0.5 · (1 + ERF of x · 0.7071067811865476); its tanh form is {op: Unary, fn: gelu}",
    "LEAKYRELU": "WHERE of CMP_LT of 0 and x, then x, else x · slope",
    "LOG10": "LOG2 of x · 0.3010299956639812",
    "LOG1P": "LOG of x + 1",
    "LOGSOFTMAX": "LOG of SOFTMAX of x",
    **dict.fromkeys(("POW", "POWER"), "EXP2 of y · LOG2 of x, for x > 0; a small whole power is MUL of x and x"),
    "RELU6": "MIN of RELU of x and 6",
    "ROUND": "FLOOR of x + 0.5, which takes halves up",
    "SIGN": "SUB of CAST of CMP_LT of 0 and x, and CAST of CMP_LT of x and 0",
    **dict.fromkeys(("SILU", "SWISH"), "MUL of x and SIGMOID of x"),
    "SINH": "(EXP of x - EXP of NEG of x) · 0.5",
    "SOFTPLUS": "LOG of 1 + EXP of x",
    "SQUARE": "MUL of x and x",
    "TAN": "FDIV of SIN of x and SIN of x + 1.5707963267948966",
    # comparisons; NaN compares as IEEE 754 says
    **dict.fromkeys(("EQ", "EQUAL"), "CMP_EQ of x and y"),
    **dict.fromkeys(("GE", "CMPGE", "GREATEREQUAL"), "OR of CMP_LT of y and x, and CMP_EQ of x and y"),
    **dict.fromkeys(("GT", "CMPGT", "GREATER"), "CMP_LT of y and x"),
    **dict.fromkeys(("LE", "CMPLE", "LESSEQUAL"), "OR of CMP_LT of x and y, and CMP_EQ of x and y"),
    **dict.fromkeys(("LT", "LESS"), "CMP_LT of x and y"),
    **dict.fromkeys(("NE", "CMPNE", "NOTEQUAL"), "NOT of CMP_EQ of x and y"),
    **dict.fromkeys(("SELECT", "IF"), "WHERE of condition, x and y"),
    # reductions and products
    "ALL": "REDUCE with op MIN of a bool",
    "ANY": "REDUCE with op MAX of a bool",
    "ARGMAX": "TOPK with k = 1, whose indices are 'id#1'",
    "ARGMIN": "TOPK with k = 1 and largest = false, whose indices are 'id#1'",
    **dict.fromkeys(("AVGPOOL", "AVERAGEPOOL"), "POOL, and MEAN over the axes of its windows"),
    **dict.fromkeys(("BMM", "DOT", "GEMM", "LINEAR", "MM"), "MATMUL of x and y, of equal rank"),
    **dict.fromkeys(("CONV", "CONV2D"), "PAD, POOL, EXPAND, MUL, and REDUCE with op SUM, as examples/conv2d.json does"),
    "CUMSUM": "PAD, POOL, and REDUCE with op SUM, as examples/cumulative_sum.json does",
    "EINSUM": "EXPAND x and y to all axes, MUL, and REDUCE with op SUM over those that go",
    "LAYERNORM": "MEAN, SUB, MUL, MEAN, ADD, RSQRT, as examples/layer_norm.json does",
    "MAXPOOL": "POOL, and REDUCE with op MAX over the axes of its windows",
    **{
        name: f"REDUCE with op {op}, axes and dtype"
        for op, names in {
            "MAX": ("AMAX", "REDUCEMAX"),
            "MIN": ("AMIN", "REDUCEMIN"),
            "PROD": ("PROD", "REDUCEPROD"),
            "SUM": ("SUM", "REDUCESUM"),
        }.items()
        for name in names
    },
    "REDUCEMEAN": "MEAN with axes",
    "SORT": "TOPK with k = the extent of the axis",
    **dict.fromkeys(("VAR", "VARIANCE"), "MEAN of MUL of d and d, where d is SUB of x and its MEAN, after an EXPAND"),
    # movements and leaves
    "ARANGE": "IOTA with shape, axis and dtype",
    **dict.fromkeys(("BROADCAST", "BROADCASTTO", "REPEAT", "TILE"), "EXPAND, after a RESHAPE that adds axes"),
    **dict.fromkeys(
        ("CONCAT", "CONCATENATE", "CAT"),
        "PAD each to the whole extent, and WHERE of CMP_LT of IOTA along the axis and the extent of x to choose",
    ),
    "CONSTANT": "CONST with value, dtype and shape, or with values, or with file and name",
    **dict.fromkeys(("FULL", "ONES", "ZEROS"), "CONST with value, dtype and shape"),
    "DROPOUT": "RAND, CMP_LT, and WHERE",
    **dict.fromkeys(("EMBEDDING", "INDEXSELECT", "TAKE"), "GATHER of the table and the indices, with axis"),
    **dict.fromkeys(("FLATTEN", "SQUEEZE", "UNSQUEEZE"), "RESHAPE with result_shape"),
    "IDENTITY": "VIEW without arg",
    **dict.fromkeys(("PARAMETER", "WEIGHT"), "INPUT with weight = true, or CONST with file and name"),
    "PLACEHOLDER": "INPUT with tensor_id, dtype and shape",
    "TENSOR": "CONST with values and dtype, or INPUT with tensor_id, dtype and shape",
    **dict.fromkeys(("RANDN", "RANDOM"), "RAND with distribution and seed"),
    **dict.fromkeys(("SLICE", "SPLIT"), "SHRINK with lo and hi"),
    "STACK": "RESHAPE each to have the new axis, and go on as for a concatenation",
    "TRANSPOSE": "PERMUTE with perm",
}


def unknown_word(what: str, name: str, known: Iterable[str], where: Where) -> TinycError:
    """The error for an op, `what`, that is none of those `known`: how to say it, or the ones that are spelt like it."""
    names = list(known)
    formula = HOW_TO_SAY.get(name.upper().replace("_", ""))
    likely = next((each for each in names if each.lower() == name.lower()), None)
    if likely is None and formula is not None:
        hint = f"; write it as {formula}"
    else:
        hint = suggest(likely or (name.upper() if what == "uop" else name), names)
    return TinycError("UnknownUop", f"unknown {what} {shown_json(name)}{hint}", where)
