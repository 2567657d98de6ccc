"""Products, whatever the arrays and their layout. (``test_reference.py`` goes through every instruction.)"""

import numpy
import pytest

import mmascope

def bits(array):
    return numpy.asarray(array).view(f"u{numpy.asarray(array).dtype.itemsize}")


def same(left, right):
    """Equal bits; NaN is as NaN where nobody knows the payload."""
    left, right = numpy.asarray(left), numpy.asarray(right)
    return left.dtype == right.dtype and left.shape == right.shape and numpy.array_equal(bits(left), bits(right))


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


NARROW = numpy.random.default_rng(6).integers(-8, 8, (16, 64), dtype=numpy.int8)
WIDE = numpy.random.default_rng(7).integers(-128, 128, (16, 64), dtype=numpy.int8)


@pytest.mark.parametrize(("a", "b", "name"), [
    (WIDE, WIDE, "mma.m16n8k32.s32.s8.s8.s32"),
    (WIDE.view("u1"), WIDE, "mma.m16n8k32.s32.u8.s8.s32"),
    (WIDE.view("u1"), WIDE.view("u1"), "mma.m16n8k32.s32.u8.u8.s32"),
])
def test_integers_choose_an_instruction_of_integers(a, b, name):
    d = mmascope.matmul(a, b.T, arch="a100")
    assert mmascope.chosen().name == name and d.dtype == numpy.int32
    numpy.testing.assert_array_equal(d, a.astype("i4") @ b.T.astype("i4"))


def test_numbers_of_integer_formats():
    exact = NARROW.astype("i4") @ NARROW.T.astype("i4")
    for types in ("s4,s4,s32", "s8,s8,s32"):
        for dtype in ("i1", "i2", "i4", "i8"):
            a = NARROW.astype(dtype)
            numpy.testing.assert_array_equal(mmascope.matmul(a, a.T, arch="a100", instruction=types), exact)
    # Unsigned integers are codes: 15 is -1.
    codes = NARROW.view("u1") & 15
    numpy.testing.assert_array_equal(mmascope.matmul(codes, codes.T, arch="a100", instruction="s4,s4,s32"), exact)
    c = numpy.full((16, 16), -7, numpy.int64)
    numpy.testing.assert_array_equal(mmascope.matmul(NARROW, NARROW.T, c, arch="a100"), exact - 7)
    large = NARROW.copy()
    large[3, 5] = 8
    for arguments, message in (
        ((large, NARROW.T, "s4,s4,s32"), r"^a: element \[3, 5\] = 8 is no number of int4: it takes -8 to 7"),
        ((NARROW, large.T, "s4,s4,s32"), r"^b: element \[5, 3\] = 8 is no number of int4"),
        ((NARROW, NARROW.T, "u8,u8,s32"), r"^a: element .* = -\d is no number of uint8: it takes 0 to 255"),
        ((WIDE.astype("i2") * 2, WIDE.T, "s8,s8,s32"), "^a: element .* is no number of int8"),
    ):
        with pytest.raises(ValueError, match=message):
            mmascope.matmul(arguments[0], arguments[1], arch="a100", instruction=arguments[2])


def test_integers_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    exact = NARROW.astype("i4") @ NARROW.T.astype("i4")
    a = NARROW.astype(ml_dtypes.int4)
    numpy.testing.assert_array_equal(mmascope.matmul(a, a.T, arch="a100"), exact)
    assert mmascope.chosen().name == "mma.m16n8k64.s32.s4.s4.s32"
    positive = NARROW & 7
    u = positive.astype(ml_dtypes.uint4)
    mixed = NARROW.astype("i4") @ positive.T.astype("i4")
    numpy.testing.assert_array_equal(mmascope.matmul(a, u.T, arch="a100"), mixed)
    # Numbers, not codes: where they fit, they go to other formats of integers.
    for types in ("s8,s8,s32", "s4,s4,s32"):
        numpy.testing.assert_array_equal(mmascope.matmul(a, u.T, arch="a100", instruction=types), mixed)
    with pytest.raises(ValueError, match=r"^b: element \[0, 0\] = 15 is no number of int4"):
        mmascope.matmul(a, numpy.full((64, 8), 15).astype(ml_dtypes.uint4), arch="a100", instruction="s4,s4,s32")
    if hasattr(ml_dtypes, "int2"):
        tiny = (NARROW & 3) - 2
        two = tiny.astype(ml_dtypes.int2)
        numpy.testing.assert_array_equal(
            mmascope.matmul(two, two.T, arch="a100", instruction="s8"), tiny.astype("i4") @ tiny.T.astype("i4")
        )


