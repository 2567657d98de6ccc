"""The unit of tfdpa.sv, and units with a planted fault, against the golden model from Python.

`python test_tfdpa.py` simulates them in Icarus Verilog. PACK names the lines of `mmascope gen --discriminating`, BUILD the folder
for what is built.
"""

import json
import os
import pathlib
import random
import sys

import cocotb
import mmascope
import numpy
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

HERE = pathlib.Path(__file__).resolve().parent
RANDOM_CASES = 10000
# A fault is found within so many vectors.
WITHIN = 200
K = 4

FAULTS = {"lost sticky path": {"LOST_STICKY": 1}, "wrong floor e0": {"E0": -125}, "RNE for RZ": {"NEAREST": 1}}
# The fault of the simulated unit; None where it has to be right.
FAULT = os.environ.get("FAULT")


def model():
    """The unit's line in unit.txt."""
    mmascope.load_isa(HERE / "unit.txt")
    return mmascope.find("example", "dot4.f32.f16")


def packed(words):
    """Words side by side, k = 0 in the lowest bits."""
    return sum(int(word) << 16 * k for k, word in enumerate(words))


async def answers(dut, cases):
    """Asks one question with every clock, and gives the words that come out, in order."""
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    dut.rst.value = 1
    dut.in_valid.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    found = []
    for case in [*cases, *[None] * 8]:
        dut.in_valid.value = int(case is not None)
        if case is not None:
            a, b, c = case
            dut.a.value = packed(a)
            dut.b.value = packed(b)
            dut.c.value = int(c)
        await FallingEdge(dut.clk)
        if int(dut.out_valid.value):
            found.append(int(dut.d.value))
    return found


def words_of(text, digits):
    return [int(text[at : at + digits], 16) for at in range(0, len(text), digits)]


async def wrong_vectors(dut):
    """The discriminating vectors, and which of them the unit answers wrong, counted from 0."""
    lines = [json.loads(line) for line in pathlib.Path(os.environ["PACK"]).read_text().splitlines()]
    cases = [(words_of(line["a"], 4), words_of(line["b"], 4), int(line["c"], 16)) for line in lines]
    found = await answers(dut, cases)
    assert len(lines) > 5 and len(found) == len(lines)
    return lines, [at for at, d in enumerate(found) if f"{d:08x}" != lines[at]["d"]]


@cocotb.test(skip=FAULT is None)
async def the_discriminating_vectors_find_the_fault(dut):
    _, wrong = await wrong_vectors(dut)
    assert wrong and wrong[0] < WITHIN, f"{FAULT}: {wrong}"
    dut._log.info("%s: vector %d finds it", FAULT, wrong[0] + 1)


@cocotb.test(skip=FAULT is not None)
async def agrees_with_the_discriminating_vectors(dut):
    lines, wrong = await wrong_vectors(dut)
    assert not wrong, [lines[at] for at in wrong]


@cocotb.test(skip=FAULT is not None)
async def agrees_with_the_model_on_random_cases(dut):
    draw = random.Random(1)

    def number(format_bits, fraction_bits, bias):
        """Any word, or a number near 1."""
        if draw.random() < 0.5:
            return draw.getrandbits(format_bits)
        exponent = bias + draw.randrange(-12, 13)
        return draw.getrandbits(1) << format_bits - 1 | exponent << fraction_bits | draw.getrandbits(fraction_bits)

    cases = [
        ([number(16, 10, 15) for _ in range(K)], [number(16, 10, 15) for _ in range(K)], number(32, 23, 127))
        for _ in range(RANDOM_CASES)
    ]
    unit = model()
    found = await answers(dut, cases)
    assert len(found) == len(cases)
    for (a, b, c), d in zip(cases, found):
        # Integers are words of the operands' formats.
        right = unit.dot(numpy.array(a, numpy.uint16), numpy.array(b, numpy.uint16), numpy.uint32(c))
        right = int(numpy.asarray(right).view(numpy.uint32))
        assert d == right, f"{d:08x}, not {right:08x}, for a = {a}, b = {b}, c = {c}"


def simulate(folder, fault, parameters):
    """Builds and runs one unit; gives whether every test passed."""
    try:
        from cocotb_tools.runner import get_results, get_runner
    except ImportError:  # before cocotb 2
        from cocotb.runner import get_results, get_runner
    runner = get_runner("icarus")
    runner.build(sources=[HERE / "tfdpa.sv"], hdl_toplevel="tfdpa", build_dir=folder, parameters=parameters,
                 build_args=["-g2012"], timescale=("1ns", "1ps"), always=True)
    results = runner.test(hdl_toplevel="tfdpa", test_module="test_tfdpa", build_dir=folder, test_dir=HERE,
                          extra_env={"FAULT": fault} if fault else {}, results_xml=str(folder / "results.xml"))
    tests, failed = get_results(results)
    print(f"{fault or 'the unit'}: {tests} tests, {failed} failed")
    return tests > 0 and failed == 0


def main():
    build = pathlib.Path(os.environ.get("BUILD", "sim_build")).resolve()
    units = {None: {}, **FAULTS}
    passed = [simulate(build / str(number), *unit) for number, unit in enumerate(units.items())]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
