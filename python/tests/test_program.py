"""The program that comes with the package, under the name that ``uvx mmascope`` and ``pipx run mmascope`` look for."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import mmascope

PROJECT = pathlib.Path(__file__).parents[2] / "pyproject.toml"


def test_the_package_names_its_program():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 does not read TOML; the program's name was not tested")
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    # Both tools run the program that has the package's own name.
    entry = importlib.metadata.EntryPoint("mmascope", project["scripts"][project["name"]], "console_scripts")
    code = f"import sys; sys.argv = ['mmascope', '--version']; from {entry.module} import {entry.attr}; {entry.attr}()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.split()) == (0, ["mmascope", mmascope.__version__])


def test_an_installed_program_runs_and_holds_foreign_code(tmp_path):
    try:
        files = importlib.metadata.distribution("mmascope").files or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed; its program was not run")
    scripts = [file.locate() for file in files if file.name.split(".")[0] == "mmascope" and "bin" in file.parts]
    assert len(scripts) == 1, files
    script = str(scripts[0])
    asked = subprocess.run([script, "list", "--arch", "hopper"], capture_output=True, text=True, check=False, timeout=60)
    assert asked.returncode == 0 and "wgmma" in asked.stdout
    # A library runs in a process of its own: the program starts itself again.
    lost = tmp_path / "nothing.so"
    wrong = subprocess.run([script, "reveal", f"lib:{lost}:sdot", "-n", "8"], capture_output=True, text=True, check=False,
                           timeout=60)
    assert wrong.returncode in (2, 3) and "nothing.so" in wrong.stderr
