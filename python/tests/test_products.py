"""Products: equal to the reference for every instruction, whatever the arrays and their layout."""

import numpy
import pytest

import mmascope

CODES = {8: numpy.uint8, 16: numpy.uint16, 32: numpy.uint32, 64: numpy.uint64}
#: Bits of a code as arrays hold it, by format.
WIDTHS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16}


def codes(random, kind, shape):
    """Random codes of a format; words of f32 for tf32."""
    width = WIDTHS.get(kind, 8)
    narrow = {"e2m1fn": 4, "e3m2fn": 6, "e2m3fn": 6, "int4": 4, "uint4": 4, "int1": 1, "uint1": 1}.get(kind, width)
    words = random.integers(0, 1 << 63, shape, dtype=numpy.uint64) * 2 + random.integers(0, 2, shape, dtype=numpy.uint64)
    return (words & numpy.uint64((1 << narrow) - 1)).astype(CODES[width])


def rows():
    return [row for row in mmascope.catalogue() if row.facts["modelled"]]


def bits(array):
    return numpy.asarray(array).view(f"u{numpy.asarray(array).dtype.itemsize}")


def same(left, right):
    """Equal bits; NaN is as NaN where nobody knows the payload."""
    left, right = numpy.asarray(left), numpy.asarray(right)
    return left.dtype == right.dtype and left.shape == right.shape and numpy.array_equal(bits(left), bits(right))


