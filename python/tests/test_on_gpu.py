"""Tensors on a GPU: addresses, strides, batches and padding that the extension is given, without a GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import mmascope
from mmascope._catalogue import find
from mmascope.torch import _on_gpu


class Stream:
    def synchronize(self) -> None:
        pass


def _read(address: int, dtype: Any, lines: int, k: int, line_stride: int, k_stride: int) -> Any:
    """Words at an address, read one by one."""
    size = torch.empty(0, dtype=dtype).element_size()
    word = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32}[size]
    words = [[word.from_address(address + size * (i * line_stride + j * k_stride)).value for j in range(k)]
             for i in range(lines)]
    return torch.from_numpy(numpy.array(words, f"uint{8 * size}").view(f"int{8 * size}")).view(dtype)


@pytest.fixture
def calls(monkeypatch: Any) -> list[Any]:
    """The host in the GPU's place: it reads the addresses as a GPU would."""
    made: list[Any] = []

    def multiply(row: Any, ordinal: int, sizes: Any, a: Any, b: Any, d: int) -> None:
        m, n, k = sizes
        dtype = _on_gpu_dtype[0]
        x = _read(a[0], dtype, m, k, a[1], a[2])
        y = _read(b[0], dtype, n, k, b[1], b[2])
        sums = numpy.ctypeslib.as_array(ctypes.cast(d, ctypes.POINTER(ctypes.c_float)), (m, n))
        sums[:] = mmascope.matmul(x, y.T, torch.from_numpy(sums.copy()), arch="h100:" + find("h100", INST).name).numpy()
        made.append((ordinal, sizes))

    monkeypatch.setattr(_on_gpu._core, "multiply_on_device", multiply)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream())
    return made


INST = "mma.m16n8k16.f32.f16.f16.f32"
_on_gpu_dtype = [torch.float16]


def _tensor(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(torch.float16)


@pytest.mark.parametrize(
    ("a", "b", "c", "count"),
    [
        (_tensor(5, 32), _tensor(32, 7), None, 1),
        (_tensor(32, 5).T, _tensor(7, 32).T, None, 1),
        (_tensor(5, 20), _tensor(20, 7), torch.randn(5, 7), 1),
        (_tensor(3, 5, 32), _tensor(32, 7), None, 3),
        (_tensor(2, 1, 5, 16), _tensor(3, 16, 4), torch.randn(5, 4), 6),
        (_tensor(9, 64)[::2, ::4], _tensor(16, 6)[:, 1:4], None, 1),
    ],
)
def test_bits_are_those_of_the_host(calls: list[Any], a: Any, b: Any, c: Any, count: int) -> None:
    row = find("h100", INST)
    d = _on_gpu.product(row, a, b, c, True)
    addend = None if c is None else c.expand(d.shape).contiguous()
    expected = row.matmul(a, b, addend, pad=True)
    assert d.dtype == torch.float32 and d.shape == expected.shape and len(calls) == count
    assert (d.view(torch.int32) == expected.view(torch.int32)).all()


def test_what_the_memory_does_not_have_goes_to_the_host() -> None:
    row = find("h100", INST)
    half, wide = _tensor(16, 16), torch.ones(16, 16)
    assert _on_gpu.product(row, wide, half, None, True) is None
    assert _on_gpu.product(row, half.to_sparse(), half, None, True) is None
    assert _on_gpu.product(row, torch.nested.nested_tensor([half]), half, None, True) is None
    assert _on_gpu.product(row, half, half, wide.double(), True) is None
    assert _on_gpu.product(row, half[:, :8], half[:8], None, False) is None
    # The host says what is wrong with shapes.
    for a, b, c in [
        (half, half, wide[0]), (half, half[:8], None), (half[0], half, None), (half[:0], half, None),
        (half.expand(2, 16, 16), half.expand(3, 16, 16), None), (half, half, wide.expand(2, 16, 16)),
    ]:
        assert _on_gpu.product(row, a, b, c, True) is None
    tf32 = find("h100", "mma.m16n8k8.f32.tf32.tf32.f32")
    assert _on_gpu.product(tf32, wide, wide, None, True) is None


def test_devices_are_named() -> None:
    with pytest.raises(mmascope.ArgumentError, match="a on cpu, b on meta; put all on one"):
        _on_gpu._device({"a": torch.ones(2, 2), "b": torch.ones(2, 2, device="meta")})
    with pytest.raises(mmascope.ArgumentError, match="b is a ndarray"):
        _on_gpu._device({"a": torch.ones(2, 2), "b": numpy.ones((2, 2))})


def test_without_a_gpu_it_says_what_is_missing() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(mmascope.Error, match="no driver"):
        _on_gpu._core.multiply_on_device(find("h100", INST)._row, 0, (1, 1, 16), (0, 16, 1), (0, 16, 1), 0)
