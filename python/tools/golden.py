"""Condenses what a GPU answered into the golden files of crates/mmascope/golden.

    python python/tools/golden.py RAW FOLDER "DEVICE, DRIVER, COMPILER, DATE"

RAW holds, as the commands wrote them: `v/*.json` (validate cuda:0 --inst INST --json), `rec/h.jsonl` and `rec/h.jsonl.about.json`
(record cuda:0 --all), `rec/*.txt` (probe, infer, reveal), `conv.json` (validate cuda:0 --conversions --json), `pk/*.txt` (check
--subject), `eng.log`, and `g/`, the files of gpu_record.py (open-points, eval, functions). Only what was measured is kept: operands that
a family, a seed and an index make again are left out, and so is what the recording program thought of an answer.
"""

import gzip
import json
import re
import shutil
import sys
from pathlib import Path

# What hopper's files say of the commands; the files begin with it.
COMMANDS = {
    "answers": "mmascope record cuda:0 --all --count 40",
    "compared": "mmascope validate cuda:0 --inst INST --trials 100000000 --json",
    "conversions": "mmascope validate cuda:0 --conversions --json",
    "points": "gpu_record.py open-points",
    "vectors": "gpu_record.py eval FILE...",
    "functions": "gpu_record.py functions",
    "packs": "mmascope check --subject cuda:0:INST PACK, with PACK of mmascope gen --discriminating --arch hopper:INST",
    "engine": "MMASCOPE_ENGINE=cuda:0 mmascope matmul a.npy b.npy --arch UNIT -o g.npy, and without the variable; cmp",
}
CONTENT = {
    "answers": "INST[+registers: A from registers] FAMILY D...: d of seed 1, index 0 and up, in hexadecimal digits, one behind the other.",
    "compared": "INST[+registers] | elements compared | differences | families | machine instructions of the same instruction in `record`'s kernel",
    "conversions": "conversion | inputs | differences from the model, whose NaNs follow what this GPU answered before | the first one: "
    "input, GPU, model",
    "points": "point NAME INST, the question, the recording program's conclusion (=), then cases: label, a, b, c, d between tabs, in "
    "hexadecimal digits; zeros at the end of a and b are left out.",
    "vectors": "INST | rows recorded by others on an H100 and an H200 | rows of public models | rows on which this GPU differs",
    "functions": "function | hash of all 2^32 inputs, all chunks added | ranges with every output: first input, stride, how many",
    "packs": "INST | lines passed | lines failed | verdict",
    "engine": "unit | what cmp says of the GPU's and the processor's D of 1024 x 1024 x 1024 products of normal numbers in f16",
}


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


def head(device: str, name: str) -> list[str]:
    return [f"# {device}", f"# {COMMANDS[name]}", f"# {CONTENT[name]}"]


def answers(raw: Path) -> list[str]:
    data = (raw / "rec/h.jsonl").read_bytes()
    rows = json.loads((raw / "rec/h.jsonl.about.json").read_text())["rows"]
    names = iter(row["instruction"] + "+registers" * row["registers"] for row in rows)
    found: dict[tuple[str, str], str] = {}
    last, name = ("", ""), ""
    for line in map(json.loads, data.splitlines()):
        # A row begins with its first family and index; its name alone does not say where A comes from.
        if (line["family"], line["index"]) == ("bits", 0):
            name = next(names)
        assert name.removesuffix("+registers") == line["inst"] and line["seed"] == 1
        key = (name, line["family"])
        assert line["index"] == 0 or key == last
        found[key] = found.get(key, "") + line["d"]
        last = key
    return [f"# {len(data.splitlines())} vector lines, FNV-1a of their text {fnv(data):016x}"] + [
        f"{inst} {family} {d}" for (inst, family), d in found.items()
    ]


def compared(raw: Path) -> list[str]:
    rows = json.loads((raw / "rec/h.jsonl.about.json").read_text())["rows"]
    machine = {row["instruction"] + "+registers" * row["registers"]: row["machine"] for row in rows}
    lines = []
    for file in (raw / "v").glob("*.json"):
        report = json.loads(file.read_text())
        assert not report["failed"]
        for row in report["rows"]:
            inst, families = row["instruction"], row["families"]
            units = ", ".join(f"{name} x{count}" for name, count in machine[inst].items())
            sums = [sum(family[key] for family in families) for key in ("elements", "differences")]
            lines.append((inst, f"{inst} | {sums[0]} | {sums[1]} | {' '.join(f['family'] for f in families)} | {units}"))
    order = list(machine)
    assert len(lines) == len(order)
    return [line for _, line in sorted(lines, key=lambda it: order.index(it[0]))]


def conversions(raw: Path) -> list[str]:
    report = json.loads((raw / "conv.json").read_text())
    assert not report["failed"]
    first = lambda it: ", ".join(f"{word:x}" for word in it["examples"][0]) if it["examples"] else ""
    return [f"{it['name']} | {it['inputs']} | {it['differences']} | {first(it)}".rstrip() for it in report["conversions"]]


