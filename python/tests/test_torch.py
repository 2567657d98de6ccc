"""PyTorch models under another chip's arithmetic."""

import subprocess
import sys

import numpy
import pytest

import mmascope

torch = pytest.importorskip("torch")
import mmascope.torch  # noqa: E402


def model(dtype=torch.bfloat16):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).to(dtype)


def test_products_are_those_of_the_instruction():
    torch.manual_seed(1)
    x, w = torch.randn(5, 48, dtype=torch.float16), torch.randn(48, 7, dtype=torch.float16)
    bias = torch.randn(7, dtype=torch.float16)
    own = mmascope.matmul(x, w, arch="mi250x", pad=True)
    with mmascope.torch.simulate(arch="mi250x") as simulation:
        assert torch.equal(x @ w, own.half())
        assert torch.equal(torch.nn.functional.linear(x, w.t().contiguous(), bias), (own + bias.float()).half())
        assert torch.equal(torch.addmm(bias, x, w, beta=0.5, alpha=2.0), (own * 2.0 + bias.float() * 0.5).half())
        batch = torch.stack([x, x + 1])
        assert torch.equal(torch.bmm(batch, torch.stack([w, w]))[0], own.half())
        assert torch.equal(torch.einsum("ik,kj->ij", x, w), own.half())
    assert {item["op"] for item in simulation.report.routed} >= {"mm", "addmm", "bmm"}
    assert not simulation.report.unrouted
    assert "mi250x" in str(simulation.report)


def test_backward_is_routed_too():
    x = torch.randn(6, 40, dtype=torch.bfloat16)
    net = model()
    with mmascope.torch.simulate(arch="h100") as simulation:
        net(x).float().square().sum().backward()
    assert sum(item["calls"] for item in simulation.report.routed) == 5
    grad = net[2].weight.grad
    # The weight's gradient is one product: grad^T @ activation.
    assert grad.dtype == torch.bfloat16 and bool(torch.isfinite(grad.float()).all())


@pytest.mark.parametrize("options", [
    {"padding": 1, "stride": 2, "groups": 2}, {"dilation": 2}, {"kernel_size": (1, 3), "padding": (0, 1)},
])
def test_convolutions_forward_and_backward(options):
    torch.manual_seed(2)
    options = {"kernel_size": 3, **options}
    convolution = torch.nn.Conv2d(4, 8, **options)
    # Small integers: every sum is exact, so that PyTorch gives the same numbers.
    with torch.no_grad():
        for parameter in convolution.parameters():
            parameter.copy_(torch.randint(-2, 3, parameter.shape))
    convolution = convolution.half()
    x = torch.randint(-2, 3, (2, 4, 9, 9)).half().requires_grad_()
    results = []
    for context in (mmascope.torch.simulate(arch="a100"), torch.enable_grad()):
        with context:
            y = convolution(x)
            y.backward(torch.ones_like(y))
        results.append([y.detach(), x.grad.clone(), *(p.grad.clone() for p in convolution.parameters())])
        x.grad = None
        convolution.zero_grad()
    for left, right in zip(*results):
        assert torch.equal(left, right)
    line = torch.nn.Conv1d(4, 6, 3, padding=1).half()
    z = torch.randn(2, 4, 10, dtype=torch.float16)
    with mmascope.torch.simulate(arch="a100") as simulation:
        assert torch.allclose(line(z).float(), line.float()(z.float()), atol=1e-2)
        line.half()
    assert simulation.report.routed


def test_attention_and_scaled_products():
    torch.manual_seed(3)
    q = torch.randn(2, 3, 10, 16, dtype=torch.float16)
    attention = torch.nn.functional.scaled_dot_product_attention
    with mmascope.torch.simulate(arch="v100") as simulation:
        simulated = attention(q, q, q, is_causal=True)
    assert torch.allclose(simulated.float(), attention(q, q, q, is_causal=True).float(), atol=1e-2)
    assert [item["op"] for item in simulation.report.routed] == ["bmm"]
    a = torch.randn(16, 32).to(torch.float8_e4m3fn)
    b = torch.randn(16, 32).to(torch.float8_e4m3fn).t()
    scales = torch.tensor(2.0), torch.tensor(0.5)
    with mmascope.torch.simulate(arch="h100") as simulation:
        d = torch._scaled_mm(a, b, *scales, out_dtype=torch.bfloat16)
    assert torch.equal(d, mmascope.matmul(a, b, arch="h100").to(torch.bfloat16))
    assert simulation.report.routed[0]["op"] == "_scaled_mm"


