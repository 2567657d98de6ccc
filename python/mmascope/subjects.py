"""Ready-made subjects of :func:`mmascope.reveal`: sums and products of NumPy, SciPy, PyTorch and JAX.

``mmascope.reveal(numpy.sum, 64)`` finds the one for a function by itself. Others are made here: a matrix product of a
shape of your own, a routine of SciPy's BLAS.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy

from ._errors import ArgumentError


class Call:
    """A subject with its memory, as the extension takes it."""

    __slots__ = ("arguments", "factors", "function", "name", "operands", "results", "rows")
    operands: str
    results: str

    def __init__(self, name: str, function: Any, arguments: tuple[Any, ...], rows: Any, factors: Any) -> None:
        self.name, self.function, self.arguments, self.rows, self.factors = name, function, arguments, rows, factors


class Subject:
    """A function that sums, and how it is called.

    Parameters
    ----------
    name : str
        What reports call it.
    function : callable
        Takes a row of numbers (or ``rows`` of them), and a vector of second factors where it has some.
    factors : bool
        Whether it takes second factors.
    rows : int or callable
        How many rows one call takes; a callable gives it for ``n``.
    convert : callable, optional
        Makes an argument from NumPy memory. It is called once where the result shares the memory, else for each call.
    shares : bool
        Whether what ``convert`` makes shares the memory.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        factors: bool = False,
        rows: int | Callable[[int], int] = 1,
        convert: Callable[[Any], Any] | None = None,
        shares: bool = True,
    ) -> None:
        self.name, self.function, self.factors = name, function, factors
        self.rows, self.convert, self.shares = rows, convert, shares
        #: The format of results where it is not that of the numbers.
        self.results: str | None = None

    def prepare(self, n: int, dtype: Any) -> Call:
        """Memory for ``n`` numbers, and the call that reads it."""
        count = self.rows(n) if callable(self.rows) else self.rows
        rows = numpy.zeros((count, n), dtype)
        factors = numpy.zeros(n, dtype) if self.factors else None
        arguments: tuple[Any, ...] = (rows if count > 1 else rows[0],)
        if factors is not None:
            arguments = (*arguments, factors)
        function: Any = self.function
        if self.convert is not None and self.shares:
            arguments = tuple(self.convert(argument) for argument in arguments)
        elif self.convert is not None:
            convert, inner = self.convert, function

            def function(*memory: Any) -> Any:
                return inner(*[convert(argument) for argument in memory])

        if count > 1:
            one = function

            def function(*memory: Any) -> Any:
                return _numbers(one(*memory), count)

        return Call(self.name, function, arguments, rows.view(f"u{rows.dtype.itemsize}"),
                    None if factors is None else factors.view(f"u{factors.dtype.itemsize}"))


def _numbers(results: Any, count: int) -> Any:
    """Results of rows as float64."""
    array = _doubles(results)
    _check_rows(array, count)
    return numpy.ascontiguousarray(array)


