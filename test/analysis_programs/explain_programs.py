"""Programs that `tinyc explain` is tried on, as Tiny JSON."""

#: A matrix product, a maximum over it with a border, and an op that reads where its data says.
PROGRAM = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "K"]}},
  {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": ["K", "N"]}},
  {"id": "i", "uop": "INPUT", "arg": {"tensor_id": "i", "dtype": "i32", "shape": [4]}},
  {"id": "a", "uop": "EXPAND", "src": ["x"], "arg": {"result_shape": ["M", "N", "K"], "broadcast_dimensions": [0, 2]}},
  {"id": "t", "uop": "PERMUTE", "src": ["w"], "arg": {"perm": [1, 0]}},
  {"id": "b", "uop": "EXPAND", "src": ["t"], "arg": {"result_shape": ["M", "N", "K"], "broadcast_dimensions": [1, 2]}},
  {"id": "p", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
  {"id": "padded", "uop": "PAD", "src": ["y"], "arg": {"pad": [[1, 1], [0, 0]], "value": 2.5}},
  {"id": "windows", "uop": "POOL", "src": ["padded"], "arg": {"kernel": [1]}},
  {"id": "most", "uop": "REDUCE", "src": ["padded"], "arg": {"op": "MAX", "axes": [1], "dtype": "fp32"}},
  {"id": "picked", "uop": "GATHER", "src": ["most", "i"], "arg": {"axis": 0}},
  {"id": "z", "uop": "NEG", "src": ["picked"]}],
 "outputs": ["z"]}
