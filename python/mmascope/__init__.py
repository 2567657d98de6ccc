"""See, predict and prove what matrix accelerators compute, bit for bit.

>>> import numpy, mmascope
>>> a = numpy.ones((16, 16), numpy.float16)
>>> d = mmascope.matmul(a, a, arch="h100")
>>> mmascope.chosen()
<mmascope.Instruction hopper:wgmma.m64n8k16.f32.f16.f16>
"""

from typing import Any as _Any

from ._catalogue import Catalogue, Instruction, Unit, catalogue, find, load_isa
from ._compare import check, diff, error, identify, resolve, specials
from ._core import __version__
from ._devices import Features, Inference, Inferences, Validation, infer, infer_all, probe, validate
from ._errors import (
    ArgumentError,
    DeviceError,
    DtypeError,
    Error,
    FileError,
    TextError,
    UnknownNameError,
    UnmodelledError,
)
from ._explain import Explanation, explain
from ._precision import Quantized, cast, dequantize, quantize
from ._products import chosen, dot, matmul
from ._report import Report
from ._results import Checked, Difference, Errors, Identification, Specials
from ._reveal import NoTreeError, reveal
from ._tree import Tree

__all__ = [
    "ArgumentError",
    "Catalogue",
    "Checked",
    "DeviceError",
    "Difference",
    "DtypeError",
    "Error",
    "Errors",
    "Explanation",
    "Features",
    "FileError",
    "Identification",
    "Inference",
    "Inferences",
    "Instruction",
    "NoTreeError",
    "Quantized",
    "Report",
    "Specials",
    "TextError",
    "Tree",
    "Unit",
    "UnknownNameError",
    "UnmodelledError",
    "Validation",
    "__version__",
    "cast",
    "catalogue",
    "check",
    "chosen",
    "dequantize",
    "diff",
    "dot",
    "error",
    "explain",
    "find",
    "identify",
    "infer",
    "infer_all",
    "load_isa",
    "matmul",
    "probe",
    "quantize",
    "resolve",
    "reveal",
    "specials",
    "validate",
]

# What needs another library is imported when it is first asked for.
_LATER = ("ray", "subjects", "torch")


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
