"""Messages name arguments of Python, never options of the program, and are exceptions of the package."""

import numpy
import pytest

import mmascope

A = numpy.ones((16, 16), numpy.float16)
TYPES = {"types": "f16,f16,f32"}
FILE = "examples/fp8-accumulators.jsonl"


def diff(*units, **options):
    return lambda: mmascope.diff(*(units or ("a100", "h100")), **options)


def error(*units, **options):
    return lambda: mmascope.error(*(units or ("a100:f16",)), **options)


def resolve(*operation, **options):
    return lambda: mmascope.resolve(*(operation or ("sqrt",)), **{"target": "sm_90", "type": "f32", **options})


@pytest.mark.parametrize(("call", "kind", "message"), [
    (diff(), ValueError, "which instruction.*give instruction, a100:INST, or types"),
    (lambda: mmascope.diff(), ValueError, "^units: none named; two or more"),
    (diff("a100", **TYPES), ValueError, "^units: 1 named; two or more"),
    (diff("a100", "h1000", **TYPES), KeyError, "nearest: H100"),
    (diff(3, "h100:f16"), ValueError, "^units: 3 is no instruction"),
    (diff(instruction="f16", **TYPES), ValueError, "^instruction and types: "),
    (diff(types=3), ValueError, "^types: 3 is no text"),
    (diff(instruction=3), ValueError, "^instruction: 3 is no text"),
    (diff("a100", "v100", types="bf16,bf16,f32"), KeyError, "^types='bf16,bf16,f32': unknown operand types"),
    (diff(family="foo", **TYPES), KeyError, "unknown family 'foo'"),
    (diff(family=3, **TYPES), ValueError, "^family: 3 is no text"),
    (diff(count=0, **TYPES), ValueError, "^count = 0: "),
    (diff(count="x", **TYPES), ValueError, "^count = 'x': "),
    (diff(seed=-1, **TYPES), ValueError, "^seed = -1: "),
    (diff(start=-3, **TYPES), ValueError, "^start = -3: "),
    (error(), ValueError, "^shape, or a and b"),
    (lambda: mmascope.error(shape=(4, 4, 64)), ValueError, "^units: none named; one or more"),
    (error("a100", shape=(4, 4, 64)), ValueError, "which instruction"),
    (error(shape=(4, 4)), ValueError, r"^shape: \(4, 4\) is no \(M, N, K\)"),
    (error(shape=5), ValueError, "^shape: 5 is no"),
    (error(shape=(0, 4, 64)), ValueError, "^shape = 0: "),
    (error(shape=(4, 4, 64), distribution="foo"), KeyError, "^distribution: unknown distribution 'foo'"),
    (error(shape=(4, 4, 64), schedules=["foo"]), KeyError, "^schedules: .*unknown clause 'foo'"),
    (error(shape=(4, 4, 64), schedules=3), ValueError, "^schedules: 3 is no text"),
    (error(shape=(4, 4, 64), c="foo"), KeyError, "^c: unknown distribution 'foo'"),
    (error(shape=(4, 4, 64), seed=-1), ValueError, "^seed = -1"),
    (error(a=A, b=A, seed=1), ValueError, "^seed: nothing is drawn"),
    (error(a=A, b=A[:8]), ValueError, "^a is 16 × 16 and b is 8 × 16"),
    (error(a=A[0], b=A), ValueError, r"^a has the shape \(16,\)"),
    (error(a=A.astype("f4") * 1e9, b=A), ValueError, r"^a: element \[0, 0\] .*saturate=True"),
    (resolve(target="foo"), KeyError, "^target: unknown target 'foo'"),
    (resolve("sqrtx"), KeyError, "^operation: unknown operation 'sqrtx'; nearest: sqrt"),
    (resolve(3), ValueError, "^operation: 3 is no text"),
    (resolve(type="f31"), KeyError, "^type: unknown type 'f31'"),
    (resolve(type=None), ValueError, "^type: "),
    (resolve(policy="x"), KeyError, "^policy: unknown policy 'x'"),
    (resolve(fmf="x"), KeyError, "^fmf: unknown fast-math flag 'x'"),
    (resolve(round="x"), KeyError, "^round: unknown rounding 'x'"),
    (resolve(round="rz", approx=True), ValueError, "^round and approx: "),
    (resolve(denormal="x"), KeyError, "^denormal: unknown"),
    (resolve(preset="x"), KeyError, "^preset: unknown"),
    (resolve("a*b+c", value=[1.0]), ValueError, "^value: 1 values are no multiple of 3"),
    (resolve(value=[None]), ValueError, "^value: None is no number"),
    (lambda: mmascope.check("nowhere.jsonl"), OSError, "^files: nowhere.jsonl"),
    (lambda: mmascope.check(3), ValueError, "^files: 3 is no path"),
    (lambda: mmascope.check(FILE, against="foo"), ValueError, "^against='foo': expected ARCH:INST"),
    (lambda: mmascope.check(FILE, arch="foo"), KeyError, "unknown architecture 'foo'"),
    (lambda: mmascope.check(FILE, instruction=3), ValueError, "^instruction: 3"),
    (lambda: mmascope.specials(3), ValueError, "^arch: 3 is no text"),
    (lambda: mmascope.specials("h100", "foo"), KeyError, "unknown instruction 'foo'"),
    (lambda: mmascope.identify(A, A, A, alpha="x"), ValueError, "^alpha: 'x' is no number"),
    (lambda: mmascope.identify(A, A, "x"), TypeError, "^d: str is no array"),
    (lambda: mmascope.identify(A, A, A, scale_a=numpy.full((16, 1), 2, "f4")), ValueError, "^scale_a and scale_b go together"),
    # What the function does not take is not advised.
    (lambda: mmascope.dot(A.repeat(2)[:32] * 1000, A.repeat(2)[:32], arch="h100:e4m3"), ValueError, "^a: .* largest e4m3fn, 4.48e2$"),
    (lambda: mmascope.find("h100", "e4m3").dot(A.repeat(2)[:32] * 1000, A.repeat(2)[:32]), ValueError, "largest e4m3fn, 4.48e2$"),
    (lambda: mmascope.quantize(numpy.full((1, 32), 1e300), "mxfp8-e4m3"), ValueError, r"^array: .* largest f32, [0-9.e]+$"),
    (lambda: mmascope.matmul(A * 1000, A, arch="h100", instruction="e4m3", pad=True), ValueError, "saturate=True clamps"),
    (lambda: mmascope.dot(A[0], A[0], arch="h100", mods=["scaleD"]), ValueError, "^mods: 'scaleD' has no exponent.*'scaleD=-3'"),
    (lambda: mmascope.dot(A[0], A[0], 1.0, arch="h100", mods=["noC"]), ValueError, "^c with the modifier noC: "),
    (lambda: mmascope.explain(A[0], A[0], 1.0, arch="h100", mods=["noC"]), ValueError, "^c with the modifier noC: "),
    (lambda: mmascope.cast(A, "f17"), KeyError, "^to: unknown format 'f17'; nearest: f16"),
    (lambda: mmascope.cast(A, "e4m3", round="x"), KeyError, "^round: unknown rounding 'x'"),
    (lambda: mmascope.quantize(A, "mxfp3"), KeyError, "^format: unknown block format 'mxfp3'"),
    (lambda: mmascope.quantize(A, "mxfp4", recipe="x"), KeyError, "^recipe: unknown recipe 'x'"),
    # The same word for two arguments.
    (lambda: mmascope.quantize(A, "mxfp4", recipe="mxfp4"), KeyError, "^recipe: unknown recipe 'mxfp4'"),
    (lambda: mmascope.cast(A, "e4m3", round="e4m3"), KeyError, "^round: unknown rounding 'e4m3'"),
    (lambda: mmascope.find("h100", "h100"), KeyError, "^instruction: unknown instruction 'h100'"),
    (lambda: mmascope.validate(abs, "h100:x", families=["x"]), KeyError, "^against: unknown instruction 'x'"),
    (lambda: mmascope.dot(A[0], A[0], arch="h1000"), KeyError, "^arch: unknown architecture 'h1000'"),
    (lambda: mmascope.dot(A[0], A[0], arch="h100", instruction="x.y"), KeyError, "^instruction: unknown instruction 'x.y'"),
    (lambda: mmascope.dot(A[0], A[0], arch="h100", mods=["x"]), KeyError, "^mods: unknown modifier 'x'"),
    (lambda: mmascope.matmul(numpy.ones((4, 4), "i1"), numpy.ones((4, 4), "i1"), numpy.ones((4, 4), "f4"), arch="a100"),
     KeyError, "^a, b and c: unknown operand types 'int8,int8,f32'"),
    (lambda: mmascope.dot(numpy.ones(16, "i1"), numpy.ones(16, "i1"), 1.5, arch="a100", instruction="mma.m8n8k16.s32.s8.s8.s32"), ValueError,
     "^c has numbers in f(32|64); integers are needed"),
    (diff("a100", "h1000", **TYPES), KeyError, "^units: unknown architecture 'h1000'"),
    (diff(instruction="x.y"), KeyError, "^instruction: units='a100': unknown instruction 'x.y'"),
    (diff(family="foo", **TYPES), KeyError, "^family: unknown family 'foo'"),
    (lambda: mmascope.validate(abs, "h100:x.y"), KeyError, "^against: unknown instruction 'x.y'"),
    (lambda: mmascope.validate(abs, "h100:f16", families=["foo"]), KeyError, "^families: unknown family 'foo'"),
    (lambda: mmascope.probe(abs, "a=f17 b=f16 c=f32 d=f32 k=16"), KeyError, "^signature: unknown format 'f17'"),
    (lambda: mmascope.infer(abs, like="h1000:f16"), KeyError, "^like: unknown architecture 'h1000'"),
    (lambda: mmascope.Unit("a=f16 b=f16 c=f32 d=f32 k=16", "fused2"), ValueError, "^program: .*unknown algorithm 'fused2'"),
    (lambda: mmascope.reveal(sum, 4, dtype="float33"), KeyError, "^dtype: unknown format 'float33'"),
    (lambda: mmascope.reveal(sum, 4, algorithm="x"), KeyError, "^algorithm: unknown algorithm 'x'"),
    (lambda: mmascope.find("h100", "f16").tree().run(numpy.ones(17), others=[1, 1]), ValueError,
     "^run: 2 second factors .others., but 16 leaves of the tree are products"),
    (lambda: mmascope.reveal(numpy.sum, 4).run([1, 2]), ValueError, "^values: 2 numbers for a tree of 4 leaves"),
])
def test_messages_name_arguments(call, kind, message):
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, mmascope.Error)
    assert "--" not in str(caught.value) and "Usage" not in str(caught.value) and "`mmascope" not in str(caught.value)


