"""Products of every instruction, compared with the command-line program's reference on drawn operands."""

import os
import random as plain_random

import numpy
import oracle
import pytest

import mmascope
from mmascope._arrays import numpy_dtype

ROWS = [row for row in mmascope.catalogue() if row.facts["modelled"]]


@pytest.fixture(scope="module")
def program():
    made = oracle.Program()
    yield made
    made.close()


def drawn(row, random, families, shape, steps):
    """A, B, C and scales of a row: batches of words."""
    a_kind, b_kind, c_kind, _, scale, k = row._kinds
    batch, m, n = shape
    length = steps * k
    operands = {
        "a": oracle.words(random, a_kind, families[0], (batch, m, length)),
        "b": oracle.words(random, b_kind, families[1], (batch, length, n)),
        "c": oracle.words(random, c_kind, families[2], (batch, m, n)),
    }
    if scale is not None:
        operands["scale_a"] = oracle.scales(random, families[0], (batch, m, length // scale[1]))
        operands["scale_b"] = oracle.scales(random, families[1], (batch, length // scale[1], n))
    return operands


def differences(result, expected, kind):
    """Where words of an array are not those of the program: (place, word, expected word)."""
    array = numpy.asarray(result)
    found = array.view(f"u{array.dtype.itemsize}").ravel().tolist()
    assert len(found) == len(expected)
    return [
        (place, hex(word), "nan" if wanted is None else hex(wanted))
        for place, (word, wanted) in enumerate(zip(found, expected))
        if (not oracle.is_nan(word, kind) if wanted is None else word != wanted)
    ]


def has_chain(row):
    """Whether D can be the next instruction's C. Where C is subtracted, the signs of a chain would change by turns."""
    # (C's own sign, and that of the last sum, which C is in.)
    subtracts = ("negate c" in row.arithmetic) != ("d = negate" in row.arithmetic)
    return row._kinds[2] == row._kinds[3] and not subtracts


def test_every_instruction_gives_the_bits_of_the_program(program):
    # Another seed in every run; MMASCOPE_SEED repeats a run.
    seed = int(os.environ.get("MMASCOPE_SEED") or plain_random.SystemRandom().randrange(1 << 32))
    random = numpy.random.default_rng(seed)
    for place, row in enumerate(ROWS):
        families = [oracle.FAMILIES[index] for index in random.integers(0, 3, 3)]
        operands = drawn(row, random, families, (1, 2, 2), 1 + int(has_chain(row) and place % 4 == 0))
        said = f"MMASCOPE_SEED={seed}: {row!r} {families}"
        expected, kind = program.matmul(row, **operands)
        assert not differences(row.matmul(**operands), expected, kind), said
        # A single dot product takes another way.
        one = {name: operand[0, 1] for name, operand in operands.items() if name in ("a", "scale_a")}
        one |= {name: operand[0, :, 0] for name, operand in operands.items() if name in ("b", "scale_b")}
        k = row.k
        if operands["a"].shape[-1] == k:
            d = row.dot(**one, c=operands["c"][0, 1, 0].reshape(()))
            assert not differences(d, expected[2:3], kind), said
    assert len(ROWS) > 700


def test_drawn_products_have_the_bits_of_the_program(program):
    hypothesis = pytest.importorskip("hypothesis")
    strategies = pytest.importorskip("hypothesis.strategies")
    families = strategies.sampled_from(oracle.FAMILIES)

    @hypothesis.settings(max_examples=2500, deadline=None)
    @hypothesis.given(
        strategies.sampled_from(ROWS), strategies.integers(0, 2**32 - 1), strategies.tuples(families, families, families),
        strategies.tuples(strategies.integers(1, 2), strategies.integers(1, 5), strategies.integers(1, 5)),
        strategies.integers(1, 2), strategies.data(),
    )
    def check(row, seed, families, shape, steps, data):
        operands = drawn(row, numpy.random.default_rng(seed), families, shape, steps if has_chain(row) else 1)
        # Some words are hypothesis' own, so that it can make a failing one simple.
        for name, kind in zip("abc", row._kinds):
            flat = operands[name].reshape(-1)
            places = strategies.integers(0, flat.size - 1)
            words = strategies.integers(0, (1 << oracle.width(kind)) - 1)
            for at, word in data.draw(strategies.lists(strategies.tuples(places, words), max_size=3)):
                flat[at] = word
        expected, kind = program.matmul(row, **operands)
        given = dict(operands)
        for name, kind_in in zip("abc", row._kinds):
            # As codes or as numbers of the format, by rows or by columns.
            dtype = numpy_dtype(kind_in)
            if data.draw(strategies.booleans()) and dtype.itemsize == given[name].itemsize:
                given[name] = given[name].view(dtype)
            if data.draw(strategies.booleans()):
                given[name] = numpy.ascontiguousarray(given[name].swapaxes(-1, -2)).swapaxes(-1, -2)
        threads = data.draw(strategies.sampled_from([None, 1, 2]))
        d = row.matmul(**given, threads=threads, by_reference=data.draw(strategies.booleans()))
        assert d.shape == shape
        assert not differences(d, expected, kind)

    check()
