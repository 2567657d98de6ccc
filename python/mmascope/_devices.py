"""Devices under test: callables, instructions, programs; what probes, infers and validates them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _checks, _core
from ._arrays import numpy_dtype, operand
from ._catalogue import Instruction, Unit, current, instruction_of
from ._errors import ArgumentError, DeviceError, DtypeError, Error
from ._progress import Progress
from ._report import Report, Rows, Table, page
from .subjects import name_of


class _Asked:
    """A device as the extension takes it."""

    __slots__ = ("callable", "catalogue", "name", "named", "row", "signature", "timeout")

    def __init__(self) -> None:
        self.row: Any = None
        self.named: str | None = None
        self.callable: Any = None
        self.name = ""
        self.signature: str | None = None
        self.catalogue = current()
        self.timeout: float | None = None


def _words(answer: Any, count: int, kind: str, name: str) -> Any:
    """A callable's answers as words of d, uint64."""
    (array, own, _), _ = operand(answer, "fn's result")
    if array.shape != (count,):
        raise DeviceError(f"fn: {name} gave a result of shape {array.shape} for {count} queries; ({count},) is needed")
    is_code = own == "unsigned" or own == "signed" and kind == f"int{8 * array.dtype.itemsize}"
    is_container = own == "f32" and kind in ("tf32", "e8m13")
    if own != kind and not is_code and not is_container:
        raise DtypeError(f"fn: {name} gave elements of {own}; d is {kind}")
    return array.view(f"u{array.dtype.itemsize}").astype(numpy.uint64)


def _adapter(fn: Any, kinds: Any, name: str, batch: bool, make: Callable[[Any], Any]) -> Any:
    """Calls ``fn`` with arrays of numbers and takes its answers as words."""
    a_kind, b_kind, c_kind, d_kind, scale, _ = kinds

    def shown(words: Any, kind: str) -> Any:
        dtype = numpy_dtype(kind)
        return make(words.view(dtype) if dtype.itemsize == words.dtype.itemsize else words)

    def ask(a: Any, b: Any, c: Any, scales: Any) -> Any:
        arguments = [shown(a, a_kind), shown(b, b_kind), shown(c[:, 0], c_kind)]
        if scales is not None:
            arguments += [make(scales[0]), make(scales[1])]
        count = a.shape[0]
        if batch:
            return _words(fn(*arguments), count, d_kind, name)
        answers = []
        for index in range(count):
            answer = fn(*[argument[index] for argument in arguments])
            (array, own, _), _ = operand(answer, "fn's result")
            if array.size != 1:
                raise DeviceError(f"fn: {name} gave a result of shape {array.shape}; one number is needed")
            if own == "f64" and isinstance(answer, float) and d_kind != "f64":
                array = numpy.asarray(answer).astype(numpy_dtype(d_kind))
            answers.append(_words(array.reshape(1), 1, d_kind, name)[0])
        return numpy.array(answers, numpy.uint64)

    return ask


def _torch_tensor(array: Any) -> Any:
    from .subjects import _tensor

    return _tensor(numpy.ascontiguousarray(array))


def _asked(
    fn: Any, signature: str | None, like: Any, batch: bool, arrays: str, timeout: float | None
) -> tuple[_Asked, Any]:
    asked = _Asked()
    if like is not None:
        like = instruction_of(like, "like")
    _checks.text(signature, "signature", "a=f16 b=f16 c=f32 d=f32 k=16")
    batch = _checks.flag(batch, "batch")
    if timeout is not None:
        asked.timeout = _checks.number(timeout, "timeout")
    if isinstance(fn, Instruction):
        asked.row = fn._row
        asked.name = f"model:{fn.arch}:{fn.name}" if fn.name else f"unit:{fn.signature}"
        return asked, fn._row
    if like is not None and signature is None:
        signature = like.signature
    asked.signature = signature
    if isinstance(fn, str):
        asked.named = asked.name = fn
        return asked, None
    if not callable(fn):
        raise ArgumentError(f"fn: {fn!r} is no callable, no instruction and no subject such as 'model:h100:f16'")
    if signature is None:
        raise ArgumentError(
            "signature: a callable needs one, such as 'a=f16 b=f16 c=f32 d=f32 k=16', or like= with an instruction"
        )
    if not isinstance(arrays, str) or arrays not in ("numpy", "torch"):
        raise ArgumentError(f"arrays: {arrays!r}; allowed: 'numpy', 'torch'")
    make: Callable[[Any], Any] = _torch_tensor if arrays == "torch" else lambda array: array
    kinds = _core.kinds_of(signature)
    asked.name = name_of(fn)
    asked.callable = _adapter(fn, kinds, asked.name, batch, make)
    return asked, None