def test_what_is_not_routed_is_said():
    x = torch.randn(8, 8)
    with mmascope.torch.simulate(arch="v100") as simulation:
        assert torch.equal(x @ x, x @ x)
        x[0] @ x[0]
        torch.nn.ConvTranspose2d(2, 2, 3).half()(torch.randn(1, 2, 5, 5, dtype=torch.float16))
    reasons = {item["op"]: item["reason"] for item in simulation.report.unrouted}
    assert "f32,f32" in reasons["mm"] and "vectors" in reasons["dot"] and "transposed" in reasons["convolution"]


def test_products_written_into_a_tensor_are_routed():
    torch.manual_seed(5)
    a, b, c = (torch.randn(16, 16, dtype=torch.float16) for _ in range(3))
    batch = torch.stack([a, b])
    calls = {
        "mm": lambda d: torch.mm(a, b, out=d), "matmul": lambda d: torch.matmul(a, b, out=d),
        "bmm": lambda d: torch.bmm(batch, batch, out=d), "addmm": lambda d: torch.addmm(c, a, b, out=d),
        "baddbmm": lambda d: torch.baddbmm(batch, batch, batch, out=d),
    }
    for name, call in calls.items():
        with mmascope.torch.simulate(arch="mi250x") as simulation:
            d = torch.empty(0, dtype=torch.float16)
            assert call(d) is d
            plain = call(None)
        assert torch.equal(d, plain) and simulation.report.routed[0]["calls"] == 2, name
        assert not simulation.report.unrouted
    with mmascope.torch.simulate(arch="mi250x") as simulation:
        assert torch.equal(c.clone().addmm_(a, b, alpha=2.0), torch.addmm(c, a, b, alpha=2.0))
        assert torch.equal(batch.clone().baddbmm_(batch, batch), torch.baddbmm(batch, batch, batch))
        assert torch.equal(torch.mm(a, b, out_dtype=torch.float32), mmascope.matmul(a, b, arch="mi250x"))
        assert torch.addmm(c.float(), a, b, out_dtype=torch.float32).dtype == torch.float32
        with pytest.raises(RuntimeError, match="dtype"):
            torch.mm(a, b, out=torch.empty(16, 16))
    assert {item["op"] for item in simulation.report.routed} == {"addmm", "baddbmm", "mm"}


def test_the_fast_path_of_attention_is_switched_off():
    before = torch.backends.mha.get_fastpath_enabled()
    x = torch.randn(2, 5, 16, dtype=torch.bfloat16)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).bfloat16().eval()
    attention = torch.nn.MultiheadAttention(16, 2, batch_first=True).bfloat16().eval()
    for call, count in ((lambda: layer(x), 6), (lambda: attention(x, x, x), 4)):
        with torch.no_grad(), mmascope.torch.simulate(arch="h100") as simulation:
            call()
        assert sum(item["calls"] for item in simulation.report.routed) == count and not simulation.report.unrouted
    assert torch.backends.mha.get_fastpath_enabled() == before
    # Called by name it is said.
    with torch.no_grad(), mmascope.torch.simulate(arch="h100") as simulation:
        torch._native_multi_head_attention(x, x, x, 16, 2, attention.in_proj_weight, attention.in_proj_bias,
                                           attention.out_proj.weight, attention.out_proj.bias)
    assert "fast path" in simulation.report.unrouted[0]["reason"]


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


def test_attention_is_simulated_where_architectures_are_compared():
    x = torch.randn(2, 5, 16, dtype=torch.bfloat16)
    found = mmascope.torch.compare(Attention().bfloat16().eval(), x, ["h100", "a100"])
    for report in found.reports.values():
        assert "bmm" in {item["op"] for item in report.routed} and not report.unrouted


