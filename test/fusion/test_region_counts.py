"""The programs that benches and tests share have no more regions than they may, for every machine."""

from parameters import pairwise
from tinyc import pipeline
from tinyc.analysis.graphs import main_function
from tinyc.dialects.region import ops as region
from tinyc.importers import tiny_json
from workloads import WORKLOADS


@pairwise(name=WORKLOADS, dtype=["fp32", "fp16"], machine=["cpu", "sm_80", "sm_90a"])
def test_a_workload_has_no_more_regions_than_it_may(name, dtype, machine):
    workload = WORKLOADS[name]
    module = tiny_json.import_program(workload.build(dtype=dtype, **workload.large))
    pipeline.parse(f"tiny-to-region{{target={machine}}}").run(module)
    with module.context:
        launches = [op for op in main_function(module).entry_block.operations if isinstance(op, region.LaunchOp)]
    assert 0 < len(launches) <= workload.most(machine, dtype)
