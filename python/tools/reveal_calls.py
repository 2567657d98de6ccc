"""Counts the calls of ``mmascope.reveal`` beside those of FPRev: writes docs/measured/reveal-calls.md.

    python python/tools/reveal_calls.py

The subjects are sums, dot products, and products of matrices and vectors of NumPy, PyTorch and JAX on the CPU, of the sizes of
FPRev's case studies (4 to 512). FPRev's calls follow from the tree: its algorithm 4 asks, for the first leaf of a set, one
question for each other leaf of the set, and goes on in each subtree. ``reveal(…, algorithm="fprev")`` takes as many for
float32 and float64. In 16-bit formats its masks may not suffice: then it takes more, or half an hour and longer.
"""

import datetime
import pathlib
import platform
import sys

import fprev
import numpy

import mmascope

subjects = mmascope.subjects
SIZES = (4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512)


def fprev_calls(tree):
    """The calls of FPRev's algorithm 4 for a tree of two-term nodes, and the tree's leaves."""

    def look(node):
        """The first leaf, the number of leaves, and the calls below: those of each set that leaves the first leaf's path."""
        if isinstance(node, int):
            return node, 1, 0
        parts = sorted(look(child) for child in node)
        first, size, calls = parts[0]
        for _, other, below in parts[1:]:
            size += other
            # The questions that find this set's members, and those within it.
            calls += other + below
        return first, size, calls

    return look(tree)


def nested(text):
    """A tree's text as nested lists of leaves."""
    stack, tokens = [[]], text.replace("(", " ( ").replace(")", " ) ").split()
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif token.isdigit():
            stack[-1].append(int(token))
    return stack[0][0]


def cases():
    """Library, routine, formats, and a maker of the subject."""
    f = ("float32", "float64")
    yield "NumPy", "sum", (*f, "float16"), lambda: subjects.numpy_sum
    yield "NumPy", "dot", f, lambda: subjects.numpy_dot
    yield "NumPy", "einsum", f, subjects.numpy_einsum
    yield "NumPy", "matrix by vector", f, subjects.numpy_gemv
    yield "NumPy", "row by matrix", f, lambda: row_by_matrix(numpy.matmul)
    yield "NumPy", "matrix by matrix", f, subjects.numpy_gemm
    four = (*f, "float16", "bfloat16")
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
    else:
        torch.set_num_threads(1)
        yield "PyTorch", "sum", four, subjects.torch_sum
        yield "PyTorch", "dot", four, subjects.torch_dot
        yield "PyTorch", "cumsum", four, subjects.torch_cumsum
        yield "PyTorch", "matrix by matrix", four, subjects.torch_matmul
        yield "PyTorch", "linear", four, subjects.torch_linear
    try:
        import jax
    except ImportError:
        print("skipped: JAX is not installed")
    else:
        jax.config.update("jax_enable_x64", True)
        yield "JAX", "sum", four, subjects.jax_sum
        yield "JAX", "dot", four, subjects.jax_dot


def row_by_matrix(multiply):
    """The product of a row by an n x n matrix of ones."""
    return subjects.Subject("row by matrix", lambda x: multiply(x, numpy.ones((len(x), len(x)), x.dtype))[0])


def compared(subject, n, dtype):
    """FPRev's calls, reveal's for the order, and all of reveal's; a remark where there is no order to compare."""
    try:
        tree = mmascope.reveal(subject, n, dtype, verify=False, progress=False)
    except mmascope.Error as error:
        return None, None, None, str(error)
    return fprev_calls(nested(str(tree)))[2], tree.report["calls"], tree.report["all_calls"], None


def page(lines, counts, without):
    """The page: a table of how many routines of each format take fewer, as many and more calls, then all routines."""
    summary = "".join(
        f"| {dtype} | {found['fewer']} | {found['as many']} | {found['more']} |\n" for dtype, found in counts.items()
    )
    tail = "".join(f"* {line}\n" for line in without)
    return (
        "# Calls that reveal takes, beside FPRev's\n\n"
        f"Written by `python python/tools/reveal_calls.py` on {datetime.date.today()}, {fprev.processor()}, Python "
        f"{platform.python_version()}, NumPy {numpy.__version__}. PyTorch has one thread. FPRev's calls are those that its "
        "algorithm 4 takes for the tree, whether or not its masks work in the format; it checks nothing.\n\n"
        "Routines of 11 sizes whose order takes fewer calls than FPRev, as many, and more:\n\n"
        f"| format | fewer | as many | more |\n|---|---|---|---|\n{summary}\n"
        "In each cell: FPRev's calls, those with which `mmascope.reveal(…, verify=False)` finds the order, and all of its "
        "calls. Those that find masks that work, and that check the tree, are among the last.\n\n"
        "| routine | format | " + " | ".join(f"n = {n}" for n in SIZES) + " |\n"
        "|---|---|" + "---|" * len(SIZES) + "\n" + "\n".join(lines) + "\n"
        + (f"\nNo order was found:\n\n{tail}" if tail else "")
    )


def main():
    sys.setrecursionlimit(10_000)
    lines, counts, without = [], {}, []
    for library, routine, formats, make in cases():
        for dtype in formats:
            found = counts.setdefault(dtype, {"fewer": 0, "as many": 0, "more": 0})
            cells = []
            for n in SIZES:
                theirs, own, every, remark = compared(make(), n, dtype)
                if remark is not None:
                    without.append(f"{library} {routine} {dtype} n = {n}: {remark}")
                    cells.append("–")
                    continue
                found["fewer" if own < theirs else "as many" if own == theirs else "more"] += 1
                cells.append(f"{theirs} {own} {every}")
            lines.append(f"| {library} {routine} | {dtype} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    file = pathlib.Path(__file__).parents[2] / "docs" / "measured" / "reveal-calls.md"
    file.write_text(page(lines, counts, without))


if __name__ == "__main__":
    main()