@pytest.mark.parametrize(("name", "call"), [
    ("_trilinear", lambda a: torch.nn.functional.bilinear(a, a, torch.ones(4, 16, 16, dtype=a.dtype))),
    ("addmv_", lambda a: a[0].clone().addmv_(a, a[0])),
    ("mv", lambda a: torch.mv(a, a[0], out=torch.empty(16, dtype=a.dtype))),
    ("dot", lambda a: torch.dot(a[0], a[0], out=torch.empty((), dtype=a.dtype))),
    ("addbmm_", lambda a: a.clone().addbmm_(a[None], a[None])),
    ("_addmm_activation", lambda a: torch._addmm_activation(a, a, a)),
    ("_sparse_addmm", lambda a: torch.sparse.mm(a.to_sparse(), a)),
    ("conv_tbc", lambda a: torch.conv_tbc(a[None], torch.ones(1, 16, 4), torch.ones(4))),
])
def test_other_products_are_said(name, call):
    with mmascope.torch.simulate(arch="h100") as simulation:
        call(torch.ones(16, 16))
    assert [item["op"] for item in simulation.report.unrouted] == [name] and not simulation.report.routed


def test_sparse_matrices_are_left_to_pytorch():
    sparse, dense = torch.eye(4).to_sparse(), torch.randn(4, 4)
    with mmascope.torch.simulate(arch="a100") as simulation:
        d = torch.empty(4, 4)
        torch.mm(sparse, dense, out=d)
        assert torch.equal(d, dense) and torch.equal(torch.mm(sparse, dense), dense)
        assert torch.equal(dense.clone().addmm_(sparse, dense), 2 * dense)
    assert {item["reason"] for item in simulation.report.unrouted} == {"products of sparse matrices are not simulated"}


def test_a_rule_may_give_an_instruction_of_another_architecture():
    x = torch.randn(4, 16, dtype=torch.float16)
    with mmascope.torch.simulate(arch="h100", instruction=lambda call: mmascope.find("v100", "f16")) as simulation:
        assert torch.equal((x @ x.T).float(), mmascope.matmul(x, x.T, arch="v100:f16").to(x.dtype).float())
    assert simulation.report.routed[0]["instruction"].startswith("volta:")


def test_an_instruction_of_another_architecture_is_refused():
    with pytest.raises(ValueError, match="^arch: 'h100', but instruction is .*volta:"):
        mmascope.torch.simulate(arch="h100", instruction=mmascope.find("v100", "f16"))


def test_rules_and_schedules():
    x = torch.randn(16, 64, dtype=torch.float16)
    calls = []

    def rule(call):
        calls.append(call)
        return "mma.m16n8k8.f32.f16.f16.f32" if call.k >= 64 else None

    with mmascope.torch.simulate(arch="h100", instruction=rule, schedule="split-k=2 reduce=pairwise/f32") as simulation:
        d = x @ x.t()
        x[:, :8] @ x[:8, :8]
    own = mmascope.matmul(x, x.t(), arch="h100", instruction="mma.m16n8k8.f32.f16.f16.f32",
                          schedule="split-k=2 reduce=pairwise/f32")
    assert torch.equal(d, own.half()) and (calls[0].m, calls[0].n, calls[0].k) == (16, 16, 64)
    assert simulation.report.unrouted[0]["reason"] == "the rule names no instruction"

    @mmascope.torch.simulate(arch="h100")
    def inside(x):
        return x @ x.t()

    assert torch.equal(inside(x), mmascope.matmul(x, x.t(), arch="h100").half())
    assert inside.simulation.report.routed
    with pytest.raises(KeyError, match="nearest"):
        mmascope.torch.simulate(arch="h1000")


