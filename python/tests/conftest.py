"""Says at the end which libraries were missing, and so what was not tested."""

import importlib.util

LIBRARIES = ("ml_dtypes", "torch", "jax", "scipy", "hypothesis", "mypy", "pandas",
             "polars", "matplotlib", "ray", "transformers", "torchvision", "jupytext")


def pytest_terminal_summary(terminalreporter):
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    for name in missing:
        terminalreporter.write_line(f"skipped: {name} is not installed; what needs it was not tested")
