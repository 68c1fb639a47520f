"""The protocol of TSI-Bench for Italy air and ETT-h1.

Rows are cut into windows that do not overlap (12 and 48 rows); the first 60 % are for training, then 20 %
validation, then 20 % test (ETT: 14, 5 and 5 months); values are standardised by the training
part; cells of all three parts are hidden: `point` 10, 50 or 90 % at random, `block` rectangles and
`subseq` stretches of one column, both about 50 %. The score is the mean absolute error on the hidden cells of
the test windows. Rectangles and stretches are placed by the rules of its generator `pygrinder`.

`windows`   every window is a series of its own (column `id`), as in TSI-Bench
`series`    the same hidden cells, but the rows in one series: what a user of a table has
"""

import datetime
import hashlib
import math

import numpy as np

from . import ours, plain, sets
from .environment import progress

SEED = 2024
PATTERNS = ("point-10", "point-50", "point-90", "block-50", "subseq-50")
# The factor of `block` is the generator's, tuned by TSI-Bench so that about half of the cells are hidden.
SHAPES = {
    "italy": {"steps": 12, "block": (4, 4, 0.07), "subseq": 8},
    "ett": {"steps": 48, "block": (6, 6, 0.36), "subseq": 36},
}
DATA = {"italy -200 kept": "italy", "italy -200 missing": "italy", "ett-h1": "ett"}
# Mean absolute errors, in the order of PATTERNS.
PUBLISHED = {
    "italy -200 kept": {
        "linear": (0.135, 0.214, 0.481, 0.377, 0.329),
        "HELIX (2026)": (0.122, 0.203, 0.463, 0.332, 0.297),
        "SAITS": (0.185, 0.285, None, None, None),
        "BRITS": (0.235, 0.321, None, None, None),
    },
    "ett-h1": {"linear": (0.197, 0.267, 0.616, 0.527, 0.722), "HELIX (2026)": (0.128, 0.189, 0.429, 0.372, 0.489)},
}


def run(chosen, ledger, rivals, program, cache):
    for data in DATA:
        for pattern in PATTERNS:
            for way in ("windows", "series"):
                _task(chosen, ledger, rivals, program, cache, data, pattern, way)


def _task(chosen, ledger, rivals, program, cache, data, pattern, way):
    shape = SHAPES[DATA[data]]
    dates, columns, parts = load(data, cache, shape["steps"])
    key = hashlib.sha256(f"{data} {pattern} {SEED}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(key[:8], "little"))
    hidden = np.concatenate([_hide(part, pattern, shape, random) for part in parts])
    truth = np.concatenate(parts)
    hidden &= ~np.isnan(truth)
    tested = hidden.copy()
    tested[: len(truth) - len(parts[2])] = False
    given = np.where(hidden, np.nan, truth)
    for method in chosen.methods:
        record = {
            "set": data,
            "task": f"tsi {pattern} {way}",
            "seed": 0,
            "method": method,
            "program": program.fingerprint if method in ours.METHODS and program else "",
        }
        if ledger.has(**record) or (method in ours.METHODS and not program):
            continue
        if method in ours.METHODS:
            filled, spent, note = _ours(program, method, dates, columns, given, way)
        elif method in ("linear", "scipy makima"):
            filled, spent, note = _plain(method, given, way), (0.0, 0.0), ""
        elif way == "series" and method in ("ridge", "trees"):
            times = np.arange(given.shape[0] * given.shape[1]) * 3600.0
            filled, spent, note = rivals.fill(method, times, given.reshape(-1, len(columns)), True, 0)
            filled = None if filled is None else filled.reshape(given.shape)
        else:
            continue
        if filled is not None:
            filled = np.where(np.isnan(filled), 0.0, filled)  # nothing known of a column in a window: the mean
            off = np.abs(filled - truth)[tested]
            record |= {
                "seconds": round(spent[0], 3),
                "processor": round(spent[1], 3),
                "absolute": float(off.mean()),
                "squared": float((off**2).mean()),
            }
        ledger.add(**record, note=note, hidden=float(hidden.mean()))
        progress(
            f"{data} {pattern} {way} {method}: "
            + (f"{record['absolute']:.3f} absolute, {spent[0]:.1f} s" if filled is not None else f"none ({note})")
        )


def load(data, cache, steps):
    """Dates of the rows, names of the columns, and three parts as windows [windows, steps, columns], standardised."""
    italy = data.startswith("italy")
    if italy:
        dates, columns, values = sets.italy(-200 if data.endswith("missing") else None)
        last = round(len(values) * 0.2)
        cuts = (len(values) - 2 * last, len(values) - last)
    else:
        table = sets.load("etth", cache, 10**9)
        dates, columns, values = (
            [datetime.datetime.fromisoformat(time) for time in table.times],
            table.columns,
            table.values,
        )
        month = [(date.year - 2016) * 12 + date.month - 7 for date in dates]
        cuts = (sum(number < 14 for number in month), sum(number < 19 for number in month))
    values = np.array(values)
    values = (values - np.nanmean(values[: cuts[0]], axis=0)) / np.nanstd(values[: cuts[0]], axis=0)
    parts, kept = [], []
    for first, end in ((0, cuts[0]), cuts, (cuts[1], len(values))):
        count = (end - first) // steps
        parts.append(values[first : first + count * steps].reshape(count, steps, -1))
        kept += dates[first : first + count * steps]
    return kept, columns, parts


def _hide(windows, pattern, shape, random):
    """What the generator of TSI-Bench hides in windows [windows, steps, columns]."""
    count, steps, columns = windows.shape
    kind, rate = pattern.split("-")
    hidden = np.zeros(windows.shape, dtype=bool)
    if kind == "point":
        return random.random(windows.shape) < int(rate) / 100
    long, wide, hits = shape["subseq"], 1, int(rate) / 100 * steps / shape["subseq"]
    if kind == "block":
        long, wide, factor = shape["block"]
        hits = factor * steps * columns / (long * wide)
    places = [(window, column) for window in range(count) for column in range(columns - wide + 1)]
    drawn = random.choice(len(places), math.ceil(len(places) * hits), replace=hits > 1)
    for place, start in zip(drawn, random.integers(0, steps - long + 1, len(drawn))):
        window, column = places[place]
        hidden[window, start : start + long, column : column + wide] = True
    return hidden


def _plain(method, given, way):
    fill = plain.linear if method == "linear" else plain.makima
    if way == "windows":
        times = np.arange(given.shape[1], dtype=float)
        return np.stack([fill(times, window) for window in given])
    rows = given.reshape(-1, given.shape[2])
    return fill(np.arange(len(rows), dtype=float), rows).reshape(given.shape)


def _ours(program, method, dates, columns, given, way):
    rows = given.reshape(-1, given.shape[2])
    times = [date.isoformat() for date in dates]
    if way == "series":
        table = sets.Table("", times, [], list(columns), rows)
        filled, _, _, spent, note = program.fill(method, table, rows)
    else:
        ids = [f"w{number // given.shape[1]:04}" for number in range(len(rows))]
        table = sets.Table("", times, [], list(columns), rows, ids)
        filled, _, _, spent, note = program.fill(method, table, rows, ids="id")
    return None if filled is None else filled.reshape(given.shape), spent, note
