"""Errors of emulated precision on matrices of NumPy, as the tables of docs/measured/emulation-errors.md.

    emulation_errors.py MMASCOPE

MMASCOPE is the program. Every line has the norm of the error divided by the norm of the exact product, both over all of D,
and the largest error divided by the mean magnitude of D. The exact product is that of long double sums of float64 products.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())


def exact(a, b):
    return a.astype(np.longdouble) @ b.astype(np.longdouble)


def measured(folder, a, b, arch, inst, schedule):
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    command = [PROGRAM, "matmul", "--arch", arch, "--inst", inst, "a.npy", "b.npy", "-o", "d.npy", "--stats", "none"]
    if schedule != "chain":
        command += ["--schedule", schedule]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    error = np.load(folder / "d.npy").astype(np.longdouble) - exact(a, b)
    reference = exact(a, b)
    norm = np.sqrt((error**2).sum() / (reference**2).sum())
    return float(norm), float(np.abs(error).max() / np.abs(reference).mean())


def data(kind, m, n, k, dtype):
    random = np.random.default_rng(7)
    draw = {"uniform": lambda shape: random.uniform(-1, 1, shape), "normal": random.standard_normal}[kind]
    return draw((m, k)).astype(dtype), draw((k, n)).astype(dtype)


TF32 = ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32")
F16 = ("ampere", "mma.m16n8k8.f32.f16.f16.f32")
BF16 = ("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")
MXU = ("tpu", "mxu.f32.bf16")
S8 = ("ampere", "mma.m16n8k32.s32.s8.s8.s32")
RESIDUES = "256,255,253,251,247,241,239,233,229,227,223,217,211,199,197,193"

F32_LINES = [
    ("f32, one multiply-add after the other", ("apple-amx", "fma32"), "chain"),
    ("1xTF32", TF32, "emulate=f32 parts=1/rna products=0x0"),
    ("3xTF32", TF32, "emulate=f32 parts=2/rna products=1x0,0x1,0x0"),
    ("FP16, plain", F16, "emulate=f32 parts=1 products=0x0"),
    ("FP16 with correction", F16, "emulate=f32 parts=2 shift=11 products=levels/2 unpromoted=1 join=ascending/f32; promote=1/f32"),
    ("the same, main products in the unit", F16, "emulate=f32 parts=2 shift=11 products=levels/2 join=ascending/f32"),
    ("BF16x3", BF16, "emulate=f32 parts=2 products=1x0,0x1,0x0"),
    ("BF16x6", BF16, "emulate=f32 parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0"),
    ("BF16x9", BF16, "emulate=f32 parts=3 products=2x2,1x2,2x1,1x1,2x0,0x2,1x0,0x1,0x0"),
    ("TPU, 1 pass", MXU, "emulate=f32 parts=1 products=0x0"),
    ("TPU, 3 passes", MXU, "emulate=f32 parts=2 products=1x0,0x1,0x0 within=pass"),
    ("TPU, 6 passes", MXU, "emulate=f32 parts=3 products=1x1,2x0,0x2,1x0,0x1,0x0 within=pass"),
]
F64_LINES = [
    ("f64, one multiply-add after the other", ("ampere", "mma.m8n8k4.f64.f64.f64.f64"), "chain"),
    *[
        (f"Ozaki I, {count} slices", S8, f"emulate=f64 slices={count}/rz bits=7 products=levels/{count} join=ascending/f64")
        for count in (2, 4, 6, 7, 8, 9)
    ],
    ("Ozaki I, 7 slices to nearest", S8, "emulate=f64 slices=7 bits=7 products=levels/7 join=ascending/f64"),
    *[
        (
            f"Ozaki II, {count} moduli",
            S8,
            f"emulate=f64 residues={','.join(RESIDUES.split(',')[:count])}/rz bits={bits} join=residues/f64",
        )
        for count, bits in ((8, 26), (10, 34), (12, 42), (14, 49))
    ],
]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, shape, dtype, lines in (
            ("uniform", (64, 64, 512), np.float32, F32_LINES),
            ("normal", (32, 32, 10240), np.float32, F32_LINES),
            ("normal", (48, 48, 1024), np.float64, F64_LINES),
        ):
            a, b = data(kind, *shape, dtype)
            print(f"\n{kind}, {shape[0]} × {shape[1]} outputs, K = {shape[2]}, {np.dtype(dtype).name}\n")
            print("| scheme | unit | norm of the error | largest error |\n|---|---|---|---|")
            for title, (arch, inst), schedule in lines:
                norm, largest = measured(folder, a, b, arch, inst, schedule)
                print(f"| {title} | {arch} `{inst}` | {norm:.2e} | {largest:.2e} |", flush=True)


NINE = "2x2,1x2,2x1,1x1,2x0,0x2,1x0,0x1,0x0"
# Largest relative errors of OpenXLA's test PrecisionTests (xla/backends/gpu/codegen/triton/dot_algorithms_test.cc, table
# kMaxMeanRelErrorBlas): "the errors that we got". XLA cuts the first part and rounds the others to nearest.
XLA = [
    ("BF16", BF16, "emulate=f32 parts=1 products=0x0", "3.3e-3"),
    ("TF32", TF32, "emulate=f32 parts=1/rna products=0x0", "4.1e-4"),
    ("BF16x3", BF16, "emulate=f32 parts=2/rz/rne products=levels/2 join=ascending/f32", "2.4e-5"),
    ("BF16x6", BF16, "emulate=f32 parts=3/rz products=pairs/3 join=ascending/f32", "1.6e-7"),
    ("BF16x9", BF16, "emulate=f32 parts=3/rz products=pairs/5 join=ascending/f32", "6e-8"),
    ("3xTF32", TF32, "emulate=f32 parts=2/rz products=1x0,0x1,0x0", "5e-7"),
]
# Mean squares of errors of Triton's 3xTF32 beside an f32 product, normal operands, on an A100 (triton-lang/triton, pull
# request 4933, the table before the change: all products of a step in one accumulator).
TRITON = {256: "1.366855e-09", 512: "1.157405e-08", 1024: "9.253924e-08", 2048: "7.500014e-07", 3072: "2.519756e-06"}
# The same of CUTLASS, which adds the sums of a tile of K in f32.
CUTLASS = {256: "5.235101e-11", 512: "1.270737e-10", 1024: "2.843547e-10", 2048: "1.800559e-09", 3072: "3.732411e-09"}


def product(folder, a, b, unit, schedule):
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    command = [PROGRAM, "matmul", "--arch", unit[0], "--inst", unit[1], "a.npy", "b.npy", "-o", "d.npy", "--stats", "none",
               "--pad", "--schedule", schedule]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return np.load(folder / "d.npy")


def published():
    random = np.random.default_rng(11)

    def fake(shape):
        """XLA's: whole numbers of 23 bits, moved to between 1/2 and 1."""
        whole = random.integers(1, (1 << 23) + 1, shape).astype(np.float64)
        return (whole * 2.0 ** -np.ceil(np.log2(whole))).astype(np.float32)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("\n1024 × 1024 outputs, K = 8, positive operands: largest relative error\n")
        print("| scheme | schedule | OpenXLA, cuBLAS | here |\n|---|---|---|---|")
        a, b = fake((1024, 8)), fake((8, 1024))
        reference = a.astype(np.float64) @ b.astype(np.float64)
        for title, unit, schedule, figure in XLA:
            d = product(folder, a, b, unit, schedule)
            largest = (np.abs(d - reference) / reference).max()
            print(f"| {title} | `{schedule}` | {figure} | {largest:.1e} |", flush=True)
        print("\n3xTF32, normal operands: mean square of the difference from an f32 product\n")
        print("| K | one accumulator: Triton on an A100 | here | here ÷ there | staged: CUTLASS on an A100 | here, tiles of 32 | "
              "here, tiles of 16 |\n|---|---|---|---|---|---|---|")
        for k, figure in TRITON.items():
            a = random.standard_normal((128, k)).astype(np.float32)
            b = random.standard_normal((k, 128)).astype(np.float32)
            scheme = "emulate=f32 parts=2/rna products=1x0,0x1,0x0"
            means = []
            for stages in ("", "; promote=12/f32", "; promote=6/f32"):
                d = product(folder, a, b, TF32, scheme + stages).astype(np.float64)
                means.append(((d - a @ b) ** 2).mean())
            plain, wide, narrow = means
            print(f"| {k} | {float(figure):.3e} | {plain:.3e} | {plain / float(figure):.2f} | {float(CUTLASS[k]):.3e} | {wide:.3e} | "
                  f"{narrow:.3e} |", flush=True)


