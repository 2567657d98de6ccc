"""Trees of callables, and trees as values."""

import json
import math
import subprocess
import sys

import numpy
import pytest

import mmascope


def chain(n, dtype="float32"):
    kind = numpy.dtype(dtype).type

    def add(x):
        total = kind(x[0])
        for value in x[1:]:
            total = kind(total + value)
        return total

    return mmascope.reveal(add, n, dtype)


def test_sums_of_numpy_have_the_published_tree():
    assert mmascope.reveal(numpy.sum, 7).pattern == "sequential"
    assert mmascope.reveal(numpy.sum, 8).pattern == "pairwise"
    assert mmascope.reveal(numpy.sum, 64).pattern == "8-way strided, pairwise combine"
    tree = mmascope.reveal(numpy.sum, 128)
    assert tree.pattern == "8-way strided, pairwise combine" and tree.verified["mismatches"] == 0
    assert tree.verified["trials"] == 100
    assert mmascope.reveal(numpy.sum, 64, dtype="float64").report["format"] == "f64"
    half = mmascope.reveal(numpy.sum, 256, dtype="float16").pattern
    assert half == f"{mmascope.reveal(numpy.sum, 256).pattern}, rounded to f16"


@pytest.mark.parametrize("algorithm", ["pivot", "distinct", "fprev", "basic"])
def test_algorithms_agree(algorithm):
    assert mmascope.reveal(numpy.sum, 40, algorithm=algorithm) == mmascope.reveal(numpy.sum, 40)


def test_the_tree_sums_as_the_subject_does():
    tree = mmascope.reveal(numpy.sum, 300)
    random = numpy.random.default_rng(5)
    for _ in range(20):
        x = random.standard_normal(300).astype(numpy.float32)
        assert numpy.float32(tree.run(x)) == numpy.sum(x)


def test_products_of_libraries():
    for subject in (numpy.dot, numpy.matmul, mmascope.subjects.numpy_gemv(), mmascope.subjects.numpy_gemm(8, 4)):
        tree = mmascope.reveal(subject, 48)
        assert tree.verified == {**tree.verified, "mismatches": 0, "trials": 100} and tree.names[0] == "p0"
    pytest.importorskip("scipy")
    assert mmascope.reveal(mmascope.subjects.scipy_blas("sdot"), 32).leaves == 32


def test_the_first_row_shows_the_order_of_all_rows():
    for n in (7, 24, 63):
        alone = mmascope.reveal(numpy.matmul, n, verify=False)
        assert alone.report["calls"] == alone.report["measurements"] and alone.report["all_calls"] < 4 * n * n
        # The same shape, whose rows are all asked.
        assert mmascope.reveal(mmascope.subjects.numpy_gemm(n, n), n, verify=False) == alone
    with pytest.raises(ValueError, match="results of shape"):
        mmascope.reveal(mmascope.subjects._Product("transposed", lambda a, b: (a @ b)[:3], None, None), 8)


def test_sums_of_torch_and_jax():
    torch = pytest.importorskip("torch")
    for subject in (torch.sum, torch.cumsum, torch.matmul, torch.nn.functional.linear):
        assert mmascope.reveal(subject, 33).verified["mismatches"] == 0
    tree = mmascope.reveal(torch._scaled_mm, 64, dtype=torch.float8_e5m2)
    assert tree.verified["mismatches"] == 0 and "(add f32" in str(tree)
    for dtype in (torch.bfloat16, torch.float16):
        tree = mmascope.reveal(torch.sum, 40, dtype=dtype)
        # PyTorch sums narrow numbers in f32 and rounds at the end.
        assert tree.verified["mismatches"] == 0 and "(add f32" in str(tree)
    # Masks absorb the least numbers of float16 in f32, however many there are.
    half, brain = (mmascope.reveal(torch.sum, 512, dtype=dtype).pattern for dtype in (torch.float16, torch.bfloat16))
    assert half.removesuffix(" f16") == brain.removesuffix(" bf16")
    jax = pytest.importorskip("jax")
    assert mmascope.reveal(jax.numpy.sum, 32).verified["mismatches"] == 0


def test_rows_at_once():
    tree = mmascope.reveal(lambda x: x.sum(-1), 64, batch=16)
    assert tree == mmascope.reveal(numpy.sum, 64) and tree.report["calls"] < 64


def test_what_has_no_tree_is_named():
    def shuffled(x):
        return float(numpy.sum(numpy.random.default_rng().permutation(x)))

    with pytest.raises(mmascope.NoTreeError, match="^fn: .*nondeterministic") as caught:
        mmascope.reveal(shuffled, 64)
    assert caught.value.report["nature"] == "nondeterministic"
    assert "(exact f64" in str(mmascope.reveal(math.fsum, 16, dtype="float64"))