def test_every_instruction_gives_the_bits_of_the_reference():
    random = numpy.random.default_rng(24)
    seen = 0
    for row in rows():
        a_kind, b_kind, c_kind, _, scale, k = row._kinds
        a, b = codes(random, a_kind, (3, k)), codes(random, b_kind, (k, 2))
        c = codes(random, c_kind, (3, 2))
        scales = {}
        if scale is not None:
            shape = (3, k // scale[1]), (k // scale[1], 2)
            scales = {"scale_a": random.integers(100, 150, shape[0], dtype=numpy.uint8) & 127,
                      "scale_b": random.integers(100, 150, shape[1], dtype=numpy.uint8) & 127}
        d = row.matmul(a, b, c, **scales)
        assert same(d, row.matmul(a, b, c, by_reference=True, **scales)), row
        single = {}
        if scales:
            single = {"scale_a": scales["scale_a"][1], "scale_b": scales["scale_b"][:, 1]}
        one = row.dot(a[1], b[:, 1], c[1, 1].reshape(()), **single)
        assert bits(one) == bits(d)[1, 1], row
        seen += 1
    assert seen > 700


def test_a_published_input_has_the_published_bits():
    # The exact sum is -0.875; see docs: Turing -0.5, Hopper -0.75.
    a = numpy.array([0xF000, 0xB800, 0xB400, 0xB000, 0, 0, 0, 0], numpy.uint16)
    b = numpy.array([0x6400, 0x3C00, 0x3C00, 0x3C00, 0, 0, 0, 0], numpy.uint16)
    c = numpy.float32(2.0**23)
    for arch, name, value in (
        ("turing", "mma.m16n8k8.f32.f16.f16.f32", -0.5),
        ("hopper", "mma.m16n8k8.f32.f16.f16.f32", -0.75),
        ("MI300X", "v_mfma_f32_32x32x8_f16", -0.5),
        ("MI100", "v_mfma_f32_32x32x8_f16", -0.875),
    ):
        d = mmascope.dot(a, b, c, arch=arch, instruction=name)
        assert d.dtype == numpy.float32 and float(d) == value


def test_batches_broadcast_as_in_numpy():
    hypothesis = pytest.importorskip("hypothesis")
    strategies = pytest.importorskip("hypothesis.strategies")
    sizes = strategies.integers(1, 3)

    @hypothesis.settings(max_examples=60, deadline=None)
    @hypothesis.given(
        strategies.lists(sizes, max_size=3), strategies.integers(0, 2**31), strategies.integers(1, 5),
        strategies.integers(1, 5), strategies.data(),
    )
    def check(batch, seed, m, n, data):
        random = numpy.random.default_rng(seed)
        left = [data.draw(strategies.sampled_from([1, length])) for length in batch]
        right = [data.draw(strategies.sampled_from([1, length])) for length in batch]
        drop = data.draw(strategies.integers(0, len(right)))
        # Small integers: every sum is exact, so that NumPy gives the same numbers.
        a = random.integers(-4, 5, (*left, m, 16)).astype(numpy.float16)
        b = random.integers(-4, 5, (*right[drop:], 16, n)).astype(numpy.float16)
        d = mmascope.matmul(a, b, arch="h100")
        assert d.dtype == numpy.float32
        numpy.testing.assert_array_equal(d, numpy.matmul(a.astype("f4"), b.astype("f4")))

    check()


@pytest.mark.parametrize("change", [
    lambda x: x[::-1, ::-1], lambda x: numpy.asfortranarray(x), lambda x: x.astype(">f2"),
    lambda x: numpy.repeat(x, 2, axis=1)[:, ::2], lambda x: numpy.broadcast_to(x[:1], x.shape),
])
def test_any_layout_of_numpy_gives_the_same_bits(change):
    a = numpy.random.default_rng(1).standard_normal((16, 32)).astype(numpy.float16)
    b = numpy.random.default_rng(2).standard_normal((32, 16)).astype(numpy.float16)
    other = change(a)
    plain = numpy.ascontiguousarray(other).astype(numpy.float16)
    other.flags.writeable = False
    assert same(mmascope.matmul(other, b, arch="h100"), mmascope.matmul(plain, b, arch="h100"))


def test_threads_and_progress_do_not_change_bits():
    random = numpy.random.default_rng(3)
    a = random.standard_normal((130, 512)).astype(numpy.float16)
    b = random.standard_normal((512, 70)).astype(numpy.float16)
    plain = mmascope.matmul(a, b, arch="mi300x")
    for threads in (1, 2, 5):
        assert same(plain, mmascope.matmul(a, b, arch="mi300x", threads=threads, progress=True))


def test_the_default_instruction_is_said():
    a = numpy.ones((16, 16), numpy.float16)
    mmascope.matmul(a, a, arch="h100")
    assert mmascope.chosen() == mmascope.find("hopper", "f16")


def test_schedules_and_quantised_operands():
    random = numpy.random.default_rng(4)
    x, y = (random.standard_normal(shape).astype(numpy.float32) for shape in ((16, 128), (128, 8)))
    for kind, arch in (("mxfp8-e4m3", "b200"), ("nvfp4", "b200"), ("mxfp4", "b200")):
        a, b = mmascope.quantize(x, kind), mmascope.quantize(y, kind, axis=0)
        d = mmascope.matmul(a, b, arch=arch)
        exact = a.dequantize().astype("f8") @ b.dequantize().astype("f8")
        numpy.testing.assert_allclose(d, exact, rtol=1e-3, atol=1e-3)
    half = mmascope.matmul(x.astype("f2"), y.astype("f2"), arch="h100", schedule="split-k=2 reduce=pairwise/f32; out=rne f16")
    assert half.dtype == numpy.float16


def test_a_unit_and_a_file_of_ones_own():
    unit = mmascope.Unit("a=bf16 b=bf16 c=f32 d=f32 k=2", "t-fdpa L=2 F=12 e0=-126 -> rne f32")
    assert float(unit.dot([1.0, 1.0], [1.0, 1.0])) == 2.0
    text = (
        "arch mychip = mc1\n"
        "dot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k12 | t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32 | open\n"
    )
    catalogue = mmascope.catalogue(isa=text)
    assert catalogue.find("mc1", "dot.m8n8k12.f32.f16").k == 12
    with pytest.raises(KeyError, match="unknown architecture"):
        mmascope.find("mc1", "dot.m8n8k12.f32.f16")
    mmascope.load_isa(text)
    assert mmascope.find("mc1", "dot.m8n8k12.f32.f16").k == 12
    with pytest.raises(mmascope.TextError, match=r"\(text\):2:"):
        mmascope.load_isa("arch other\nnonsense\n")
    with pytest.raises(mmascope.FileError, match="nowhere.txt"):
        mmascope.load_isa("nowhere.txt")