# Largest relative errors on an A100, K = 1024, 1024 x 1024 outputs, phi = 0.5 (UCHINO-Yuki/GEMMul8_numerical_results,
# results_04, oz2_results_d_accuracy_NVIDIA_A100; scheme I: results_05, the same on a GH200).
DGEMM = "8.594851e-10"
MODULI = {8: ("3.936469e-02", "1.352078e-02"), 10: ("1.270989e-04", "5.075758e-05"), 12: ("1.414146e-06", "4.346313e-07"),
          13: ("4.720867e-08", "1.697952e-08"), 14: ("4.678982e-09", "1.125475e-09"), 15: ("3.321655e-10", "6.403499e-11"),
          16: ("7.896671e-12", "1.459027e-12")}
SLICES = {8: ("7 slices, 55 bits", "1.440947e-09"), 9: ("8 slices, 63 bits", "7.712279e-12")}


def published_f64():
    random = np.random.default_rng(5)

    def draw(shape):
        """GEMMul8's: uniform numbers times e to the power of normal ones."""
        return (random.random(shape) - 0.5) * np.exp(0.5 * random.standard_normal(shape))

    def share(matrix, axis):
        """The largest norm of a row beside the power of two over its largest element, as a power of two."""
        norms = np.log2(np.sqrt((matrix * matrix).sum(axis)))
        return (norms - np.floor(np.log2(np.abs(matrix).max(axis))) - 1).max()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a, b = draw((1024, 1024)), draw((1024, 1024))
        reference = exact(a, b)

        def largest(d):
            return float((np.abs(d - reference) / np.abs(reference)).max())

        native = largest(a @ b)
        print("\n1024 × 1024 outputs, K = 1024: largest relative error, and that divided by the f64 product's own\n")
        print("| scheme | fast, A100 | accurate, A100 | here | fast ÷ f64 | accurate ÷ f64 | here ÷ f64 |\n|---|---|---|---|---|---|---|")
        print(f"| f64 product | {float(DGEMM):.1e} | {float(DGEMM):.1e} | {native:.1e} | 1 | 1 | 1 |")
        for count, figures in MODULI.items():
            moduli = RESIDUES.split(",")[:count]
            # No sum may reach half the product of the moduli: Cauchy's bound, as in the fast mode.
            bits = int((math.log2(math.prod(map(int, moduli))) - 1 - share(a, 1) - share(b, 0)) / 2)
            schedule = f"emulate=f64 residues={','.join(moduli)}/rz bits={bits} join=residues/f64"
            found = largest(product(folder, a, b, S8, schedule))
            fast, accurate = map(float, figures)
            print(f"| Ozaki II, {count} moduli, bits={bits} | {fast:.1e} | {accurate:.1e} | {found:.1e} | {fast / float(DGEMM):.1e} | "
                  f"{accurate / float(DGEMM):.1e} | {found / native:.1e} |", flush=True)
        print("\n| scheme | cuBLAS, GH200 | here | cuBLAS ÷ f64 | here ÷ f64 |\n|---|---|---|---|---|")
        for count, (title, figure) in SLICES.items():
            schedule = f"emulate=f64 slices={count}/rz bits=7 products=levels/{count} join=ascending/f64"
            found = largest(product(folder, a, b, S8, schedule))
            print(f"| Ozaki I: {title} there, {count} slices of 7 bits here | {float(figure):.1e} | {found:.1e} | "
                  f"{float(figure) / float(DGEMM):.1e} | {found / native:.1e} |", flush=True)


main()
published()
published_f64()
