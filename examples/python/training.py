"""The loss of a small transformer over 200 steps, as other GPUs would train it.

    python examples/python/training.py [--steps N] [--record]

Weights, data and order are the same each time; only the matrix products differ, forward and backward. Weights and
products are fp16, and the optimiser keeps f32 weights. ``--record`` writes
docs/measured/python-training.md and its drawing.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import platform
import time

import torch

import mmascope.torch

#: Name of a curve -> architecture and what the loss is multiplied by. Gradients of fp16 are small; 2^10 brings most of
#: them among its normal numbers. MI250X takes numbers below those for 0: without loss scaling gradients vanish.
RUNS = {**{arch: (arch, 1024.0) for arch in ("V100", "A100", "H100", "MI250X", "MI300X")},
        "MI250X, no loss scaling": ("MI250X", 1.0), "MI300X, no loss scaling": ("MI300X", 1.0)}
MEASURED = pathlib.Path(__file__).parents[2] / "docs" / "measured"
COLOURS = ("#1f77b4", "#2ca02c", "#d62728", "#9467bd", "#ff7f0e", "#8c564b", "#7f7f7f")
#: Vocabulary, width, length of a text, texts of a batch.
WORDS, WIDTH, LENGTH, BATCH = 32, 32, 16, 8


class Block(torch.nn.Module):
    """Attention and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.first(x)).reshape(*x.shape[:2], 3, 2, WIDTH // 2).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        y: torch.Tensor = x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))
        return y


class Transformer(torch.nn.Module):
    """Two blocks between an embedding and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Embedding(LENGTH, WIDTH)
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WORDS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        logits: torch.Tensor = self.head(self.norm(self.blocks(x)))
        return logits


def texts(steps: int) -> list[torch.Tensor]:
    """Batches of a language in which each word follows from the one before it, with some noise."""
    random = torch.Generator().manual_seed(2)
    batches = []
    for _ in range(steps):
        words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=random)
        noise = torch.rand(BATCH, LENGTH + 1, generator=random) < 0.1
        for place in range(1, LENGTH + 1):
            next_word = (5 * words[:, place - 1] + 3) % WORDS
            words[:, place] = torch.where(noise[:, place], words[:, place], next_word)
        batches.append(words)
    return batches


def gradients(model: Transformer) -> torch.Tensor:
    """All of them in one vector."""
    return torch.cat([weight.grad.flatten().double() for weight in model.parameters() if weight.grad is not None])


def loss_of(model: Transformer, batch: torch.Tensor) -> torch.Tensor:
    """How surprised the model is by each next word."""
    logits = model(batch[:, :-1]).float()
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def losses(arch: str, steps: int, scale: float) -> tuple[list[float], float]:
    """The loss of each step, and how far the first step's gradients are from those in f32, as a part of their length."""
    torch.manual_seed(3)
    master = Transformer()
    model = Transformer().half()
    optimiser = torch.optim.Adam(master.parameters(), lr=3e-3)
    found, off = [], 0.0
    # The same weights, computed in f32 by PyTorch.
    exact = Transformer()
    exact.load_state_dict({name: value.half().float() for name, value in master.state_dict().items()})
    loss_of(exact, texts(1)[0]).backward()
    with mmascope.torch.simulate(arch=arch):
        for step, batch in enumerate(texts(steps)):
            with torch.no_grad():
                for own, kept in zip(model.parameters(), master.parameters()):
                    own.copy_(kept)
            loss = loss_of(model, batch)
            model.zero_grad()
            (loss * scale).backward()
            for own, kept in zip(model.parameters(), master.parameters()):
                kept.grad = None if own.grad is None else own.grad.float() / scale
            if step == 0:
                off = float((gradients(master) - gradients(exact)).norm() / gradients(exact).norm())
            optimiser.step()
            found.append(float(loss.detach()))
    return found, off


def drawing(curves: dict[str, list[float]]) -> str:
    """The losses, and below them what each architecture is apart from the first, as SVG."""
    width, height, left = 640, 250, 60
    steps = max(2, len(next(iter(curves.values()))))
    first = next(iter(curves))
    apart = {arch: [abs(x - y) for x, y in zip(curve, curves[first])] for arch, curve in curves.items() if arch != first}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 170}" height="{2 * height + 80}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    panels = (("loss", curves, False), (f"|loss - loss of {first}|, logarithmic", apart, True))
    for number, (title, lines, is_log) in enumerate(panels):
        top = 30 + number * (height + 40)
        seen = [value for line in lines.values() for value in line if value > 0] or [1.0]
        least, most = (min(seen), max(seen)) if is_log else (0.0, max(seen))
        parts.append(f'<text x="{left}" y="{top - 8}">{title}</text>')
        parts.append(f'<path d="M{left} {top}V{top + height}H{left + width}" fill="none" stroke="black"/>')
        parts.append(f'<text x="{left - 6}" y="{top + 10}" text-anchor="end">{most:.2g}</text>')
        parts.append(f'<text x="{left - 6}" y="{top + height}" text-anchor="end">{least:.2g}</text>')
        for arch, line in lines.items():
            place = list(curves).index(arch)
            points = []
            for step, value in enumerate(line):
                if is_log and value > 0:
                    share = math.log(value / least) / math.log(most / least) if most > least else 1.0
                elif is_log or value != value:
                    continue
                else:
                    share = value / most
                points.append(f"{left + width * step / (steps - 1):.1f},{top + height * (1 - share):.1f}")
            parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[place]}"/>')
            at = top + 15 + 16 * place
            parts.append(f'<text x="{left + width + 10}" y="{at}" fill="{COLOURS[place]}">{arch}</text>')
    parts.append(f'<text x="{left + width}" y="{2 * height + 72}" text-anchor="end">step</text></svg>')
    return "\n".join(parts) + "\n"