def _run(name: str, body: Callable[[], Any]) -> Any:
    try:
        return body()
    except Error:
        raise
    except Exception as error:
        raise DeviceError(f"fn: {name} failed with {type(error).__name__}: {error}") from error


class Features(Rows, Report):
    """Numerical features of a device, each with the inputs and outputs that show it."""

    def __init__(self, data: dict[str, Any], html: str) -> None:
        super().__init__(data)
        self.html = html

    @property
    def values(self) -> dict[str, str]:
        """The value of each feature by its name."""
        return {feature["feature"]: feature["value"] for feature in self.data["features"]}

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each feature."""
        return [{key: value for key, value in feature.items() if isinstance(value, str)}
                for feature in self.data["features"]]

    def _parts(self) -> list[str | Table]:
        rows = [[item["feature"], item["value"], item["conclusion"]] for item in self.data["features"]]
        return [Table(("feature", "value", "conclusion"), rows, most=200)]

    def _repr_html_(self) -> str:
        return page(self.html)


class Inference(Report):
    """The model that answers as a device does, or why there is none."""

    def __init__(self, data: dict[str, Any], found: Any, holds: bool) -> None:
        super().__init__(data, holds)
        #: A text for :func:`mmascope.load_isa`, where a model was found.
        self.row: str | None = found[0] if found else None
        self._notation = tuple(found[1:]) if found else None

    def _headline(self) -> str:
        data = self.data
        if data["outcome"] == "model":
            return f"{data['subject']}: {data['notation']}"
        return f"{data['subject']}: {data['outcome']}: {data['reason']}"

    def _lines(self) -> list[tuple[str, str]]:
        data = self.data
        lines = [("signature", data["signature"])]
        lines += [("nearest", str(data["nearest"]))] if data.get("nearest") else []
        lines += [(name, str(value)) for name, value in data["parameters"].items()]
        lines += [("as in" if not place else "", row) for place, row in enumerate(data["equivalent"])]
        lines += [("not told apart", f"{item['parameter']}: {', '.join(item['values'])}") for item in data["unobservable"]]
        verified, confirmed = data["verified"], data["confirmed"]["trials"]
        more = f", {confirmed} more confirm it" if confirmed else ""
        lines += [("verified", f"{verified['trials']} answers, {verified['mismatches']} mismatches{more}"),
                  ("queries", str(data["queries"]))]
        limit = "reached its limit of computing time: another model may fit as well"
        return lines + ([("search", limit)] if data["reached_limit"] else [])

    def _parts(self) -> list[str | Table]:
        return [Table(("", ""), self._lines(), most=200)]

    @property
    def unit(self) -> Unit | None:
        """The model as a unit; ``None`` where none was found."""
        return Unit(*self._notation) if self._notation else None


class Validation(Rows, Report):
    """A device against a model: how many cases, and which differ."""

    def __init__(self, data: dict[str, Any], state: str) -> None:
        super().__init__(data, data["mismatches"] == 0)
        #: Text from which ``validate(state=...)`` goes on.
        self.state = state

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each family."""
        rows: list[dict[str, Any]] = self.data["families"]
        return rows

    def _headline(self) -> str:
        return f"{self.data['trials']} cases compared, {self.data['mismatches']} mismatches"

    def _parts(self) -> list[str | Table]:
        data = self.data
        families = [[item["family"], f"0..{item['done']}", item["tiles"], item["mismatches"]] for item in data["families"]]
        parts: list[str | Table] = [
            f"subject     {data['subject']}\nagainst     {data['against']}\n",
            Table(("family", "indices", "tiles", "mismatches"), families),
        ]
        parts += [f"left out: {family}: {why}" for family, why in data["left_out"]]
        if data["examples"]:
            keys = ("family", "seed", "index", "device", "model")
            rows = [[item[key] for key in keys] for item in data["examples"]]
            parts += ["", Table(("mismatch: family", *keys[1:]), rows)]
        for item in data["smallest"]:
            same = "" if item["differs"] else "\nasked again, the device gives what the model gives: it does not repeat its answers"
            parts.append(f"\nsmallest: device {item['device']}, model {item['model']}\n{item['input']}{same}")
        return parts


