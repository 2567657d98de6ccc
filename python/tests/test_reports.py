"""Printed reports: a headline and tables, as the command-line program prints them."""

import subprocess
import sys

import numpy
import pytest

import mmascope
from mmascope import _catalogue, _core

A = numpy.random.default_rng(1).standard_normal((16, 64)).astype(numpy.float16)
B = numpy.random.default_rng(2).standard_normal((64, 16)).astype(numpy.float16)


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "mmascope", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def words(text):
    """The words of a text; rules of tables aside."""
    return [word for word in text.split() if not word.startswith("─")]


def shown(report):
    """The text of a report, which its representation and its page have too."""
    text, html = str(report), report._repr_html_()
    assert repr(report) == f"<mmascope.{type(report).__name__}>\n{text}" and "..." not in text
    assert html.startswith("<p><b>") and "<table>" in html and "[{" not in text
    return text


@pytest.mark.parametrize("given", [
    {"types": "f16,f16,f32", "shape": (4, 4, 64)},
    {"types": "f16,f16,f32", "shape": (4, 4, 64), "schedules": ["chain", "split-k=2 reduce=pairwise/f32"], "c": "normal"},
    {"types": "f16,f16,f16", "shape": (2, 2, 32), "distribution": "sparse*2^-14"},
    {"types": "f16,f16,f16", "shape": (4, 4, 64), "distribution": "normal*2^12"},
])
def test_errors_are_those_of_the_program(given):
    arguments = ["--types", given["types"], "--shape", "x".join(map(str, given["shape"])),
                 "--dist", given.get("distribution", "normal")]
    for schedule in given.get("schedules", []):
        arguments += ["--schedule", schedule]
    if "c" in given:
        arguments += ["--c", given["c"]]
    report = mmascope.error("a100", "h100", **given)
    assert words(shown(report)) == words(program("error", "--arch", "a100,h100", *arguments))
    assert report._repr_html_().endswith("</svg>\n")


def test_errors_of_arrays_name_no_files():
    report = mmascope.error("h100:f16", a=A, b=B)
    for text in (shown(report), report.svg(), report["source"]):
        assert "a · b" in text and ".npy" not in text


@pytest.mark.parametrize("change", [0, 1])
def test_identifications_are_those_of_the_program(tmp_path, monkeypatch, change):
    # The program knows nothing of what other tests have loaded.
    monkeypatch.setattr(_catalogue, "_current", _core.Catalogue.built_in())
    d = mmascope.matmul(A, B, arch="h100") + numpy.float32(change)
    for name, array in (("a", A), ("b", B), ("d", d)):
        numpy.save(tmp_path / f"{name}.npy", array)
    report = mmascope.identify(A, B, d)
    printed = program("identify", *[str(tmp_path / f"{name}.npy") for name in "abd"])
    assert words(shown(report)) == words(printed)
    assert bool(report) == (change == 0) and report.to_pandas is not None
    rows = report._rows()
    assert sum(row["identified"] for row in rows) == len(report["identified"])


def test_validations_have_a_headline_and_tables():
    found = mmascope.validate(mmascope.find("a100", "f16"), "h100:f16", trials=2000)
    text = shown(found)
    assert text.splitlines()[0] == f"2000 cases compared, {found['mismatches']} mismatches"
    for family in found["families"]:
        row = [family["family"], f"0..{family['done']}", str(family["tiles"]), str(family["mismatches"])]
        assert row in [line.split() for line in text.splitlines()]
    assert found["examples"][0]["device"] in text and found["smallest"][0]["input"] in text
    assert "and 15 more" in text
    clean = shown(mmascope.validate(mmascope.find("h100", "f16"), "h100:f16", trials=100))
    assert clean.startswith("100 cases compared, 0 mismatches\n") and "smallest" not in clean


def test_other_reports():
    assert "1 of 1 pairs differ" in shown(mmascope.diff("a100", "h100", types="f16,f16,f32", count=50))
    found = shown(mmascope.infer("model:h100:f16"))
    assert found.splitlines()[0] == "model:h100:f16: t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff"
    assert "5 passed, 0 failed" in shown(mmascope.check("examples/fp8-accumulators.jsonl"))
    resolved = str(mmascope.resolve("a/b", target="sm_90", type="f32", value=[1.0, 3.0]))
    assert ["out", "3eaaaaab"] in [line.split() for line in resolved.splitlines()] and "0 " not in resolved[:2]


def test_reports_are_read_as_dictionaries():
    report = mmascope.resolve("add.f32", target="sm_90")
    assert dict(report) == report.data == {**report} == dict(report.items())
    assert list(report) == list(report.keys()) and len(report) == len(report.data)
    assert "legal" in report and "nothing" not in report
    assert report.get("rule") == report["rule"] and report.get("nothing", 7) == 7


def test_specials_are_those_of_the_program():
    report = mmascope.specials("h100", "f16")
    text = shown(report)
    for line in program("specials", "--arch", "h100", "--inst", "f16").splitlines()[1:-2]:
        name, _, word = line.strip().partition("  ")
        assert f" {name}  " in text and word.split(" = ")[0].strip() in text, line
    every = mmascope.specials("h100")
    assert f"and {len(every['units']) - 20} more units" in str(every)
    pandas = pytest.importorskip("pandas")
    assert isinstance(every.to_pandas(), pandas.DataFrame) and len(every.to_pandas()) > 1000
    assert report.to_pandas().iloc[0].tolist() == ["hopper", "wgmma.m64n8k16.f32.f16.f16", "nan+x", "7fffffff", "nan"]
