"""What ml_dtypes and gfloat make of casts.

    casts_oracle.py FOLDER

Reads FOLDER/inputs (float32) and FOLDER/doubles (float64). For every two dtypes of ml_dtypes and NumPy of
at most 16 bits it writes FOLDER/FROM.TO.ml (codes of TO for the codes 0, 1, 2, ... of FROM), and
FOLDER/f32.TO.ml and FOLDER/f64.TO.ml for the inputs. With gfloat it writes FOLDER/TO.MODE.gfloat and
FOLDER/TO.MODE.sat.gfloat (float64 numbers for the float32 inputs).
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

FLOATS = {
    "f16": "float16",
    "bf16": "bfloat16",
    "e5m2": "float8_e5m2",
    "e4m3fn": "float8_e4m3fn",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e4m3-ieee": "float8_e4m3",
    "e3m4": "float8_e3m4",
    "e4m3b11fnuz": "float8_e4m3b11fnuz",
    "ue8m0": "float8_e8m0fnu",
    "e3m2fn": "float6_e3m2fn",
    "e2m3fn": "float6_e2m3fn",
    "e2m1fn": "float4_e2m1fn",
}
BITS = {"f16": 16, "bf16": 16, "e3m2fn": 6, "e2m3fn": 6, "e2m1fn": 4}
INTEGERS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "int8": 8, "uint8": 8, "int16": 16}


def dtype(name):
    name = FLOATS.get(name, name)
    found = getattr(ml_dtypes, name, None) or getattr(np, name, None)
    return None if found is None else np.dtype(found)


def word(kind):
    return {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[kind.itemsize]


def codes(values, kind):
    return values.astype(kind).view(word(kind))


def with_ml_dtypes(folder, singles, doubles):
    names = [name for name in [*FLOATS, *INTEGERS] if dtype(name) is not None]
    wide = {"f32": singles, "f64": doubles}
    for to in [*names, "float32", "float64"]:
        kind = dtype(to)
        ours = {"float32": "f32", "float64": "f64"}.get(to, to)
        for source in names:
            bits = BITS.get(source) or INTEGERS.get(source) or 8
            own = dtype(source)
            values = np.arange(1 << bits).astype(word(own)).view(own)
            try:
                made = codes(values, kind)
            except TypeError:
                continue  # ml_dtypes defines no such cast
            made.tofile(folder / f"{source}.{ours}.ml")
        for source, values in wide.items():
            if ours != source:
                codes(values, kind).tofile(folder / f"{source}.{ours}.ml")


def with_gfloat(folder, singles):
    import gfloat
    from gfloat import RoundMode, formats

    infos = {
        "f16": formats.format_info_binary16,
        "bf16": formats.format_info_bfloat16,
        "e5m2": formats.format_info_ocp_e5m2,
        "e4m3fn": formats.format_info_ocp_e4m3,
        "e3m2fn": formats.format_info_ocp_e3m2,
        "e2m3fn": formats.format_info_ocp_e2m3,
        "e2m1fn": formats.format_info_ocp_e2m1,
    }
    modes = {
        "rne": RoundMode.TiesToEven,
        "rna": RoundMode.TiesToAway,
        "rz": RoundMode.TowardZero,
        "ru": RoundMode.TowardPositive,
        "rd": RoundMode.TowardNegative,
    }
    values = singles.astype(np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    for name, info in infos.items():
        for mode, rounding in modes.items():
            for suffix, sat in (("", False), (".sat", True)):
                inside = np.where(np.abs(values) <= info.max, values, 0.0)
                used = values if sat else inside
                result = gfloat.round_ndarray(info, used, rounding, sat)
                result.astype(np.float64).tofile(folder / f"{name}.{mode}{suffix}.gfloat")


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    singles = np.fromfile(folder / "inputs", dtype=np.float32)
    doubles = np.fromfile(folder / "doubles", dtype=np.float64)
    with np.errstate(all="ignore"):
        with_ml_dtypes(folder, singles, doubles)
        try:
            with_gfloat(folder, singles)
        except ImportError as error:
            print(f"skipped: {error}")


main()
