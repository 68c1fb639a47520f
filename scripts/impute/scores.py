"""Errors on hidden cells, and how they are put together."""

import math

import numpy as np

CLASSES = {"1": (1, 1), "2-5": (2, 5), "6-18": (6, 18), "19-48": (19, 48), "49+": (49, 10**9)}  # rows of a gap


def gap_lengths(values):
    """For every cell the length in rows of the run of missing cells that it is in; 0 where it is known."""
    lengths = np.zeros(values.shape, dtype=int)
    for column in range(values.shape[1]):
        missing = np.isnan(values[:, column]).astype(np.int8)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], missing, [0]])))
        for start, end in zip(edges[::2], edges[1::2]):
            lengths[start:end, column] = end - start
    return lengths


def errors(filled, truth, hidden, given):
    """Mean squared and absolute error in standard deviations of the columns, and both by class of gap length
    as [cells, sum of squares, sum of absolutes]."""
    scale = np.nanstd(truth, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    off = ((filled - truth) / scale)[hidden]
    lengths = gap_lengths(given)[hidden]
    classes = {}
    for name, (low, high) in CLASSES.items():
        some = off[(low <= lengths) & (lengths <= high)]
        if len(some):
            classes[name] = [len(some), float((some**2).sum()), float(np.abs(some).sum())]
    return {"squared": float(np.mean(off**2)), "absolute": float(np.mean(np.abs(off))), "classes": classes}


def coverage(lower, upper, truth, hidden, given):
    """By class of gap length [cells with a band, of these inside]."""
    banded = hidden & ~np.isnan(lower) & ~np.isnan(upper)
    inside = (lower <= truth) & (truth <= upper)
    lengths = gap_lengths(given)
    found = {}
    for name, (low, high) in CLASSES.items():
        some = banded & (low <= lengths) & (lengths <= high)
        if some.any():
            found[name] = [int(some.sum()), int((some & inside).sum())]
    return found


def geometric_mean(numbers):
    numbers = [max(number, 1e-12) for number in numbers]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def ranks(found):
    """{method: rank} from {method: error or none}; equal errors share their mean rank, failures come last."""
    order = sorted(found, key=lambda name: math.inf if found[name] is None else found[name])
    key = lambda name: math.inf if found[name] is None else found[name]  # noqa: E731
    result = {}
    for name in order:
        below = sum(key(other) < key(name) for other in order)
        equal = sum(key(other) == key(name) for other in order)
        result[name] = below + (equal + 1) / 2
    return result
