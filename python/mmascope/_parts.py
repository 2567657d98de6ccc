"""Work that is cut into parts: what each part computes, and how parts become what one run on one machine gives.

A part is a function of its description alone. So any process may compute it, twice if need be, in any order.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from . import _checks, _core
from ._catalogue import Instruction, catalogue, current, find, instruction_of, load_isa, loaded
from ._compare import (
    _check_options,
    _checked,
    _diff_arguments,
    _difference,
    _names,
    error,
)
from ._devices import Inferences, Validation, _asked, _run, infer
from ._errors import ArgumentError, Error, FileError
from ._progress import Progress
from ._results import Checked, Difference, Errors

#: What a part is, for the process that computes it: a kind and what the kind takes.
Part = tuple[str, dict[str, Any]]


class Work(Protocol):
    """Something that can be cut into parts."""

    def identity(self) -> dict[str, Any]:
        """What a journal of this run must have been written for."""

    def count(self) -> int | None:
        """How many parts there are, where that is known before they are made."""

    def parts(self) -> Iterator[Part]:
        """The parts in order."""

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Any:
        """What the results in order come to; ``elsewhere`` computes one more part where the others were."""


# What a process needs before it computes ------------------------------------------------------------------------------


def surroundings() -> dict[str, Any]:
    """What must be the same in every process: version, files of instructions, hash of the catalogue."""
    return {"version": _core.__version__, "catalogue": current().hash(), "isa": loaded()}


def settle(wanted: dict[str, Any]) -> None:
    """Makes this process one that computes the same, or says why it cannot."""
    if wanted["version"] != _core.__version__:
        raise Error(f"this machine has mmascope {_core.__version__}, the driver {wanted['version']}: install the same")
    if current().hash() == wanted["catalogue"]:
        return
    for _, text in wanted["isa"][len(loaded()):]:
        load_isa(text if "\n" in text else text + "\n")
    if current().hash() != wanted["catalogue"]:
        raise Error("this machine has another catalogue than the driver, beyond what load_isa() added there")


# Kinds of parts -------------------------------------------------------------------------------------------------------


def compute(part: Part) -> str:
    """The result of a part, as JSON text."""
    kind, given = part
    return _KINDS[kind](**given)


def _validate_part(*, fn: Any, against: Instruction, trials: int, families: list[str], seed: int, state: str,
                   how: dict[str, Any], shrinks: bool) -> str:
    asked, _ = _asked(fn, None, against, **how)
    done = _run(asked.name, lambda: _core.validate(asked, against._row, trials, families, seed, state, None, shrinks))
    return json.dumps(done)


def _diff_part(*, arguments: list[str]) -> str:
    return _core.diff_part(current(), arguments)


def _error_part(*, unit: str, options: dict[str, Any]) -> str:
    return error(unit, **options).to_json()


def _infer_part(*, arch: str, inst: str, budget: int, seed: int, with_catalogue: bool) -> str:
    found = infer(find(arch, inst), budget=budget, seed=seed, catalogue=with_catalogue, progress=False)
    # What depends on how fast the machine is.
    data = {key: value for key, value in found.data.items() if key not in ("seconds", "confirmed")}
    return json.dumps({"arch": arch, "inst": inst, "found": found.holds, "row": found.row, "inference": data})


def _check_part(*, lines: bytes, name: str, before: int, options: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lines.jsonl")
        with open(path, "wb") as file:
            file.write(lines)
        data, _ = _checked([path], options)
    for key in ("mismatches", "bad_lines"):
        for item in data[key]:
            item["file"], item["line"] = name, item["line"] + before
    return json.dumps(data)


_KINDS: dict[str, Callable[..., str]] = {
    "validate": _validate_part, "diff": _diff_part, "error": _error_part, "infer": _infer_part, "check": _check_part,
}


# Works ----------------------------------------------------------------------------------------------------------------


def _positive(value: Any, argument: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ArgumentError(f"{argument} = {value!r}: 1 or more are possible")
    return value


class Validate:
    """A device against a model, cut between turns of families."""

    def __init__(self, fn: Any, against: str | Instruction, trials: int, families: Sequence[str], seed: int,
                 state: str | None, part: int, how: dict[str, Any]) -> None:
        self.fn, self.how = fn, how
        self.model = instruction_of(against, "against")
        self.families = _checks.texts(families, "families", "normal")
        _checks.whole(seed, "seed")
        self.trials, self.seed = _positive(trials, "trials"), seed
        self.part = _positive(part, "part")
        asked, _ = _asked(fn, None, self.model, **how)
        self.subject = asked.name
        self.states = _core.validate_parts(
            asked, self.model._row, self.trials, self.families, seed, state, self.part
        )
        self.begin = state or self.states[0][1]

    def identity(self) -> dict[str, Any]:
        return {"work": "validate", "begin": json.loads(self.begin), "trials": self.trials, "part": self.part}

    def count(self) -> int:
        return len(self.states) - 1

    def _part(self, state: str, trials: int, shrinks: bool) -> Part:
        return "validate", {
            "fn": self.fn, "against": self.model, "trials": trials, "families": self.families, "seed": self.seed,
            "state": state, "how": self.how, "shrinks": shrinks,
        }

    def parts(self) -> Iterator[Part]:
        last = len(self.states) - 2
        for place, (begin, end) in enumerate(zip(self.states, self.states[1:])):
            yield self._part(begin[1], self.trials if place == last else end[0], False)

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Validation:
        state = self.begin
        for (_, begin), result in zip(self.states, results):
            state = _core.validate_join(state, begin, json.loads(result)[1])
        # Nothing is left to compare; mismatches are made smaller by asking the device.
        text, state = json.loads(elsewhere(self._part(state, self.trials, True)))
        return Validation(json.loads(text), state)


class Diff:
    """The same inputs on several units, cut by family and index."""

    def __init__(self, units: Sequence[Any], instruction: str | None, types: str | None, family: str | Sequence[str],
                 count: int | None, seed: int, start: int, part: int) -> None:
        families = family.split(",") if isinstance(family, str) else list(family)
        self.arguments = _diff_arguments(units, instruction, types, families, count, seed, start)
        self.part = _positive(part, "part")
        self.pieces: list[list[str]] = []
        for name in families:
            if count is None:
                self.pieces.append(_diff_arguments(units, instruction, types, name, None, seed, start))
                continue
            for first in range(start, start + _positive(count, "count"), self.part):
                some = min(self.part, start + count - first)
                self.pieces.append(_diff_arguments(units, instruction, types, name, some, seed, first))

    def identity(self) -> dict[str, Any]:
        return {"work": "diff", "arguments": self.arguments, "part": self.part}

    def count(self) -> int:
        return len(self.pieces)

    def parts(self) -> Iterator[Part]:
        for arguments in self.pieces:
            yield "diff", {"arguments": arguments}

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Difference:
        def whole(more: list[str]) -> tuple[dict[str, Any], bool]:
            text, _, holds = _core.diff_whole(current(), [*self.arguments, *more], results)
            return json.loads(text), holds

        return _difference(whole)


class ErrorCurves:
    """How errors grow with K, cut by unit and schedule."""

    def __init__(self, units: Sequence[Any], schedules: Sequence[str], options: dict[str, Any]) -> None:
        if not units:
            raise ArgumentError("units: none is named; one or more are needed")
        self.options = options
        each: list[str | None] = [*schedules] or [None]
        self.pieces = [(unit, schedule) for unit in _names(units, "units") for schedule in each]

    def identity(self) -> dict[str, Any]:
        options = json.loads(json.dumps(self.options))
        return {"work": "error", "curves": [list(piece) for piece in self.pieces], "options": options}

    def count(self) -> int:
        return len(self.pieces)

    def parts(self) -> Iterator[Part]:
        for unit, schedule in self.pieces:
            options = {**self.options, "schedules": [] if schedule is None else [schedule]}
            yield "error", {"unit": unit, "options": options}

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Errors:
        found = [json.loads(result) for result in results]
        data = {**found[0], "curves": [curve for item in found for curve in item["curves"]]}
        return Errors(data)


class InferAll:
    """Every modelled instruction as a black box, each a part."""

    def __init__(self, archs: Sequence[str], budget: int, seed: int, with_catalogue: bool) -> None:
        archs = _checks.texts(archs, "archs", "h100")
        _checks.whole(budget, "budget", 2000)
        _checks.whole(seed, "seed")
        own = catalogue()
        names = {own._inner.architecture(arch) for arch in archs}
        rows = [row for row in own if row.facts["modelled"] and (not archs or row.arch in names)]
        if not rows:
            raise ArgumentError(f"archs = {list(archs)}: no instruction of theirs is modelled")
        self.rows = [(row.arch, row.name) for row in rows]
        self.given = {"budget": budget, "seed": seed, "with_catalogue": with_catalogue}

    def identity(self) -> dict[str, Any]:
        return {"work": "infer", "rows": [list(row) for row in self.rows], **self.given}

    def count(self) -> int:
        return len(self.rows)

    def parts(self) -> Iterator[Part]:
        for arch, inst in self.rows:
            yield "infer", {"arch": arch, "inst": inst, **self.given}

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Inferences:
        found = [json.loads(result) for result in results]
        count = sum(item["found"] for item in found)
        return Inferences({"instructions": len(found), "found": count, "inferences": found}, count == len(found))


class Check:
    """Recorded results against models, cut by lines. The driver reads the files; workers need not have them."""

    #: As many mismatches and bad lines as the program shows.
    SHOWN = 20

    def __init__(self, files: Sequence[str | os.PathLike[str]], options: list[str], lines: int) -> None:
        self.files = [os.fspath(file) for file in files]
        if not self.files:
            raise ArgumentError("files: none is named; one or more are needed")
        self.options, self.lines = options, _positive(lines, "lines")

    def _open(self, name: str) -> Any:
        try:
            file = open(name, "rb")
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
        except OSError as error:
            raise FileError(f"files: {name}: {error.strerror}") from error
        return gzip.open(file) if is_packed else file

    def identity(self) -> dict[str, Any]:
        digests = []
        for name in self.files:
            digest = hashlib.sha256()
            with self._open(name) as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            digests.append([name, digest.hexdigest()])
        return {"work": "check", "files": digests, "options": self.options, "lines": self.lines}

    def count(self) -> None:
        return None

    def parts(self) -> Iterator[Part]:
        for name in self.files:
            with self._open(name) as file:
                before = 0
                while block := _lines(file, self.lines):
                    yield "check", {"lines": b"".join(block), "name": name, "before": before, "options": self.options}
                    before += len(block)

    def join(self, results: list[str], elsewhere: Callable[[Part], str]) -> Checked:
        # Without a line the program still says what it compares with.
        found = [json.loads(result) for result in results] or [
            json.loads(_check_part(lines=b"", name="", before=0, options=self.options))
        ]
        data = dict(found[0])
        for key in ("passed", "failed", "bad", "left_out"):
            data[key] = sum(item[key] for item in found)
        for key in ("mismatches", "bad_lines"):
            data[key] = [line for item in found for line in item[key]][: self.SHOWN]
        return Checked(data, data["failed"] == 0 and data["bad"] == 0)


def _lines(file: Any, most: int) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < most and (line := file.readline()):
        found.append(line)
    return found


# Runs -----------------------------------------------------------------------------------------------------------------


class Journal:
    """The results of parts in a file, so that another driver goes on where one ended.

    The first line says what the run is. Each further line is a part's place and result, written at once when it is there.
    A line that a crash has cut off is left out, and its part computed again.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.results: dict[int, str] = {}
        own = json.dumps({"run": identity, **surroundings()})
        try:
            self._file = open(self.path, "a+b")
        except OSError as error:
            raise FileError(f"journal: {self.path}: {error.strerror}") from error
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file):
            if not line.endswith(b"\n"):
                break
            if number == 0:
                if line.decode("utf-8", "replace") != own + "\n":
                    self._file.close()
                    raise ArgumentError(
                        f"journal: {self.path} is of another run (arguments, version or catalogue differ), or no journal"
                    )
            else:
                place, result = json.loads(line)
                self.results[place] = result
            whole += len(line)
        self._file.truncate(whole)
        if whole == 0:
            self._write(own)

    def _write(self, text: str) -> None:
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def add(self, place: int, result: str) -> None:
        """Keeps a part's result."""
        self.results[place] = result
        self._write(json.dumps([place, result]))

    def close(self) -> None:
        """Ends writing."""
        self._file.close()


