"""Work in parts comes to what one run comes to, in whatever order, process or driver the parts are computed."""

import json
import pickle
import random

import numpy
import pytest

import mmascope
from mmascope import _parts

ROW = mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")
OTHER = mmascope.find("a100", "mma.m16n8k8.f32.f16.f16.f32")
HOW = {"batch": True, "arrays": "numpy", "timeout": None}


def rounded(a, b, c):
    """A device that is wrong now and then: single terms and sums in f32."""
    with numpy.errstate(all="ignore"):
        return (a.astype("f4") * b.astype("f4")).sum(-1, dtype="f4") + c


def shuffled(parts):
    """Every part in any order; each goes through what another process would get."""
    parts = list(parts)
    random.Random(7).shuffle(parts)
    for place, part in parts:
        yield place, _parts.compute(pickle.loads(pickle.dumps(part)))


def validate(fn, trials, part, state=None, families=()):
    return _parts.Validate(fn, ROW, trials, families, 1, state, part, HOW)


@pytest.mark.parametrize(("fn", "trials", "part"), [
    (ROW, 300_000, 40_000), (OTHER, 300_000, 70_000), (OTHER, 5000, 100), (rounded, 60_000, 10_000),
])
def test_a_validation_in_parts_is_one_run(fn, trials, part):
    work = validate(fn, trials, part)
    assert work.count() > 2 or trials == 5000
    found = _parts.run(work, shuffled, None, False)
    whole = mmascope.validate(fn, ROW, trials=trials)
    assert found.to_json() == whole.to_json() and found.state == whole.state and bool(found) == bool(whole)
    assert whole["mismatches"] > 0 or fn is ROW


def test_a_validation_in_parts_goes_on_from_a_state():
    families = ("bits", "boundary", "sparse")
    begun = mmascope.validate(OTHER, ROW, trials=30_000, families=families)
    found = _parts.run(validate(OTHER, 200_000, 30_000, begun.state, families), shuffled, None, False)
    whole = mmascope.validate(OTHER, ROW, trials=200_000, families=families, state=begun.state)
    assert found.to_json() == whole.to_json() and found.state == whole.state


def test_parts_that_do_not_fit_are_refused():
    work = validate(ROW, 200_000, 40_000)
    results = [_parts.compute(part) for part in work.parts()]
    with pytest.raises(ValueError, match="does not begin where"):
        work.join([results[1], results[0], *results[2:]], _parts.compute)
    work = _parts.Diff(["a100", "h100"], None, "f16,f16,f32", "normal", 100, 0, 0, 30)
    results = [_parts.compute(part) for part in work.parts()]
    with pytest.raises(ValueError, match="the whole has 100"):
        work.join(results[:-1], _parts.compute)


@pytest.mark.parametrize("count", [700, None])
def test_a_diff_in_parts_is_one_run(count):
    units, family = ("a100", "h100", "mi300x:v_mfma_f32_32x32x8_f16"), ("normal", "close", "sparse")
    if count is None:
        units, family = ("a100", "h100"), ("outlier", "stress")
    given = {"types": "f16,f16,f32", "family": family, "count": count, "seed": 3, "start": 5}
    units = units[:2]
    work = _parts.Diff(units, None, "f16,f16,f32", family, count, 3, 5, 90)
    found = _parts.run(work, shuffled, None, False)
    whole = mmascope.diff(*units, **given)
    assert found.to_json() == whole.to_json() and found.svg() == whole.svg() and bool(found) == bool(whole)
    assert whole["pairs"][0]["smallest"] is not None


def test_rare_differences_come_from_many_parts():
    """The inputs that are kept to find the smallest are those of one run, though no part has them all."""
    units = ("a100:mma.m16n8k8.f32.f16.f16.f32", "h100:mma.m16n8k8.f32.f16.f16.f32")
    work = _parts.Diff(units, None, None, "sparse", 2000, 1, 0, 7)
    found = _parts.run(work, shuffled, None, False)
    whole = mmascope.diff(*units, family="sparse", count=2000, seed=1)
    assert found.to_json() == whole.to_json() and 8 < whole["pairs"][0]["different"] < 1500


def test_error_curves_in_parts_are_one_run():
    given = {"shape": (8, 8, 128), "types": "f16,f16,f32", "seed": 2}
    schedules = ("chain", "split-k=2 reduce=pairwise/f32")
    options = {**given, "instruction": None, "distribution": "normal", "c": None, "full": False}
    found = _parts.run(_parts.ErrorCurves(["a100", "h100"], schedules, options), shuffled, None, False)
    whole = mmascope.error("a100", "h100", schedules=schedules, **given)
    assert found.to_json() == whole.to_json() and len(whole["curves"]) == 4


def test_a_check_in_parts_is_one_run(tmp_path):
    import gzip

    lines = []
    for index in range(400):
        a = [f"{(index * 7 + k) % 0x7C00:04x}" for k in range(8)]
        line = {"arch": "hopper", "inst": ROW.name, "a": "".join(a), "b": "3c00" * 8, "c": "00000000"}
        d = float(ROW.dot(numpy.array([int(x, 16) for x in a], numpy.uint16), numpy.full(8, 0x3C00, numpy.uint16)))
        line["d"] = numpy.float32(d + (index % 9 == 0)).view(numpy.uint32).item().__format__("08x")
        lines.append(json.dumps(line) if index % 50 else "nonsense")
        if index % 30 == 0:
            lines.append("")
    plain, packed = tmp_path / "plain.jsonl", tmp_path / "packed.jsonl.gz"
    plain.write_text("\n".join(lines))
    packed.write_bytes(gzip.compress("\n".join(lines[:100]).encode() + b"\n\xff\n"))
    whole = mmascope.check(plain, packed)
    found = _parts.run(_parts.Check([plain, packed], [], 33), shuffled, None, False)
    assert found.to_json() == whole.to_json() and not found
    assert whole["bad"] == 11 and whole["failed"] > 40 and len(whole["mismatches"]) == 20
    assert mmascope.check(plain, arch="volta")["left_out"] == 392
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert _parts.run(_parts.Check([empty], [], 10), shuffled, None, False).to_json() == mmascope.check(empty).to_json()
    with pytest.raises(mmascope.FileError, match="nowhere"):
        _parts.run(_parts.Check(["nowhere"], [], 10), shuffled, None, False)


def test_all_are_inferred_in_parts():
    text = "".join(
        f"arch tiny{i} = ty{i}\ndot.{{shape}}.{{d}}.{{a}} | f16 x f16 + f32 -> f32 | m8n8k4 | "
        f"t-fdpa L={4 >> i} F={20 + i} e0=-126 -> rz f32 | open\n" for i in range(2)
    )
    mmascope.load_isa(text)
    whole = mmascope.infer_all(["ty0", "tiny1"])
    found = _parts.run(_parts.InferAll(["ty0", "tiny1"], 20_000, 1, False), shuffled, None, False)
    assert whole and whole["found"] == whole["instructions"] == 2 and found.to_json() == whole.to_json()
    unit = mmascope.catalogue(isa=whole["inferences"][1]["row"])[-1]
    assert mmascope.validate(unit, mmascope.find("tiny1", "dot.m8n8k4.f32.f16"), trials=20_000)
    with pytest.raises(KeyError, match="unknown architecture"):
        mmascope.infer_all(["h1000"])
    unmodelled = next(item["name"] for item in mmascope.catalogue().architectures
                      if not any(row.facts["modelled"] for row in mmascope.catalogue() if row.arch == item["name"]))
    with pytest.raises(ValueError, match="^archs = .*no instruction"):
        mmascope.infer_all([unmodelled])


def test_a_journal_survives_its_driver(tmp_path):
    path = tmp_path / "run.jsonl"
    computed = []

    def dies(after):
        def execute(parts):
            for number, (place, part) in enumerate(parts):
                if number == after:
                    raise KeyboardInterrupt
                computed.append(place)
                yield place, _parts.compute(part)
        return execute

    with pytest.raises(KeyboardInterrupt):
        _parts.run(validate(OTHER, 300_000, 40_000), dies(3), path, False)
    # The driver was killed while it wrote.
    with path.open("ab") as file:
        file.write(b'[3, "[\\"{')
    found = _parts.run(validate(OTHER, 300_000, 40_000), dies(None), path, False)
    assert found.state == mmascope.validate(OTHER, ROW, trials=300_000).state
    count = validate(OTHER, 300_000, 40_000).count()
    # The last one makes the mismatches smaller.
    assert sorted(computed[:-1]) == list(range(count)) and count > 4
    before = path.read_bytes()
    with pytest.raises(ValueError, match="of another run"):
        _parts.run(validate(OTHER, 400_000, 40_000), dies(None), path, False)
    assert path.read_bytes() == before


def test_workers_must_compute_the_same():
    wanted = _parts.surroundings()
    _parts.settle(wanted)
    with pytest.raises(mmascope.Error, match="install the same"):
        _parts.settle({**wanted, "version": "0"})
    with pytest.raises(mmascope.Error, match="another catalogue"):
        _parts.settle({**wanted, "catalogue": "0"})


def test_instructions_can_be_sent():
    unit = mmascope.Unit(ROW.signature, ROW.arithmetic)
    for row in (ROW, unit):
        again = pickle.loads(pickle.dumps(row))
        assert again == row and type(again) is type(row)
    with pytest.raises(ValueError, match="other arithmetic"):
        mmascope._catalogue._unpickled("hopper", ROW.name, ROW.signature, "fma-chain -> rne f32")
