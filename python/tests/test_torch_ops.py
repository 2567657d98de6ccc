"""Products as operators of PyTorch: gradients, shapes without numbers, compilers."""

import pytest

import mmascope

torch = pytest.importorskip("torch")
import mmascope.torch  # noqa: E402

OP = torch.ops.mmascope.matmul
SCALED = torch.ops.mmascope.scaled_matmul


def pair(dtype=torch.float16, shapes=((5, 40), (40, 7)), gradients=True):
    torch.manual_seed(6)
    return [torch.randn(shape).to(dtype).requires_grad_(gradients) for shape in shapes]


@pytest.mark.parametrize(("unit", "dtype"), [
    ("h100", torch.float16), ("h100:mma.m16n8k8.f32.f16.f16.f32", torch.float16), ("mi250x", torch.bfloat16),
    # Sums of f32 show each rounding, and tf32 operands are not PyTorch's.
    ("mi300x", torch.float32), ("h100:tf32", torch.float32),
])
def test_products_and_gradients_are_the_instructions(unit, dtype):
    a, b = pair(dtype, ((50, 40), (40, 70)))
    c = torch.randn(50, 70, requires_grad=True)
    d = OP(a, b, unit, c)
    assert torch.equal(d, mmascope.matmul(a, b, c, arch=unit, pad=True)) and d.dtype == torch.float32
    grad = torch.randn(50, 70)
    d.backward(grad)
    row = mmascope.chosen()
    narrow = grad.to(dtype)
    assert torch.equal(a.grad, row.matmul(narrow, b.detach().t(), pad=True).to(dtype))
    assert torch.equal(b.grad, row.matmul(a.detach().t(), narrow, pad=True).to(dtype))
    assert torch.equal(c.grad, grad)
    if unit.endswith("tf32"):
        assert not torch.equal(a.grad, grad @ b.detach().t()), "PyTorch's own product has the same bits"


@pytest.mark.parametrize("beta", [3, 0])
def test_the_gradient_of_c_has_beta(beta):
    (a, b), c = pair(), torch.randn(5, 7, requires_grad=True)
    schedule = f"c=epilogue/f32 alpha=2 beta={beta}; out=rne f32"
    torch.ops.mmascope.matmul(a, b, "h100", c, schedule).sum().backward()
    assert torch.equal(c.grad, torch.full((5, 7), float(beta)))


def test_gradients_are_those_of_simulate():
    found = []
    for is_operator in (False, True):
        a, b = pair(torch.bfloat16, ((3, 8, 32), (32, 16)))
        with mmascope.torch.simulate(arch="mi250x") if not is_operator else torch.enable_grad():
            d = OP(a, b, "mi250x").bfloat16() if is_operator else a @ b
            d.float().square().sum().backward()
        found.append((d.detach(), a.grad))
    assert all(torch.equal(left, right) for left, right in zip(*found))


def test_gradients_of_batches_that_broadcast():
    # Small integers: every sum is exact, so that PyTorch gives the same numbers.
    torch.manual_seed(7)
    shapes = ((2, 1, 4, 16), (3, 16, 5), (2, 3, 4, 5))
    values = [torch.randint(-3, 4, shape).half() for shape in shapes]
    grads = []
    for product in (lambda a, b, c: OP(a, b, "a100", c), lambda a, b, c: a.float() @ b.float() + c):
        a, b, c = (value.clone().requires_grad_() for value in values)
        c = c.detach().float().requires_grad_()
        product(a, b, c).backward(torch.ones(2, 3, 4, 5))
        grads.append((a.grad, b.grad, c.grad))
    assert all(torch.equal(left, right) and left.dtype == right.dtype for left, right in zip(*grads))


def test_a_gradient_has_a_gradient():
    a, b = pair()
    first, = torch.autograd.grad(OP(a, b, "h100").square().sum(), a, create_graph=True)
    second, = torch.autograd.grad(first.float().sum(), b)
    assert second.shape == b.shape and bool(torch.isfinite(second).all())


@pytest.mark.parametrize("arguments", [
    (*pair(), "h100"),
    (*pair(torch.bfloat16, ((2, 3, 16), (16, 4))), "mi300x"),
    (*pair(gradients=False), "a100", torch.ones(5, 7)),
    (*pair(gradients=False), "h100", None, "split-k=2 reduce=pairwise/f32; out=rne bf16"),
    (torch.ones(4, 64, dtype=torch.int8), torch.ones(64, 4, dtype=torch.int8), "a100"),
])
def test_pytorch_finds_nothing_wrong(arguments):
    assert set(torch.library.opcheck(OP.default, arguments).values()) == {"SUCCESS"}