def test_what_is_nearly_wrong_is_taken():
    assert mmascope.resolve("-a*b", target="sm_90", type="f32")["legal"]
    assert mmascope.resolve("sqrt", target="sm_90", type="f32", value=[-1.0])["out"] == "7fffffff"
    assert len(mmascope.error("a100:f16,f16,f32", shape=(4, 4, 64), schedules="chain")["curves"]) == 1
    integers = numpy.full((4, 64), -3, numpy.int8)
    assert mmascope.error("a100", a=integers, b=integers.T)["curves"][0]["inst"] == "mma.m16n8k32.s32.s8.s8.s32"


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_that_cannot_be_read():
    torch = pytest.importorskip("torch")
    from torch._subclasses import FakeTensorMode

    half = torch.ones(16, 16).half()
    with FakeTensorMode():
        fake = torch.ones(16, 16).half()
    nested = torch.nested.nested_tensor([torch.ones(2, 16).half(), torch.ones(3, 16).half()])
    net = torch.nn.Linear(16, 4).half()
    for call, message in (
        (lambda: mmascope.matmul(nested, half, arch="h100"), "^a: a nested tensor"),
        (lambda: mmascope.cast(nested, "f32"), "^array: a nested tensor"),
        (lambda: mmascope.matmul(half, fake, arch="h100"), "^b: a FakeTensor"),
        (lambda: mmascope.torch.matmul(nested, half, arch="h100"), "^a: a nested tensor"),
        (lambda: mmascope.torch.compare(5, half, ["a100", "h100"]), "^model: 5 is no torch.nn.Module"),
        (lambda: mmascope.torch.compare(net, nested, ["a100", "h100"]), "^inputs: a nested tensor"),
        (lambda: mmascope.torch.compare(net, 5, ["a100", "h100"]), "^inputs: int has no tensor"),
        (lambda: mmascope.torch.compare(net, half, "a100"), "^archs: 'a100'"),
        (lambda: mmascope.torch.compare(net, half, 5), "^archs: 5"),
        (lambda: mmascope.torch.compare(net, half, ["a100", "h1000"]), "nearest: H100"),
    ):
        with pytest.raises(mmascope.Error, match=message):
            call()
