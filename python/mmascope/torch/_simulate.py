"""Routes the products of PyTorch operations on CPU or an NVIDIA GPU through the simulated arithmetic.

Operations arrive below autograd, so that forward and backward are routed alike. Everything beside the products (bias,
scaling, softmax, activation) is PyTorch's own arithmetic; what follows a product directly (alpha, beta, bias, scales of
``_scaled_mm``) is done in the accumulator's format and then rounded to the result's.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import _checks
from .._arrays import kind_of_torch
from .._catalogue import Instruction, find
from .._errors import ArgumentError, Error
from .._products import OWN_ARCH, check_arch, matmul

aten = torch.ops.aten


@dataclass(frozen=True)
class Call:
    """One product, as a rule for instructions or schedules sees it."""

    #: ``mm``, ``addmm``, ``bmm``, ``baddbmm``, ``linear`` (under ``inference_mode``), ``convolution``, ``convolution_backward``, ``_scaled_mm``.
    op: str
    #: Rows, columns, products.
    m: int
    n: int
    k: int
    batch: int
    #: dtypes of A, B and of the result.
    a: torch.dtype
    b: torch.dtype
    out: torch.dtype


@dataclass
class _Entry:
    op: str
    dtypes: str
    instruction: str
    reason: str
    calls: int = 0
    products: int = 0
    seconds: float = 0.0


@dataclass
class SimulationReport:
    """What was routed and what was not, and why."""

    arch: str
    _entries: dict[tuple[str, ...], _Entry] = field(default_factory=dict)

    def _add(self, op: str, dtypes: str, instruction: str, reason: str, products: int, seconds: float) -> None:
        key = (op, dtypes, instruction, reason)
        entry = self._entries.setdefault(key, _Entry(*key))
        entry.calls += 1
        entry.products += products
        entry.seconds += seconds

    @property
    def routed(self) -> list[dict[str, Any]]:
        """Operations that were computed by an instruction: op, dtypes, instruction, calls, products, seconds."""
        return [self._dict(entry) for entry in self._entries.values() if not entry.reason]

    @property
    def unrouted(self) -> list[dict[str, Any]]:
        """Operations with products that PyTorch computed itself: op, dtypes, reason, calls."""
        return [self._dict(entry) for entry in self._entries.values() if entry.reason]

    @staticmethod
    def _dict(entry: _Entry) -> dict[str, Any]:
        shared: dict[str, Any] = {"op": entry.op, "dtypes": entry.dtypes, "calls": entry.calls}
        if entry.reason:
            return {**shared, "reason": entry.reason}
        return {**shared, "instruction": entry.instruction, "products": entry.products, "seconds": entry.seconds}

    def __str__(self) -> str:
        lines = [f"simulated: {self.arch}"]
        for item in self.routed:
            lines.append(
                f"routed    {item['op']:<22} {item['dtypes']:<24} {item['calls']:>6} calls {item['products']:.3e} "
                f"products {item['seconds']:.3f} s  {item['instruction']}"
            )
        for item in self.unrouted:
            lines.append(f"unrouted  {item['op']:<22} {item['dtypes']:<24} {item['calls']:>6} calls: {item['reason']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


Rule = str | Instruction | Callable[[Call], "str | Instruction | None"] | None

_VECTORS = "a dot product of two vectors uses no matrix unit"
_MATRIX_VECTOR = "a matrix times a vector uses no matrix unit"
_SPARSE = "products of sparse matrices are not simulated"
_PACKED = "products of packed integers are not simulated"
_RECURRENT = "recurrent layers of a library are not taken apart"
_ATTENTION = "a fused kernel of attention is not taken apart"

#: Operations with products that no matrix unit computes, or whose products are not taken apart here, whatever they
#: are written into.
_OTHERS = {
    "dot": _VECTORS,
    "vdot": _VECTORS,
    "mv": _MATRIX_VECTOR,
    "addmv": _MATRIX_VECTOR,
    "_int_mm": "products of integers are not simulated",
    "mkldnn_rnn_layer": _RECURRENT,
    "_cudnn_rnn": _RECURRENT,
    "miopen_rnn": _RECURRENT,
    "addbmm": "its sum over the batch has no order that is known",
    "_scaled_mm_v2": "its scales of blocks are not taken apart",
    "_grouped_mm": "grouped products are not taken apart",
    "_scaled_grouped_mm": "grouped products are not taken apart",
    "_euclidean_dist": "distances are not taken apart",
    "_cdist_forward": "distances are not taken apart",
    "_cdist_backward": "distances are not taken apart",
    "_trilinear": "bilinear forms are not taken apart",
    "_addmm_activation": "a product with its activation is not taken apart",
    "conv_tbc": "convolutions over time, batch and channels are not taken apart",
    "_sparse_addmm": _SPARSE,
    "_sparse_sparse_matmul": _SPARSE,
    "sspaddmm": _SPARSE,
    "hspmm": _SPARSE,
    "_weight_int8pack_mm": _PACKED,
    "_weight_int4pack_mm": _PACKED,
    "_weight_int4pack_mm_for_cpu": _PACKED,
    "_dyn_quant_matmul_4bit": _PACKED,
    "_transformer_encoder_layer_fwd": "PyTorch's fast path of encoder layers is not taken apart",
    "_native_multi_head_attention": "PyTorch's fast path of attention is not taken apart",
    "_triton_multi_head_attention": _ATTENTION,
    "_triton_scaled_dot_attention": _ATTENTION,
    "_scaled_dot_product_flash_attention": _ATTENTION,
    "_scaled_dot_product_flash_attention_for_cpu": _ATTENTION,
    "_scaled_dot_product_efficient_attention": _ATTENTION,
    "_scaled_dot_product_cudnn_attention": _ATTENTION,
    "_flash_attention_forward": _ATTENTION,
    "_efficient_attention_forward": _ATTENTION,
}


@functools.lru_cache(None)
def _reason(func: Any) -> str | None:
    """Why the products of an operation are PyTorch's; ``None`` where it has none."""
    space, name, *_ = str(func).split(".")
    if space == "quantized" and name.startswith(("linear", "conv", "matmul")):
        return _PACKED
    return (_OTHERS.get(name) or _OTHERS.get(name.removesuffix("_"))) if space == "aten" else None