@pytest.mark.parametrize(("function", "message"), [
    (lambda x: 1 / 0, "failed with ZeroDivisionError: division by zero"),
    (lambda x: x, "failed with TypeError"),
    (lambda x: None, "failed with TypeError"),
    (lambda x: "text", "failed with"),
])
def test_callables_that_fail(function, message):
    with pytest.raises(mmascope.DeviceError, match="^fn: .*" + message):
        mmascope.reveal(function, 8)


def test_what_is_no_sum_is_named():
    for function in (lambda x: 1.0, lambda x: float("nan"), lambda x: x[0]):
        with pytest.raises(mmascope.Error, match="^fn: "):
            mmascope.reveal(function, 16)


def test_wrong_arguments():
    for arguments, message in (((numpy.sum, 0), "^n = 0"), ((numpy.sum, 2.0), "^n = 2.0"), ((3, 4), "^fn: 3")):
        with pytest.raises(ValueError, match=message):
            mmascope.reveal(*arguments)
    with pytest.raises(KeyError, match="floaty"):
        mmascope.reveal(numpy.sum, 4, dtype="floaty")
    with pytest.raises(mmascope.DeviceError, match="16 rows"):
        mmascope.reveal(lambda x: x.sum(), 64, batch=16)


def test_a_keyboard_interrupt_passes():
    def stop(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mmascope.reveal(stop, 8)


def test_trees_go_to_json_and_back():
    tree = chain(24)
    for flat in (False, True):
        data = json.loads(json.dumps(tree.to_json(flat)))
        assert mmascope.Tree.from_json(data) == tree
        assert mmascope.Tree.from_json(json.dumps(data)) == tree
    assert ("nodes" in tree.to_json(True), "nodes" in tree.to_json()) == (True, False)
    assert mmascope.Tree.from_json(str(tree)) == tree
    assert tree != chain(23) and hash(tree) == hash(mmascope.Tree.from_json(str(tree)))
    assert "svg" in tree._repr_svg_() and "sequential" in tree._repr_html_()
    assert str(chain(3)) == "(add f32 (add f32 0 1) 2)"
    with pytest.raises(ValueError):
        mmascope.Tree.from_json("(add f32 0")


def test_a_deep_tree_goes_to_json_and_back():
    n = 16_384
    tree = mmascope.reveal(lambda x: numpy.add.accumulate(x)[-1], n, verify=False)
    assert tree.pattern == "sequential" and tree.depth == n - 1
    data = json.loads(json.dumps(tree.to_json()))
    assert {"leaves", "nodes", "root"} <= set(data) and "tree" not in data and len(data["leaves"]) == n
    assert mmascope.Tree.from_json(data) == tree
    x = numpy.random.default_rng(1).standard_normal(n).astype(numpy.float32)
    assert numpy.float32(tree.run(x)) == numpy.add.accumulate(x)[-1]


def fused_dot(a, b):
    """A chain of multiply-adds in f32, two at a time, whose halves are joined in f64."""
    sums = [0.0, 0.0]
    for at in range(len(a)):
        product = float(a[at]) * float(b[at])  # exact
        sums[at % 2] = float(numpy.float32(math.fsum([product, sums[at % 2]])))
    return numpy.float32(sums[0] + sums[1])


@pytest.mark.parametrize("flat", [False, True])
def test_what_is_known_beside_a_tree_goes_to_json_and_back(flat):
    tree = mmascope.reveal(fused_dot, 24)
    assert "fma" in str(tree) and tree.report["products"] == 24
    again = mmascope.Tree.from_json(json.loads(json.dumps(tree.to_json(flat))))
    assert again == tree and again.names == tree.names == [f"p{k}" for k in range(24)]
    assert again.report == tree.report and again.verified["mismatches"] == 0
    assert again.export("python") == tree.export("python") and "def mmascope_sum(a, b):" in again.export("python")
    assert again.renamed(["x"] * 24).to_json(flat)["leaves"] == ["x"] * 24
    x, y = numpy.random.default_rng(1).standard_normal((2, 24)).astype("f4")
    assert again.run(x, others=y) == tree.run(x, others=y) == fused_dot(x, y)
    # The order alone does not say which leaves are products.
    bare = mmascope.Tree.from_json(str(tree))
    with pytest.raises(ValueError, match="products says how many leaves"):
        bare.export("python")
    assert bare.export("python", products=24) == tree.export("python")
    for one in (bare, tree):
        with pytest.raises(ValueError, match="products need both factors: others"):
            one.run(x)


def test_values_are_numbers_of_the_operands_format():
    tree = mmascope.Tree.from_json("(add f32 (add f32 0 1) 2)")
    assert tree.run([1, 2, 0.1]) == tree.run([1, 2, 0.1], dtype="f32")
    for value in (1 + 2**-20, 1e6, 1e-9):
        with pytest.raises(mmascope.ArgumentError, match="is no number of f16"):
            tree.run([1, 2, value], dtype="f16")


def test_compensated_sums_have_no_tree():
    def neumaier(x):
        total, carry = x[0], numpy.float64(0)
        for term in x[1:]:
            after = total + term
            carry += (total - after) + term if abs(total) >= abs(term) else (term - after) + total
            total = after
        return total + carry

    for n in (5, 12):
        with pytest.raises(mmascope.NoTreeError, match="compensated"):
            mmascope.reveal(neumaier, n, dtype="float64")


def test_the_program_and_python_read_each_others_trees(tmp_path):
    def program(*words):
        done = subprocess.run([sys.executable, "-m", "mmascope", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    tree = mmascope.reveal(fused_dot, 24)
    path, ours = tmp_path / "tree.json", tree.export("python")
    path.write_text(json.dumps(tree.to_json()))
    assert program("tree", "export", str(path), "--language", "python") == ours
    copy = tmp_path / "copy.json"
    program("tree", "show", str(path), "-o", str(copy))
    assert mmascope.Tree.from_json(copy.read_text()).export("python") == ours
    x, y = numpy.random.default_rng(2).standard_normal((2, 24)).astype("f4")
    values = tmp_path / "values.txt"
    values.write_text(" ".join(f"{float(a)!r}*{float(b)!r}" for a, b in zip(x, y)))
    assert float(program("tree", "run", str(path), str(values))) == fused_dot(x, y)


@pytest.mark.parametrize(("wrong", "message"), [
    ({"products": 25}, "products = 25: a number of leaves from 0 to 24"), ({"products": -1}, "products = -1"),
    ({"operands": 3}, "operands = 3"), ({"format": "f33"}, "f33"), ({"fused_bits": "many"}, "fused_bits"),
    ({"rounding": []}, "rounding"),
])
def test_files_with_facts_that_mean_nothing(wrong, message):
    with pytest.raises(mmascope.Error, match=message):
        mmascope.Tree.from_json({**chain(24).to_json(), **wrong})


def test_a_sum_is_rounded_to_the_format_of_the_results():
    def wide(x):
        return numpy.float32(numpy.add.accumulate(x.astype("f8"))[-1])

    tree = mmascope.reveal(wide, 12)
    assert "(add f64" in str(tree) and tree.report["format"] == "f32"
    for seed in range(8):
        x = numpy.random.default_rng(seed).standard_normal(12).astype("f4")
        assert tree.run(x) == wide(x) and mmascope.Tree.from_json(tree.to_json()).run(x) == wide(x)
    assert mmascope.Tree.from_json(str(tree)).run(x) == numpy.add.accumulate(x.astype("f8"))[-1]
    assert "float mmascope_sum(" in tree.export("c")
    double = mmascope.reveal(lambda x: float(numpy.add.accumulate(x.astype("f8"))[-1]), 12, result="float64")
    assert "double mmascope_sum(" in double.export("c")


def test_instructions_have_trees():
    tree = mmascope.find("hopper", "mma.m16n8k8.f32.f16.f16.f32").tree()
    assert str(tree) == "(fused f32 0 1 2 3 4 5 6 7 8)" and tree.names[-1] == "c"
    tree = mmascope.find("a100", "f64").tree()
    assert "def mmascope_sum(a, b, c):" in tree.export("python")
    assert mmascope.Tree.from_json(tree.to_json()).export("c") == tree.export("c")


def test_results_wider_than_stated_are_named():
    for call, result in (
        (lambda: mmascope.reveal(math.fsum, 16), "float64"),
        (lambda: mmascope.reveal(lambda x: x.astype("f8").sum(), 16), "float64"),
        (lambda: mmascope.reveal(lambda x: x.astype("f4").sum(), 16, "float16"), "float32"),
        (lambda: mmascope.reveal(lambda x: x.astype("f8").sum(axis=1), 16, batch=4), "float64"),
    ):
        with pytest.raises(mmascope.NoTreeError, match=f"^fn: .*: its results are no f(32|16) numbers, .*result='{result}'"):
            call()
    assert mmascope.reveal(math.fsum, 16, result="float64").report["holds"]