def test_errors_of_integers_are_those_of_their_numbers():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; int4 was not tested")
    arrays = [NARROW.astype(dtype) for dtype in ("i1", "i2", "i8", ml_dtypes.int4)]
    for unit in ("a100:s4,s4,s32", "a100:s8", "a100:dp4a.s32.s32"):
        found = [mmascope.error(unit, a=a, b=a.T)["curves"][0]["points"] for a in arrays]
        # Sums of integers are exact, and so the numbers of a report are those of the matrices.
        assert all(points == found[0] for points in found) and found[0][-1]["relative"]["max"] == 0
    for unit, message in (("a100:u8,u8,s32", "is no number of uint8"), ("a100:s4,s4,s32", "= 8 is no number of int4")):
        with pytest.raises(ValueError, match=f"^a: element .*{message}"):
            mmascope.error(unit, a=numpy.where(NARROW == 7, 8, NARROW).astype("i1"), b=NARROW.T)
    with pytest.raises(ValueError, match="^a: integers for units of int4 and int8"):
        mmascope.error("a100:s4,s4,s32", "a100:s8", a=NARROW, b=NARROW.T)


def test_integers_of_torch_keep_their_values():
    torch = pytest.importorskip("torch")
    ones = torch.full((4, 64), 255, dtype=torch.uint8)
    d = mmascope.matmul(ones, ones.t(), arch="v100")
    assert mmascope.chosen().name == "dp4a.u32.u32" and d.dtype == torch.uint32
    assert d.tolist() == [[255 * 255 * 64] * 4] * 4


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


def test_block_scales_of_another_format_are_refused():
    random = numpy.random.default_rng(4)
    x, y = (random.standard_normal(shape).astype(numpy.float32) for shape in ((16, 64), (64, 8)))

    def made(kind, **options):
        return mmascope.quantize(x, kind, **options), mmascope.quantize(y, kind, axis=0, **options)

    nvfp4, mxfp4, wide = made("nvfp4"), made("mxfp4", block=16), made("mxfp4")
    ue8m0 = {"instruction": "e2m1,e2m1,f32,ue8m0/16"}
    for a, b, options, message in (
        (nvfp4[0], mxfp4[1], {}, "^b: mxfp4 has e2m1fn elements with ue8m0 scales; the instruction takes e2m1fn with ue4m3$"),
        (mxfp4[0], nvfp4[1], {}, "^b: nvfp4 has e2m1fn elements with ue4m3 scales; the instruction takes e2m1fn with ue8m0$"),
        (*nvfp4, ue8m0, "^a: nvfp4 has e2m1fn elements with ue4m3 scales"),
        (*wide, ue8m0, "^a: blocks of 32; the instruction has one scale for every 16 k"),
        (*made("mxfp8-e5m2"), {"instruction": "e4m3,e4m3,f32,ue8m0/32"}, "^a: mxfp8-e5m2 has e5m2 elements"),
        (*nvfp4, {"instruction": "f16"}, "^a: nvfp4 has block scales; the instruction .* has none"),
        (nvfp4[0], y, {}, "^scale_b: "),
    ):
        with pytest.raises(ValueError, match=message):
            mmascope.matmul(a, b, arch="rtx-blackwell", **options)
    assert mmascope.matmul(*mxfp4, arch="rtx-blackwell", **ue8m0).shape == (16, 8)
    for call in (lambda: mmascope.identify(nvfp4[0], nvfp4[1], x), lambda: mmascope.error("h100", a=nvfp4[0], b=y),
                 lambda: mmascope.dot(nvfp4[0], nvfp4[0], arch="b200")):
        with pytest.raises(TypeError, match="^a: a Quantized is for matmul"):
            call()


def test_numbers_of_four_and_six_bits_go_to_other_formats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    random = numpy.random.default_rng(5)
    for name in ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"):
        a = random.standard_normal((8, 64)).astype(getattr(ml_dtypes, name))
        wide = a.astype(numpy.float16)
        for instruction in ("f16", "e5m2", "e4m3"):
            named = {"arch": "h100", "instruction": instruction}
            assert same(mmascope.matmul(a, a.T, **named), mmascope.matmul(wide, wide.T, **named))
            k = mmascope.find("h100", instruction).k
            assert same(mmascope.dot(a[0, :k], a[1, :k], **named), mmascope.dot(wide[0, :k], wide[1, :k], **named))
        assert same(mmascope.quantize(a, "mxfp4").codes, mmascope.quantize(wide, "mxfp4").codes)


def test_integers_for_units_of_two_formats_are_refused():
    x = numpy.array([[-1, 2], [3, -4]], "i1")
    with pytest.raises(ValueError, match="^a: integers for units of int4 and int8"):
        mmascope.error("a100:int4,int4,int32", "h100", a=x, b=x)


def test_results_with_exponents_of_f64_are_doubles():
    assert mmascope.cast(numpy.array([1, -2.5], "f4"), "e11m23").tolist() == [1.0, -2.5]


