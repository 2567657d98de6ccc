"""What calls from Python cost beside the library itself.

    python python/benchmarks/overhead.py [--library target/release/libmmascope.so] [--llama] [--record]

The library is the C library, called without NumPy and without checks of the package: what is left is Rust. Subjects take
turns, and the shortest time of each counts, so that what else runs on the machine only adds to it. ``--llama`` runs a
Llama of a billion parameters over 64 tokens (6 GB of memory). ``--record`` writes docs/measured/python-overhead.md; do it
on an idle machine.
"""

from __future__ import annotations

import argparse
import ctypes
import pathlib
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy

import mmascope

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "measured" / "python-overhead.md"
INSTRUCTION = "wgmma.m64n8k16.f32.f16.f16"


def shortest(subjects: list[Callable[[], Any]], turns: int, calls: int = 1) -> list[float]:
    """Seconds of one call of each subject."""
    best = [float("inf")] * len(subjects)
    for _ in range(turns):
        for place, subject in enumerate(subjects):
            begin = time.perf_counter()
            for _ in range(calls):
                subject()
            best[place] = min(best[place], (time.perf_counter() - begin) / calls)
    return best


def c_product(library: str, a: Any, b: Any, d: Any) -> Callable[[], Any]:
    """The same product by the C library, one thread."""
    own = ctypes.CDLL(library)
    unit = ctypes.c_void_p()
    if own.mmascope_unit_find(b"hopper", INSTRUCTION.encode(), ctypes.byref(unit)) != 0:
        raise SystemExit(f"{library}: {INSTRUCTION} is not found")
    m, k = a.shape
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b)]
    sizes = [ctypes.c_size_t(size) for size in (m, b.shape[1], k)]
    arguments = (unit, None, 0, *sizes, *pointers, None, None, None, ctypes.c_void_p(d.ctypes.data), ctypes.c_size_t(1))

    def call() -> None:
        if own.mmascope_matmul(*arguments) != 0:
            raise SystemExit("the C library failed")

    return call


def products(library: str | None) -> list[tuple[str, str, str]]:
    """Whole products: 256 x 256 x 256 beside the library, and a small one."""
    random = numpy.random.default_rng(1)
    a, b = (random.standard_normal((256, 256)).astype(numpy.float16) for _ in range(2))
    row = mmascope.find("hopper", INSTRUCTION)
    d = numpy.zeros((256, 256), numpy.float32)
    rows = []
    subjects: list[Callable[[], Any]] = [lambda: row.matmul(a, b, threads=1)]
    if library is not None:
        subjects.append(c_product(library, a, b, d))
    times = shortest(subjects, 60)
    if library is None:
        rows.append(("256 x 256 x 256, one thread", f"{1e3 * times[0]:.3f} ms", "(no library to compare with)"))
    else:
        assert (d == row.matmul(a, b)).all()
        share = 100 * (times[0] / times[1] - 1)
        rows.append(("256 x 256 x 256, one thread", f"{1e3 * times[0]:.3f} ms",
                     f"{share:+.1f} % beside the library's {1e3 * times[1]:.3f} ms; 5 % are allowed"))
    small = numpy.ones((16, 16), numpy.float16)
    call, = shortest([lambda: mmascope.matmul(small, small, arch="h100")], 40, 200)
    rows.append(("16 x 16 x 16, a call of matmul", f"{1e6 * call:.1f} us", "15 us are allowed"))
    return rows


def simulated() -> list[tuple[str, str, str]]:
    """What simulate adds to the products that it routes: a layer of a transformer, forward and backward."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    import mmascope.torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).half()
    x = torch.randn(64, 256, dtype=torch.float16)

    def step() -> None:
        net.zero_grad()
        net(x).float().square().mean().backward()

    operands: list[tuple[Any, Any, Any]] = []

    class Noted(mmascope.torch.Simulation):
        """Keeps the operands of every product."""

        def _product(self, op: str, a: torch.Tensor, b: torch.Tensor, out: torch.dtype) -> Any:
            row = mmascope.find("h100", "f16")
            operands.append((row, a.detach().numpy(), b.detach().numpy()))
            return super()._product(op, a, b, out)

    with Noted("h100", None, None, None):
        step()

    class Without(TorchDispatchMode):
        """Everything but the products."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
                a, b = args[-2:]
                return torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype)
            return func(*args, **(kwargs or {}))

    def routed() -> None:
        with mmascope.torch.simulate(arch="h100", threads=1):
            step()

    def beside() -> None:
        with Without():
            step()

    def alone() -> None:
        for row, a, b in operands:
            row.matmul(a, b, pad=True, threads=1, progress=False)

    whole, rest, own = shortest([routed, beside, alone], 40)
    added = 100 * (whole - rest - own) / own
    return [(f"simulate: {len(operands)} products of a layer, forward and backward", f"{1e3 * whole:.2f} ms",
             f"{added:+.1f} % beside the products alone, {1e3 * own:.2f} ms, and what PyTorch does beside them, "
             f"{1e3 * rest:.2f} ms; 20 % are allowed")]


def llama() -> list[tuple[str, str, str]]:
    """A Llama of a billion parameters with random weights over 64 tokens."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    import mmascope.torch

    config = LlamaConfig(vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=22,
                         num_attention_heads=32, num_key_value_heads=4, max_position_embeddings=256)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)
    count = sum(weight.numel() for weight in model.parameters())
    tokens = torch.arange(64)[None]
    begin = time.perf_counter()
    with torch.no_grad(), mmascope.torch.simulate(arch="h100") as simulation:
        model(tokens)
    seconds = time.perf_counter() - begin
    total = sum(item["products"] for item in simulation.report.routed)
    return [(f"a Llama of {count / 1e9:.2f} billion parameters, 64 tokens, bf16, all threads", f"{seconds:.1f} s",
             f"{total:.2e} products, {total / seconds:.2e} a second")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", help="libmmascope of cargo build --release -p mmascope-capi")
    parser.add_argument("--llama", action="store_true", help="run the Llama of a billion parameters too")
    parser.add_argument("--record", action="store_true", help="write docs/measured/python-overhead.md")
    options = parser.parse_args()
    rows = products(options.library) + simulated() + (llama() if options.llama else [])
    lines = ["| what | time | beside |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    print("\n".join(lines))
    if options.record:
        head = (
            "# What calls from Python cost\n\n"
            f"Written by `python python/benchmarks/overhead.py` on {time.strftime('%Y-%m-%d')}, {platform.machine()}, Python "
            f"{platform.python_version()}, NumPy {numpy.__version__}. The shortest of many turns.\n\n"
        )
        PAGE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
