"""Summation trees of callables."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy

from . import _checks, _core, subjects
from ._arrays import _NARROW, numpy_dtype
from ._errors import ArgumentError, DeviceError, Error
from ._progress import Progress
from ._tree import Tree
from .subjects import Subject


class NoTreeError(DeviceError):
    """The subject has no tree, or the tree that masks show is contradicted by random inputs.

    ``report`` has everything that was found; ``tree`` what masks show.
    """

    report: dict[str, Any]
    tree: Tree | None


_FORMATS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", **_NARROW}


def _kind_of(dtype: Any) -> str:
    """The name of a format from whatever names a dtype."""
    name = dtype if isinstance(dtype, str) else None
    if name is None:
        text = str(dtype)
        if text.startswith("torch."):
            name = text.removeprefix("torch.")
        else:
            try:
                name = numpy.dtype(dtype).name
            except TypeError as error:
                raise ArgumentError(f"dtype: {dtype!r} is no dtype, such as 'float32'") from error
    return _FORMATS.get(name, name)


def _takes_two(function: Any) -> bool:
    """Whether a callable needs two arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) == 2


def _too_wide(call: Any, kind: str, results: str) -> str | None:
    """That results are no numbers of their format, where sums of random numbers show it; ``None`` where they do not."""
    dtype, own = numpy_dtype(kind), numpy_dtype(results)
    if dtype.kind in "iu" or own.kind in "iu":
        return None
    random = numpy.random.default_rng(1)
    answers: list[float] = []
    for _ in range(4):
        call.rows[...] = random.standard_normal(call.rows.shape).astype(dtype).view(call.rows.dtype)
        if call.factors is not None:
            call.factors[...] = numpy.ones(call.factors.shape, dtype).view(call.factors.dtype)
        try:
            answer = call.function(*call.arguments)
        except Exception:
            # What is known already is what there is to say.
            return None
        answers += [float(answer)] if call.rows.shape[0] == 1 else [float(item) for item in answer]
    given = numpy.array(answers)
    with numpy.errstate(all="ignore"):
        wrong, is_single = (given != given.astype(other).astype(given.dtype) for other in (own, numpy.float32))
    wrong &= numpy.isfinite(given)
    if not wrong.any():
        return None
    wider = "float64" if (is_single & numpy.isfinite(given)).any() else "float32"
    return f"its results are no {results} numbers, such as {float(given[wrong][0])!r}; result={wider!r} says what they are"


@_checks.named
def reveal(
    fn: Any,
    n: int,
    dtype: Any = "float32",
    *,
    factors: bool | None = None,
    batch: int | None = None,
    result: Any = None,
    algorithm: str = "pivot",
    trials: int = 100,
    seed: int = 1,
    verify: bool = True,
    progress: bool | None = None,
) -> Tree:
    """The summation tree of anything that sums.

    Parameters
    ----------
    fn : callable or Subject
        Takes an array of ``n`` numbers and gives their sum, or two arrays and gives the sum of the products. Functions
        of NumPy, SciPy, PyTorch and JAX that :mod:`mmascope.subjects` knows are called as they need it.
    n : int
        How many numbers.
    dtype : str or dtype
        Their format: ``float32``, ``float64``, ``float16``, ``bfloat16``, ``float8_e4m3fn``.
    factors : bool, optional
        Whether ``fn`` takes two arrays. By default that is what its signature says.
    batch : int, optional
        ``fn`` takes so many rows at once, an array of shape (batch, n) (and one of (n,)), and gives (batch,) results.
    result : str or dtype, optional
        The format of results; that of the numbers by default. ``math.fsum`` gives float64 whatever it sums.
    algorithm : {"pivot", "distinct", "fprev", "fprev-narrow", "basic", "naive"}
        All give the same tree; the first takes the fewest calls of most subjects.
    trials : int
        Random inputs on which the tree is compared with ``fn``.
    seed : int
        Of everything random.
    verify : bool
        Find node types and compare with ``fn``. Without it only the order is found.
    progress : bool, optional
        Show progress with tqdm; by default on a terminal.

    Returns
    -------
    Tree
        Its ``report`` has calls, measurements, verification and remarks.

    Raises
    ------
    NoTreeError
        There is no single tree: the sum is exact, compensated, changes between calls, or depends on values.
    DeviceError
        ``fn`` raised, or gave something else than numbers.
    ArgumentError
        Naming the argument.

    References
    ----------
    The method: FPRev (USENIX ATC 2025); docs/reveal.md.

    Examples
    --------
    >>> mmascope.reveal(numpy.sum, 64).pattern
    '8-way strided, pairwise combine'
    """
    _checks.whole(n, "n", 1, most=(1 << 24) - 1)
    n = int(n)
    _checks.whole(trials, "trials", most=(1 << 32) - 1)
    _checks.whole(seed, "seed")
    _checks.text(algorithm, "algorithm", "pivot", optional=False)
    verify = _checks.flag(verify, "verify")
    kind = _kind_of(dtype)
    if not isinstance(fn, Subject) and not callable(fn):
        raise ArgumentError(f"fn: {fn!r} is no callable")
    subject = fn if isinstance(fn, Subject) else subjects.known(fn)
    if subject is None:
        _checks.whole(batch, "batch", 1, optional=True, most=1 << 16)
        has_factors = _takes_two(fn) if factors is None else factors
        subject = Subject(subjects.name_of(fn), fn, factors=has_factors, rows=batch or 1)
    results = (subject.results or kind) if result is None else _kind_of(result)
    call = subject.prepare(n, numpy_dtype(kind))
    call.operands, call.results = kind, results
    try:
        with Progress(None, "revealing", progress) as bar:
            tell = bar.tell if bar.is_shown else None
            inner, text = _core.reveal(call, algorithm, trials, seed, verify, tell)
    except ArgumentError as error:
        # The library names the subject; it is what was given as fn.
        if str(error).startswith(f"{subject.name}: "):
            raise ArgumentError(f"fn: {error}") from None
        raise
    except Error:
        raise
    except Exception as error:
        raise DeviceError(f"fn: {subject.name} failed with {type(error).__name__}: {error}") from error
    report = json.loads(text)
    tree = Tree(inner, report)
    if report["nature"] != "tree" or not report["holds"]:
        # Sums of another format than the stated one look sorted, or exact, or like no tree.
        report["verdict"] = _too_wide(call, kind, results) or report["verdict"]
        failure = NoTreeError(f"fn: {subject.name}: {report['verdict']}")
        failure.report = report
        failure.tree = tree if report["nature"] == "tree" else None
        raise failure
    return tree