def placed(case: list[str], i: int, j: int, digits: tuple[int, int]) -> list[str]:
    """The case "0,1" of `groups` with the product of k=0 at k=i and the other at k=j."""
    both = []
    for text, width in zip(case[1:3], digits):
        words = ["0" * width] * (len(text) // width)
        words[i], words[j] = text[:width], text[width : 2 * width]
        both.append("".join(words))
    return both


def points(raw: Path) -> list[str]:
    bits = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e5m2": 8, "e4m3": 8}
    lines = []
    for point in json.loads(gzip.open(raw / "g/open-points.json.gz").read())["points"]:
        cases = [case[:5] for case in point["cases"]]
        if "results" in point:
            digits = [bits[name] // 4 for name in point["inst"].split(".")[-3:-1]]
            if point["inst"].startswith("wgmma"):
                digits = [bits[name] // 4 for name in point["inst"].split(".")[-2:]]
            made = []
            for label, d in point["results"].items():
                i, j = map(int, label.split(","))
                made.append([label, *placed(cases[0], i, j, tuple(digits)), cases[0][3], d])
            assert made[: len(cases)] == cases, point["inst"]
            cases = made
        said = re.sub(r"^\d+ inputs, \d+ as the specification(; )?", "", point["conclusion"])
        said = re.sub(r"; \d+/\d+ as the specification$", "", said)
        inst = point["inst"] or "-"
        lines += [f"point {point['id']} {inst}", f"? {point['question']}"] + [f"= {said}"] * bool(said)
        lines += ["\t".join([str(label), a.rstrip("0") or "0", b.rstrip("0") or "0", c, d]) for label, a, b, c, d in cases]
    return lines


def vectors(raw: Path) -> list[str]:
    sums: dict[str, list[int]] = {}
    for line in (raw / "g/eval.log").read_text().splitlines()[2:]:
        _, inst, kind, rows, _, different = line.split()
        row = sums.setdefault(inst, [0, 0, 0])
        row[kind != "-"] += int(rows)
        row[2] += int(different)
    return [f"{inst} | {' | '.join(map(str, row))}" for inst, row in sums.items()]


def array(npz, name: str) -> bytes:
    import zipfile

    data = zipfile.ZipFile(npz).read(name + ".npy")
    return data[10 + int.from_bytes(data[8:10], "little") :]


def functions(raw: Path) -> list[str]:
    dumps: dict[str, list[str]] = {}
    for file in sorted((raw / "g/fn").glob("*.npz")):
        part = 0
        while file.stem != "small":
            try:
                name = array(file, f"{part} name").decode("utf-32-le")
            except KeyError:
                break
            start, stride, count = memoryview(array(file, f"{part} range")).cast("q")
            dumps.setdefault(name, []).append(f"{start:08x} {stride} {count} in {file.name}")
            part += 1
    lines = []
    for line in (raw / "g/fn.log").read_text().splitlines():
        if found := re.match(r"(\S+) +4096 chunk hashes, total ([0-9a-f]{16})$", line):
            name, total = found.groups()
            lines.append(f"{name} | {total} | {', '.join(dumps.get(name, []))}".rstrip())
    return lines


def packs(raw: Path) -> list[str]:
    lines = []
    for file in sorted((raw / "pk").glob("*.txt")):
        text = file.read_text()
        passed, failed = re.search(r"^(\d+) passed, (\d+) failed$", text, re.M).groups()
        lines.append(f"{file.stem} | {passed} | {failed} | {text.splitlines()[-1]}")
    return lines


def engine(raw: Path) -> list[str]:
    return [f"{unit} | {said}" for unit, said in re.findall(r"^engine (\S+) (\w+)", (raw / "eng.log").read_text(), re.M)]


def main() -> None:
    raw, folder, device = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in [(name, globals()[name]) for name in COMMANDS]:
        (folder / f"{name}.txt").write_text("\n".join(head(device, name) + make(raw)) + "\n")
    asked = folder / "asked.txt"
    commands = {
        "probe": "probe cuda:0:mma.m16n8k16.f32.f16.f16.f32",
        "infer": "infer cuda:0:mma.m16n8k8.f32.tf32.tf32.f32",
    }
    text = [f"# {device}"]
    for file in sorted((raw / "rec").glob("*.txt")):
        command = commands.get(file.stem) or f"reveal cuda:0:{file.stem.replace('-', ':', 1)} -n 256"
        text += [f"$ mmascope {command}", *(line.rstrip() for line in file.read_text().splitlines()), ""]
    asked.write_text("\n".join(text))
    (folder / "functions").mkdir(exist_ok=True)
    for file in (raw / "g/fn").iterdir():
        shutil.copyfile(file, folder / "functions" / file.name)


if __name__ == "__main__":
    main()
