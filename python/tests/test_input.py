"""Arrays of every library, and wrong input: an exception that names the argument, never a panic."""

import array
import signal
import subprocess
import sys

import numpy
import pytest

import mmascope

ONES = numpy.ones((16, 16), numpy.float16)


def product(a=ONES, b=ONES, c=None, **options):
    options.setdefault("arch", "h100")
    return mmascope.matmul(a, b, c, **options)


@pytest.mark.parametrize(("arguments", "kind", "message"), [
    ({"a": ONES.astype(bool)}, TypeError, "^a: elements of bool"),
    ({"b": ONES.astype(complex)}, TypeError, "^b: elements of complex128"),
    ({"a": ONES.astype(object)}, TypeError, "^a: elements of object"),
    ({"c": ONES.astype(str)}, TypeError, "^c: elements of"),
    ({"a": ONES.view("V2")}, TypeError, r"^a: elements of \|V2: numpy.load forgets .* a.view\(ml_dtypes.bfloat16\)"),
    ({"b": ONES.view("V1")}, TypeError, r"^b: elements of \|V1: numpy.load forgets .* b.view\(ml_dtypes.float8"),
    ({"b": ONES.view("V4")}, TypeError, r"^b: elements of \|V4; allowed"),
    ({"a": ONES.view(numpy.uint16)}, ValueError, "^a: integers are codes"),
    ({"a": ONES.view(numpy.uint8)}, ValueError, "^a: integers are codes.*'e4m3,e4m3,f32'"),
    ({"a": numpy.ones((16, 64), "i1"), "b": numpy.ones((64, 8), "i1"), "c": numpy.ones((16, 8), "f4")}, KeyError, "int8,int8,f32"),
    ({"a": None}, TypeError, "^a: NoneType"),
    ({"a": {}}, TypeError, "^a: dict"),
    ({"a": [[1] * 16] * 16}, TypeError, "^a: plain Python int64"),
    ({"a": [[1.0], [1.0, 2.0]]}, TypeError, "^a: "),
    ({"a": numpy.ma.masked_array(ONES)}, TypeError, "^a: a masked array"),
    ({"a": ONES[:0]}, ValueError, "empty"),
    ({"a": numpy.float16(1)}, ValueError, "^a has no dimensions"),
    ({"b": ONES[:8]}, ValueError, "B must have 16 rows"),
    ({"a": ONES[:, :3], "b": ONES[:3]}, ValueError, "K = 3 is no multiple.*pad=True"),
    ({"c": ONES[:3].astype("f4")}, ValueError, "C is 3"),
    ({"a": numpy.ones((3, 16, 16), "f2"), "b": numpy.ones((4, 16, 16), "f2")}, ValueError, r"a \(3, 16, 16\), b"),
    ({"arch": "h1000"}, KeyError, "nearest: H100"),
    ({"arch": None}, ValueError, "^arch: None"),
    ({"instruction": "mma.m16n8k8.f32.f16.f17"}, KeyError, "nearest: "),
    ({"instruction": 3}, ValueError, "^instruction: 3"),
    ({"schedule": "split-k=oops"}, ValueError, "schedule"),
    ({"schedule": 3}, ValueError, "^schedule: 3"),
    ({"threads": 0}, ValueError, "^threads = 0"),
    ({"threads": "2"}, ValueError, "^threads = '2'"),
    ({"round": "up"}, ValueError, "^round: 'up'"),
    ({"mods": ["negX"]}, KeyError, "unknown modifier 'negX'"),
    ({"scale_a": ONES}, ValueError, "scale_a and scale_b go together"),
    ({"scale_a": ONES.view("u1"), "scale_b": ONES.view("u1")}, (ValueError, KeyError), "block scales"),
    ({"a": numpy.full((16, 16), 1e9, "f4"), "instruction": "f16"}, ValueError, r"^a: element \[0, 0\].*saturate=True"),
])
def test_wrong_input_names_the_argument(arguments, kind, message):
    with pytest.raises(kind, match=message) as caught:
        product(**arguments)
    assert isinstance(caught.value, mmascope.Error)


def test_an_instruction_without_a_model_says_so():
    unmodelled = next(row for row in mmascope.catalogue() if not row.facts["modelled"])
    with pytest.raises(mmascope.UnmodelledError, match="known but not modelled"):
        unmodelled.show()