def name_of(function: Any) -> str:
    """What a callable is called in reports."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    if name == "<lambda>" or not module or module in ("__main__", "builtins"):
        return str(name)
    return f"{module}.{name}"


# NumPy ----------------------------------------------------------------------------------------------------------------

numpy_sum = Subject("numpy.sum", numpy.add.reduce)
numpy_dot = Subject("numpy.dot", numpy.dot, factors=True)


class _Product(Subject):
    """A matrix product: each row of the first matrix is one input, all columns of the second are alike.

    Outputs of one product may be summed in different orders. The rows that are used are those that give the bits of
    the first one for equal random inputs, always in the first column. Of few numbers only the first row is used:
    to find out which rows are alike takes longer than to ask one row after another.
    """

    FEW = 64

    def __init__(self, name: str, multiply: Callable[..., Any], rows: int | None, columns: int | None,
                 convert: Callable[[Any], Any] | None = None) -> None:
        super().__init__(name, multiply, factors=True)
        self.row_count, self.columns, self.maker = rows, columns, convert or (lambda memory: memory)

    def prepare(self, n: int, dtype: Any) -> Call:
        count = self.row_count or max(2, min(n, 1024))
        columns = self.columns or n
        first = numpy.zeros((count, n), dtype)
        second = numpy.zeros((n, columns), dtype) if self.columns != 0 else numpy.zeros(n, dtype)
        left, right, multiply = self.maker(first), self.maker(second), self.function

        def outputs() -> Any:
            d = _doubles(multiply(left, right))
            return d[:, 0] if d.ndim == 2 else d

        shape = f"{count} x {n} by {n}" + (f" x {columns}" if second.ndim == 2 else "")
        if n < self.FEW and self.row_count is None:
            _check_rows(outputs(), count)
            return self.first_row(shape, first, second, lambda: multiply(left, right))
        random = numpy.random.default_rng(1)
        used = numpy.ones(count, bool)
        for _ in range(24):
            first[:] = random.standard_normal(n).astype(dtype)
            second[:] = random.standard_normal(n).astype(dtype).reshape((n, 1) if second.ndim == 2 else (n,))
            d = outputs()
            _check_rows(d, count)
            used &= d == d[0]
        first[:] = 0
        chosen = numpy.flatnonzero(used)
        is_all = len(chosen) == count
        rows = first if is_all else numpy.zeros((len(chosen), n), dtype)
        factors = numpy.zeros(n, dtype)

        def function() -> Any:
            if not is_all:
                first[chosen] = rows
            second[:] = factors[:, None] if second.ndim == 2 else factors
            d = outputs() if is_all else outputs()[chosen]
            return d if len(d) > 1 else float(d[0])

        return Call(f"{self.name}, {shape}", function, (), rows.view(f"u{rows.dtype.itemsize}"),
                    factors.view(f"u{factors.dtype.itemsize}"))

    def first_row(self, shape: str, first: Any, second: Any, multiply: Callable[[], Any]) -> Call:
        """The call that asks the first output alone."""
        is_matrix = second.ndim == 2
        factors = numpy.zeros(len(second), second.dtype) if is_matrix else second
        column = factors[:, None] if is_matrix else None

        def function() -> float:
            if not is_matrix:
                return float(multiply()[0])
            second[:] = column
            return float(multiply()[0, 0])

        rows = first[:1]
        return Call(f"{self.name}, {shape}", function, (), rows.view(f"u{rows.dtype.itemsize}"),
                    factors.view(f"u{factors.dtype.itemsize}"))


def _check_rows(results: Any, count: int) -> None:
    """Refuses results of another shape than one for each row."""
    if results.shape != (count,):
        raise ValueError(f"results of shape {results.shape} for {count} rows; ({count},) is needed")


def _doubles(results: Any) -> Any:
    """Results as float64."""
    if hasattr(results, "detach"):
        results = results.detach().double().numpy()
    return numpy.asarray(results).astype(numpy.float64)


def numpy_gemv(rows: int | None = None) -> Subject:
    """``numpy.matmul`` of a matrix (n rows by default) by a vector."""
    return _Product("numpy.matmul", numpy.matmul, rows, 0)


def numpy_gemm(rows: int | None = None, columns: int | None = None) -> Subject:
    """``numpy.matmul`` of two matrices, n x n by default; each row of the first is one input."""
    return _Product("numpy.matmul", numpy.matmul, rows, columns)


def numpy_einsum() -> Subject:
    """``numpy.einsum("k,k->")`` of two vectors."""
    return Subject("numpy.einsum", lambda a, b: numpy.einsum("k,k->", a, b), factors=True)


# SciPy ----------------------------------------------------------------------------------------------------------------


def scipy_blas(routine: str) -> Subject:
    """A dot product of SciPy's BLAS: ``sdot`` or ``ddot``."""
    from scipy.linalg import blas

    if not hasattr(blas, routine):
        raise ArgumentError(f"routine = {routine!r}: scipy.linalg.blas has no such routine; sdot and ddot are dot products")
    return Subject(f"scipy.linalg.blas.{routine}", getattr(blas, routine), factors=True)


# PyTorch --------------------------------------------------------------------------------------------------------------


def _tensor(memory: Any) -> Any:
    import torch

    name = memory.dtype.name
    if name in ("float16", "float32", "float64"):
        return torch.from_numpy(memory)
    bits = memory.view("int16" if memory.dtype.itemsize == 2 else "uint8")
    return torch.from_numpy(bits).view(getattr(torch, name))


