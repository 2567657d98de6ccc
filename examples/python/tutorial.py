# %% [markdown]
# # Tutorial
#
# A GPU does not add the products of a matrix multiplication as IEEE arithmetic would: it aligns them, cuts bits off, and
# rounds once, each generation in its own way. mmascope computes the same bits on your processor.

# %%
from typing import Any

import numpy

import mmascope

random = numpy.random.default_rng(0)
a = random.standard_normal((64, 256)).astype(numpy.float16)
b = random.standard_normal((256, 64)).astype(numpy.float16)
h100 = mmascope.matmul(a, b, arch="h100")
print(h100.dtype, h100.shape, mmascope.chosen())

# %% [markdown]
# The same matrices on other chips, and how many of the 4,096 results have other bits:

# %%
for arch in ("v100", "a100", "mi250x", "mi300x"):
    d = mmascope.matmul(a, b, arch=arch)
    print(f"{arch:<7} {int((d != h100).sum()):>4} differ, by {abs(d - h100).max():.1e} at most")

# %% [markdown]
# ## Why do they differ?
#
# The smallest inputs show it. The exact sum of these four products and c is -0.875.

# %%
x = numpy.array([-(2.0**13), -0.5, -0.25, -0.125, 0, 0, 0, 0], numpy.float16)
y = numpy.array([2.0**10, 1, 1, 1, 0, 0, 0, 0], numpy.float16)
a100 = mmascope.find("a100", "mma.m16n8k8.f32.f16.f16.f32")
print(a100.dot(x, y, numpy.float32(2.0**23)))

# %% [markdown]
# `explain` goes through it step by step, and compares it with another instruction:

# %%
print(a100.explain(x, y, numpy.float32(2.0**23), against=mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")))

# %% [markdown]
# `diff` looks for such inputs itself, and makes them small:

# %%
difference = mmascope.diff("a100", "h100", instruction="mma.m16n8k16.f32.f16.f16.f32", family="close", count=500, seed=1)
pair = difference["pairs"][0]
print(pair["different"], "of", pair["compared"], "differ")
print([(p["k"], p["a"]["value"], p["b"]["value"]) for p in pair["smallest"]["products"]], "c =", pair["smallest"]["c"]["value"])
print([(result["unit"], result["value"]) for result in pair["smallest"]["results"]])

# %% [markdown]
# ## How large do errors get?
#
# fp8 products on Hopper keep 13 bits of the sum. Kernels promote the sum to f32 every so many steps; a *schedule* says so.

# %%
errors = mmascope.error("h100", types="e4m3,e4m3,f32", shape=(32, 32, 4096), schedules=["chain", "promote=4/f32"])
for curve in errors["curves"]:
    last = curve["points"][-1]
    print(f"{curve['schedule']:<16} K = {last['k']}: mean error {last['relative_to_products']['mean']:.1e}")

# %% [markdown]
# ## In which order does a function sum?
#
# `reveal` asks any callable and draws its tree. Here the callable hides an instruction.


# %%
def hidden(left: Any, right: Any) -> float:
    return float(a100.dot(left, right))


tree = mmascope.reveal(hidden, 8, dtype="float16", result="float32", factors=True)
print(tree)
print(tree.pattern)

# %% [markdown]
# ## What does an unknown device compute?
#
# `infer` asks many thousand questions and gives a model in the catalogue's notation; `validate` compares the two.


# %%
def device(left: Any, right: Any, c: Any) -> Any:
    return a100.matmul(left[:, None, :], right[:, :, None], c[:, None, None])[:, 0, 0]


found = mmascope.infer(device, "a=f16 b=f16 c=f32 d=f32 k=8")
assert found.unit is not None
print(found.unit)
print(bool(mmascope.validate(device, found.unit, trials=20_000)))

# %% [markdown]
# ## Narrow formats

# %%
weights = random.standard_normal((64, 64)).astype(numpy.float32)
narrow = mmascope.quantize(weights, "mxfp4", axis=0)
print(narrow)
print(f"{abs(narrow.dequantize() - weights).mean():.4f}")
inputs = mmascope.quantize(random.standard_normal((16, 64)).astype(numpy.float32), "mxfp4")
print(mmascope.matmul(inputs, narrow, arch="b200").shape, mmascope.chosen())
print(mmascope.cast(numpy.array([0.3, 1000.0], numpy.float32), "e4m3"))

# %% [markdown]
# ## Where next?
#
# [python.md](python.md) lists every function. With `mmascope.torch.simulate` a whole PyTorch model runs on another chip's
# arithmetic: `examples/python/models_on_gpus.py` and `examples/python/training.py`.
