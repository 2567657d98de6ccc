"""PyTorch models on CPU with the matrix arithmetic of another chip.

>>> with mmascope.torch.simulate(arch="mi300x") as simulation:
...     output = model(inputs)
>>> print(simulation.report)
"""

from ._compare import Comparison, compare
from ._ops import matmul
from ._simulate import Call, Simulation, SimulationReport, simulate

__all__ = ["Call", "Comparison", "Simulation", "SimulationReport", "compare", "matmul", "simulate"]
