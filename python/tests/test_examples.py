"""Examples: models and training as other GPUs would run them, in small; the tutorial; plots and tables."""

import importlib
import pathlib
import subprocess
import sys

import pytest

import mmascope

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "python"))


def needs(*names):
    for name in names:
        pytest.importorskip(name, reason=f"{name} is not installed; examples of models were not tested")


def test_models_differ_as_their_arithmetic_does(monkeypatch):
    needs("torch", "transformers", "torchvision")
    models = importlib.import_module("models_on_gpus")
    monkeypatch.setattr(models, "ARCHS", ("A100", "H100", "MI250X", "MI300X"))
    monkeypatch.setattr(models, "MODELS", {"Llama": models.llama, "BERT": models.bert})
    rows = models.forwards(True)
    found = {(row["model"], row["numbers"], row["arch"]): row for row in rows}
    for (_, _, arch), row in found.items():
        assert row["beside"] != arch or row["differing"] == 0
        assert row["products"] > 500_000 and row["unrouted"] == []
    # MI250X takes small numbers for 0, MI300X does not.
    for model in ("Llama", "BERT"):
        flushed, kept = (found[model, "fp16", arch]["differing"] for arch in ("MI250X", "MI300X"))
        assert flushed > 10 and flushed > 4 * kept
        assert found[model, "fp16, f16 accumulators", "H100"]["differing"] > 10
        assert (model, "fp16, f16 accumulators", "MI300X") not in found and (model, "fp8", "A100") not in found
        assert found[model, "fp8", "MI300X"]["differing"] > 100
    small = [found["Llama", "fp16, small weights", arch]["largest"] for arch in ("MI250X", "MI300X")]
    assert small[0] > 5 * small[1]
    text = models.table(rows, [])
    assert text.count("\n") > len(rows)


def test_a_convolution_network_is_routed_whole(monkeypatch):
    needs("torch", "transformers", "torchvision")
    models = importlib.import_module("models_on_gpus")
    monkeypatch.setattr(models, "ARCHS", ("V100", "MI300X"))
    monkeypatch.setattr(models, "MODELS", {"ResNet": models.resnet})
    monkeypatch.setattr(models, "NUMBERS", {"fp16": models.NUMBERS["fp16"]})
    rows = models.forwards(True)
    assert [row["differing"] > 0 for row in rows] == [False, True] and rows[0]["unrouted"] == []


def test_greedy_text_parts_where_the_logits_say(monkeypatch):
    needs("torch", "transformers", "torchvision")
    models = importlib.import_module("models_on_gpus")
    monkeypatch.setattr(models, "ARCHS", ("H100", "MI300X"))
    monkeypatch.setattr(models, "NUMBERS", {"fp8": models.NUMBERS["fp8"]})
    row, = models.partings(True)
    assert row["place"] is not None and row["left"] != row["right"]
    # Each writes the token that it finds likelier.
    assert row["left_logits"][0] >= row["left_logits"][1] and row["right_logits"][1] >= row["right_logits"][0]
    assert f"| {row['place']} | {row['right']} | {row['left']} |" in models.table([], [row])


def test_training_parts_and_is_drawn():
    needs("torch")
    training = importlib.import_module("training")
    runs = {name: training.losses(*training.RUNS[name][:1], 3, training.RUNS[name][1])
            for name in ("A100", "MI300X", "MI250X, no loss scaling", "MI300X, no loss scaling")}
    curves, off = {name: run[0] for name, run in runs.items()}, {name: run[1] for name, run in runs.items()}
    assert all(len(curve) == 3 for curve in curves.values())
    # Rounding alone parts them.
    assert curves["A100"][2] != curves["MI300X"][2] and abs(curves["A100"][2] - curves["MI300X"][2]) < 0.05
    # MI250X takes small gradients for 0, where no scale lifts them.
    assert off["MI250X, no loss scaling"] > 10 * off["MI300X, no loss scaling"] and off["MI300X"] < 0.01
    picture = training.drawing(curves)
    assert picture.count("<polyline") == 7 and picture.endswith("</svg>\n")
    assert "| MI300X |" in training.table(curves, off)