"""


#: Running sums of rows that a reshape merges: `[B, H, 5]` as `[B*H, 5]`.
RUNNING = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["B", "H", 5]}},
  {"id": "r", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["B*H", 5]}},
  {"id": "p", "uop": "PAD", "src": ["r"], "arg": {"pad": [[0, 0], [4, 0]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [5]}},
  {"id": "y", "uop": "REDUCE", "src": ["w"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: Windows of 3 taps laid over each other, `[C, taps, windows]`, by the diagonal of a window of every row.
OVERLAPPING = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["C", 3, 5]}},
  {"id": "f", "uop": "FLIP", "src": ["x"], "arg": {"axes": [1]}},
  {"id": "p", "uop": "PAD", "src": ["f"], "arg": {"pad": [[0, 0], [0, 0], [2, 2]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [3]}},
  {"id": "v", "uop": "VIEW", "src": ["w"],
   "arg": {"result_shape": ["C", 7, 3], "index_map": {"map": ["i0", "i2", "i1", "i2"]}}},
  {"id": "y", "uop": "REDUCE", "src": ["v"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A convolution of a rectified image: stride 2 and dilation 1 along the rows, 1 and 2 along the columns.
CONVOLUTION = """
{"uops": [
  {"id": "n0", "uop": "INPUT", "arg": {"tensor_id": "image", "dtype": "fp32", "shape": ["C", 56, 56]}},
  {"id": "n1", "uop": "INPUT", "arg": {"tensor_id": "weights", "dtype": "fp32", "shape": ["O", "C", 3, 3]}},
  {"id": "s", "uop": "RELU", "src": ["n0"]},
  {"id": "p", "uop": "PAD", "src": ["s"], "arg": {"pad": [[0, 0], [1, 1], [1, 1]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [3, 3], "stride": [2, 1], "dilation": [1, 2]}},
  {"id": "a", "uop": "EXPAND", "src": ["w"],
   "arg": {"result_shape": ["O", "C", 28, 54, 3, 3], "broadcast_dimensions": [1, 2, 3, 4, 5]}},
  {"id": "b", "uop": "EXPAND", "src": ["n1"],
   "arg": {"result_shape": ["O", "C", 28, 54, 3, 3], "broadcast_dimensions": [0, 1, 4, 5]}},
  {"id": "m", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [1, 4, 5], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A vector's windows times its first elements: both operands are one tensor.
AUTOCORRELATION = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [9]}},
  {"id": "w", "uop": "POOL", "src": ["x"], "arg": {"kernel": [4]}},
  {"id": "s", "uop": "SHRINK", "src": ["x"], "arg": {"lo": [0], "hi": [4], "step": [1]}},
  {"id": "b", "uop": "EXPAND", "src": ["s"], "arg": {"result_shape": [6, 4], "broadcast_dimensions": [1]}},
  {"id": "m", "uop": "MUL", "src": ["w", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A product that reads merged rows `[4, 14]`, and the same with one operand backwards.
MERGED = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4, "K", 14]}},
  {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": ["K", "N"]}},
  {"id": "t", "uop": "PERMUTE", "src": ["x"], "arg": {"perm": [0, 2, 1]}},
  {"id": "r", "uop": "RESHAPE", "src": ["t"], "arg": {"result_shape": [56, "K"]}},
  {"id": "a", "uop": "EXPAND", "src": ["r"], "arg": {"result_shape": [56, "K", "N"], "broadcast_dimensions": [0, 1]}},
  {"id": "b", "uop": "EXPAND", "src": ["w"], "arg": {"result_shape": [56, "K", "N"], "broadcast_dimensions": [1, 2]}},
  {"id": "p", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
  {"id": "f", "uop": "FLIP", "src": ["b"], "arg": {"axes": [1]}},
  {"id": "q", "uop": "MUL", "src": ["a", "f"]},
  {"id": "z", "uop": "REDUCE", "src": ["q"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y", "z"]}
"""

#: An input whose name is the id of another node, and a sum over the middle axis, of the same size as the first.
SQUARE = """
{"uops": [
  {"id": "n0", "uop": "INPUT", "arg": {"tensor_id": "s", "dtype": "fp32", "shape": ["M", "M", 4]}},
  {"id": "s", "uop": "NEG", "src": ["n0"]},
  {"id": "y", "uop": "REDUCE", "src": ["s"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A row's maximum, taken from the row.
ROWS = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "N"]}},
  {"id": "most", "uop": "REDUCE", "src": ["x"], "arg": {"op": "MAX", "axes": [1], "dtype": "fp32"}},
  {"id": "r", "uop": "RESHAPE", "src": ["most"], "arg": {"result_shape": ["M", 1]}},
  {"id": "e", "uop": "EXPAND", "src": ["r"], "arg": {"result_shape": ["M", "N"]}},
  {"id": "d", "uop": "SUB", "src": ["x", "e"]}],
 "outputs": ["d"]}
"""

#: Reshapes that end a region: `s` of what an op computes, `q` of a movement, `v` of an input, and `w` of `v`.
RESHAPED = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["A", "B*C"]}},
  {"id": "c", "uop": "INPUT", "arg": {"tensor_id": "c", "dtype": "fp32", "shape": ["C"]}},
  {"id": "r", "uop": "RELU", "src": ["x"]},
  {"id": "s", "uop": "RESHAPE", "src": ["r"], "arg": {"result_shape": ["B", "A*C"]}},
  {"id": "y", "uop": "NEG", "src": ["s"]},
  {"id": "yt", "uop": "PERMUTE", "src": ["y"], "arg": {"perm": [1, 0]}},
  {"id": "z", "uop": "RELU", "src": ["yt"]},
  {"id": "t", "uop": "INPUT", "arg": {"tensor_id": "t", "dtype": "fp32", "shape": ["B*C", "A"]}},
  {"id": "p", "uop": "PERMUTE", "src": ["t"], "arg": {"perm": [1, 0]}},
  {"id": "q", "uop": "RESHAPE", "src": ["p"], "arg": {"result_shape": ["B", "A*C"]}},
  {"id": "v", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["B", "A*C"]}},
  {"id": "w", "uop": "RESHAPE", "src": ["v"], "arg": {"result_shape": ["A", "B*C"]}}],
 "outputs": ["z", "q", "w"]}
"""

#: A row's elements squared and scaled; the scale is a constant that has no name of its own.
SCALED = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", 4]}},
  {"id": "r", "uop": "RELU", "src": ["x"]},
  {"id": "sq", "uop": "MUL", "src": ["r", "r"]},
  {"id": "y", "uop": "MUL", "src": ["sq", 0.5]}],
 "outputs": ["y"]}
"""

#: Two dimensions in one that a reshape takes apart.
HEADS = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["S", "H*D"]}},
  {"id": "g", "uop": "INPUT", "arg": {"tensor_id": "g", "dtype": "fp32", "shape": ["H", "D"]}},
  {"id": "h", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["S", "H", "D"]}},
  {"id": "e", "uop": "EXP2", "src": ["h"]},
  {"id": "y", "uop": "RESHAPE", "src": ["e"], "arg": {"result_shape": ["S", "H*D"]}}],
 "outputs": ["y"]}
"""


def cumulative(lo: int, hi: int, start: int, end: int) -> str:
    """Return running sums along rows of 5, padded with `lo` and `hi` zeros, of which `start` to `end` are summed."""
    return f"""
{{"uops": [
  {{"id": "x", "uop": "INPUT", "arg": {{"tensor_id": "x", "dtype": "fp32", "shape": ["B", 5]}}}},
  {{"id": "p", "uop": "PAD", "src": ["x"], "arg": {{"pad": [[0, 0], [{lo}, {hi}]], "value": 0.0}}}},
  {{"id": "s", "uop": "SHRINK", "src": ["p"],
   "arg": {{"lo": [0, {start}], "hi": ["B", {end}], "step": [1, 1]}}}},
  {{"id": "w", "uop": "POOL", "src": ["s"], "arg": {{"kernel": [5]}}}},
  {{"id": "y", "uop": "REDUCE", "src": ["w"], "arg": {{"op": "SUM", "axes": [2], "dtype": "fp32"}}}}],
 "outputs": ["y"]}}
"""


def padded(times: int) -> str:
    """Return a vector's negative behind `times` pads of one element in front, each with a value of its own."""
    pads = [
        f'{{"id": "p{k}", "uop": "PAD", "src": ["{f"p{k - 1}" if k else "x"}"],'
        f' "arg": {{"pad": [[1, 0]], "value": {k}.0}}}}'
        for k in range(times)
    ]
    declared = '{"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4]}}'
    read = f'{{"id": "y", "uop": "NEG", "src": ["p{times - 1}"]}}'
    return f'{{"uops": [{", ".join([declared, *pads, read])}], "outputs": ["y"]}}'
