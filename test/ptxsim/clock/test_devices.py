"""The tables of devices: each number says what it is, how it is known and by whom; they agree with each other."""

import pickle
from dataclasses import fields

import pytest

from ptxsim.clock.devices import DEVICES, Figure, device_of
from ptxsim.errors import InputError

STANDINGS = {"measured", "specified", "derived", "fitted", "assumed"}
NUMBERS = [(name, number) for name, device in DEVICES.items() for number in device.figures]


@pytest.mark.parametrize(("device", "number"), NUMBERS)
def test_a_number_has_its_unit_its_standing_and_its_source(device, number):
    figure = DEVICES[device].figures[number]
    assert figure > 0
    assert figure.unit
    assert figure.standing in STANDINGS
    assert len(figure.source) > 3


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_all_that_is_no_name_is_a_figure(device):
    texts = {"name", "title", "arch"}
    assert {each.name for each in fields(device)} - texts == device.figures.keys()


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_rates_of_the_tensor_cores_make_the_specified_peak(device):
    # the data sheets' clocks are not the nominal ones: H100's peak is at 1.83 GHz
    macs = max(device.wgmma_macs, 16 * 8 * 16 / device.mma_16816_interval)
    peak = 2 * macs * device.subpartitions * device.sms * device.nominal_hz
    assert peak == pytest.approx(device.tensor_flops_per_second, rel=0.06)


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_what_is_further_away_takes_longer(device):
    order = ("shared_latency", "l1_latency", "l2_latency", "l2_far_latency", "memory_latency", "memory_far_latency")
    latencies = [getattr(device, name) for name in order]
    assert latencies == sorted(latencies)


def test_memory_gives_bytes_in_a_cycle_of_the_nominal_clock():
    assert device_of("h100").memory_bytes_per_cycle == pytest.approx(3.35e12 * 0.92 / 1.755e9)


def test_a_figure_goes_to_another_process_as_it_is():
    figure = pickle.loads(pickle.dumps(device_of("a100").sms))
    assert (figure, figure.unit, figure.standing) == (108, "SMs", "specified")


def test_a_figure_computes_as_a_number():
    figure = Figure(2.0, "cycles", "assumed", "a test")
    assert figure * 3 == 6.0
    assert figure.unit == "cycles"


def test_a_name_that_is_none_is_an_error_that_suggests_one():
    with pytest.raises(InputError, match=r"there is no device 'h10'.*h100.*; there are a100"):
        device_of("h10")
