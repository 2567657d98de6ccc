"""Runs a model under an architecture and notes what each layer is given and gives. Nothing of a run is left in the model."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import threading
from dataclasses import dataclass
from typing import Any

import torch

from ._simulate import SimulationReport, simulate

#: What the model itself is called where its name is empty.
MODEL = "(model)"


def tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether its elements can be compared."""
    return tensor.layout == torch.strided and not (tensor.is_nested or tensor.is_quantized or tensor.is_meta)


def _dense(value: Any) -> list[torch.Tensor]:
    """Copies of the tensors whose elements can be compared."""
    return [tensor.detach().clone() for tensor in tensors(value) if _is_dense(tensor)]


class _Copies:
    """Copies of inputs, which a run may change; what is there twice is one copy."""

    def __init__(self) -> None:
        self._memo: dict[int, Any] = {}
        #: Types of what cannot be copied.
        self.shared: list[str] = []

    def of(self, value: Any) -> Any:
        for tensor in tensors(value):
            if id(tensor) not in self._memo:
                made = tensor.detach().clone()
                self._memo[id(tensor)] = made.requires_grad_() if tensor.requires_grad else made
        if isinstance(value, torch.Generator):
            made = torch.Generator(value.device)
            made.set_state(value.get_state())
            return self._memo.setdefault(id(value), made)
        if type(value) is dict:
            return {name: self.of(item) for name, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self.of(item) for item in value)
        try:
            return copy.deepcopy(value, self._memo)
        except Exception:
            self.shared.append(type(value).__name__)
            return value


@dataclass
class Call:
    """A call of a layer: what it was given and what it gave, and when among all calls."""

    name: str
    #: Which of the layer's calls it is.
    nth: int
    begin: int
    given: list[torch.Tensor]
    module: Any
    end: int = 0
    gave: list[torch.Tensor] = dataclasses.field(default_factory=list)


class _Notes:
    """What the layers of a model are given and give, in the order of their calls."""

    def __init__(self, model: Any) -> None:
        self.calls: list[Call] = []
        #: Modules that cannot be looked into, and those with tensors that cannot be compared.
        self.closed: list[str] = []
        self.not_dense: list[str] = []
        self._counts: dict[str, int] = {}
        self._times = itertools.count()
        #: For each thread: the calls that have begun, and the tensors of the one that ended last with their copies.
        self._own = threading.local()
        self._handles: list[Any] = []
        try:
            for name, module in model.named_modules():
                self._watch(name, module)
        except BaseException:
            self.close()
            raise

    def _watch(self, name: str, module: Any) -> None:
        if isinstance(module, torch.jit.ScriptModule):
            self.closed.append(name)
            return
        is_leaf = next(module.children(), None) is None

        def before(module: Any, given: Any, named: Any) -> None:
            nth = self._counts.get(name, 0)
            self._counts[name] = nth + 1
            self._look(name, [given, named])
            self._begun().append(Call(name, nth, next(self._times), _dense([given, named]), module))

        def after(module: Any, given: Any, output: Any) -> None:
            begun = self._begun()
            # What a module raised, and another caught, has begun and never ended.
            while begun and begun[-1].module is not module:
                begun.pop()
            if begun:
                self._look(name, output)
                self._end(begun.pop(), is_leaf, output)

        self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        self._handles.append(module.register_forward_hook(after))

    def _look(self, name: str, value: Any) -> None:
        if name not in self.not_dense and not all(_is_dense(tensor) for tensor in tensors(value)):
            self.not_dense.append(name)

    def _begun(self) -> list[Call]:
        if not hasattr(self._own, "begun"):
            self._own.begun, self._own.last = [], []
        begun: list[Call] = self._own.begun
        return begun

    def _end(self, made: Call, is_leaf: bool, output: Any) -> None:
        gave = [tensor for tensor in tensors(output) if _is_dense(tensor)]
        last = self._own.last
        # What a module hands on of its last layer, unchanged, has been noted.
        handed = len(gave) == len(last) and all(
            own is tensor and own.shape == noted.shape and not bool(bits_differ(own, noted).any())
            for own, (tensor, noted) in zip(gave, last))
        if is_leaf or not handed:
            made.end, made.gave = next(self._times), [tensor.detach().clone() for tensor in gave]
            self._own.last = list(zip(gave, made.gave))
            self.calls.append(made)

    def close(self) -> None:
        self._own = threading.local()
        for handle in self._handles:
            handle.remove()


class _Buffers:
    """Copies of a model's buffers while it runs; then its own are back, untouched."""

    def __init__(self, model: Any) -> None:
        self._before = [(module, dict(module._buffers)) for module in model.modules()
                        if not isinstance(module, torch.jit.ScriptModule)]

    def __enter__(self) -> None:
        copies: dict[int, Any] = {}
        for module, buffers in self._before:
            for name, buffer in buffers.items():
                if buffer is None or torch.nn.parameter.is_lazy(buffer):
                    continue
                if id(buffer) not in copies:
                    copies[id(buffer)] = buffer.detach().clone()
                module._buffers[name] = copies[id(buffer)]

    def __exit__(self, *error: Any) -> None:
        for module, buffers in self._before:
            module._buffers.clear()
            module._buffers.update(buffers)


@dataclass
class Ran:
    output: Any
    calls: list[Call]
    report: SimulationReport
    #: What was not looked into, or is not its own run's.
    unseen: list[str]


def run(model: Any, inputs: Any, arch: str, options: dict[str, Any]) -> Ran:
    """The output, and every layer's calls. The model and the inputs are as before, and so are random numbers."""
    copies = _Copies()
    everywhere = [*tensors(inputs), *model.parameters(), *model.buffers()]
    devices = sorted({tensor.device.index or 0 for tensor in everywhere if tensor.device.type == "cuda"})
    inputs = copies.of(inputs)
    notes = _Notes(model)
    try:
        with (_Buffers(model), torch.random.fork_rng(devices), torch.no_grad(),
              simulate(arch=arch, **options) as simulation):
            if isinstance(inputs, dict):
                output = model(**inputs)
            elif isinstance(inputs, (list, tuple)):
                output = model(*inputs)
            else:
                output = model(inputs)
    finally:
        notes.close()
    unseen = [f"inputs: a {kind} cannot be copied, and every run has the same one" for kind in copies.shared]
    unseen += [f"{name or MODEL}: a scripted module is not looked into" for name in notes.closed]
    unseen += [f"{name or MODEL}: tensors that are not dense are not compared" for name in notes.not_dense]
    if not any(_is_dense(tensor) for tensor in tensors(output)):
        unseen.append(f"{MODEL}: its output, a {type(output).__name__}, has no tensor that is looked into")
    return Ran(output, notes.calls, simulation.report, unseen)


def bits_differ(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Where values differ; NaN is as NaN."""
    return (left != right) & ~(torch.isnan(left) & torch.isnan(right))
