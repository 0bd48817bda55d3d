"""What is told of an estimate, as text and for JSON."""

import json

import pytest

from ptxsim.clock.devices import DEVICES, device_of
from ptxsim.clock.report.estimate_object import device_object, estimate_object
from ptxsim.clock.report.estimate_text import device_table, estimate_text, limiter_text
from ptxsim.clock.report.quantities import rate_text, seconds_text
from ptxsim_cases.estimates import LINES, made_up

TOLD = """\
device   H100 SXM5 80 GB, sm_90a
cycles   3,510 of an SM, and 2.50 us for the launch itself
time     4.50 us ± 10.0 % at 1755 MHz, the nominal clock
rates    200 TFLOP/s; 1.00 TB/s between HBM and L2, 2.00 TB/s between L2 and the SMs
peaks    29.9 % of HBM bytes/s, 20.2 % of tensor FLOP/s, 0.0 % of f32 FLOP/s
limiter  HBM, busy for 90.0 % of the time; without it 2.00 times as fast at most, limited by the tensor pipe
resident 2 CTAs of an SM at most, by registers; 4 on the busiest, in 2 rounds
code     SASS of ptxas 13.0.88, in which 100.0 % of accesses, products, synchronisation is found

units of an SM: busy for so much of the time
  unit             busy
  HBM              90.0 %
  the tensor pipe  45.0 %

waits of a resident warp by cause
  waits for                        of the time
  results of earlier instructions  50.0 %
  mbarriers                        25.0 %
  the tensor pipe                  0.1 %

waits of a resident warp by line of the PTX
  line  waits for                        of the time  instruction
     2  results of earlier instructions  50.0 %       fma.rn.f32 %f2, %f1, %f1, %f1;
     3  mbarriers                        25.0 %       @%p bra done;

uncertainty: two of three launches are within all of it together, each squared
  of                 of the time
  published kernels  8.0 %
  the launch itself  6.0 %
  together           10.0 %

caution: it takes less than 10 us
not good for: tiny or irregular kernels; a way that depends on time or on other clusters, as with counters of tiles; \
the order of kernels that are closer than 3 to 5 %"""


def test_an_estimate_is_told_in_rows_and_tables():
    assert estimate_text(made_up(), LINES) == TOLD


def test_an_estimate_is_a_line_for_print():
    assert str(made_up()) == "k: 4.5 us ± 10% on H100 SXM5 80 GB, limited by HBM"


def test_without_the_ptx_there_are_line_numbers_alone():
    text = estimate_text(made_up())
    assert "  line  waits for                        of the time\n     2  results" in text


def test_a_clock_that_goes_down_is_told_beside_the_nominal_one():
    told = estimate_text(made_up(clock_hz=1.5e9)).splitlines()[2]
    assert told.endswith("at 1500 MHz, which it keeps up under power; 4.50 us at the nominal 1755 MHz")


def test_what_waits_is_limited_by_that():
    waits = made_up(shares={"tensor": 0.5})
    assert limiter_text(waits) == (
        "waits for results of earlier instructions; without it 2.00 times as fast at most, limited by the tensor pipe"
    )
    assert limiter_text(made_up(shares={}, waits={})) == "the launch"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (seconds_text(1.5), "1.50 s"),
        (seconds_text(0.0123), "12.3 ms"),
        (seconds_text(123.4e-6), "123 us"),
        (seconds_text(5e-9), "5.00 ns"),
        (rate_text(3.35e12, "B"), "3.35 TB/s"),
        (rate_text(45e9, "FLOP"), "45.0 GFLOP/s"),
        (rate_text(12, "B"), "12.0 B/s"),
    ],
)
def test_quantities_have_three_digits(text, shown):
    assert text == shown


def test_json_has_what_the_text_has():
    facts = json.loads(json.dumps(estimate_object(made_up(), LINES)))
    assert (facts["cycles"], facts["seconds"], facts["limiter"]) == (3510, pytest.approx(4.5e-6), "HBM")
    assert facts["waits"][0] == {
        "line": 2,
        "cause": "scoreboard",
        "share": 0.5,
        "text": "fma.rn.f32 %f2, %f1, %f1, %f1;",
    }
    assert facts["uncertainty"] == pytest.approx(0.1)
    assert facts["cautions"] == ["it takes less than 10 us"]
    assert (facts["code"], facts["cycles_between"]) == ("SASS of ptxas 13.0.88", None)
    weighed = made_up(source="class weights", cycles_between=(3000.0, 4000.0))
    assert estimate_object(weighed, LINES)["cycles_between"] == (3000, 4000)


@pytest.mark.parametrize("name", DEVICES)
def test_the_table_of_a_device_has_every_number_with_its_source(name):
    device = device_of(name)
    text = str(device_table(device))
    facts = json.loads(json.dumps(device_object(device)))["figures"]
    assert facts.keys() == device.figures.keys()
    for key, figure in device.figures.items():
        assert f"  {key} " in text
        assert facts[key] == {
            "value": float(figure),
            "unit": figure.unit,
            "standing": figure.standing,
            "source": figure.source,
        }
        assert figure.source in text
