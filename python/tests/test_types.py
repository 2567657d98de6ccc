"""Stubs that are not stale, and examples that run and have the types that they say."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=280, cwd=ROOT.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_stubs_are_not_stale():
    run("python/tools/stubs.py", "--check")


def test_examples_are_typed():
    pytest.importorskip("mypy")
    run("-m", "mypy", "--strict", "--cache-dir", "/dev/null", "python/examples", "examples/python",
        "python/benchmarks", "python/mmascope")


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example):
    assert run(str(example))
