"""Products as operators that PyTorch knows: with gradients, and with shapes that compilers see.

``torch.ops.mmascope.matmul`` and ``torch.ops.mmascope.scaled_matmul`` are there once this module is imported.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import _checks, _core
from .._arrays import dtype_of_torch, kind_of_torch
from .._catalogue import Instruction
from .._compare import _names
from .._errors import ArgumentError
from .._products import OWN_ARCH, _row, check_arch
from .._products import matmul as product


def _instruction(a: Any, b: Any, unit: str, c: Any, scale: Any = None) -> Instruction:
    """The instruction that a call of the operators takes; like the product itself, by types where none is named."""
    for tensor, argument in ((a, "a"), (b, "b"), (c, "c")):
        if tensor is not None and tensor.dim() < 2:
            raise ArgumentError(f"{argument} has the shape {tuple(tensor.shape)}; matrices or batches of them are needed")
    kinds = [None if tensor is None else kind_of_torch(tensor.dtype) for tensor in (a, b, c)]
    is_code = scale is not None and scale.dtype.itemsize == 1
    return _row(unit, None, str(kinds[0]), str(kinds[1]), kinds[2], is_code)


def _columns(tensor: Any) -> Any:
    """The length of the last dimension; two numbers of 4 bits lie in one element."""
    return tensor.shape[-1] * (2 if str(tensor.dtype).endswith("_x2") else 1)


def _like(a: Any, b: Any, row: Instruction, schedule: str | None) -> Any:
    """A tensor as the product is, without its numbers."""
    if _columns(a) != b.shape[-2]:
        raise ArgumentError(
            f"a has the shape {tuple(a.shape)} and b {tuple(b.shape)}: K is {_columns(a)} in a and {b.shape[-2]} in b"
        )
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*batch, a.shape[-2], _columns(b)), dtype=dtype_of_torch(row._row.result(schedule)))


# matmul ---------------------------------------------------------------------------------------------------------------


def _matmul(a: Any, b: Any, unit: str, c: Any = None, schedule: str | None = None, threads: int | None = None) -> Any:
    row = _instruction(a, b, unit, c)
    return product(a, b, c, arch=OWN_ARCH, instruction=row, schedule=schedule, threads=threads, pad=True, progress=False)


def _matmul_fake(
    a: Any, b: Any, unit: str, c: Any = None, schedule: str | None = None, threads: int | None = None
) -> Any:
    return _like(a, b, _instruction(a, b, unit, c), schedule)


def _matmul_setup(ctx: Any, inputs: Any, output: Any) -> None:
    a, b, unit, c, schedule, threads = inputs
    row = _instruction(a, b, unit, c)
    ctx.save_for_backward(a, b)
    # The instruction itself: without c the types alone might choose another.
    ctx.unit, ctx.schedule, ctx.threads = f"{row.arch}:{row.name}", schedule, threads
    ctx.addend = None if c is None else (c.shape, c.dtype)


def _matmul_backward(ctx: Any, grad: Any) -> Any:
    a, b = ctx.saved_tensors
    grad_a = grad_b = grad_c = None
    options = {"schedule": ctx.schedule, "threads": ctx.threads}
    # As under simulate, the gradient is an operand of the instruction, and so rounded to the other operand's dtype.
    if ctx.needs_input_grad[0]:
        grad_a = operator(grad.to(a.dtype), b.mT, ctx.unit, **options).sum_to_size(a.shape).to(a.dtype)
    if ctx.needs_input_grad[1]:
        grad_b = operator(a.mT, grad.to(b.dtype), ctx.unit, **options).sum_to_size(b.shape).to(b.dtype)
    if ctx.addend is not None and ctx.needs_input_grad[3]:
        shape, dtype = ctx.addend
        grad_c = (grad.sum_to_size(shape) * _core.beta_of(ctx.schedule)).to(dtype)
    return grad_a, grad_b, None, grad_c, None, None


operator: Any = torch.library.custom_op(
    "mmascope::matmul", _matmul, mutates_args=(),
    schema="(Tensor a, Tensor b, str unit, Tensor? c=None, str? schedule=None, int? threads=None) -> Tensor",
)
operator.register_fake(_matmul_fake)
operator.register_autograd(_matmul_backward, setup_context=_matmul_setup)

# scaled_matmul --------------------------------------------------------------------------------------------------------


def _scaled(a: Any, b: Any, scale_a: Any, scale_b: Any, unit: str, c: Any = None, schedule: str | None = None,
            threads: int | None = None) -> Any:
    row = _instruction(a, b, unit, c, scale_a)
    return product(a, b, c, arch=OWN_ARCH, instruction=row, scale_a=scale_a, scale_b=scale_b, schedule=schedule,
                   threads=threads, progress=False)


def _scaled_fake(a: Any, b: Any, scale_a: Any, scale_b: Any, unit: str, c: Any = None, schedule: str | None = None,
                 threads: int | None = None) -> Any:
    return _like(a, b, _instruction(a, b, unit, c, scale_a), schedule)


scaled_operator: Any = torch.library.custom_op(
    "mmascope::scaled_matmul", _scaled, mutates_args=(),
    schema="(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, str unit, Tensor? c=None, str? schedule=None, "
           "int? threads=None) -> Tensor",
)
scaled_operator.register_fake(_scaled_fake)


@_checks.named
def matmul(
    a: Any, b: Any, c: Any = None, *, arch: str, instruction: str | Instruction | None = None,
    schedule: str | None = None, scale_a: Any = None, scale_b: Any = None, threads: int | None = None,
) -> Any:
    """``a @ b + c`` with the bits that a chip gives, as an operator of PyTorch: gradients pass through it.

    Parameters
    ----------
    a : tensor, shape (..., M, K)
    b : tensor, shape (..., K, N)
        Batches broadcast.
    c : tensor, shape (..., M, N), optional
    arch, instruction, schedule, scale_a, scale_b, threads
        As in :func:`mmascope.matmul`; an :class:`mmascope.Instruction` must be in the catalogue in use.

    Returns
    -------
    tensor, shape (..., M, N)
        In the accumulator's dtype, or the schedule's.

    Raises
    ------
    ArgumentError, DtypeError, UnknownNameError, UnmodelledError
        Naming the argument.

    Notes
    -----
    It calls ``torch.ops.mmascope.matmul(a, b, "ARCH" or "ARCH:INST", c, schedule, threads)``, which fills K up with +0,
    or ``torch.ops.mmascope.scaled_matmul(a, b, scale_a, scale_b, ...)``. ``torch.compile`` and ``torch.export`` keep
    them as they are. Backward products are computed by the same instruction under the same schedule, the gradient rounded
    to the dtype of the operand whose place it takes. Products with scales have no gradient.

    Examples
    --------
    >>> x = torch.randn(16, 64, dtype=torch.float16, requires_grad=True)
    >>> mmascope.torch.matmul(x, x.T, arch="h100").sum().backward()
    """
    if not isinstance(arch, str):
        raise ArgumentError(f"arch: {arch!r} is no name of an architecture, such as 'h100'")
    if isinstance(instruction, Instruction):
        check_arch(arch, instruction)
        # The operator has the instruction as text, because compilers keep it.
        arch, instruction = _names([instruction], "instruction")[0].split(":", 1)
    if instruction is not None and not isinstance(instruction, str):
        raise ArgumentError(f"instruction: {instruction!r} is no name of an instruction")
    _checks.text(schedule, "schedule", "split-k=2 reduce=pairwise/f32")
    _checks.whole(threads, "threads", 1, optional=True, most=1024)
    for tensor, argument in ((a, "a"), (b, "b"), (c, "c"), (scale_a, "scale_a"), (scale_b, "scale_b")):
        if not isinstance(tensor, torch.Tensor) and (tensor is not None or argument in "ab"):
            raise ArgumentError(f"{argument}: {type(tensor).__name__} is no tensor")
        if tensor is not None and tensor.is_nested:
            raise ArgumentError(f"{argument}: a nested tensor; dense ones are taken")
    unit = arch if instruction is None else f"{arch}:{instruction}"
    if (scale_a is None) != (scale_b is None):
        raise ArgumentError("scale_a and scale_b go together: give both or none")
    if scale_a is not None:
        return torch.ops.mmascope.scaled_matmul(a, b, scale_a, scale_b, unit, c, schedule, threads)
    return torch.ops.mmascope.matmul(a, b, unit, c, schedule, threads)