@_checks.named
def probe(
    fn: Any,
    signature: str | None = None,
    *,
    like: Any = None,
    batch: bool = True,
    arrays: str = "numpy",
    timeout: float | None = None,
) -> Features:
    """Numerical features of a device, each from directed questions.

    Parameters
    ----------
    fn : callable, Instruction or str
        What computes ``d = c + sum(a * b)``: takes a of shape (queries, K), b of the same, c of (queries,) (and scales of
        (queries, K / block)) and gives d of shape (queries,) in the format of d (or codes, unsigned integers). A text
        names a subject of the program: ``model:h100:f16``, ``cmd:./device``.
    signature : str, optional
        Operand formats and K of a callable: ``a=f16 b=f16 c=f32 d=f32 k=16``.
    like : str or Instruction, optional
        The instruction whose signature it has.
    batch : bool
        Whether ``fn`` takes many queries at once; without it one: a of shape (K,), c of shape ().
    arrays : {"numpy", "torch"}
        What ``fn`` is given.
    timeout : float, optional
        Seconds that a program may take for a batch.

    Returns
    -------
    Features

    Raises
    ------
    DeviceError
        ``fn`` raised, gave something else than the answers, or gave other outputs for the same inputs: some questions
        are asked twice.

    References
    ----------
    The tests are those of Fasi et al. (PeerJ CS 7:e330), MMA-Sim (arXiv 2511.10909, section II), FTTN (arXiv 2403.00232)
    and Hickmann and Bradford; docs/probe.md.
    """
    asked, _ = _asked(fn, signature, like, batch, arrays, timeout)
    text, html = _run(asked.name, lambda: _core.probe(asked))
    return Features(json.loads(text), html)


@_checks.named
def infer(
    fn: Any,
    signature: str | None = None,
    *,
    like: Any = None,
    budget: int = 20_000,
    confirm: int | None = None,
    seed: int = 1,
    catalogue: bool = True,
    batch: bool = True,
    arrays: str = "numpy",
    timeout: float | None = None,
    progress: bool | None = None,
) -> Inference:
    """A complete model of a device, in the catalogue's notation.

    Parameters
    ----------
    fn, signature, like, batch, arrays, timeout
        As in :func:`probe`.
    budget : int
        About the most queries, 2000 or more; fewer leave more room for a model that errs on rare inputs.
    confirm : int, optional
        Fresh inputs beside the budget that confirm the model. By default 100,000, and 0, which is none, with a budget
        below 20,000. A row of the catalogue gets a fifth as many. A model with several unusual parameters or more
        than eight statements, or of a search that reached its limit of computing time, gets three times as many.
        They end when the device has taken about ten seconds for them.
    seed : int
        Of everything random.
    catalogue : bool
        Try the rows of the catalogue first.
    progress : bool, optional
        Show progress with tqdm.

    Returns
    -------
    Inference

    Raises
    ------
    DeviceError
        The callable raised, gave something else than numbers of its format, or gave other outputs for the same inputs:
        some questions are asked twice.
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.

    References
    ----------
    docs/infer.md: the space of models and what is not seen.
    """
    _checks.whole(budget, "budget", 2000)
    _checks.whole(confirm, "confirm", optional=True)
    _checks.whole(seed, "seed")
    asked, _ = _asked(fn, signature, like, batch, arrays, timeout)
    with Progress(budget, "inferring", progress) as bar:
        tell = (lambda queries, what: bar.tell(min(queries, budget))) if bar.is_shown else None
        text, row, holds = _run(asked.name, lambda: _core.infer(asked, budget, confirm, seed, catalogue, tell))
    return Inference(json.loads(text), row, holds)