def test_architectures_are_compared():
    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Linear(512, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)).half().eval()
    x = torch.randn(16, 512, dtype=torch.float16) * 8
    same = mmascope.torch.compare(net, x, ["h100", "h100"])
    assert same.first is None and "no layer differs" in str(same)
    parted = mmascope.torch.compare(net, x, ["v100", "mi100"])
    assert parted.first["layer"] == "0" and {row["layer"] for row in parted.layers} == {"0", "1", "2"}
    i, j = parted.first["index"]
    assert parted.first["left"] != parted.first["right"] and 0 <= i < 16 and 0 <= j < 256
    with pytest.raises(ValueError, match="^archs"):
        mmascope.torch.compare(net, x, ["h100"])


def test_the_first_parting_element_is_explained_side_by_side():
    torch.manual_seed(4)
    net = torch.nn.Linear(512, 256).half().eval()
    x = torch.randn(16, 512, dtype=torch.float16) * 8
    text = mmascope.torch.compare(net, x, ["a100", "h100"]).first["explanation"]
    begin = int(text.split("they part at k = ")[1].split()[0])
    i, j = mmascope.torch.compare(net, x, ["a100", "h100"]).first["index"]
    # The library's own comparison of that step, whose c both have.
    rows = [mmascope.find(arch, name) for arch, name in (
        ("ampere", "mma.m16n8k16.f32.f16.f16.f32"), ("hopper", "wgmma.m64n8k16.f32.f16.f16"))]
    c = None
    for k in range(0, begin, 16):
        c = rows[0].dot(x[i, k:k + 16], net.weight.detach()[j, k:k + 16], c)
    part = x[i, begin:begin + 16], net.weight.detach()[j, begin:begin + 16]
    assert text.endswith(str(rows[0].explain(*part, c, against=rows[1])))
    assert "\npart     at step " in text and " │ " in text


def test_steps_of_other_lengths_are_explained_one_after_the_other():
    torch.manual_seed(1)
    net = torch.nn.Linear(512, 512).bfloat16().eval()
    x = torch.randn(64, 512, dtype=torch.bfloat16) * 8
    found = mmascope.torch.compare(net, x, ["h100", "mi100"])
    steps = [mmascope.find(*report.routed[0]["instruction"].split(":")).k for report in found.reports.values()]
    assert steps[0] != steps[1]
    text = found.first["explanation"]
    assert "\npart     " not in text
    ranges = [line.split(" of ")[0].removeprefix("k = ") for line in text.splitlines() if line.startswith("k = ")]
    first, second = (tuple(int(number) for number in side.split(" to ")) for side in ranges)
    assert first[1] == second[1] and [first[1] - first[0] + 1, second[1] - second[0] + 1] == steps


class Mixed(torch.nn.Module):
    """One product in f32, one in bfloat16."""

    def forward(self, x):
        return (x @ x.t()) + (x.bfloat16() @ x.bfloat16().t()).float()


def test_comparisons_say_what_was_not_simulated():
    x = torch.randn(16, 16)
    net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 4))
    with pytest.raises(ValueError, match="^archs: .*h100: 2 of 2 products were not simulated: .*f32.*a100: 2 of 2 .*bfloat16"):
        mmascope.torch.compare(net, x, ["h100", "a100"])
    # One of the two has products of f32.
    with pytest.raises(ValueError, match="^archs: .*h100: 2 of 2 products") as caught:
        mmascope.torch.compare(net, x, ["h100", "mi300x"])
    assert "mi300x:" not in str(caught.value)
    with pytest.raises(ValueError, match="^archs: .*the model computes no products"):
        mmascope.torch.compare(torch.nn.ReLU(), x, ["h100", "a100"])
    some = mmascope.torch.compare(Mixed(), x, ["h100", "a100", "mi300x"])
    lines = str(some).splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["h100", "a100", "layer" + lines[2][5:]]
    assert lines[0].startswith("h100: 1 of 2 products were not simulated: ") and "f32,f32" in lines[0]
    assert some._repr_html_().startswith("<pre>h100: 1 of 2 products were not simulated: ")
    assert str(mmascope.torch.compare(net.bfloat16(), x.bfloat16(), ["h100", "a100"])).startswith("layer ")


