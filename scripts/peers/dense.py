"""An independent answer for the compensation: the constraints as one dense system in numpy.

For every interval k of a series, c = p0 + p1 s + p2 s² + p3 s³ with s = t - t_k; the unknowns are
all coefficients together, the equations are the paper's constraints with the end rule
`output`. Nothing is shared with the programs that are checked.
"""

import numpy as np


def compensation(times, knots, observed, right, left):
    """c at `times` for one series; `right`, `left` are (o, ȯ, ö) as in torch_cssc.limits."""
    intervals = len(knots) - 1
    matrix, target = np.zeros((4 * intervals, 4 * intervals)), np.zeros(4 * intervals)
    row = 0

    def constrain(terms, value):
        nonlocal row
        for interval, s, order, sign in terms:
            matrix[row, 4 * interval:4 * interval + 4] += sign * _derivative(s, order)
        target[row] = value
        row += 1

    gaps = np.diff(knots)
    for k in range(intervals):
        constrain([(k, 0.0, 0, 1)], observed[k] - right[0][k])
        constrain([(k, gaps[k], 0, 1)], observed[k + 1] - left[0][k])
    for k in range(1, intervals):
        for order in (1, 2):  # left limit plus o equals right limit plus o
            constrain([(k - 1, gaps[k - 1], order, 1), (k, 0.0, order, -1)],
                      right[order][k] - left[order][k - 1])
    constrain([(0, 0.0, 2, 1)], -right[2][0])
    constrain([(intervals - 1, gaps[-1], 2, 1)], -left[2][-1])
    pieces = np.linalg.solve(matrix, target).reshape(intervals, 4)
    interval = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, intervals - 1)
    s = times - knots[interval]
    return sum(pieces[interval, power] * s**power for power in range(4))


def _derivative(s, order):
    powers = {0: [1, s, s**2, s**3], 1: [0, 1, 2 * s, 3 * s**2], 2: [0, 0, 2, 6 * s]}
    return np.array(powers[order], float)
