"""Interpolation of every column by itself: linear, pchip, makima."""

import numpy as np
from scipy.interpolate import Akima1DInterpolator, PchipInterpolator


def linear(times, values):
    """Straight lines; the nearest value beyond the ends, 0 where a column is empty."""
    return _columns(times, values, lambda t, x: lambda at: np.interp(at, t, x), least=1)


def makima(times, values):
    """Modified Akima pieces inside the known range, the nearest value beyond it."""
    return _columns(times, values, lambda t, x: Akima1DInterpolator(t, x, method="makima"), least=3)


def pchip(times, values):
    """Monotone cubic pieces inside the known range, the nearest value beyond it."""
    return _columns(times, values, PchipInterpolator, least=2)


def _columns(times, values, make, least):
    filled = np.zeros_like(values)
    for column in range(values.shape[1]):
        known = ~np.isnan(values[:, column])
        if not known.any():
            continue
        t, x = times[known], values[known, column]
        curve = make(t, x) if known.sum() >= least else lambda at, t=t, x=x: np.interp(at, t, x)
        filled[:, column] = curve(np.clip(times, t[0], t[-1]))
    return np.where(np.isnan(values), filled, values)
