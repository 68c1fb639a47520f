"""Writes splines.json: scipy's plain splines for tests/golden.rs.

    python3 make_splines.py > splines.json      (numpy, scipy)

Every kind with 2 to 9 points, 1 to 3 channels, query points inside, at the knots and outside;
some cases repeat values so that Akima's weights vanish. Akima takes its cut-off over all
channels, so each channel is fitted alone.
"""

import json
import sys

import numpy as np
import scipy
from scipy.interpolate import Akima1DInterpolator, CubicSpline


def fit(kind, t, x):
    if kind == "makima":
        return Akima1DInterpolator(t, x, method="makima", extrapolate=True)
    if kind == "clamped":
        return CubicSpline(t, x, bc_type=((1, 0.5), (1, -1.25)))
    return CubicSpline(t, x, bc_type=kind)


def case(random, kind, points, channels):
    t = np.cumsum(10 ** random.uniform(-1.5, 0.5, points)) + random.uniform(-3, 3)
    x = random.normal(size=(points, channels))
    if points > 4:
        x[1:4, 0] = x[1, 0]  # flat, then steep
    span = t[-1] - t[0]
    q = np.sort(np.concatenate([random.uniform(t[0] - 0.1 * span, t[-1] + 0.1 * span, 15), t]))
    paths = [fit(kind, t, x[:, j]) for j in range(channels)]
    derivative = lambda nu: np.stack([p(q, nu) for p in paths], axis=1).tolist()
    return dict(kind=kind, t=t.tolist(), x=x.tolist(), q=q.tolist(), y=derivative(0), dy=derivative(1), ddy=derivative(2))


def main():
    random = np.random.default_rng(20240607)
    kinds = ["natural", "not-a-knot", "clamped", "makima"]
    cases = [case(random, kind, points, 1 + points % 3) for kind in kinds for points in range(2, 10)]
    json.dump(dict(source=f"scipy {scipy.__version__}", cases=cases), sys.stdout)


main()