class _PlainKernels:
    """Switches of PyTorch that all threads share: set by the first simulation that begins, and back by the last that ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._before: list[tuple[Any, bool]] = []

    def begin(self) -> None:
        with self._lock:
            if self._running == 0:
                self._set()
            self._running += 1

    def end(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._restore()

    def _set(self) -> None:
        cuda, backends = torch.backends.cuda, torch.backends
        # Each switch: its value while a simulation runs, how it is read, how it is set.
        wanted: list[tuple[bool, Any, Any]] = [
            # The fast path of encoder layers and attention computes them whole.
            (False, backends.mha.get_fastpath_enabled, backends.mha.set_fastpath_enabled),
            # oneDNN would take linear layers and convolutions whole.
            (False, torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled),
            # Attention is taken apart into its products before it arrives at a simulation.
            (False, cuda.flash_sdp_enabled, cuda.enable_flash_sdp),
            (False, cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp),
            (True, cuda.math_sdp_enabled, cuda.enable_math_sdp),
        ]
        if hasattr(cuda, "cudnn_sdp_enabled"):
            wanted.append((False, cuda.cudnn_sdp_enabled, cuda.enable_cudnn_sdp))
        if hasattr(cuda, "fp16_bf16_reduction_math_sdp_allowed"):
            # Attention's products stay in the dtype of their operands.
            wanted.append((True, cuda.fp16_bf16_reduction_math_sdp_allowed, cuda.allow_fp16_bf16_reduction_math_sdp))
        self._before = [(put, read()) for _, read, put in wanted]
        for value, _, put in wanted:
            put(value)

    def _restore(self) -> None:
        for put, value in reversed(self._before):
            put(value)


_PLAIN_KERNELS = _PlainKernels()


class Simulation(TorchDispatchMode):
    """The context that :func:`simulate` makes."""

    def __init__(self, arch: str, instruction: Rule, schedule: Any, threads: int | None) -> None:
        super().__init__()
        self.arch = arch
        self.instruction = instruction
        self.schedule = schedule
        self.threads = threads
        #: What was routed and what was not.
        self.report = SimulationReport(arch)
        self._rows: dict[Any, Instruction | str] = {}
        self._handlers: dict[Any, Callable[..., Any]] = {
            aten.mm.default: self._mm,
            aten.bmm.default: self._bmm,
            aten.addmm.default: self._addmm,
            aten.baddbmm.default: self._baddbmm,
            aten.linear.default: self._linear,
            aten.convolution.default: self._convolution,
            aten.convolution_backward.default: self._convolution_backward,
        }
        if hasattr(aten, "_scaled_mm"):
            self._handlers[aten._scaled_mm.default] = self._scaled_mm
        self._into: dict[Any, Callable[..., Any]] = {}
        for func, handler in [*self._handlers.items()]:
            for overload in func.overloadpacket.overloads():
                own = getattr(func.overloadpacket, overload)
                # mm(a, b, out=d), and mm(a, b, out_dtype).
                if overload in ("out", "dtype_out") and [it.name for it in own._schema.arguments if it.is_out] == ["out"]:
                    self._into[own] = handler
                elif overload == "dtype":
                    self._handlers[own] = handler
        for name, handler in (("addmm_", self._addmm), ("baddbmm_", self._baddbmm)):
            self._into[getattr(aten, name).default] = handler
        if instruction is None or isinstance(instruction, (str, Instruction)):
            self._check()

    def _check(self) -> None:
        """Wrong names are found before the model runs."""
        from .._catalogue import current

        if isinstance(self.instruction, Instruction):
            check_arch(self.arch, self.instruction)
        elif isinstance(self.instruction, str):
            current().find(self.arch, self.instruction)
        elif self.instruction is None:
            try:
                current().default(self.arch, "f16", "f16", None, False)
            except KeyError as error:
                if "unknown architecture" in str(error):
                    raise

    def __enter__(self) -> Simulation:
        _PLAIN_KERNELS.begin()
        try:
            super().__enter__()
        except BaseException:
            _PLAIN_KERNELS.end()
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        try:
            return super().__exit__(kind, error, trace)
        finally:
            _PLAIN_KERNELS.end()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: the function runs in the context, and has the simulation as ``.simulation``."""

        @functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        inside.simulation = self  # type: ignore[attr-defined]
        return inside

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        handler = self._handlers.get(func)
        if handler is None and func in self._into:
            handler = functools.partial(self._written, func)
        if handler is None:
            reason = _reason(func)
            if reason is not None:
                dtypes = ", ".join(_name(item.dtype) for item in args if isinstance(item, torch.Tensor))
                self.report._add(str(func).split(".")[1], dtypes, "", reason, 0, 0.0)
            return func(*args, **kwargs)
        if any(isinstance(item, torch.Tensor) and item.is_nested for item in args):
            self.report._add(str(func).split(".")[1], "", "", "nested tensors are not taken apart", 0, 0.0)
            return func(*args, **kwargs)
        result = handler(*args, **kwargs)
        return func(*args, **kwargs) if result is NotImplemented else result

    def _written(self, func: Any, *args: Any, out: Any = None, **named: Any) -> Any:
        """A product that is written into a tensor which is there: ``out``, or the first argument."""
        target = args[0] if out is None else out
        result = self._into[func](*args, **named)
        if result is NotImplemented:
            return result
        if (target.dtype, target.device) != (result.dtype, result.device) or out is None and target.shape != result.shape:
            # PyTorch says what is wrong.
            return func(*args, **named) if out is None else func(*args, out=out, **named)
        if target.shape != result.shape:
            target.resize_(result.shape)
        return target.copy_(result)

    # Which instruction -------------------------------------------------------------------------------------------------

    def _row(self, call: Call) -> Instruction | str:
        """The instruction of a call, or why there is none."""
        rule = self.instruction
        if callable(rule) and not isinstance(rule, Instruction):
            rule = rule(call)
            if rule is None:
                return "the rule names no instruction"
        if isinstance(rule, Instruction):
            return self._fitting(rule, call)
        key = (rule, call.a, call.b)
        row = self._rows.get(key)
        if row is None:
            try:
                if rule is not None:
                    row = self._fitting(find(self.arch, rule), call)
                else:
                    from .._catalogue import current

                    row = Instruction(current().default(self.arch, kind_of_torch(call.a), kind_of_torch(call.b), None, False))
            except Error as error:
                row = str(error)
            self._rows[key] = row
        return row

    @staticmethod
    def _fitting(row: Instruction, call: Call) -> Instruction | str:
        """A named instruction takes its own operand types only; f32 numbers may go to tf32."""
        own = (row._kinds[0], row._kinds[1])
        given = (kind_of_torch(call.a), kind_of_torch(call.b))
        widened = tuple("f32" if kind == "tf32" else kind for kind in own)
        if given in (own, widened):
            return row
        return f"{row.name} takes {own[0]} and {own[1]}"

    # Products ----------------------------------------------------------------------------------------------------------

    def _product(self, op: str, a: torch.Tensor, b: torch.Tensor, out: torch.dtype) -> Any:
        """a @ b in the format of D; NotImplemented where PyTorch computes it."""
        dtypes = f"{_name(a.dtype)}, {_name(b.dtype)}"
        reason = None
        if a.device != b.device or a.device.type not in ("cpu", "cuda"):
            reason = f"tensors on {a.device} and {b.device}"
        elif a.numel() == 0 or b.numel() == 0:
            reason = "an empty matrix"
        elif not (a.dtype.is_floating_point and b.dtype.is_floating_point):
            reason = f"products of {_name(a.dtype)} are not simulated"
        elif a.layout != torch.strided or b.layout != torch.strided:
            reason = _SPARSE
        if reason is not None:
            self.report._add(op, dtypes, "", reason, 0, 0.0)
            return NotImplemented
        call = Call(op, a.shape[-2], b.shape[-1], a.shape[-1], a.shape[0] if a.dim() == 3 else 1, a.dtype, b.dtype, out)
        row = self._row(call)
        if isinstance(row, str):
            self.report._add(op, dtypes, "", row, 0, 0.0)
            return NotImplemented
        schedule = self.schedule(call) if callable(self.schedule) else self.schedule
        begin = time.perf_counter()
        d = matmul(a, b, arch=OWN_ARCH, instruction=row, schedule=schedule, threads=self.threads, pad=True,
                   progress=False)
        self.report._add(op, dtypes, f"{row.arch}:{row.name}", "", call.batch * call.m * call.n * call.k,
                         time.perf_counter() - begin)
        return d

    def _mm(self, a: Any, b: Any, out_dtype: Any = None) -> Any:
        out = out_dtype or a.dtype
        d = self._product("mm", a, b, out)
        return d if d is NotImplemented else d.to(out)

    def _bmm(self, a: Any, b: Any, out_dtype: Any = None) -> Any:
        out = out_dtype or a.dtype
        d = self._product("bmm", a, b, out)
        return d if d is NotImplemented else d.to(out)

    @staticmethod
    def _epilogue(d: Any, c: Any, alpha: Any, beta: Any, out: torch.dtype) -> Any:
        """beta * c + alpha * d in the accumulator's format, rounded to the result's."""
        if alpha != 1:
            d = d * alpha
        if beta != 0:
            c = c.to(d.dtype)
            d = d + (c if beta == 1 else c * beta)
        return d.to(out)

    def _addmm(self, c: Any, a: Any, b: Any, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1) -> Any:
        d = self._product("addmm", a, b, a.dtype)
        return d if d is NotImplemented else self._epilogue(d, c, alpha, beta, out_dtype or a.dtype)

    def _baddbmm(self, c: Any, a: Any, b: Any, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1) -> Any:
        d = self._product("baddbmm", a, b, a.dtype)
        return d if d is NotImplemented else self._epilogue(d, c, alpha, beta, out_dtype or a.dtype)

    def _linear(self, x: Any, weight: Any, bias: Any = None) -> Any:
        reason = _MATRIX_VECTOR if weight.dim() != 2 else "an empty matrix" if x.numel() == 0 else None
        if reason is not None:
            self.report._add("linear", f"{_name(x.dtype)}, {_name(weight.dtype)}", "", reason, 0, 0.0)
            return NotImplemented
        d = self._product("linear", x.reshape(-1, x.shape[-1]), weight.t(), x.dtype)
        if d is NotImplemented:
            return d
        d = d.reshape(*x.shape[:-1], weight.shape[0])
        return d.to(x.dtype) if bias is None else self._epilogue(d, bias, 1, 1, x.dtype)

    def _scaled_mm(self, a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any = None, scale_result: Any = None,
                   out_dtype: Any = None, use_fast_accum: bool = False) -> Any:
        out = out_dtype or a.dtype
        for scale, rows in ((scale_a, (a.shape[0], 1)), (scale_b, (1, b.shape[1]))):
            if scale.numel() != 1 and tuple(scale.shape) != rows:
                self.report._add("_scaled_mm", f"{_name(a.dtype)}, {_name(b.dtype)}", "",
                                 f"scales of shape {tuple(scale.shape)}", 0, 0.0)
                return NotImplemented
        d = self._product("_scaled_mm", a, b, out)
        if d is NotImplemented:
            return d
        d = d * (scale_a.to(d.dtype) * scale_b.to(d.dtype))
        if bias is not None:
            d = d + bias.to(d.dtype)
        if scale_result is not None and out.itemsize == 1:
            d = d * scale_result.to(d.dtype)
        return d.to(out)

    # Convolutions ------------------------------------------------------------------------------------------------------

    def _refused(self, op: str, x: Any, transposed: bool) -> bool:
        reason = None
        if transposed:
            reason = "transposed convolutions are not taken apart"
        elif x.dim() not in (3, 4):
            reason = f"convolutions over {x.dim() - 2} dimensions are not taken apart"
        if reason is not None:
            self.report._add(op, _name(x.dtype), "", reason, 0, 0.0)
        return reason is not None

    @staticmethod
    def _columns(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> tuple[Any, Any]:
        """The operand of the product, (batch * groups) x K x positions, and how x was unfolded."""
        if x.dim() == 3:
            x = x.unsqueeze(2)
            stride, padding, dilation = ([1, *stride], [0, *padding], [1, *dilation])
        kernel = list(weight.shape[2:])
        kernel = kernel if len(kernel) == 2 else [1, *kernel]
        shape = dict(kernel_size=kernel, dilation=list(dilation), padding=list(padding), stride=list(stride))
        columns = torch.nn.functional.unfold(x, **shape)
        batch, rows, positions = columns.shape
        return columns.reshape(batch * groups, rows // groups, positions), (x.shape[2:], shape)

    def _convolution(self, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                     output_padding: Any, groups: int) -> Any:
        if self._refused("convolution", x, transposed):
            return NotImplemented
        columns, _ = self._columns(x, weight, stride, padding, dilation, groups)
        batch, outputs = x.shape[0], weight.shape[0]
        rows = weight.reshape(groups, outputs // groups, -1)
        rows = rows.repeat(batch, 1, 1) if groups > 1 else rows.expand(batch, -1, -1)
        d = self._product("convolution", rows, columns, x.dtype)
        if d is NotImplemented:
            return d
        d = d.reshape(batch, outputs, -1)
        if bias is not None:
            d = d + bias.to(d.dtype)[None, :, None]
        kernel = weight.shape[2:]
        size = [
            (x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
            for i in range(len(kernel))
        ]
        return d.to(x.dtype).reshape(batch, outputs, *size)

    def _convolution_backward(self, grad: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any,
                              dilation: Any, transposed: bool, output_padding: Any, groups: int, mask: Any) -> Any:
        op = "convolution_backward"
        if self._refused(op, x, transposed):
            return NotImplemented
        columns, (size, shape) = self._columns(x, weight, stride, padding, dilation, groups)
        batch, outputs = x.shape[0], weight.shape[0]
        rows = weight.reshape(groups, outputs // groups, -1)
        flat = grad.reshape(batch * groups, outputs // groups, -1)
        grad_x = grad_weight = grad_bias = None
        if mask[0]:
            spread = rows.repeat(batch, 1, 1) if groups > 1 else rows.expand(batch, -1, -1)
            d = self._product(op, spread.transpose(1, 2), flat, x.dtype)
            if d is NotImplemented:
                return d
            d = d.reshape(batch, -1, d.shape[-1])
            grad_x = torch.nn.functional.fold(d, output_size=list(size), **shape).to(x.dtype).reshape(x.shape)
        if mask[1]:
            # One product over all positions of all images, as a kernel does it.
            left = flat.reshape(batch, groups, outputs // groups, -1).permute(1, 2, 0, 3)
            right = columns.reshape(batch, groups, columns.shape[1], -1).permute(1, 0, 3, 2)
            left = left.reshape(groups, outputs // groups, -1)
            right = right.reshape(groups, left.shape[-1], columns.shape[1])
            d = self._product(op, left, right, x.dtype)
            if d is NotImplemented:
                return d
            grad_weight = d.to(weight.dtype).reshape(weight.shape)
        if mask[2]:
            grad_bias = grad.sum(dim=[0, *range(2, grad.dim())])
        return grad_x, grad_weight, grad_bias


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@_checks.named
def simulate(*, arch: str, instruction: Rule = None, schedule: Any = None, threads: int | None = None) -> Simulation:
    """Runs PyTorch, on CPU or an NVIDIA GPU, with the matrix arithmetic of another chip.

    Parameters
    ----------
    arch : str
        Architecture or chip: ``h100``, ``mi300x``.
    instruction : str, Instruction or callable, optional
        Which instruction computes: one name (for operands of its types), or a rule that takes a :class:`Call` and gives
        a name, an instruction, or ``None`` for PyTorch's own arithmetic. By default the architecture's default of the
        operands' dtypes.
    schedule : str or callable, optional
        Order of K and what happens outside the unit; a rule takes a :class:`Call`.
    threads : int, optional

    Returns
    -------
    Simulation
        A context manager and a decorator. ``report`` lists what was routed, and what was not and why.

    Notes
    -----
    Routed: mm, addmm, bmm, baddbmm, and what PyTorch makes of them (matmul, linear, einsum, the products of
    scaled_dot_product_attention), convolutions over one and two dimensions, ``_scaled_mm``, their forms with ``out`` and
    in place; forward and backward. K is filled up with +0. Attention and encoder layers are computed by PyTorch's
    unfused algorithm. PyTorch refuses operators that take functions (``flex_attention``, ``torch.cond``) in
    such a context.

    Examples
    --------
    >>> with mmascope.torch.simulate(arch="mi300x") as simulation:
    ...     loss = model(x).sum()
    ...     loss.backward()
    >>> print(simulation.report)
    """
    if not isinstance(arch, str):
        raise ArgumentError(f"arch: {arch!r} is no name of an architecture, such as 'h100'")
    if schedule is not None and not isinstance(schedule, str) and not callable(schedule):
        raise ArgumentError(f"schedule: {schedule!r} is no text and no rule")
    if instruction is not None and not isinstance(instruction, (str, Instruction)) and not callable(instruction):
        raise ArgumentError(f"instruction: {instruction!r} is no name, no instruction and no rule")
    _checks.whole(threads, "threads", 1, optional=True, most=1024)
    return Simulation(arch, instruction, schedule, threads)
