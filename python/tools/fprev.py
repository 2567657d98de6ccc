"""FPRev beside ``mmascope.reveal``, in one run: writes docs/measured/python-reveal.md.

    python python/tools/fprev.py FOLDER_OF_FPREV

FPRev comes twice. The program is the one its authors published (github.com/peichenxie/FPRev; the folder has their
``fprev.py``; it needs the package graphviz). The algorithm is Algorithm 4 of "FPRev: Revealing Floating-Point Accumulation
Orders" (USENIX ATC 2025), written from the paper with as little around it as possible: its tree is a text. Neither verifies
anything, so that all these times are of finding the order. The last column has node types and verification.
"""

import datetime
import importlib
import pathlib
import platform
import sys
import time

import numpy

import mmascope

SIZES = (4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512)
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


class Masked:
    """A subject as FPRev's program takes it: its authors' interface, with their masks."""

    def __init__(self, function, leaves, n):
        self.function, self.leaves, self.n_summands = function, leaves, n

    def set_mask(self, k, negative):
        self.leaves[k] = -(2.0**127) if negative else 2.0**127

    def reset_mask(self, k):
        self.leaves[k] = 1

    def get_l(self):
        return self.n_summands - int(self.function())


def cases():
    """Name, the subject of ``n`` numbers as ``reveal`` takes it, a maker of FPRev's function and memory, and sizes."""
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

    def row_by_matrix(n):
        x, y = numpy.ones(n, f32), numpy.ones((n, n), f32)
        return (lambda: numpy.matmul(x, y)[0]), x

    def row_subject(n):
        y = numpy.ones((n, n), f32)
        return mmascope.subjects.Subject("numpy.matmul, row by matrix", lambda x: numpy.matmul(x, y)[0])

    def gemm(n):
        x, y = numpy.ones((n, n), f32), numpy.ones((n, n), f32)
        return (lambda: numpy.matmul(x, y)[0, 0]), x[0]

    yield "numpy.sum", lambda n: numpy.sum, vector(numpy.sum), SIZES + LONG
    yield "numpy.dot", lambda n: numpy.dot, dot, SIZES
    yield "numpy.matmul, row by matrix", row_subject, row_by_matrix, SIZES
    yield "numpy.matmul, gemv", lambda n: mmascope.subjects.numpy_gemv(), gemv, SIZES
    yield "numpy.matmul, gemm", lambda n: numpy.matmul, gemm, SIZES
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

    yield "torch.sum", lambda n: torch.sum, torch_sum, SIZES + LONG
    yield "torch.matmul", lambda n: torch.matmul, torch_gemm, SIZES


def micro(seconds):
    """Microseconds as a table shows them."""
    return f"{seconds * 1e6:.0f}"


def processor():
    """The processor's name, as the machine tells it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def best(function, repeats):
    """The shortest of some runs, and the last result."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begin)
    return min(times), result


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "fprev.py").is_file():
        raise SystemExit("usage: fprev.py FOLDER; the folder holds the fprev.py of github.com/peichenxie/FPRev")
    sys.path.insert(0, sys.argv[1])
    program = importlib.import_module("fprev").fprev
    sys.setrecursionlimit(100_000)
    lines, slower = [], []
    for name, subject_of, make, sizes in cases():
        for n in sizes:
            repeats = 50 if n <= 128 else 5
            function, memory = make(n)
            subject = subject_of(n)
            memory[:] = 1
            published, _ = best(lambda: program(Masked(function, memory, n)), repeats)
            bare, (text, calls) = best(lambda: fprev(function, memory, n), repeats)
            own, tree = best(lambda: mmascope.reveal(subject, n, verify=False, progress=False), repeats)
            full, checked = best(lambda: mmascope.reveal(subject, n, progress=False), 1)
            same = "yes" if mmascope.Tree.from_json(text) == tree else "no"
            verified = f"{checked.verified['mismatches']} of {checked.verified['trials']}"
            if own >= published:
                slower.append(f"{name} n = {n}")
            row = (name, n, calls, micro(published), micro(bare), tree.report["all_calls"], micro(own),
                   f"{published / own:.1f}", f"{bare / own:.1f}", same, micro(full), verified)
            lines.append("| " + " | ".join(str(item) for item in row) + " |")
            print(lines[-1], flush=True)
    verdict = "`reveal(…, verify=False)` is faster than FPRev's program on every line." if not slower else (
        f"`reveal(…, verify=False)` is not faster than FPRev's program on: {', '.join(slower)}.")
    head = (
        "# Revealing orders from Python, beside FPRev\n\n"
        f"Written by `python python/tools/fprev.py FOLDER` on {datetime.date.today()}, {processor()}, Python "
        f"{platform.python_version()}, NumPy {numpy.__version__}. f32; times are in microseconds by the wall clock, the shortest "
        "of 50 runs (5 beyond n = 128). All find the order alone; FPRev verifies nothing. \"Program\" is FPRev's published "
        "program, which draws its tree as it goes; \"algorithm\" is the same algorithm with nothing around it, whose tree is a "
        "text: it has no fixed cost, and so the smallest sizes are its own. Calls of `reveal` include those that check "
        "masks and the tree. The last columns are `reveal` as it is called by default: with node types, and 100 random inputs "
        f"on which tree and function are compared (mismatches of trials).\n\n{verdict}\n\n"
        "| subject | n | FPRev calls | program, µs | algorithm, µs | reveal calls | reveal, µs | × program | × algorithm | same "
        "tree | verified, µs | mismatches |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
    file = pathlib.Path(__file__).parents[2] / "docs" / "measured" / "python-reveal.md"
    file.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