def test_scaled_products():
    a, b = pair(torch.float8_e4m3fn, ((32, 64), (64, 8)), False)
    scales = torch.full((32, 2), 128, dtype=torch.uint8), torch.full((2, 8), 127, dtype=torch.uint8)
    d = SCALED(a, b, *scales, "b200")
    assert torch.equal(d, mmascope.matmul(a, b, arch="b200", scale_a=scales[0], scale_b=scales[1]))
    assert torch.equal(d, mmascope.torch.matmul(a, b, arch="b200", scale_a=scales[0], scale_b=scales[1]))
    # PyTorch's own check of schemas compares arguments in ways that it has not for fp8.
    checks = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    found = torch.library.opcheck(SCALED.default, (a, b, *scales, "b200"), test_utils=checks)
    assert set(found.values()) == {"SUCCESS"}


@pytest.mark.parametrize(("dtype", "arch", "schedule"), [
    (torch.float16, "h100", None), (torch.bfloat16, "mi300x", "out=rne f16"), (torch.float64, "a100", None),
    (torch.float8_e5m2, "h100", None), (torch.int8, "a100", None), (torch.uint8, "v100", None),
    (torch.float32, "mi300x", "out=rne bf16"),
])
def test_shapes_and_dtypes_without_numbers(dtype, arch, schedule):
    a, b = torch.ones(2, 1, 4, 64).to(dtype), torch.ones(3, 64, 8).to(dtype)
    real = OP(a, b, arch, None, schedule)
    seen = OP(a.to("meta"), b.to("meta"), arch, None, schedule)
    assert (seen.shape, seen.dtype, seen.device.type) == (real.shape, real.dtype, "meta")


def test_compilers_see_one_operator():
    class Model(torch.nn.Module):
        def forward(self, a, b):
            return mmascope.torch.matmul(a, b, arch="mi300x").relu()

    a, b = pair()
    program = torch.export.export(Model(), (a.detach(), b.detach()))
    assert [node.target for node in program.graph.nodes].count(OP.default) == 1
    assert torch.equal(program.module()(a, b), Model()(a, b))
    compiled = torch.compile(Model(), backend="aot_eager", fullgraph=True)
    grads = []
    for model in (Model(), compiled):
        a.grad = None
        model(a, b).sum().backward()
        grads.append(a.grad.clone())
    assert torch.equal(*grads)


def test_wrong_input_names_the_argument():
    a, b = pair(gradients=False)
    for call, kind, message in (
        (lambda: OP(a, b, "h1000"), KeyError, "nearest: H100"),
        (lambda: OP(a[0], b, "h100"), ValueError, r"^a has the shape \(40,\)"),
        (lambda: OP(a.to("meta"), b[:3].to("meta"), "h100"), ValueError, "K is 40 in a and 3 in b"),
        (lambda: OP(a, b, "h100", None, "nonsense"), ValueError, "^schedule: "),
        (lambda: OP(a.to_sparse(), b, "h100"), TypeError, "^a: a tensor of layout"),
        (lambda: mmascope.torch.matmul(a.numpy(), b, arch="h100"), ValueError, "^a: ndarray is no tensor"),
        (lambda: mmascope.torch.matmul(a, b, arch=3), ValueError, "^arch: 3"),
        (lambda: mmascope.torch.matmul(a, b, arch="h100", scale_a=b), ValueError, "^scale_a and scale_b"),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_instructions_are_taken_as_objects():
    x = torch.ones(16, 16, dtype=torch.float16, requires_grad=True)
    row = mmascope.find("v100", "f16")
    d = mmascope.torch.matmul(x, x, arch="v100", instruction=row)
    d.sum().backward()
    assert torch.equal(d.detach(), row.matmul(x, x)) and x.grad is not None and mmascope.chosen() == row
    unit = mmascope.Unit(row.signature, row.arithmetic)
    for arch, instruction, message in (("h100", row, "^arch: 'h100', but instruction is"),
                                       ("v100", unit, r"^instruction: a unit of your own has no name.*load_isa\(\)")):
        with pytest.raises(ValueError, match=message):
            mmascope.torch.matmul(x, x, arch=arch, instruction=instruction)