def table(curves: dict[str, list[float]], off: dict[str, float]) -> str:
    """The first step whose loss differs from the first architecture's, and the last losses."""
    first = next(iter(curves))
    lines = ["| GPU | first step whose loss differs | largest difference | mean loss of the last 20 steps | "
             "the first gradients are off by |", "|---|---|---|---|---|"]
    for arch, curve in curves.items():
        parted = next((i for i, (x, y) in enumerate(zip(curve, curves[first])) if x != y), None)
        largest = max(abs(x - y) for x, y in zip(curve, curves[first]))
        last = curve[-20:]
        where = "" if arch == first else "none" if parted is None else str(parted)
        lines.append(f"| {arch} | {where} | {largest:.3g} | {sum(last) / len(last):.4f} | {off[arch]:.2%} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--record", action="store_true", help="write docs/measured/python-training.md and its drawing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = {name: losses(arch, options.steps, scale) for name, (arch, scale) in RUNS.items()}
    curves, off = {name: item[0] for name, item in found.items()}, {name: item[1] for name, item in found.items()}
    print(table(curves, off))
    if options.record:
        text = (
            "# Training as other GPUs would do it\n\n"
            f"Written by `python examples/python/training.py --record` on {time.strftime('%Y-%m-%d')}, {platform.machine()}, "
            f"PyTorch {torch.__version__}. A transformer of two blocks and width {WIDTH} learns a small language for "
            f"{options.steps} steps. Weights, data and order are the same; the products differ, forward and backward (fp16 "
            "operands, the default instruction of each architecture). The loss is multiplied by 1,024 before the backward pass, as fp16 "
            "training does it; the last two rows do without. MI250X takes subnormal operands for 0, so that its small gradients "
            "are lost there. The last column is the distance of the first step's gradients from those in f32, as a part of "
            "their length.\n\n![Losses](python-training.svg)\n\n"
        )
        (MEASURED / "python-training.svg").write_text(drawing(curves), encoding="utf-8")
        (MEASURED / "python-training.md").write_text(text + table(curves, off) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
