"""The programs that benches and tests share have no more regions than they may, for every machine."""

import pytest

from tinyc.analysis.graphs import main_function
from tinyc.fusion.formation import form_regions
from tinyc.importers import tiny_json
from tinyc.target import machine_of
from workloads import WORKLOADS


@pytest.mark.parametrize("machine", ["cpu", "sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_no_more_regions_than_it_may(name, dtype, machine):
    workload = WORKLOADS[name]
    module = tiny_json.import_program(workload.build(dtype=dtype, **workload.large))
    with module.context:
        regions = form_regions(main_function(module), machine_of(machine)).regions
    assert len(regions) <= workload.most_regions
