"""Casts and block scaling against NumPy, ml_dtypes and PyTorch."""

import numpy
import pytest

import mmascope

#: Every f16 word, and f32 words of every exponent.
HALVES = numpy.arange(1 << 16, dtype=numpy.uint16).view(numpy.float16)
WORDS = numpy.random.default_rng(7).integers(0, 1 << 32, 50_000, dtype=numpy.uint64).astype(numpy.uint32)
SINGLES = numpy.concatenate([WORDS.view(numpy.float32), numpy.random.default_rng(8).standard_normal(50_000).astype("f4")])


def same(left, right):
    left, right = (numpy.asarray(x) for x in (left, right))
    wide = (left.astype("f4"), right.astype("f4"))
    return bool(((wide[0] == wide[1]) & (numpy.signbit(wide[0]) == numpy.signbit(wide[1]))
                 | numpy.isnan(wide[0]) & numpy.isnan(wide[1])).all())


def test_casts_of_numpy():
    with numpy.errstate(all="ignore"):
        assert same(mmascope.cast(SINGLES, "f16", policy="host"), SINGLES.astype(numpy.float16))
    assert same(mmascope.cast(HALVES, "f32"), HALVES.astype(numpy.float32))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
                                  "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_casts_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, name)
    finite = SINGLES[~numpy.isnan(SINGLES)] if "4" in name[5:7] or "6" in name[5:7] else SINGLES
    for source in (finite, finite[numpy.abs(finite) < 1e4].astype(numpy.float16)):
        with numpy.errstate(all="ignore"):
            theirs = source.astype(dtype)
        mine = mmascope.cast(source, name, policy="ml_dtypes")
        assert mine.dtype == theirs.dtype and same(mine, theirs)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_casts_of_torch(name):
    torch = pytest.importorskip("torch")
    own = getattr(torch, name)
    # Beyond the range PyTorch and ml_dtypes part: numbers within it.
    limit = torch.finfo(own).max
    x = torch.from_numpy(SINGLES.copy())
    x = x[x.abs() <= limit]
    mine = mmascope.cast(x, name, policy="host" if name == "float16" else "ml_dtypes")
    assert mine.dtype == own and torch.equal(mine.float(), x.to(own).float())


def test_block_scaling():
    x = numpy.random.default_rng(9).standard_normal((8, 96)).astype(numpy.float32)
    made = mmascope.quantize(x, "mxfp8-e4m3")
    assert (made.codes.shape, made.scale.shape, made.block) == ((8, 96), (8, 3), 32)
    numpy.testing.assert_allclose(made.dequantize(), x, rtol=0.13, atol=0.02)
    with pytest.raises(ValueError, match="^axis = 2"):
        mmascope.quantize(x, "mxfp4", axis=2)
    with pytest.raises(TypeError, match="^array: elements of uint8"):
        mmascope.quantize(x.astype("u1"), "mxfp4")
    with pytest.raises(KeyError, match="mxfp5"):
        mmascope.quantize(x, "mxfp5")
    with pytest.raises(KeyError, match="unknown format"):
        mmascope.cast(x, "e99m9")
    with pytest.raises(ValueError, match="^source"):
        mmascope.cast(x.view("u4"), "f16")


def test_formats_without_a_dtype_are_codes():
    x = numpy.array([1.5, -2.5, 3.0] + [0.0] * 29, numpy.float32)
    for name in ("mxint8", "s2f6"):
        assert mmascope.cast(x, name).dtype == numpy.uint8
    made = mmascope.quantize(x, "mxint8")
    assert made.values.dtype == numpy.uint8 and numpy.array_equal(made.values, made.codes)


def test_integers_of_four_bits_can_be_read_in_torch():
    torch = pytest.importorskip("torch")
    codes = mmascope.cast(torch.tensor([1.5, -2.5, 3.0]), "int4")
    assert codes.dtype == torch.uint8 and codes.tolist() == [2, 14, 3]
    made = mmascope.quantize(torch.ones(2, 32), "mxfp8-e4m3")
    assert type(made.codes) is numpy.ndarray and made.values.dtype == torch.float8_e4m3fn


def test_an_axis_is_any_whole_number():
    x = numpy.ones((32, 64), numpy.float32)
    assert mmascope.quantize(x, "mxfp4", axis=numpy.int64(0)).axis == 0
    with pytest.raises(ValueError, match="^axis = True: "):
        mmascope.quantize(x, "mxfp4", axis=True)


def test_a_cast_may_need_a_target():
    ones = numpy.ones(2, dtype=numpy.float32)
    assert mmascope.cast(ones, "e4m3", source="f32", target="sm_90").tolist() == mmascope.cast(ones, "e4m3").tolist()
    with pytest.raises(ValueError, match="^target = 'sm_80' has no cvt.* it is there on sm_89"):
        mmascope.cast(ones, "e4m3", target="sm_80")
    with pytest.raises(ValueError, match="^target = 'sm_90': PTX has no such cvt on any target"):
        mmascope.cast(ones, "e4m3fnuz", target="sm_90")
    with pytest.raises(KeyError, match="unknown target 'foo'"):
        mmascope.cast(ones, "e4m3", target="foo")


def test_narrow_floats_of_another_byte_order():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    plain = numpy.arange(1, 17, dtype=numpy.float32).astype(ml_dtypes.bfloat16)
    turned = plain.astype(plain.dtype.newbyteorder(">"))
    assert not turned.dtype.isnative and turned.tobytes() != plain.tobytes()
    assert float(mmascope.dot(turned, numpy.ones(16, ml_dtypes.bfloat16), arch="h100")) == 136
    assert same(mmascope.cast(turned, "f32"), plain.astype(numpy.float32))
