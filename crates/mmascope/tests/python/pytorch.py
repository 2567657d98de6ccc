"""Writes FOLDER/torch.safetensors with PyTorch: one array of each type, and its codes as int64."""
import sys

try:
    import torch
    from safetensors.torch import save_file
except ImportError as error:
    print("skipped: PyTorch and safetensors:", error)
    sys.exit()

VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.0, 3.0, 4.0, -6.0, 0.25, 2.0]
INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
tensors = {}


def add(name, tensor, codes):
    tensors[name] = tensor.contiguous()
    tensors[name + ".codes"] = codes.contiguous().clone()


for name in """float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
        float8_e5m2fnuz float8_e8m0fnu""".split():
    dtype = getattr(torch, name)
    values = torch.tensor(VALUES, dtype=torch.float64).reshape(3, 4)
    # No zero, no sign: powers of two.
    values = 2.0 ** torch.arange(-5.0, 7.0).reshape(3, 4) if "e8m0" in name else values
    tensor = values.to(torch.float32).to(dtype) if "float8" in name else values.to(dtype)
    size = tensor.element_size()
    codes = tensor.view(INTEGERS[size]).to(torch.int64)
    codes = codes if size == 8 else codes & (1 << 8 * size) - 1
    add(name, tensor, codes)
    # A transposed tensor as PyTorch users save it.
    add(name + ".t", tensor.t(), codes.t())
packed = torch.tensor([[0x10, 0x32, 0x54], [0x76, 0x98, 0xBA]], dtype=torch.uint8)
if hasattr(torch, "float4_e2m1fn_x2"):
    codes = torch.stack([packed & 15, packed >> 4], -1).reshape(2, 6).to(torch.int64)
    add("float4_e2m1fn_x2", packed.view(torch.float4_e2m1fn_x2), codes)
for name in ["uint8", "int8", "int16", "int32", "int64"]:
    integers = torch.arange(12).reshape(3, 4)
    add(name, integers.to(getattr(torch, name)), integers)
save_file(tensors, sys.argv[1] + "/torch.safetensors", metadata={"format": "pt"})
