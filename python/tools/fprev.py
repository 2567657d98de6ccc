"""FPRev's algorithm in Python beside ``mmascope.reveal``, in one run: writes docs/measured/python-reveal.md.

The algorithm is Algorithm 4 of "FPRev: Revealing Floating-Point Accumulation Orders" (USENIX ATC 2025), written from the
paper; it has no verification, so that both times are of finding the order. The last column has node types and verification.
"""

import datetime
import pathlib
import platform
import sys
import time

import numpy

import mmascope

SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
LONG = (1024, 4096, 16384)


def fprev(function, leaves, n):
    """The tree of ``function`` as text: ``leaves`` is the memory of the masked numbers."""
    large = numpy.finfo(leaves.dtype).max / 2
    calls = 0

    def absorbed(i, j):
        nonlocal calls
        calls += 1
        leaves[i], leaves[j] = large, -large
        result = float(function())
        leaves[i] = leaves[j] = 1
        return n - int(result)

    def build(group):
        first = min(group)
        if len(group) == 1:
            return str(first), 1
        by_count = {}
        for other in group:
            if other != first:
                by_count.setdefault(absorbed(first, other), []).append(other)
        tree = str(first)
        size = 1
        for count in sorted(by_count):
            # (No subject here has nodes of more than two terms.)
            other, _ = build(by_count[count])
            tree = f"(add f32 {tree} {other})"
            size += len(by_count[count])
            assert size == count
        return tree, size

    leaves[:] = 1
    return build(list(range(n)))[0], calls


def cases():
    """Name, ours, and a maker of FPRev's function and memory."""
    f32 = numpy.float32

    def vector(function):
        def make(n):
            x = numpy.ones(n, f32)
            return (lambda: function(x)), x
        return make

    def dot(n):
        x, y = numpy.ones(n, f32), numpy.ones(n, f32)
        return (lambda: numpy.dot(x, y)), x

    def gemv(n):
        x, y = numpy.ones((n, n), f32), numpy.ones(n, f32)
        return (lambda: numpy.matmul(x, y)[0]), x[0]

    def gemm(n):
        x, y = numpy.ones((n, n), f32), numpy.ones((n, n), f32)
        return (lambda: numpy.matmul(x, y)[0, 0]), x[0]

    yield "numpy.sum", numpy.sum, vector(numpy.sum), SIZES + LONG
    yield "numpy.dot", numpy.dot, dot, SIZES
    yield "numpy.matmul, gemv", mmascope.subjects.numpy_gemv(), gemv, SIZES
    # (Beyond, each call of FPRev is a whole product of seconds.)
    yield "numpy.matmul, gemm", numpy.matmul, gemm, SIZES[:-2]
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return

    def torch_sum(n):
        x = numpy.ones(n, f32)
        tensor = torch.from_numpy(x)
        return (lambda: torch.sum(tensor)), x

    def torch_gemm(n):
        x, y = numpy.ones((n, n), f32), torch.ones(n, n)
        tensor = torch.from_numpy(x)
        return (lambda: torch.matmul(tensor, y)[0, 0]), x[0]

    yield "torch.sum", torch.sum, torch_sum, SIZES + LONG
    yield "torch.matmul", torch.matmul, torch_gemm, SIZES[:-2]


def best(function, repeats):
    """The shortest of some runs, and the last result."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begin)
    return min(times), result


def main():
    sys.setrecursionlimit(100_000)
    lines = []
    for name, subject, make, sizes in cases():
        for n in sizes:
            repeats = 5 if n <= 128 else 1
            function, memory = make(n)
            theirs, (text, calls) = best(lambda: fprev(function, memory, n), repeats)
            ours, tree = best(lambda: mmascope.reveal(subject, n, verify=False, progress=False), repeats)
            full, checked = best(lambda: mmascope.reveal(subject, n, progress=False), 1)
            same = "yes" if mmascope.Tree.from_json(text) == tree else "no"
            verified = f"{checked.verified['mismatches']} of {checked.verified['trials']}"
            row = (name, n, calls, f"{theirs:.4f}", tree.report["all_calls"], f"{ours:.4f}", f"{theirs / ours:.1f}", same,
                   f"{full:.4f}", verified)
            lines.append("| " + " | ".join(str(item) for item in row) + " |")
            print(lines[-1], flush=True)
    head = (
        "# Revealing orders from Python, beside FPRev's algorithm\n\n"
        f"Written by `python python/tools/fprev.py` on {datetime.date.today()}, {platform.machine()}, Python "
        f"{platform.python_version()}, NumPy {numpy.__version__}. f32; seconds are wall-clock, the shortest of up to 5 "
        "runs; both columns find the order alone (FPRev verifies nothing). Calls of `reveal` include those that choose and "
        "check masks. The last columns are `reveal` as it is called by default: with node types, and 100 random inputs on "
        "which tree and function are compared (mismatches of trials). For few numbers FPRev is faster: `reveal` makes a fixed "
        "number of calls that check what masks rely on, and FPRev makes none.\n\n"
        "| subject | n | FPRev calls | FPRev s | reveal calls | reveal s | times faster | same tree | verified s | mismatches |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    file = pathlib.Path(__file__).parents[2] / "docs" / "measured" / "python-reveal.md"
    file.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
