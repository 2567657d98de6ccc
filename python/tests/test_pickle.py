"""Objects that go to other processes, and copies."""

import copy
import multiprocessing
import pickle

import numpy
import pytest

import mmascope

TEXT = (
    "arch pickledchip = pc1\n"
    "dot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k12 | t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32 | open\n"
)


def ways(value):
    """The value by every protocol, and its copies."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(value, protocol))
    yield copy.copy(value)
    yield copy.deepcopy(value)


def chain(n):
    return mmascope.reveal(lambda x: numpy.add.accumulate(x)[-1], n, verify=False)


@pytest.mark.parametrize("make", [
    lambda: mmascope.reveal(numpy.sum, 300),
    lambda: mmascope.reveal(numpy.matmul, 24),
    lambda: mmascope.find("h100", "f16").tree(),
    lambda: mmascope.Tree.from_json("(add f32 (fused f16 2 0) 1)"),
    lambda: mmascope.Tree.from_json("(add f32 (add f32 0 1) 2)").renamed(["x", "y \"z\"", "c"]),
    lambda: chain(16_384),
], ids=["sum", "products", "instruction", "text", "named", "deep"])
def test_trees(make):
    tree = make()
    for other in ways(tree):
        assert other == tree and str(other) == str(tree)
        assert (other.names, other.report, other.depth) == (tree.names, tree.report, tree.depth)
    if tree.verified and tree.leaves < 1000:
        x, y = numpy.random.default_rng(1).standard_normal((2, tree.leaves))
        others = y if tree.report["products"] else None
        assert pickle.loads(pickle.dumps(tree)).run(x, others=others) == tree.run(x, others=others)


def test_instructions_and_catalogues():
    for row in (mmascope.find("h100", "f16"), mmascope.Unit("a=bf16 b=bf16 c=f32 d=f32 k=2", "t-fdpa L=2 F=12 e0=-126 -> rne f32"),
                next(row for row in mmascope.catalogue() if not row.facts["modelled"])):
        assert all(other == row and type(other) is type(row) and hash(other) == hash(row) for other in ways(row))
    own = mmascope.catalogue(isa=TEXT)
    for other in ways(own):
        assert other.hash == own.hash and other.find("pc1", "dot.m8n8k12.f32.f16").k == 12
    # Copies need no catalogue in use that has the instruction.
    row = own.find("pc1", "dot.m8n8k12.f32.f16")
    assert copy.copy(row) == row == copy.deepcopy(row)
    assert pickle.loads(pickle.dumps(mmascope.catalogue())).hash == mmascope.catalogue().hash


def test_numbers_and_reports():
    x = numpy.random.default_rng(2).standard_normal((16, 64)).astype("f4")
    made = mmascope.quantize(x, "mxfp8-e4m3")
    for other in ways(made):
        assert numpy.array_equal(other.dequantize(), made.dequantize()) and other._library is made._library
    row = mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")
    ones = numpy.ones(8, "f2")
    for report in (
        mmascope.diff("a100", "h100", types="f16,f16,f32", count=20), mmascope.probe(row), mmascope.infer(row),
        mmascope.validate(row, row, trials=100), mmascope.error("a100:f16", shape=(2, 2, 32)),
        mmascope.identify(x[:, :16].astype("f2"), x[:, :16].astype("f2"), x[:, :16]), row.explain(ones, ones),
    ):
        for other in ways(report):
            assert str(other) == str(report) and other.data == report.data
            assert other._repr_html_() == report._repr_html_()


def test_failures_keep_what_was_found():
    def shuffled(x):
        return float(numpy.sum(numpy.random.default_rng().permutation(x)))

    with pytest.raises(mmascope.NoTreeError) as caught:
        mmascope.reveal(shuffled, 32)
    for other in ways(caught.value):
        assert str(other) == str(caught.value) and other.report == caught.value.report
    with pytest.raises(mmascope.UnknownNameError) as caught:
        mmascope.find("h1000", "f16")
    assert all(str(other) == str(caught.value) for other in ways(caught.value))


def _described(tree):
    return tree.pattern, tree


def test_another_process_takes_a_tree():
    tree = mmascope.reveal(numpy.sum, 64)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_described, [tree]) == [(tree.pattern, tree)]
