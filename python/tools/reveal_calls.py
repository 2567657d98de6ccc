"""Counts the calls of ``mmascope.reveal`` beside those of FPRev: writes docs/measured/reveal-calls.md.

    python python/tools/reveal_calls.py

The subjects are sums, dot products, and products of matrices and vectors of NumPy, PyTorch and JAX on the CPU, of the sizes of
FPRev's case studies (4 to 512).
"""

import datetime
import pathlib
import platform

import fprev
import numpy

import mmascope

subjects = mmascope.subjects
# "alone": reveal finds an order, FPRev's algorithm none.
VERDICTS = ("fewer", "as many", "more", "alone")
SIZES = (4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512)


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


def calls_of(subject, n, dtype, algorithm):
    """The calls that find the order, and all of them; the message in their place where no order is found."""
    try:
        report = mmascope.reveal(subject, n, dtype, algorithm=algorithm, verify=False, progress=False).report
    except mmascope.Error as error:
        return None, str(error)
    # FPRev puts one input into one call.
    return report["measurements" if algorithm == "fprev" else "calls"], report["all_calls"]


def page(lines, counts, without):
    """The page: a table of how many routines of each format take fewer, as many and more calls, then all routines."""
    summary = "".join(
        f"| {dtype} | " + " | ".join(str(found[verdict]) for verdict in VERDICTS) + " |\n" for dtype, found in counts.items()
    )
    tail = "".join(f"* {line}\n" for line in without)
    return (
        "# Calls that reveal takes, beside FPRev's\n\n"
        f"Written by `python python/tools/reveal_calls.py` on {datetime.date.today()}, {fprev.processor()}, Python "
        f"{platform.python_version()}, NumPy {numpy.__version__}. PyTorch has one thread. FPRev's algorithm 4 is "
        "`reveal(…, algorithm=\"fprev\")` with the masks that reveal finds; they are not counted.\n\n"
        "Routines of 11 sizes whose order takes fewer calls than FPRev, as many, and more; *alone*: where its algorithm "
        "finds no order.\n\n"
        f"| format | fewer | as many | more | alone |\n|---|---|---|---|---|\n{summary}\n"
        "In each cell: FPRev's calls, those with which `mmascope.reveal(…, verify=False)` finds the order, and all of its "
        "calls. Those that find masks that work, and that check the tree, are among the last.\n\n"
        "| routine | format | " + " | ".join(f"n = {n}" for n in SIZES) + " |\n"
        "|---|---|" + "---|" * len(SIZES) + "\n" + "\n".join(lines) + "\n"
        + (f"\nNo order was found:\n\n{tail}" if tail else "")
    )


def main():
    lines, counts, without = [], {}, []
    for library, routine, formats, make in cases():
        for dtype in formats:
            found = counts.setdefault(dtype, dict.fromkeys(VERDICTS, 0))
            cells = []
            for n in SIZES:
                theirs, _ = calls_of(make(), n, dtype, "fprev")
                own, every = calls_of(make(), n, dtype, "pivot")
                if own is None:
                    without.append(f"{library} {routine} {dtype} n = {n}: {every}")
                    cells.append(f"{'–' if theirs is None else theirs} –")
                    continue
                if theirs is None:
                    verdict = "alone"
                else:
                    verdict = "fewer" if own < theirs else "as many" if own == theirs else "more"
                found[verdict] += 1
                cells.append(f"{'–' if theirs is None else theirs} {own} {every}")
            lines.append(f"| {library} {routine} | {dtype} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    file = pathlib.Path(__file__).parents[2] / "docs" / "measured" / "reveal-calls.md"
    file.write_text(page(lines, counts, without))


if __name__ == "__main__":
    main()
