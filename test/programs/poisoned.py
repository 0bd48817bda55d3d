"""A program whose arena is poisoned: all of it before the first kernel, and what dies after each generation.

In: a module of the Exec layer with its kernels as regions or statements, all sizes bound. Out: the same with a launch
more after each generation that fills what nothing needs any more with ones, NaN in every float type. Which bytes these
are says the layout; the verifier finds the new buffers apart from all that are alive.
"""

from tinyc.dialects.exec import ops as exec_
from tinyc.dialects.exec.attributes import PtrAttr
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.launch import launchables_of
from tinyc.expr.maximum import maximum_dims
from tinyc.mlir import gpu, ir
from tinyc.passes.runner import copy_module
from tinyc.text import parse
from tinyc.vocabulary.attributes import extents_attribute

BODY = """
  %0 = "tiny.const"() {{value = -1 : i8}} : () -> tensor<{size}xi8>
  "region.yield"(%0, %y) {{materialize = "gmem"}} : (tensor<{size}xi8>, {buffer}) -> ()
  omp.terminator
"""
BUFFER = "!region.memref<tensor<{size}xi8>, [1], 128 : i64, true>"
ON_HOST = '"region.kernel"() ({{ ^bb0(%y: {buffer}): {body} }}) {{sym_name = "{name}"}} : () -> ()'
ON_DEVICE = """
gpu.module @poison [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {{
  gpu.func @{name}(%y: {buffer}) kernel
      attributes {{known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [{grid}, 1, 1]}} {{
    "tgpu.map_runs"() ({{ {body} }}) {{width = 1 : i64}} : () -> ()
    gpu.return
  }}
}}"""


def dying(program):
    """Return the offset and size of each buffer that nothing needs after a generation, by that generation."""
    found = {}
    overwritten = {read for kernel in program.kernels for read, _ in kernel.in_place}
    for buffer in program.of_kind("arena"):
        if buffer.name in program.arena_lifetimes and buffer.name not in overwritten and buffer.size:
            last = program.arena_lifetimes[buffer.name][1]
            found.setdefault(last, []).append((buffer.offset, buffer.size))
    return found


def poisoned(module):
    """Return the module with its arena poisoned, and how many launches do that."""
    module = copy_module(module)
    (host,) = exec_functions(module)
    program = host.meaning()
    after = dying(program)
    if program.arena_bytes:
        after[-1] = [(0, each) for each in maximum_dims(program.arena_bytes)]
    places = [(generation, *place) for generation, each in sorted(after.items()) for place in each]
    with module.context, ir.Location.unknown():
        for op, kernel in zip(host.kernels, program.kernels, strict=True):
            op.attributes["generation"] = extents_attribute((2 * kernel.generation + 1,))[0]
        space = program.buffers[0].memory_space
        for size in {size for _, _, size in places}:
            add_kernel(module, size, space)
        for number, (generation, offset, size) in enumerate(places):
            add_launch(module, host, f"poison_{number}", 2 * generation + 2, offset, size, space)
    assert module.operation.verify()
    return module, len(places)


def add_kernel(module, size, space):
    """Add the kernel that poisons `size` bytes."""
    buffer, name = BUFFER.format(size=size), f"poison_{size}_bytes"
    body = BODY.format(size=size, buffer=buffer)
    written = ON_DEVICE if space == "device" else ON_HOST
    made = parse(written.format(name=name, buffer=buffer, body=body, grid=-(-size // 256)))
    (op,) = made.body.operations
    if space == "device":
        (kernels,) = (each for each in module.body.operations if isinstance(each, gpu.GPUModuleOp))
        op.bodyRegion.blocks[0].operations[0].operation.clone(
            ip=ir.InsertionPoint.at_block_begin(kernels.bodyRegion.blocks[0])
        )
    else:
        op.operation.clone(ip=ir.InsertionPoint.at_block_begin(module.body))


def add_launch(module, host, name, generation, offset, size, space):
    """Add the buffer `name` and the launch that fills it, where its generation comes."""
    contract = launchables_of(module)[f"poison_{size}_bytes"].contract()
    tensor = ir.TypeAttr.get(ir.Type.parse(f"tensor<{size}xi8>"))
    later = (each for each in host.kernels if each.generation.value > generation)
    at = next(later, host.body.blocks[0].operations[len(host.body.blocks[0].operations) - 1])
    number, place, length = extents_attribute((generation, offset, size))
    with ir.InsertionPoint(at):
        exec_.BufferOp(
            buffer=ir.StringAttr.get(name),
            kind=ir.StringAttr.get("arena"),
            memory_space=ir.StringAttr.get(space),
            offset=place,
            size=length,
            tensor=tensor,
        )
        exec_.KernelOp(
            symbol=ir.FlatSymbolRefAttr.get(contract.symbol),
            generation=number,
            grid=extents_attribute(contract.grid),
            block=extents_attribute(contract.cta_shape),
            cluster=extents_attribute((1, 1, 1)),
            dynamic_shared_bytes=extents_attribute((0,))[0],
            parameters=ir.ArrayAttr.get([PtrAttr.get(ir.StringAttr.get(name), tensor)]),
            reads=ir.ArrayAttr.get([]),
            writes=ir.ArrayAttr.get([ir.StringAttr.get(name)]),
        )
