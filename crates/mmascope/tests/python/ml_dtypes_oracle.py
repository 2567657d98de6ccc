"""What ml_dtypes says: the value of every code, and float32 converted to every dtype.

    ml_dtypes_oracle.py FOLDER

Reads FOLDER/inputs (float32, native byte order) and writes for each dtype FOLDER/DTYPE.values
(float64 of the codes 0, 1, 2, ... of that many bits) and, for the floats, FOLDER/DTYPE.codes (one
code of 8 or 16 bits per input). Prints the version.
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

FLOATS = {
    "float16": 16,
    "bfloat16": 16,
    "float8_e5m2": 8,
    "float8_e4m3fn": 8,
    "float8_e5m2fnuz": 8,
    "float8_e4m3fnuz": 8,
    "float8_e4m3": 8,
    "float8_e3m4": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e8m0fnu": 8,
    "float6_e3m2fn": 6,
    "float6_e2m3fn": 6,
    "float4_e2m1fn": 4,
}
INTEGERS = {"int1": 1, "uint1": 1, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4}


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    inputs = np.fromfile(folder / "inputs", dtype=np.float32)
    for name, bits in {**FLOATS, **INTEGERS}.items():
        if not hasattr(ml_dtypes, name) and not hasattr(np, name):
            continue  # an older ml_dtypes
        dtype = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name))
        word = np.uint16 if bits == 16 else np.uint8
        codes = np.arange(1 << bits, dtype=word).view(dtype)
        codes.astype(np.float64).tofile(folder / f"{name}.values")
        if name in FLOATS:
            with np.errstate(all="ignore"):
                inputs.astype(dtype).view(word).tofile(folder / f"{name}.codes")
    print(ml_dtypes.__version__)


main()
