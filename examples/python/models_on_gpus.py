"""A Llama, a BERT and a ResNet with random weights, as other GPUs would run them.

    python examples/python/models_on_gpus.py [--tiny] [--record]

Nothing is downloaded: the models are built from their configurations. Each runs under every architecture that has an
instruction for its numbers; the table says how much of the output differs from the first architecture's. The Llama then
writes text greedily, and the program shows the token at which two architectures part. ``--record`` writes
docs/measured/python-models.md.
"""

from __future__ import annotations

import argparse
import pathlib
import platform
import time
from collections.abc import Callable
from typing import Any

import torch

import mmascope.torch

ARCHS = ("V100", "A100", "H100", "MI250X", "MI300X")
#: Name of the numbers -> dtype of the model, and the operand types that name the instruction (None: its default).
NUMBERS: dict[str, tuple[torch.dtype, str | None]] = {
    "bf16": (torch.bfloat16, None),
    "fp16": (torch.float16, None),
    "fp16, f16 accumulators": (torch.float16, "f16,f16,f16"),
    # Half of one layer's weights lie below the normal numbers of fp16. MI250X takes those for 0.
    "fp16, small weights": (torch.float16, None),
    "fp8": (torch.bfloat16, None),
}
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "measured" / "python-models.md"


class Fp8Linear(torch.nn.Module):
    """A linear layer whose operands are e4m3 with a scale for each tensor, as fp8 recipes have it."""

    def __init__(self, linear: torch.nn.Linear, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.weight, self.weight_scale = self.narrowed(linear.weight.detach())
        self.bias = linear.bias

    def narrowed(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale = x.abs().max().float().clamp(min=1e-12) / torch.finfo(self.dtype).max
        return (x.float() / scale).to(self.dtype), scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat, scale = self.narrowed(x.reshape(-1, x.shape[-1]))
        out = torch._scaled_mm(flat, self.weight.t(), scale, self.weight_scale, out_dtype=x.dtype)
        out = out.reshape(*x.shape[:-1], -1)
        return out if self.bias is None else out + self.bias


class Fp8Conv(torch.nn.Module):
    """A convolution as one product of such operands: a row for each place of the image, which is how GPUs run it."""

    def __init__(self, conv: torch.nn.Conv2d, dtype: torch.dtype) -> None:
        super().__init__()
        self.shape = {"kernel_size": conv.kernel_size, "stride": conv.stride, "padding": conv.padding}
        flat = torch.nn.Linear(conv.weight[0].numel(), conv.out_channels, bias=conv.bias is not None)
        flat.weight = torch.nn.Parameter(conv.weight.detach().flatten(1))
        flat.bias = conv.bias
        self.product = Fp8Linear(flat, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.nn.functional.unfold(x, **self.shape)
        (height, width), (high, wide) = self.shape["kernel_size"], self.shape["stride"]
        above, aside = self.shape["padding"]
        size = (x.shape[-2] + 2 * above - height) // high + 1, (x.shape[-1] + 2 * aside - width) // wide + 1
        return self.product(places.transpose(1, 2)).transpose(1, 2).unflatten(2, size)


#: Layers that fp8 recipes leave alone: the last, which gives logits. Of a ResNet the first, too: it reads three colours.
KEPT = ("lm_head", "fc")


def with_fp8(module: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """The module with e4m3 in every linear layer and convolution but the last layer, and a convolution of three colours."""
    for name, child in module.named_children():
        if isinstance(child, torch.nn.Linear) and name not in KEPT:
            setattr(module, name, Fp8Linear(child, dtype))
        elif isinstance(child, torch.nn.Conv2d) and child.in_channels > 3:
            setattr(module, name, Fp8Conv(child, dtype))
        else:
            with_fp8(child, dtype)
    return module


def llama(tiny: bool) -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    size = 64 if tiny else 256
    config = LlamaConfig(
        vocab_size=128 if tiny else 2048, hidden_size=size, intermediate_size=3 * size, num_hidden_layers=2 if tiny else 6,
        num_attention_heads=4 if tiny else 8, num_key_value_heads=2, max_position_embeddings=256,
    )
    model: torch.nn.Module = LlamaForCausalLM(config)
    return model


def bert(tiny: bool) -> torch.nn.Module:
    from transformers import BertConfig, BertModel

    size = 64 if tiny else 384
    config = BertConfig(
        vocab_size=128 if tiny else 2048, hidden_size=size, intermediate_size=4 * size, num_hidden_layers=2 if tiny else 6,
        num_attention_heads=4, max_position_embeddings=256,
    )
    model: torch.nn.Module = BertModel(config, add_pooling_layer=False)
    return model


def resnet(tiny: bool) -> torch.nn.Module:
    from torchvision.models.resnet import BasicBlock, ResNet

    model: torch.nn.Module = ResNet(BasicBlock, [1, 1, 1, 1] if tiny else [2, 2, 2, 2], num_classes=100)
    return model


def inputs(name: str, tiny: bool, dtype: torch.dtype) -> torch.Tensor:
    """What the models are given, the same each time."""
    random = torch.Generator().manual_seed(1)
    if name == "ResNet":
        return torch.randn(1, 3, 32 if tiny else 64, 32 if tiny else 64, generator=random).to(dtype)
    return torch.randint(0, 128, (1, 8 if tiny else 64), generator=random)


MODELS: dict[str, Callable[[bool], torch.nn.Module]] = {"Llama": llama, "BERT": bert, "ResNet": resnet}


def built(name: str, numbers: str, arch: str, tiny: bool) -> torch.nn.Module:
    """The model with its random weights, the same each time."""
    torch.manual_seed(0)
    model = MODELS[name](tiny).eval()
    if numbers == "fp16, small weights":
        # What one layer loses the next one gives back: the same function of real numbers.
        with torch.no_grad():
            for place, weight in model.named_parameters():
                factor = {"up_proj": 2.0**-8, "down_proj": 2.0**8}.get(place.split(".")[-2], 1.0)
                weight.mul_(factor)
    model = model.to(NUMBERS[numbers][0])
    if numbers == "fp8":
        # CDNA3 has fp8 of its own kind.
        with_fp8(model, torch.float8_e4m3fnuz if arch.startswith("MI") else torch.float8_e4m3fn)
    return model


def unable(numbers: str, arch: str) -> str | None:
    """Why an architecture has no instruction for these numbers; ``None`` where it has."""
    types = {"bf16": "bf16,bf16,f32", "fp16": "f16,f16,f32", "fp16, small weights": "f16,f16,f32",
             "fp16, f16 accumulators": "f16,f16,f16",
             "fp8": "e4m3fnuz,e4m3fnuz,f32" if arch.startswith("MI") else "e4m3,e4m3,f32"}[numbers]
    try:
        mmascope.find(arch, types)
    except mmascope.Error:
        return f"has no instruction for {types}"
    return None


def simulated(numbers: str, arch: str) -> mmascope.torch.Simulation:
    """The arithmetic of an architecture for these numbers."""
    return mmascope.torch.simulate(arch=arch, instruction=NUMBERS[numbers][1])


def output(model: torch.nn.Module, given: torch.Tensor) -> torch.Tensor:
    """Logits, or hidden states."""
    found: Any = model(given)
    if isinstance(found, torch.Tensor):
        return found
    tensor: torch.Tensor = found[0]
    return tensor


def forwards(tiny: bool) -> list[dict[str, Any]]:
    """Every model, numbers and architecture: how the output differs from the first architecture's."""
    rows: list[dict[str, Any]] = []
    for name in MODELS:
        for numbers in NUMBERS:
            if (name, numbers) in (("BERT", "fp16, small weights"), ("ResNet", "fp16, small weights")):
                continue
            first: tuple[str, torch.Tensor] | None = None
            for arch in ARCHS:
                if unable(numbers, arch):
                    continue
                model = built(name, numbers, arch, tiny)
                given = inputs(name, tiny, NUMBERS[numbers][0])
                begin = time.perf_counter()
                with torch.no_grad(), simulated(numbers, arch) as simulation:
                    found = output(model, given).double()
                seconds = time.perf_counter() - begin
                if first is None:
                    first = arch, found
                apart = found != first[1]
                rows.append({
                    "model": name, "numbers": numbers, "arch": arch, "beside": first[0],
                    "differing": int(apart.sum()), "outputs": found.numel(),
                    "largest": float((found - first[1]).abs().max()), "scale": float(first[1].abs().max()),
                    "products": sum(item["products"] for item in simulation.report.routed),
                    "unrouted": sorted({f"{item['op']}: {item['reason']}" for item in simulation.report.unrouted}),
                    "seconds": seconds,
                })
    return rows


def written(model: torch.nn.Module, prompt: torch.Tensor, count: int) -> list[tuple[int, torch.Tensor]]:
    """Tokens that the model writes greedily, each with its logits."""
    tokens, found = prompt, []
    for _ in range(count):
        logits = output(model, tokens)[0, -1].float()
        token = int(logits.argmax())
        found.append((token, logits))
        tokens = torch.cat([tokens, torch.tensor([[token]])], dim=1)
    return found


def partings(tiny: bool) -> list[dict[str, Any]]:
    """Where the texts that a Llama writes under two architectures part."""
    rows = []
    for numbers in NUMBERS:
        texts = {}
        for arch in ARCHS:
            if unable(numbers, arch):
                continue
            model = built("Llama", numbers, arch, tiny)
            prompt = inputs("Llama", tiny, torch.float32)[:, :8]
            with torch.no_grad(), simulated(numbers, arch):
                texts[arch] = written(model, prompt, 6 if tiny else 64)
        first = next(iter(texts))
        for arch in list(texts)[1:]:
            pairs = zip(texts[first], texts[arch])
            place = next((i for i, ((own, _), (other, _)) in enumerate(pairs) if own != other), None)
            row: dict[str, Any] = {"numbers": numbers, "arch": arch, "beside": first, "place": place,
                                   "tokens": len(texts[first])}
            if place is not None:
                (own, left), (other, right) = texts[first][place], texts[arch][place]
                row.update(left=own, right=other, left_logits=[float(left[own]), float(left[other])],
                           right_logits=[float(right[own]), float(right[other])])
            rows.append(row)
    return rows


def table(rows: list[dict[str, Any]], parted: list[dict[str, Any]]) -> str:
    """Both results in Markdown."""
    lines = ["| model | numbers | GPU | outputs that differ | from | largest difference | largest output | products |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(
            f"| {row['model']} | {row['numbers']} | {row['arch']} | {row['differing']} of {row['outputs']} | "
            f"{row['beside']} | {row['largest']:.3g} | {row['scale']:.3g} | {row['products']:.2e} |"
        )
    lines += ["", "Greedy text of the Llama:", "",
              "| numbers | GPU | beside | parts at token | writes | instead of | its logits of both | the other's |",
              "|---|---|---|---|---|---|---|---|"]
    for row in parted:
        if row["place"] is None:
            lines.append(f"| {row['numbers']} | {row['arch']} | {row['beside']} | not within {row['tokens']} | | | | |")
            continue
        own, other = row["right_logits"], row["left_logits"]
        lines.append(
            f"| {row['numbers']} | {row['arch']} | {row['beside']} | {row['place']} | {row['right']} | {row['left']} | "
            f"{own[1]:.6g}, {own[0]:.6g} | {other[1]:.6g}, {other[0]:.6g} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="models of a few thousand weights")
    parser.add_argument("--record", action="store_true", help="write docs/measured/python-models.md")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = forwards(options.tiny)
    text = table(rows, partings(options.tiny))
    unrouted = sorted({item for row in rows for item in row["unrouted"]})
    text += "\n\nProducts that PyTorch computed itself: " + ("; ".join(unrouted) or "none") + "."
    print(text)
    if options.record:
        head = (
            "# Models as other GPUs would run them\n\n"
            f"Written by `python examples/python/models_on_gpus.py --record` on {time.strftime('%Y-%m-%d')}, "
            f"{platform.machine()}, PyTorch {torch.__version__}. A Llama of 6 layers and width 256, a BERT of 6 layers and "
            "width 384, a ResNet-18 on an image of 64 x 64, all with random weights; the head of the program has what is "
            "compared. An architecture that has no instruction for the numbers has no line. Everything beside the matrix "
            "products is this processor's arithmetic, the same for every line.\n\n"
        )
        PAGE.write_text(head + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
