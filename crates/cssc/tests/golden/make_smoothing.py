"""Writes smoothing.json: scipy's smoothing splines for tests/smooth.rs.

    python3 make_smoothing.py > smoothing.json      (numpy, scipy)

With given strengths and weights, and with the strength chosen by scipy's generalised
cross-validation. scipy looks for it between 0 and the number of points only, with an absolute
tolerance of 1e-5, and may find a local minimum: cases are drawn until its choice is the best of
all strengths. The criterion is computed here anew, by dense matrices, at scipy's choice.
"""

import json
import sys

import numpy as np
import scipy
from scipy.interpolate import make_smoothing_spline


def influence(t, strength):
    unit = np.eye(len(t))
    return np.stack([make_smoothing_spline(t, e, lam=strength)(t) for e in unit], axis=1)


def criterion(t, x, strength):
    left = np.eye(len(t)) - influence(t, strength)
    return len(t) * np.sum((left @ x) ** 2) / np.trace(left) ** 2


def chosen(t, x):
    found = []
    search = scipy.interpolate._bsplines.minimize_scalar

    def listen(*arguments, **named):
        found.append(search(*arguments, **named))
        return found[-1]

    scipy.interpolate._bsplines.minimize_scalar = listen
    spline = make_smoothing_spline(t, x)
    scipy.interpolate._bsplines.minimize_scalar = search
    return spline, found[0].x


def case(random, points, strength):
    given = strength is not None
    gaps = 10 ** random.uniform(-1, 0.3, points) if given else random.uniform(0.2, 1.0, points)
    t = np.cumsum(gaps) + random.uniform(-3, 3)
    x = np.sin(t) + 0.3 * random.normal(size=points)
    span = t[-1] - t[0]
    inside = random.uniform(t[0] - 0.1 * span, t[-1] + 0.1 * span, 15)
    q = np.sort(np.concatenate([inside, t]))
    w = 10 ** random.uniform(-1, 1, points) if given else np.ones(points)
    answer = dict(t=t.tolist(), x=x.tolist(), w=w.tolist(), q=q.tolist(), chosen=not given)
    if given:
        spline = make_smoothing_spline(t, x, w=w, lam=strength)
    else:
        spline, strength = chosen(t, x)
        answer["criterion"] = criterion(t, x, strength)
        others = [criterion(t, x, other) for other in 10.0 ** np.arange(-6, 4, 0.5)]
        if not 0.01 < strength < 0.9 * points or min(others) < answer["criterion"]:
            return case(random, points, None)
    answer["strength"] = strength
    for name, order in [("y", 0), ("dy", 1), ("ddy", 2)]:
        answer[name] = spline(q, order).tolist()
    return answer


def main():
    random = np.random.default_rng(20240611)
    sizes = [(5, 0.0), (5, 0.3), (6, 1e-4), (8, 10.0), (12, 1.0), (30, 0.05), (30, 1e5)]
    cases = [case(random, points, strength) for points, strength in sizes]
    cases += [case(random, points, None) for points in (20, 40, 80, 120)]
    json.dump(dict(scipy=scipy.__version__, cases=cases), sys.stdout, indent=None)
    print()


main()
