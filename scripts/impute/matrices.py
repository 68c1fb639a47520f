"""ImputeGAP's own algorithms with the settings of its default_values.toml, on standardised columns as it loads them."""

import numpy as np

TKCM_RANK, RANK, STATES = 4, 3, 3
TKCM_HISTORY = 50  # rows before the first gap: it learns from these alone, and reads beyond its arrays with few


class Unable(Exception):
    """The table is not for this algorithm."""


def cdrec(values):
    from imputegap.algorithms.cdrec import cdrec as run

    return _standard(values, lambda x: run(x, _rank(x, RANK), 100, 1e-6, logs=False, verbose=False))


def iterative_svd(values):
    from imputegap.algorithms.iterative_svd import iterative_svd as run

    return _standard(values, lambda x: run(x, _rank(x, RANK), logs=False, verbose=False))


def dynammo(values):
    from imputegap.algorithms.dynammo import dynammo as run

    return _standard(values, lambda x: run(x, STATES, 100, True, logs=False, verbose=False))


def trmf(values):
    from imputegap.algorithms.trmf import trmf as run

    return _standard(values, lambda x: run(x, [1, 7], 4, 1, 1, 1, 1, 1000, 5000, logs=False, verbose=False))


def tkcm(values):
    """It fills the first column only, from three others: every column in turn is the first, the others filled by straight
    lines. Columns without a history stay straight lines."""
    from imputegap.algorithms.tkcm import tkcm as run

    from . import plain

    def fill(x):
        whole = plain.linear(np.arange(len(x), dtype=float), x)
        found = whole.copy()
        able = [
            column
            for column in np.flatnonzero(np.isnan(x).any(axis=0))
            if np.isnan(x[:, column]).argmax() >= TKCM_HISTORY
        ]
        if not able or x.shape[1] < 4:
            raise Unable(f"needs four columns and {TKCM_HISTORY} rows before the first gap")
        for column in able:
            others = np.delete(whole, column, axis=1)
            given = np.column_stack([x[:, column], others])
            found[:, column] = run(given, _rank(given, TKCM_RANK), logs=False, verbose=False)[:, 0]
        return found

    return _standard(values, fill)


def _rank(x, wanted):
    if x.shape[1] < 2:
        raise Unable("needs several columns")
    return min(wanted, x.shape[1] - 1)


def _standard(values, fill):
    mean, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    filled = np.asarray(fill(np.ascontiguousarray((values - mean) / scale)))
    return np.where(np.isnan(values), filled * scale + mean, values)
