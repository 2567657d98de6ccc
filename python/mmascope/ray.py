"""Experiments over many machines, with `Ray <https://ray.io>`_.

>>> ray.init("auto")
>>> mmascope.ray.validate(device, "h100:f16", trials=10**9, journal="h100.jsonl")

The work is cut into parts that are functions of their description alone (family, seed, indices). Workers keep nothing:
where a machine is lost, Ray computes its parts elsewhere. The result is that of one machine, to the byte. With
``journal=`` the parts that are done are in a file of the driver, and the same call goes on from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ray

from ._catalogue import Instruction
from ._compare import _check_options
from ._devices import Inferences, Validation
from ._errors import ArgumentError, DeviceError
from ._parts import (
    Check,
    Diff,
    ErrorCurves,
    Executor,
    InferAll,
    Part,
    Validate,
    Work,
    compute,
    run,
    settle,
    surroundings,
)
from ._results import Checked, Difference, Errors

__all__ = ["check", "diff", "error", "infer_all", "validate"]


def _elsewhere(part: Part, wanted: dict[str, Any], threads: str) -> str:
    """A part, computed by a worker."""
    # Ray gives a worker so many cores, and the library takes as many threads. It reads this once, at its first work.
    os.environ["RAYON_NUM_THREADS"] = threads
    settle(wanted)
    return compute(part)


def _executor(cpus: float, resources: dict[str, float] | None) -> Executor:
    if not ray.is_initialized():
        ray.init()
    if not isinstance(cpus, (int, float)) or isinstance(cpus, bool) or cpus <= 0:
        raise ArgumentError(f"cpus = {cpus!r}: more than 0 are needed")
    threads = str(max(1, int(cpus)))
    # A lost worker is no failure: its part is computed again, as often as need be.
    remote = ray.remote(_elsewhere).options(num_cpus=cpus, resources=resources or {}, max_retries=-1)

    def execute(parts: Iterable[tuple[int, Part]]) -> Iterator[tuple[int, str]]:
        wanted = ray.put(surroundings())
        waiting: dict[Any, int] = {}
        for place, part in parts:
            # Every core has a part, and another one waits for it.
            most = max(4, int(2 * ray.cluster_resources().get("CPU", 1) / cpus))
            while len(waiting) >= most:
                yield from _ready(waiting)
            waiting[remote.remote(part, wanted, threads)] = place
        while waiting:
            yield from _ready(waiting)

    return execute


def _ready(waiting: dict[Any, int]) -> Iterator[tuple[int, str]]:
    done, _ = ray.wait(list(waiting), num_returns=1)
    for reference in done:
        place = waiting.pop(reference)
        try:
            result: str = ray.get(reference)
        except ray.exceptions.RayTaskError:
            # The worker's own error, which is a mmascope.Error as well.
            raise
        except ray.exceptions.RayError as error:
            raise DeviceError(f"part {place}: {error}") from error
        yield place, result


def _run(work: Work, cpus: float, resources: dict[str, float] | None, journal: str | os.PathLike[str] | None,
         progress: bool | None) -> Any:
    return run(work, _executor(cpus, resources), journal, progress)


def validate(
    fn: Any,
    against: str | Instruction,
    *,
    trials: int = 1_000_000_000,
    families: Sequence[str] = (),
    seed: int = 1,
    state: str | None = None,
    batch: bool = True,
    arrays: str = "numpy",
    timeout: float | None = None,
    part: int = 20_000_000,
    journal: str | os.PathLike[str] | None = None,
    cpus: float = 1,
    resources: dict[str, float] | None = None,
    progress: bool | None = None,
) -> Validation:
    """A device against a model as :func:`mmascope.validate`, over many machines.

    Parameters
    ----------
    fn : callable, Instruction or str
        As in :func:`mmascope.probe`. A callable is sent to the workers, a text names what they have.
    against, trials, families, seed, state, batch, arrays, timeout
        As in :func:`mmascope.validate`.
    part : int
        Cases of a part, somewhat more or fewer.
    journal : path, optional
        Where results of parts are kept; a run that was ended goes on from there.
    cpus : float
        Cores, and threads, of a part.
    resources : dict, optional
        Resources of Ray that a part needs, such as ``{"chip": 1}`` on machines that have the device.
    progress : bool, optional
        Show progress with tqdm.

    Returns
    -------
    Validation
        The same bytes as :func:`mmascope.validate` gives.

    Raises
    ------
    ArgumentError
        Also where the journal is of another run.
    """
    how = {"batch": batch, "arrays": arrays, "timeout": timeout}
    work = Validate(fn, against, trials, families, seed, state, part, how)
    found: Validation = _run(work, cpus, resources, journal, progress)
    return found


def diff(
    *units: str | Instruction,
    instruction: str | None = None,
    types: str | None = None,
    family: str | Sequence[str] = "normal",
    count: int | None = None,
    seed: int = 0,
    start: int = 0,
    part: int = 1_000_000,
    journal: str | os.PathLike[str] | None = None,
    cpus: float = 1,
    progress: bool | None = None,
) -> Difference:
    """The same generated inputs on several units as :func:`mmascope.diff`, over many machines.

    Parameters
    ----------
    *units, instruction, types, family, count, seed, start
        As in :func:`mmascope.diff`.
    part : int
        Cases of a part.
    journal, cpus, progress
        As in :func:`validate`.

    Returns
    -------
    Difference
        The same bytes as :func:`mmascope.diff` gives.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    found: Difference = _run(Diff(units, instruction, types, family, count, seed, start, part), cpus, None, journal, progress)
    return found