class Inferences(Rows, Report):
    """Every instruction as a black box, and the model that was found of each."""

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each instruction."""
        return [{"arch": item["arch"], "inst": item["inst"], "found": item["found"],
                 "queries": item["inference"]["queries"], "row": item["row"]} for item in self.data["inferences"]]

    def _lines(self) -> list[tuple[str, str]]:
        missed = [f"{item['arch']}:{item['inst']}" for item in self.data["inferences"] if not item["found"]]
        return [("instructions", str(self.data["instructions"])), ("found", str(self.data["found"])),
                ("not found", ", ".join(missed) or "none")]


@_checks.named
def infer_all(
    archs: Sequence[str] = (),
    *,
    budget: int = 20_000,
    seed: int = 1,
    catalogue: bool = False,
    progress: bool | None = None,
) -> Inferences:
    """Infers every modelled instruction from its answers alone; :func:`mmascope.ray.infer_all` does it on many machines.

    Parameters
    ----------
    archs : sequence of str
        Of these architectures; of all by default.
    budget, seed
        As in :func:`infer`.
    catalogue : bool
        Let each search look into the catalogue, where the answer stands.
    progress : bool, optional
        Show progress with tqdm.

    Returns
    -------
    Inferences
        True where a model was found of each. ``inferences`` has a dictionary for each instruction: arch, inst, found,
        row (a text for :func:`mmascope.load_isa`) and the inference without its seconds and the
        number of inputs that confirmed it.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    from ._parts import InferAll, run_here

    found: Inferences = run_here(InferAll(archs, budget, seed, catalogue), progress)
    return found


@_checks.named
def validate(
    fn: Any,
    against: str | Instruction,
    *,
    trials: int = 100_000,
    families: Sequence[str] = (),
    seed: int = 1,
    state: str | None = None,
    batch: bool = True,
    arrays: str = "numpy",
    timeout: float | None = None,
    progress: bool | None = None,
) -> Validation:
    """A device against a model, over generated operands.

    Parameters
    ----------
    fn, batch, arrays, timeout
        As in :func:`probe`.
    against : str or Instruction
        The model: ``ARCH:INST``, an instruction or a unit.
    trials : int
        Cases in all, every family in turn.
    families : sequence of str
        All by default.
    seed : int
        Of every family.
    state : str, optional
        ``Validation.state`` of an earlier run, from which this one goes on.
    progress : bool, optional
        Show progress with tqdm.

    Returns
    -------
    Validation
        False where a case differs.

    Raises
    ------
    DeviceError
        The callable raised, gave something else than numbers of its format, or gave other outputs for the same inputs:
        some questions are asked twice.
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.

    References
    ----------
    docs/validate.md: the families of inputs.
    """
    _checks.whole(trials, "trials", 1, most=(1 << 63) - 1)
    _checks.whole(seed, "seed")
    _checks.text(state, "state", "Validation.state of an earlier run")
    names = _checks.texts(families, "families", "normal")
    model = instruction_of(against, "against")
    asked, _ = _asked(fn, None, model, batch, arrays, timeout)
    with Progress(trials, "validating", progress) as bar:
        tell = bar.tell if bar.is_shown else None
        text, saved = _run(
            asked.name,
            lambda: _core.validate(asked, model._row, trials, names, seed, state, tell, True),
        )
    return Validation(json.loads(text), saved)
