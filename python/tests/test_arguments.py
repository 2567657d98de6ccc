"""Whatever an argument is given: a result, or an exception of the package; never another one, and no option's name."""

import numpy
import pytest

import mmascope

ROW = mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")
X, M = numpy.ones(8, "f2"), numpy.ones((16, 16), "f2")
TREE = mmascope.Tree.from_json("(add f32 (add f32 0 1) 2)")
UNLIKELY = [
    3, -1, 2.5, "foo", "", None, [], [1], {}, object(), b"x", (1, 2), numpy.float32(2), numpy.zeros(3), True, 1 << 70,
    lambda: 1, float("nan"),
]
FILE = "examples/fp8-accumulators.jsonl"


def device(a, b, c):
    return ROW.matmul(a[:, None, :], b[:, :, None], c[:, None, None])[:, 0, 0]


PRODUCT = {"c": None, "arch": "h100", "instruction": "f16", "scale_a": None, "scale_b": None, "mods": ()}
DEVICE = {"fn": device, "batch": True, "arrays": "numpy", "timeout": None}
#: Functions, and arguments of which each in turn is given everything. Long work is left out.
CALLS = {
    "matmul": (mmascope.matmul, {"a": M, "b": M, **PRODUCT, "schedule": None, "threads": None, "round": None, "pad": False,
                                 "saturate": False, "by_reference": False, "progress": False}),
    "dot": (mmascope.dot, {"a": X, "b": X, **PRODUCT, "instruction": ROW.name}),
    "explain": (mmascope.explain, {"a": X, "b": X, **PRODUCT, "instruction": ROW.name, "against": None}),
    "row.dot": (ROW.dot, {"a": X, "b": X, "c": None, "scale_a": None, "scale_b": None, "mods": ()}),
    "row.explain": (ROW.explain, {"a": X, "b": X, "c": None, "scale_a": None, "mods": (), "against": None}),
    "find": (mmascope.find, {"arch": "h100", "instruction": "f16"}),
    "catalogue": (mmascope.catalogue, {"isa": None}),
    "load_isa": (mmascope.load_isa, {"isa": []}),
    "Unit": (mmascope.Unit, {"signature": ROW.signature, "program": ROW.arithmetic}),
    "reveal": (mmascope.reveal, {"fn": numpy.sum, "n": 8, "dtype": "float32", "factors": None, "batch": None, "result": None,
                                 "algorithm": "pivot", "trials": 3, "seed": 1, "verify": True}),
    "probe": (mmascope.probe, {**DEVICE, "signature": None, "like": ROW}),
    "infer": (mmascope.infer, {**DEVICE, "signature": None, "like": ROW, "seed": 1}),
    "validate": (mmascope.validate, {**DEVICE, "against": ROW, "families": (), "seed": 1, "state": None, "trials": 100}),
    "cast": (mmascope.cast, {"array": M, "to": "e4m3", "source": None, "round": None, "overflow": None, "policy": None,
                             "relu": False, "sat": False, "ftz": False, "pzo": False, "random_bits": None, "target": None}),
    "quantize": (mmascope.quantize, {"array": numpy.ones((16, 64), "f4"), "format": "mxfp8-e4m3", "recipe": None,
                                     "selection": None, "axis": -1, "block": None, "stochastic": None}),
    "dequantize": (mmascope.dequantize, {"quantized": None}),
    "identify": (mmascope.identify, {"a": M, "b": M, "d": M.astype("f4") * 16, "scale_a": None}),
    "diff": (lambda unit, **more: mmascope.diff(unit, "h100:f16", **more),
             {"unit": "a100:f16", "instruction": None, "types": None, "family": "normal", "count": 10, "seed": 0, "start": 0}),
    "error": (lambda unit, **more: mmascope.error(unit, **more),
              {"unit": "a100:f16", "shape": (2, 2, 32), "a": None, "b": None, "instruction": None, "types": None, "c": None,
               "distribution": "normal", "seed": None, "schedules": (), "full": False, "saturate": False}),
    "check": (lambda file, **more: mmascope.check(file, **more),
              {"file": FILE, "arch": None, "instruction": None, "against": None, "flags": False, "engine": False}),
    "resolve": (mmascope.resolve, {"operation": "sqrt", "target": "sm_90", "type": "f32", "policy": "llvm", "fmf": (),
                                   "round": None, "approx": False, "ftz": False, "denormal": None, "reflect": None,
                                   "preset": None, "prec_div": None, "prec_sqrt": None, "fma": None, "value": ()}),
    "specials": (mmascope.specials, {"arch": "h100", "instruction": "f16"}),
    "from_json": (mmascope.Tree.from_json, {"value": "(add f32 0 1)"}),
    "tree.run": (TREE.run, {"values": [1, 2, 3], "dtype": None, "others": None, "fused_bits": None, "rounding": None,
                            "fused_rounding": None}),
    "tree.export": (TREE.export, {"language": "c", "products": None, "dtype": None}),
    "tree.svg": (TREE.svg, {"title": ""}),
    "tree.renamed": (TREE.renamed, {"names": ["a", "b", "c"]}),
    "tree.difference": (TREE.difference, {"other": TREE}),
    "tree.to_json": (TREE.to_json, {"flat": None}),
}


def refused(function, arguments):
    """Calls with everything in the place of each argument in turn; says what else than ours was raised."""
    wrong = []
    for name in arguments:
        for value in UNLIKELY:
            try:
                function(**{**arguments, name: value})
            except mmascope.Error as error:
                if "--" in str(error) or "Usage:" in str(error):
                    wrong.append(f"{name} = {value!r}: {error}")
            except Exception as error:
                wrong.append(f"{name} = {value!r}: {type(error).__name__}: {error}")
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_only_our_exceptions(name, monkeypatch):
    if name == "load_isa":
        monkeypatch.setattr(mmascope._catalogue, "_loaded", [])
        monkeypatch.setattr(mmascope._catalogue, "_current", mmascope._catalogue.current())
    assert refused(*CALLS[name]) == []


def test_only_our_exceptions_in_pytorch():
    torch = pytest.importorskip("torch")
    half = torch.ones(16, 16).half()
    product = {"a": half, "b": half, "c": None, "arch": "h100", "instruction": None, "schedule": None, "scale_a": None,
               "scale_b": None, "threads": None}
    assert refused(mmascope.torch.matmul, product) == []
    context = {"arch": "h100", "instruction": None, "schedule": None, "threads": None}
    assert refused(mmascope.torch.simulate, context) == []