def test_buffers_and_dlpack():
    values = array.array("f", [1.0] * 16)
    assert float(mmascope.dot(values, values, arch="h100", instruction="f16")) == 16.0

    class Other:
        def __dlpack__(self, **options):
            return ONES.__dlpack__(**options)

        def __dlpack_device__(self):
            return ONES.__dlpack_device__()

    assert product(Other()).dtype == numpy.float32

    class Broken:
        def __dlpack__(self, **options):
            raise RuntimeError("nothing")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(mmascope.DtypeError, match="^a: Broken gives no array"):
        product(Broken())


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    ones = torch.ones(16, 16, dtype=torch.float16)
    d = product(ones.requires_grad_(), ones)
    assert isinstance(d, torch.Tensor) and d.dtype == torch.float32 and bool((d == 16).all())
    assert product(ones, ones, schedule="out=rne bf16").dtype == torch.bfloat16
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        x = torch.randn(32, 32).to(getattr(torch, name))
        exact = x.double() @ x.double()
        assert torch.allclose(product(x, x).double(), exact, rtol=1e-2, atol=1e-2)
        assert torch.equal(product(x.t(), x), product(x.t().contiguous(), x))
    for wrong, message in ((ones.to("meta"), "a tensor on meta"), (ones.detach().to_sparse(), "layout")):
        with pytest.raises(mmascope.DtypeError, match="^a: .*" + message):
            product(wrong, ones)
    if hasattr(torch, "float4_e2m1fn_x2"):
        packed = torch.tensor([[0x21] * 32] * 16, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
        ((codes, kind, _), _) = __import__("mmascope._arrays", fromlist=["operand"]).operand(packed, "a")
        assert kind == "e2m1fn" and codes.shape == (16, 64) and codes[0, :2].tolist() == [1, 2]


def test_jax_in_jax_out():
    jax = pytest.importorskip("jax")
    ones = jax.numpy.ones((16, 16), jax.numpy.bfloat16)
    d = product(ones, ones)
    assert isinstance(d, jax.Array) and d.dtype == jax.numpy.float32 and bool((d == 16).all())


def test_jax_results_are_never_cut_to_32_bits():
    jax = pytest.importorskip("jax")
    ones = jax.numpy.ones((16, 16))
    wide = (lambda: mmascope.cast(jax.numpy.array([5e9, -3e9]), "int64"), lambda: mmascope.cast(ones, "f64"),
            lambda: mmascope.matmul(ones, ones, arch="a100", instruction="f64"))
    for call in wide:
        with pytest.raises(mmascope.DtypeError, match="jax_enable_x64.*NumPy"):
            call()
    with jax.enable_x64(True):
        assert [str(call().dtype) for call in wide] == ["int64", "float64", "float64"]
        assert wide[0]().tolist() == [5_000_000_000, -3_000_000_000]
    # What JAX has no arrays of.
    assert mmascope.cast(ones, "e2m3").dtype == "uint8"
    half = ones.astype("float16")
    assert mmascope.matmul(half, half, arch="h100", schedule="out=rne e2m3").dtype == "uint8"


@pytest.mark.parametrize("call", [
    "matmul(a, a, arch='h100', by_reference=True, progress=False)",
    "diff('hopper:mma.m16n8k16.f32.f16.f16.f32', 'ampere:mma.m16n8k16.f32.f16.f16.f32', count=10**9)",
])
def test_ctrl_c_ends_long_work(call):
    code = (
        "import numpy, mmascope, signal, threading, os, time\n"
        "a = numpy.random.default_rng(1).standard_normal((4096, 4096)).astype('f2')\n"
        "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        f"    mmascope.{call}\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped\n", done.stderr
    assert signal.SIGINT == 2


def test_other_threads_go_on_meanwhile():
    import threading

    a = numpy.random.default_rng(1).standard_normal((704, 704)).astype("f2")
    counts = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counts[0]
        mmascope.matmul(a, a, arch="h100", progress=False)
        assert counts[0] > before
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_a_forked_child_computes_too():
    code = (
        "import numpy, mmascope, os\n"
        "a = numpy.ones((512, 512), 'f2')\n"
        "d = mmascope.matmul(a, a, arch='h100')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if (mmascope.matmul(a, a, arch='h100') == d).all() else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "0\n", done.stderr