def _torch(name: str, function: Callable[..., Any], **options: Any) -> Subject:
    return Subject(name, function, convert=_tensor, **options)


def torch_sum() -> Subject:
    """``torch.sum`` of a vector."""
    import torch

    return _torch("torch.sum", torch.sum)


def torch_dot() -> Subject:
    """``torch.dot`` of two vectors."""
    import torch

    return _torch("torch.dot", torch.dot, factors=True)


def torch_cumsum() -> Subject:
    """The last element of ``torch.cumsum``."""
    import torch

    return _torch("torch.cumsum", lambda x: torch.cumsum(x, 0)[-1])


def torch_matmul(rows: int | None = None, columns: int | None = None) -> Subject:
    """``torch.matmul`` of two matrices, n x n by default; each row of the first is one input."""
    import torch

    return _Product("torch.matmul", torch.matmul, rows, columns, _tensor)


def torch_linear(rows: int | None = None, columns: int | None = None) -> Subject:
    """``torch.nn.functional.linear`` of n x n matrices by default; each row of the input is one input."""
    import torch

    return _Product(
        "torch.nn.functional.linear", lambda x, weight: torch.nn.functional.linear(x, weight.t()), rows, columns, _tensor
    )


def torch_scaled_mm(rows: int = 16, columns: int = 16) -> Subject:
    """``torch._scaled_mm`` of float8 matrices with scales of 1 and results in float32.

    ``reveal(torch._scaled_mm, 64, dtype="float8_e5m2")`` finds it. Numbers of e4m3 lie too close together to show the order
    of a sum that float32 holds; it is then reported as unresolved.
    """
    import torch

    one = torch.ones(())

    def multiply(x: Any, weight: Any) -> Any:
        # The second matrix has to lie column by column.
        return torch._scaled_mm(x, weight.t().contiguous().t(), scale_a=one, scale_b=one, out_dtype=torch.float32)

    subject = _Product("torch._scaled_mm", multiply, rows, columns, _tensor)
    subject.results = "f32"
    return subject


# JAX ------------------------------------------------------------------------------------------------------------------


def _jax(name: str, function: Callable[..., Any], **options: Any) -> Subject:
    import jax.numpy

    # JAX may keep the memory that it is given, and changes nothing in place.
    return Subject(name, function, convert=lambda memory: jax.numpy.array(memory, copy=True), shares=False, **options)


def jax_sum() -> Subject:
    """``jax.numpy.sum`` of a vector."""
    import jax.numpy

    return _jax("jax.numpy.sum", jax.numpy.sum)


def jax_dot() -> Subject:
    """``jax.numpy.dot`` of two vectors."""
    import jax.numpy

    return _jax("jax.numpy.dot", jax.numpy.dot, factors=True)


# ----------------------------------------------------------------------------------------------------------------------


def known(function: Any) -> Subject | None:
    """The subject of a library's function; ``None`` where there is none."""
    if function is numpy.sum:
        return numpy_sum
    if function in (numpy.dot, numpy.inner, numpy.vdot):
        return Subject(f"numpy.{function.__name__}", function, factors=True)
    if function is numpy.matmul:
        return numpy_gemm()
    if function is numpy.einsum:
        return numpy_einsum()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor"):
        makers: tuple[tuple[Any, Callable[[], Subject]], ...] = (
            (torch.sum, torch_sum),
            (torch.dot, torch_dot),
            (torch.cumsum, torch_cumsum),
            (torch.matmul, torch_matmul),
            (torch.mm, torch_matmul),
            (torch.nn.functional.linear, torch_linear),
            (getattr(torch, "_scaled_mm", None), torch_scaled_mm),
        )
        for own, make in makers:
            if function is own:
                return make()
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "numpy"):
        if function is jax.numpy.sum:
            return jax_sum()
        if function is jax.numpy.dot:
            return jax_dot()
    module = str(getattr(function, "__module__", "") or "")
    name = str(getattr(function, "__name__", ""))
    if "torch" in module and torch is not None:
        return _torch(name_of(function), function, factors=_is_product(name))
    return None


def _is_product(name: str) -> bool:
    return any(word in name for word in ("dot", "mul", "mm", "linear", "inner"))
