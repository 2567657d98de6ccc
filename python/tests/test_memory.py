"""Which memory is copied: arrays are read where they lie, whatever the library and the layout."""

import subprocess
import sys
import tracemalloc

import numpy
import pytest

import mmascope
from mmascope import _arrays, _products

F16 = mmascope.find("h100", "f16")


def matrices(m=32, k=64, n=16, kind="f2"):
    random = numpy.random.default_rng(5)
    return random.standard_normal((m, k)).astype(kind), random.standard_normal((k, n)).astype(kind)


def test_what_the_extension_reads_is_the_callers_memory():
    a, b = matrices()
    for array in (a, a.T, a[::-1].T[:, :].copy().T, numpy.asfortranarray(b)):
        item, _ = _arrays.operand(array, "a", any_layout=True)
        laid = _products._laid_out(item, "f16")
        assert numpy.shares_memory(laid.array, array) and laid.array.flags.c_contiguous
        assert laid.is_turned == (not array.flags.c_contiguous)
    # Neither rows nor columns lie together: it is copied once, in order.
    item, _ = _arrays.operand(a[:, ::2], "a", any_layout=True)
    assert not numpy.shares_memory(_products._laid_out(item, "f16").array, a)
    # Numbers that are rounded first are put in order, so that errors name their place.
    item, _ = _arrays.operand(a.astype("f4").T, "a", any_layout=True)
    assert not _products._laid_out(item, "f16").is_turned


def test_buffers_dlpack_and_tensors_are_read_in_place():
    class Foreign:
        """Something with DLPack alone."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a, _ = matrices()
    assert numpy.shares_memory(_arrays.operand(Foreign(a), "a")[0][0], a)
    assert numpy.shares_memory(_arrays.operand(memoryview(a), "a")[0][0], a)
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn):
        tensor = torch.ones(8, 16).to(dtype)
        found = _arrays.operand(tensor, "a")[0][0]
        assert found.ctypes.data == tensor.data_ptr()
        turned = _products._laid_out(_arrays.operand(tensor.t(), "a", any_layout=True)[0], _arrays.operand(tensor, "a")[0][1])
        assert turned.is_turned and turned.array.ctypes.data == tensor.data_ptr()


def test_turned_operands_give_the_same_bits():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = matrices()
    for arch, kind in (("h100", "f2"), ("mi300x", ml_dtypes.bfloat16), ("h100", ml_dtypes.float8_e4m3fn)):
        x, y = a.astype(kind), b.astype(kind)
        plain = mmascope.matmul(x, y, arch=arch)
        c = numpy.random.default_rng(1).standard_normal(plain.shape).astype(plain.dtype)
        with_c = mmascope.matmul(x, y, c, arch=arch)
        left, right = numpy.asfortranarray(x), numpy.asfortranarray(y)
        assert (mmascope.matmul(left, right, arch=arch).view("u4") == plain.view("u4")).all()
        assert (mmascope.matmul(left, right, numpy.asfortranarray(c), arch=arch).view("u4") == with_c.view("u4")).all()
        batch = numpy.stack([x, x[::-1]])
        turned = numpy.ascontiguousarray(batch.swapaxes(1, 2)).swapaxes(1, 2)
        assert (mmascope.matmul(turned, y, arch=arch) == mmascope.matmul(batch, y, arch=arch)).all()
    # Codes of narrow formats, and an error that names the right place.
    codes = numpy.random.default_rng(2).integers(0, 16, (16, 64), numpy.uint8)
    row = mmascope.find("b200", "e2m1,e2m1,f32")
    one = row.matmul(codes, codes.T)
    assert (one == row.matmul(numpy.asfortranarray(codes), numpy.ascontiguousarray(codes.T))).all()
    wide = numpy.zeros((16, 32), "f4")
    wide[3, 5] = 1e30
    with pytest.raises(ValueError, match=r"a.*3.*5"):
        F16.matmul(numpy.asfortranarray(wide), numpy.zeros((32, 16), "f2"))


def test_numpy_makes_no_copy_of_a_turned_operand():
    a, b = numpy.ones((16, 1024), "f2"), numpy.ones((512, 1024), "f2")
    F16.matmul(a, b.T)
    tracemalloc.start()
    d = F16.matmul(a, b.T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < d.nbytes + b.nbytes // 4


PEAK = """
import resource, sys, numpy, mmascope
x = numpy.ones(1 << 25, numpy.float32)
mmascope.cast(x[:10], "e4m3")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = mmascope.cast(x, "e4m3")
print(x.nbytes, y.nbytes, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux gives it")
def test_a_cast_takes_the_memory_of_its_result():
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True, timeout=120)
    given, made, peak = map(int, done.stdout.split())
    assert peak < made + given // 4, (given, made, peak)


def test_pieces_of_a_cast_are_one_cast():
    random = numpy.random.default_rng(3)
    x = random.standard_normal((1 << 20) + 77).astype("f4")
    for options in ({}, {"round": "rs", "random_bits": 0x5A}):
        to = "e4m3" if not options else "f16"
        whole = mmascope.cast(x, to, **options)
        parts = [mmascope.cast(piece, to, **options) for piece in (x[:5], x[1 << 20:])]
        assert (numpy.asarray(whole[:5]).view("u1") == numpy.asarray(parts[0]).view("u1")).all()
        if not options:
            assert (numpy.asarray(whole[1 << 20:]).view("u1") == numpy.asarray(parts[1]).view("u1")).all()
    assert mmascope.cast(numpy.zeros((0, 3), "f4"), "bf16").shape == (0, 3)