def test_errors_of_narrow_floats_are_those_of_their_numbers():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; bfloat16 was not tested")
    large = numpy.full((8, 16), 65504, "f4").astype(ml_dtypes.bfloat16)
    for call in (lambda: mmascope.matmul(large, large.T, arch="h100:f16"),
                 lambda: mmascope.error("h100:f16", a=large, b=large.T)):
        with pytest.raises(ValueError, match=r"^a: element \[0, 0\] = 6.5536e4 is beyond the largest f16"):
            call()
    x = numpy.random.default_rng(6).standard_normal((8, 64)).astype("f4")
    for name, unit in (("bfloat16", "h100:f16"), ("float8_e4m3fn", "h100:e5m2,e5m2,f32"), ("float4_e2m1fn", "h100:f16")):
        a = x.astype(getattr(ml_dtypes, name))
        wide = a.astype("f4")
        curves = [mmascope.error(unit, a=it, b=it.T)["curves"][0]["points"] for it in (a, wide)]
        assert curves[0] == curves[1]
    found = mmascope.error("h100", a=x.astype(ml_dtypes.float8_e4m3fn), b=x.T.astype(ml_dtypes.float8_e4m3fn))
    assert found["curves"][0]["inst"] == mmascope.find("h100", "e4m3,e4m3,f32").name


def test_an_instruction_must_be_of_the_architecture():
    a = numpy.ones((16, 16), numpy.float16)
    row = mmascope.find("v100", "f16")
    for arch, kind, message in (("nonsense", KeyError, "^arch: unknown architecture 'nonsense'"), (None, ValueError, "^arch: None"),
                                ("h100", ValueError, "^arch: 'h100', but instruction is .*volta:"),
                                ("v100:f16,f16,f16", ValueError, "^arch: .* names another instruction")):
        for call in (mmascope.matmul, lambda a, b, **named: mmascope.dot(a[0, :row.k], b[0, :row.k], **named)):
            with pytest.raises(kind, match=message):
                call(a, a, arch=arch, instruction=row)
    for arch in ("v100", "Volta", "v100:f16"):
        assert same(mmascope.matmul(a, a, arch=arch, instruction=row), row.matmul(a, a))


def test_the_chosen_instruction_is_that_of_the_last_call():
    a = numpy.ones((16, 16), numpy.float16)
    rows = [mmascope.find(arch, "f16") for arch in ("v100", "h100", "a100", "mi300x")]
    for row, call in zip(rows, (
        lambda row: mmascope.matmul(a, a, arch="v100", instruction=row), lambda row: row.matmul(a, a),
        lambda row: row.dot(a[0, :row.k], a[0, :row.k]),
        lambda row: mmascope.dot(a[0, :row.k], a[0, :row.k], arch="mi300x", instruction=row),
    )):
        call(row)
        assert mmascope.chosen() == row
    unit = mmascope.Unit("a=f16 b=f16 c=f32 d=f32 k=16", rows[1].arithmetic)
    unit.matmul(a, a)
    assert mmascope.chosen() == unit


OTHER_ROWS = (
    "arch hopper\n"
    "wgmma.{shape}.{d}.{a}.{b} | f16 x f16 + f32 -> f32 | m64n8k16 | t-fdpa L=16 F=10 e0=-133 -> rz f32 | open\n"
    "arch ownchip = oc1\n"
    "dot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k12 | t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32 | open\n"
)


@pytest.mark.filterwarnings("ignore")
def test_comparisons_take_the_arithmetic_of_the_instruction():
    from mmascope._parts import ErrorCurves

    catalogue = mmascope.catalogue(OTHER_ROWS)
    own, chip = catalogue.find("hopper", "wgmma.m64n8k16.f32.f16.f16"), catalogue.find("oc1", "dot.m8n8k12.f32.f16")
    shipped = mmascope.find("h100", own.name)
    # Ten bits of fraction: far worse than the shipped row.
    means = [mmascope.error(row, shape=(8, 8, 64))["curves"][0]["points"][0]["relative_to_products"]["mean"]
             for row in (own, shipped)]
    assert means[0] > 100 * means[1]
    counts = [mmascope.diff(row, "a100:f16", count=50)["pairs"][0]["different"] for row in (own, shipped)]
    assert counts[0] > counts[1]
    assert mmascope.diff(own, chip, count=10)["pairs"][0]["compared"] == 10
    for other in (shipped, f"hopper:{own.name}"):
        with pytest.raises(ValueError, match="^units: one call takes instructions of one catalogue.*validate"):
            mmascope.diff(other, own, count=10)
    with pytest.raises(ValueError, match="^units: 'a100' is an architecture of the catalogue in use"):
        mmascope.diff(own, "a100", types="f16,f16,f32")
    with pytest.raises(ValueError, match=r"^units: .*ownchip.* is of another catalogue.*load_isa\(\)"):
        ErrorCurves((chip,), [], {})
    assert not mmascope.validate(own, shipped, trials=500)
