"""Structural time series: statsmodels' UnobservedComponents, column by column."""

import time
import warnings

import numpy as np

HARMONICS = 3
ITERATIONS = 30


def unobserved_components(times, values, periods, limit):
    """A local level with a stochastic cycle for each period, fitted by likelihood and smoothed. Columns whose turn comes
    after the limit of processor seconds stay straight lines; the note says how many."""
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    from . import plain

    filled, start, late = plain.linear(times, values), time.process_time(), 0
    spacing = np.median(np.diff(times))
    rows = np.round((times - times[0]) / spacing).astype(int)
    cycles = [
        {"period": period / spacing, "harmonics": HARMONICS} for period in periods if period / spacing > 2 * HARMONICS
    ]
    gaps = np.flatnonzero(np.isnan(values).any(axis=0))
    for column in gaps:
        if time.process_time() - start > limit:
            late += 1
            continue
        mean, scale = np.nanmean(values[:, column]), np.nanstd(values[:, column]) or 1.0
        series = np.full(rows[-1] + 1, np.nan)
        series[rows] = (values[:, column] - mean) / scale
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = UnobservedComponents(
                series,
                level="local level",
                irregular=True,
                freq_seasonal=cycles,
                stochastic_freq_seasonal=[False] * len(cycles),
            )
            fitted = model.fit(disp=False, maxiter=ITERATIONS)
            smooth = fitted.smoother_results.smoothed_forecasts[0]
        missing = np.isnan(values[:, column])
        filled[missing, column] = mean + scale * smooth[rows][missing]
    return filled, f"{len(gaps) - late} of {len(gaps)} columns in time" if late else ""
