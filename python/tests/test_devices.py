"""Callables as devices: probe, infer, validate; comparisons of instructions; the program."""

import subprocess
import sys

import numpy
import pytest

import mmascope

ROW = mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")


def device(a, b, c):
    """The instruction behind a callable; the tests see only its answers."""
    return ROW.matmul(a[:, None, :], b[:, :, None], c[:, None, None])[:, 0, 0]


def rounded(a, b, c):
    with numpy.errstate(all="ignore"):
        return (a.astype("f4") * b.astype("f4")).sum(-1, dtype="f4") + c


def test_a_callable_is_inferred():
    found = mmascope.infer(device, like=ROW, catalogue=False)
    # L = 8 and L = 16 are the same for 8 products.
    assert found and mmascope.validate(found.unit, ROW, trials=5000)
    assert mmascope.catalogue(isa=found.row).find("inferred", "dot.m1n1k8.f32.f16.f16.f32").k == 8


def test_a_callable_is_probed():
    values = mmascope.probe(device, like=ROW).values
    own = mmascope.probe(ROW).values
    # A callable knows single dot products; an instruction computes tiles as well.
    assert (values.pop("tile"), own.pop("tile")) == ("no tile", "alike") and values == own
    assert values != mmascope.probe(rounded, ROW.signature).values


def test_a_callable_is_validated_and_goes_on():
    assert mmascope.validate(device, ROW, trials=5000)
    report = mmascope.validate(rounded, ROW, trials=5000)
    assert not report and report["mismatches"] > 0 and report["smallest"]
    half = mmascope.validate(device, ROW, trials=3000)
    rest = mmascope.validate(device, ROW, trials=6000, state=half.state)
    whole = mmascope.validate(device, ROW, trials=6000)
    assert rest["families"] == whole["families"]
    with pytest.raises(ValueError, match="^state"):
        mmascope.validate(device, ROW, trials=10, state="{}")
    assert mmascope.validate(lambda a, b, c: ROW.dot(a, b, c), ROW, trials=60, batch=False)


@pytest.mark.parametrize(("function", "message"), [
    (lambda a, b, c: 1 / 0, "failed with ZeroDivisionError"),
    (lambda a, b, c: c[:1], "result of shape"),
    (lambda a, b, c: c.astype("f8"), "gave elements of f64; d is f32"),
    (lambda a, b, c: None, "fn's result"),
])
def test_callables_that_fail(function, message):
    with pytest.raises(mmascope.Error, match=message):
        mmascope.probe(function, like=ROW)


@pytest.mark.parametrize("types", ["s8,s8,s32", "s4,s4,s32"])
def test_a_callable_of_integers(types):
    pytest.importorskip("ml_dtypes", reason="without ml_dtypes NumPy has no int4")

    def integers(a, b, c):
        return (a.astype("i4") * b.astype("i4")).sum(-1, dtype="i4") + c

    row = mmascope.find("a100", types)
    assert mmascope.validate(integers, row, trials=2000)
    assert not mmascope.validate(lambda a, b, c: integers(a, b, c) | 1, row, trials=2000)


def noisy(share):
    random = numpy.random.default_rng(5)

    def function(a, b, c):
        d = device(a, b, c).view("u4")
        return d ^ (random.random(len(d)) < share).astype("u4")

    return function


def changing(calls):
    asked = []

    def function(a, b, c):
        asked.append(len(c))
        return device(a, b, c).view("u4") ^ numpy.uint32(len(asked) > calls)

    return function


@pytest.mark.parametrize("make", [lambda: noisy(0.5), lambda: noisy(0.02), lambda: changing(1), lambda: changing(4)])
@pytest.mark.parametrize("ask", [
    lambda function: mmascope.probe(function, like=ROW),
    lambda function: mmascope.infer(function, like=ROW),
    lambda function: mmascope.validate(function, ROW, trials=20_000),
], ids=["probe", "infer", "validate"])
def test_a_callable_that_changes_is_named(ask, make):
    with pytest.raises(mmascope.DeviceError, match="^fn: .*the same inputs gave other outputs"):
        ask(make())


def test_few_questions_are_asked_twice():
    counts = []

    def counted(a, b, c):
        counts.append(len(c))
        return device(a, b, c)

    assert mmascope.validate(counted, ROW, trials=50_000)
    assert sum(counts) <= 50_000 + 256 and len(counts) > 2
    counts.clear()
    assert mmascope.validate(counted, ROW, trials=40)
    assert sum(counts) <= 45


def test_a_callable_needs_a_signature():
    with pytest.raises(ValueError, match="^signature: "):
        mmascope.probe(device)


def test_comparisons():
    difference = mmascope.diff("a100", "h100", types="f16,f16,f32", count=300)
    assert difference["inputs"] == 300 and "<svg" in difference.svg()
    errors = mmascope.error("a100", "h100", types="f16,f16,f32", shape=(4, 4, 256))
    assert len(errors["curves"]) == 2 and "<svg" in errors.svg()
    a = numpy.random.default_rng(1).standard_normal((16, 64)).astype("f2")
    b = numpy.random.default_rng(2).standard_normal((64, 16)).astype("f2")
    found = mmascope.identify(a, b, mmascope.matmul(a, b, arch="h100"))
    assert found and any("hopper" in row for item in found["identified"] for row in item["rows"])
    assert mmascope.error("h100:f16", a=a, b=b)["k"] == 64
    assert mmascope.resolve("sqrt", target="sm_90", type="f32", value=[2.0])["out"] == "3fb504f3"
    chosen = [mmascope.resolve("a/b", target="sm_90", type="f32", prec_div=level)["ptx"] for level in (0, 2)]
    assert chosen[0] != chosen[1]
    assert mmascope.resolve("__nv_fast_expf", target="sm_90")["legal"] is True
    with pytest.raises(ValueError):
        mmascope.diff("a100", types="f16,f16,f32")
    with pytest.raises(ValueError, match="^units: a unit of your own"):
        mmascope.diff(mmascope.Unit(ROW.signature, ROW.arithmetic), "a100")


def test_explanations():
    x = numpy.ones(8, numpy.float16)
    text = ROW.explain(x, x, 1.0)
    assert "result   41100000 = 9" in str(text) and "<iframe" in text._repr_html_()
    both = mmascope.explain(x, x, arch="h100", instruction=ROW, against="a100:mma.m16n8k8.f32.f16.f16.f32")
    assert both.data["against"]["result"] is not None


def test_the_program():
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "mmascope", *arguments], capture_output=True, text=True, timeout=60)

    assert "hopper" in run("list").stdout
    wrong = run("show", "--arch", "h1000", "--inst", "f16")
    assert wrong.returncode == 2 and "nearest" in wrong.stderr
    assert run("--version").stdout.split() == ["mmascope", mmascope.__version__]
    assert run("diff", "--arch", "a100,h100", "--types", "f16,f16,f32", "--family", "close").returncode == 1


def test_a_budget_of_2000_is_enough():
    from mmascope._parts import InferAll

    row = mmascope.find("h100", "f16")
    assert mmascope.infer(row, budget=2000)
    with pytest.raises(ValueError, match="^budget = 1999: 2000 or more"):
        mmascope.infer(row, budget=1999)
    assert InferAll(["h100"], 2000, 1, True).given["budget"] == 2000