def test_numbers_of_a_training_step():
    """Losses of a few steps differ between architectures no more than rounding does."""
    losses = []
    for arch in ("a100", "mi300x"):
        net, x = model(torch.float16), torch.linspace(-1, 1, 6 * 40).reshape(6, 40).half()
        optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
        with mmascope.torch.simulate(arch=arch):
            for _ in range(3):
                loss = net(x).float().square().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        losses.append(float(loss.detach()))
    assert numpy.isclose(*losses, rtol=1e-2)


def test_the_module_comes_without_an_import_of_its_own():
    code = "import mmascope; print(mmascope.torch.simulate.__name__, mmascope.subjects.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout == "simulate mmascope.subjects\n"


class Parted(torch.nn.Module):
    """A product between two layers, and what a run may change: its inputs, buffers, random numbers."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(512)
        self.weight = torch.nn.Parameter(torch.randn(512, 64) * 8)
        self.last = torch.nn.Identity()

    def forward(self, x):
        return self.last(self.norm(x) @ self.weight) * 2


def test_products_outside_layers_are_compared_too():
    torch.manual_seed(4)
    found = mmascope.torch.compare(Parted().half().eval(), torch.randn(64, 512).half(), ["v100", "mi300x"])
    rows = {row["layer"]: row for row in found.layers}
    assert [row["layer"] for row in found.layers] == ["norm", "last", ""] and rows["norm"]["differing"] == 0
    assert rows[""]["differing"] == int((found.outputs["v100"] != found.outputs["mi300x"]).sum()) > 0
    # The layer that has it first has done nothing to it.
    assert (found.first["layer"], found.first["of"], found.first["explanation"]) == ("last", "input", None)
    assert "before it, in the input of last[" in str(found) and "(model)" in str(found)


def test_every_run_of_a_comparison_begins_alike():
    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(32),
                              torch.nn.Linear(32, 4)).bfloat16().train()
    x = torch.randn(8, 64).bfloat16()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    before = torch.random.get_rng_state()
    # Both are Hopper.
    found = mmascope.torch.compare(net, x, ["h200", "h100"])
    assert found.first is None and "no layer differs" in str(found)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())

    class Changing(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x.mul_(2))

    kept = x.clone()
    assert mmascope.torch.compare(Changing(64, 8).bfloat16(), x, ["h100", "h200"]).first is None
    assert torch.equal(x, kept)


def test_calls_are_matched_by_name():
    class Routed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.own = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
            self.runs = 0

        def forward(self, x):
            self.runs += 1
            x = self.gate(x) if self.runs == 1 else x
            return self.own(self.own(x))

    found = mmascope.torch.compare(Routed().bfloat16(), torch.ones(2, 16).bfloat16(), ["h100", "h200"])
    assert found.unmatched == ["gate: call 1 under h100 has none beside it under h200"]
    assert [row["layer"] for row in found.layers] == ["own", "own"] and found.unmatched[0] in str(found)


def test_simulations_of_several_threads_leave_pytorch_as_it_was():
    import threading

    def switches():
        return (torch.backends.mha.get_fastpath_enabled(), torch._C._get_mkldnn_enabled(),
                torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled())

    before = switches()
    begun, ended = threading.Event(), threading.Event()
    x = torch.randn(2, 8, 16, dtype=torch.bfloat16)
    reports = []

    def other():
        with mmascope.torch.simulate(arch="a100") as simulation:
            begun.set()
            assert ended.wait(20)
            torch.nn.functional.scaled_dot_product_attention(x, x, x)
            reports.append(simulation.report)

    thread = threading.Thread(target=other)
    with mmascope.torch.simulate(arch="h100"):
        thread.start()
        assert begun.wait(20)
    ended.set()
    thread.join()
    assert switches() == before
    assert reports[0].routed and not reports[0].unrouted


def test_distances_and_small_linear_layers_are_said():
    with mmascope.torch.simulate(arch="h100") as simulation:
        torch.cdist(torch.randn(30, 8), torch.randn(30, 8))
    assert [item["op"] for item in simulation.report.unrouted] == ["_euclidean_dist"]
    with torch.inference_mode(), mmascope.torch.simulate(arch="h100") as simulation:
        assert torch.nn.functional.linear(torch.ones(2, 4), torch.ones(4)).tolist() == [4, 4]
        assert torch.nn.functional.linear(torch.ones(2, 0), torch.ones(3, 0)).shape == (2, 3)
    assert {item["reason"] for item in simulation.report.unrouted} == {
        "a matrix times a vector uses no matrix unit", "an empty matrix"}


def test_what_a_comparison_leaves_as_it_was():
    class Keeping(torch.nn.Module):
        """Hands out its buffer, has another that grows, and one that is its weight."""

        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(16, 16)
            self.register_buffer("h", torch.zeros(4, 16))
            self.register_buffer("seen", torch.ones(1, 16))
            self.register_buffer("wide", torch.arange(16.0).expand(4, 16))
            self.register_buffer("late", None)

        def forward(self, x):
            self.h = torch.tanh(self.lin(x)) + self.h
            self.seen = torch.cat([self.seen, x])
            self.late = self.lin.weight.detach()
            return self.h + self.seen.sum() * 0

    net, x = Keeping().bfloat16(), torch.randn(4, 16).bfloat16()
    before = {name: (value, value.clone()) for name, value in net.named_buffers()}
    weight = net.lin.weight.detach().clone()
    found = mmascope.torch.compare(net, x, ["h100", "h200"])
    assert found.first is None and found.outputs["h100"].abs().sum() > 0 and torch.equal(net.lin.weight, weight)
    after = dict(net.named_buffers())
    assert net.late is None and list(after) == list(before)
    assert all(after[name] is value and torch.equal(value, kept) for name, (value, kept) in before.items())


def test_changed_and_caught_and_hidden_outputs_are_not_passed_over():
    class Own(torch.nn.Module):
        def __init__(self, how):
            super().__init__()
            self.how, self.norm, self.bad = how, torch.nn.LayerNorm(512), torch.nn.Linear(3, 3)
            self.weight = torch.nn.Parameter(torch.randn(512, 512) * 8)

        def forward(self, x):
            y = self.norm(x)
            if self.how == "raises":
                try:
                    self.bad(x)
                except Exception:
                    pass
            product = y @ self.weight
            if self.how == "hides":
                return {"it": [str(product.sum())]}
            if self.how == "is sparse":
                return product.to_sparse(), y
            if self.how == "turns":
                return y.t_()
            # The layer's own tensor, changed.
            return y.add_(product) if self.how == "changes" else product

    x = torch.randn(64, 512).half()
    for how in ("changes", "raises"):
        torch.manual_seed(4)
        found = mmascope.torch.compare(Own(how).half(), x, ["v100", "mi300x"])
        assert [row["layer"] for row in found.layers] == ["norm", ""] and found.first["layer"] == "", how
    found = mmascope.torch.compare(Own("turns").half(), x, ["v100", "mi300x"])
    assert [(row["layer"], row["differing"]) for row in found.layers] == [("norm", 0), ("", 0)]
    found = mmascope.torch.compare(Own("is sparse").half(), x, ["v100", "mi300x"])
    assert found.unmatched == ["(model): tensors that are not dense are not compared"]
    torch.manual_seed(4)
    found = mmascope.torch.compare(Own("hides").half(), x, ["v100", "mi300x"])
    assert found.unmatched == ["(model): its output, a dict, has no tensor that is looked into"]
    assert "no layer that was compared differs" in str(found)


def test_inputs_are_copied_as_they_are():
    import collections

    class Named(collections.OrderedDict):
        @property
        def x(self):
            return self["x"]

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(16, 16)

        def forward(self, given, again, generator):
            assert given.x is again and again.requires_grad
            with torch.enable_grad():
                slope, = torch.autograd.grad((again * again).sum(), again)
            return self.lin(given.x + torch.rand(2, 16, generator=generator).bfloat16() + slope)

    x = torch.ones(2, 16).bfloat16().requires_grad_()
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    found = mmascope.torch.compare(Net().bfloat16(), (Named(x=x), x, generator), ["h100", "h200"])
    assert found.first is None and not found.unmatched and torch.equal(generator.get_state(), state)

