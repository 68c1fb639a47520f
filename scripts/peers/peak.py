"""The speed of large single-precision matrix products: what the processor can do."""

import time

import numpy as np
import torch

SIZES = (768, 1024, 2048)
REPEATS = 6


def measure():
    """The best GFLOP/s of PyTorch's and numpy's product of square matrices."""
    best = 0.0
    for size in SIZES:
        left, right, out = (torch.randn(size, size) for _ in range(3))
        numpy_arrays = left.numpy(), right.numpy(), out.numpy()
        for product in (lambda: torch.mm(left, right, out=out),
                        lambda: np.matmul(*numpy_arrays[:2], out=numpy_arrays[2])):
            best = max(best, 2e-9 * size**3 / _shortest(product))
    return best


def _shortest(work):
    work()
    shortest = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest
