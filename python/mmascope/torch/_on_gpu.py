"""Products of PyTorch's tensors on a GPU, computed there by its ordinary instructions; nothing is copied to the host."""

from __future__ import annotations

from typing import Any

import torch

from .. import _core
from .._arrays import dtype_of_torch, kind_of_torch
from .._catalogue import Instruction
from .._errors import ArgumentError
from .._products import _options, _row
from .._products import matmul as on_host

#: Formats whose elements are tensors' elements, one word each.
_WHOLE = {"f64", "f32", "f16", "bf16", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"}


def _device(tensors: dict[str, Any]) -> Any:
    """The GPU on which all of them lie."""
    devices = {name: value.device for name, value in tensors.items() if isinstance(value, torch.Tensor)}
    for name, value in tensors.items():
        if name not in devices:
            raise ArgumentError(f"{name} is a {type(value).__name__}, and other operands are tensors on a GPU; make it one, too")
    if len(set(devices.values())) > 1:
        where = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise ArgumentError(f"tensors on several devices: {where}; put all on one")
    return next(iter(devices.values()))


def _batch(a: Any, b: Any, c: Any) -> Any:
    """The batch of a product whose shapes fit, None where they do not: the host says why."""
    if min(a.dim(), b.dim()) < 2 or a.shape[-1] != b.shape[-2]:
        return None
    try:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        fits = c is None or (
            c.shape[-2:] == (a.shape[-2], b.shape[-1]) and torch.broadcast_shapes(batch, c.shape[:-2]) == batch
        )
    except RuntimeError:
        return None
    return batch if fits and 0 not in (*batch, *a.shape[-2:], b.shape[-1]) else None


def _is_direct(row: Instruction, a: Any, b: Any, c: Any) -> bool:
    """Whether the GPU's memory has the operands as the instruction takes them."""
    own = row._kinds
    tensors = [tensor for tensor in (a, b, c) if tensor is not None]
    if any(tensor.is_nested or tensor.layout != torch.strided for tensor in tensors):
        return False
    given = [kind_of_torch(tensor.dtype) for tensor in (a, b)]
    sums = dtype_of_torch(row._row.result(None))
    return (
        given == [own[0], own[1]]
        and {*given, own[2]} <= _WHOLE
        and own[2] == kind_of_torch(sums)
        and (c is None or c.dtype == sums)
    )


def _padded(tensor: Any, axis: int, multiple: int) -> Any:
    """Filled up with +0 along an axis, where it must be."""
    left = -tensor.shape[axis] % multiple
    if left == 0:
        return tensor
    shape = list(tensor.shape)
    shape[axis] = left
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    zeros = torch.zeros(shape, dtype=words, device=tensor.device)
    return torch.cat((tensor.view(words), zeros), dim=axis).view(tensor.dtype)


def matmul(a: Any, b: Any, c: Any, arch: Any, instruction: Any, named: dict[str, Any]) -> Any:
    """:func:`mmascope.matmul` of tensors on a GPU; ``named`` has its other arguments."""
    device = _device({"a": a, "b": b} if c is None else {"a": a, "b": b, "c": c})
    options = _options(
        named["schedule"], named["mods"], named["round"], named["saturate"], named["pad"], named["threads"], None,
        named["by_reference"],
    )
    is_plain = options.schedule is None and not options.modifiers and not options.by_reference
    if is_plain and named["scale_a"] is None and named["scale_b"] is None:
        kinds = [None if tensor is None else kind_of_torch(tensor.dtype) for tensor in (a, b, c)]
        row = _row(arch, instruction, str(kinds[0]), str(kinds[1]), kinds[2], False)
        d = product(row, a, b, c, options.pad)
        if d is not None:
            return d
    there = {key: value.cpu() if isinstance(value, torch.Tensor) else value for key, value in named.items()}
    d = on_host(a.cpu(), b.cpu(), None if c is None else c.cpu(), arch=arch, instruction=instruction, **there)
    return d.to(device)


def product(row: Instruction, a: Any, b: Any, c: Any, pad: bool) -> Any:
    """``a @ b + c`` on the GPU of the tensors, or None where their memory is not what the instruction takes."""
    if not _is_direct(row, a, b, c):
        return None
    batch = _batch(a, b, c)
    if batch is None or (a.shape[-1] % row.k and not pad):
        return None
    a, b = (tensor.detach().resolve_neg() for tensor in (a, b))
    a, b = _padded(a, -1, row.k), _padded(b, -2, row.k)
    if not _core.takes_device_memory(row._row, a.shape[-1]):
        return None
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    d = torch.zeros((*batch, m, n), dtype=dtype_of_torch(row._row.result(None)), device=a.device)
    if c is not None:
        d.copy_(c.detach().expand(d.shape))
    left = a.expand(*batch, m, k).reshape(-1, m, k) if batch else a.unsqueeze(0)
    right = b.expand(*batch, k, n).reshape(-1, k, n) if batch else b.unsqueeze(0)
    sums = d.view(-1, m, n)
    # What PyTorch has begun must be done before another stream reads it.
    torch.cuda.current_stream(a.device).synchronize()
    for x, y, z in zip(left, right, sums):
        _core.multiply_on_device(
            row._row, a.device.index or 0, (m, n, k), (x.data_ptr(), x.stride(0), x.stride(1)),
            (y.data_ptr(), y.stride(1), y.stride(0)), z.data_ptr(),
        )
    return d