#: Computes parts in any order: takes places and parts, gives places and results.
Executor = Callable[[Iterable[tuple[int, Part]]], Iterator[tuple[int, str]]]


def here(parts: Iterable[tuple[int, Part]]) -> Iterator[tuple[int, str]]:
    """Computes parts in this process, one after the other."""
    for place, part in parts:
        yield place, compute(part)


def run(work: Work, execute: Executor, journal: str | os.PathLike[str] | None, progress: bool | None) -> Any:
    """What a work comes to, its parts computed by ``execute``; those in the journal are not computed again."""
    kept = None if journal is None else Journal(journal, work.identity())
    results: dict[int, str] = {} if kept is None else dict(kept.results)
    done = set(results)
    total = 0

    def missing() -> Iterator[tuple[int, Part]]:
        nonlocal total
        for place, part in enumerate(work.parts()):
            total = place + 1
            if place not in done:
                yield place, part

    try:
        with Progress(work.count(), "parts", progress) as bar:
            bar.tell(len(results))
            for place, result in execute(missing()):
                results[place] = result
                if kept is not None:
                    kept.add(place, result)
                bar.tell(len(results))
    finally:
        if kept is not None:
            kept.close()

    def elsewhere(part: Part) -> str:
        return next(iter(execute([(0, part)])))[1]

    return work.join([results[place] for place in range(total)], elsewhere)


def run_here(work: Work, progress: bool | None) -> Any:
    """What a work comes to in this process."""
    return run(work, here, None, progress)