def test_the_tutorial_runs_and_its_page_is_not_stale():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; the tutorial shows its arrays")
    done = subprocess.run([sys.executable, "python/tools/tutorial.py", "--check"], capture_output=True, text=True,
                          timeout=200, cwd=ROOT)
    assert done.returncode == 0, done.stderr or "docs/tutorial.md is stale: run python/tools/tutorial.py"


def test_the_tutorial_is_a_notebook():
    jupytext = pytest.importorskip("jupytext", reason="jupytext is not installed; the notebook was not made")
    notebook = jupytext.read(ROOT / "examples" / "python" / "tutorial.py")
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds.count("code") > 8 and kinds[0] == "markdown"


def test_results_are_drawn():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; plots were not tested")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    errors = mmascope.error("a100", "h100", types="f16,f16,f32", shape=(4, 4, 256), schedules=["chain", "split-k=2 reduce=pairwise/f32"])
    figure, axes = pyplot.subplots()
    assert errors.plot(axes) is axes and len(axes.get_lines()) == 4
    curve = errors["curves"][0]
    drawn = axes.get_lines()[0]
    assert list(drawn.get_xdata()) == [point["k"] for point in curve["points"]]
    assert list(drawn.get_ydata()) == [point["relative_to_products"]["mean"] for point in curve["points"]]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    pyplot.figure()
    assert errors.plot() is pyplot.gca()
    pyplot.close("all")


def test_comparisons_of_models_are_drawn():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; plots were not tested")
    torch = pytest.importorskip("torch")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Linear(512, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).half().eval()
    found = mmascope.torch.compare(net, torch.randn(4, 512, dtype=torch.float16) * 8, ["v100", "mi100", "h100"])
    _, axes = pyplot.subplots()
    found.plot(axes)
    assert [line.get_label() for line in axes.get_lines()] == ["mi100", "h100"]
    assert list(axes.get_lines()[0].get_ydata()) == [row["max"] for row in found.layers if row["arch"] == "mi100"]
    pyplot.close("all")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_are_tables(library):
    pytest.importorskip(library, reason=f"{library} is not installed; tables were not tested")
    errors = mmascope.error("a100", "h100", types="f16,f16,f32", shape=(4, 4, 64))
    points = [point for curve in errors["curves"] for point in curve["points"]]
    frame = getattr(errors, f"to_{library}")()
    assert len(frame) == len(points) and list(frame["k"]) == [point["k"] for point in points]
    assert list(frame["ulps_max"]) == [point["ulps"]["max"] for point in points]
    every = getattr(mmascope.catalogue(), f"to_{library}")()
    assert len(every) == len(mmascope.catalogue())
    assert list(every["inst"])[:3] == [row.name for row in mmascope.catalogue()][:3]
    difference = getattr(mmascope.diff("a100", "h100", types="f16,f16,f32", count=50), f"to_{library}")()
    assert len(difference) == 1 and difference["compared"][0] == 50
    validation = mmascope.validate(mmascope.find("h100", "f16"), "h100:f16", trials=2000)
    families = getattr(validation, f"to_{library}")()
    assert list(families["family"]) == [item["family"] for item in validation["families"]]
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(64, 8).half()
    layers = getattr(mmascope.torch.compare(net, torch.ones(2, 64).half(), ["v100", "h100"]), f"to_{library}")()
    assert list(layers["layer"]) == [""] and list(layers["elements"]) == [16]


def test_the_overhead_of_calls_can_be_measured():
    needs("torch")
    sys.path.insert(0, str(ROOT / "python" / "benchmarks"))
    overhead = importlib.import_module("overhead")
    rows = overhead.products(None)
    assert [row[0][:5] for row in rows] == ["256 x", "16 x "] and all(float(row[1].split()[0]) > 0 for row in rows)
    (what, _, beside), = overhead.simulated()
    # Two layers: two products forward, three backward, since the input needs no gradient.
    assert what.startswith("simulate: 5 products") and "% beside the products alone" in beside
    assert overhead.shortest([lambda: None], 2)[0] < 1
