"""A first program: one product on three chips, one output step by step, the order of one sum."""

import numpy

import mmascope


def main() -> None:
    # One matrix product with the bits of three chips.
    random = numpy.random.default_rng(0)
    a = random.standard_normal((64, 256)).astype(numpy.float16)
    b = random.standard_normal((256, 64)).astype(numpy.float16)
    results = {arch: mmascope.matmul(a, b, arch=arch) for arch in ("v100", "h100", "mi300x")}
    print("taken:", mmascope.chosen())
    for arch, d in results.items():
        print(f"{arch}: {int((d != results['h100']).sum())} of {d.size} elements differ from H100")

    # One output step by step, on two chips.
    x = numpy.array([-(2.0**13), -0.5, -0.25, -0.125, 0, 0, 0, 0], numpy.float16)
    y = numpy.array([2.0**10, 1, 1, 1, 0, 0, 0, 0], numpy.float16)
    row = mmascope.find("a100", "mma.m16n8k8.f32.f16.f16.f32")
    print(row.explain(x, y, numpy.float32(2.0**23), against=mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")))

    # In which order NumPy sums.
    tree: mmascope.Tree = mmascope.reveal(numpy.sum, 64)
    print(tree.pattern, tree.verified)


if __name__ == "__main__":
    main()