def error(
    *units: str | Instruction,
    shape: tuple[int, int, int],
    instruction: str | None = None,
    types: str | None = None,
    distribution: str = "normal",
    c: str | None = None,
    seed: int | None = None,
    schedules: Sequence[str] = (),
    full: bool = False,
    journal: str | os.PathLike[str] | None = None,
    cpus: float = 1,
    progress: bool | None = None,
) -> Errors:
    """How errors grow with K as :func:`mmascope.error`, a part for each unit and schedule.

    Parameters
    ----------
    *units, shape, instruction, types, distribution, c, seed, schedules, full
        As in :func:`mmascope.error`; matrices are generated.
    journal, cpus, progress
        As in :func:`validate`.

    Returns
    -------
    Errors
        The same data as :func:`mmascope.error` gives. ``plot()`` draws them; ``svg()`` is of one machine.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    options = {"shape": tuple(shape), "instruction": instruction, "types": types, "distribution": distribution, "c": c,
               "seed": seed, "full": full}
    found: Errors = _run(ErrorCurves(units, schedules, options), cpus, None, journal, progress)
    return found


def infer_all(
    archs: Sequence[str] = (),
    *,
    budget: int = 20_000,
    seed: int = 1,
    catalogue: bool = False,
    journal: str | os.PathLike[str] | None = None,
    cpus: float = 1,
    progress: bool | None = None,
) -> Inferences:
    """Infers every modelled instruction as :func:`mmascope.infer_all`, a part for each.

    Parameters
    ----------
    archs, budget, seed, catalogue
        As in :func:`mmascope.infer_all`.
    journal, cpus, progress
        As in :func:`validate`.

    Returns
    -------
    Inferences
        The same bytes as :func:`mmascope.infer_all` gives.

    Raises
    ------
    DeviceError
        The callable raised, or gave something else than numbers of its format.
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    found: Inferences = _run(InferAll(archs, budget, seed, catalogue), cpus, None, journal, progress)
    return found


def check(
    *files: str | os.PathLike[str],
    arch: str | None = None,
    instruction: str | None = None,
    against: str | None = None,
    flags: bool = False,
    engine: bool = False,
    lines: int = 100_000,
    journal: str | os.PathLike[str] | None = None,
    cpus: float = 1,
    progress: bool | None = None,
) -> Checked:
    """Recorded results against models as :func:`mmascope.check`, over many machines.

    Parameters
    ----------
    *files, arch, instruction, against, flags, engine
        As in :func:`mmascope.check`. The driver reads the files and sends their lines.
    lines : int
        Lines of a part.
    journal, cpus, progress
        As in :func:`validate`.

    Returns
    -------
    Checked
        The same bytes as :func:`mmascope.check` gives.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    FileError
        The file cannot be read.
    """
    work = Check(files, _check_options(arch, instruction, against, flags, engine), lines)
    found: Checked = _run(work, cpus, None, journal, progress)
    return found
