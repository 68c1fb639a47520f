"""Which known cells are hidden: the task that every method gets.

P10, P50    single cells at random, 10 or 50 % of them
BLOCK       blocks of 3 to 48 rows, in every column at other places, 10 % of the cells
BLOCKALL    blocks of 3 to 48 rows in all columns at once, 10 % of the rows
mcar-30 …   the patterns of ImputeGAP by its own generator; the number is the percentage both of the
            columns and of their rows, as in ImputeGAP's own benchmark

The first and the last row stay known in our own tasks: they are interpolation. ImputeGAP's patterns keep the
first tenth of the rows.
"""

import hashlib

import numpy as np

OWN = ("P10", "P50", "BLOCK", "BLOCKALL")
PATTERNS = ("mcar", "aligned", "disjoint", "overlap", "scattered", "blackout")
RATES = (10, 30, 50)
IMPUTEGAP = tuple(f"{pattern}-{rate}" for pattern in PATTERNS for rate in RATES)
TASKS = OWN + IMPUTEGAP
SHORTEST, LONGEST = 3, 48
BLOCK_SHARE = 0.1


def hidden(values, name, task, seed):
    """A matrix of booleans: the known cells that are hidden. The same on every machine."""
    key = hashlib.sha256(f"{name} {task} {seed}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(key[:8], "little"))
    if task.startswith("P"):
        mask = random.random(values.shape) < int(task[1:]) / 100
        mask[[0, -1]] = False
    elif task == "BLOCK":
        mask = np.column_stack([_blocks(len(values), random) for _ in range(values.shape[1])])
    elif task == "BLOCKALL":
        mask = np.repeat(_blocks(len(values), random)[:, None], values.shape[1], axis=1)
    else:
        mask = _of_imputegap(values, task, random)
    return mask & ~np.isnan(values)


def _blocks(rows, random):
    """Blocks that do not touch, until their share of the rows is hidden."""
    mask = np.zeros(rows, dtype=bool)
    longest = min(LONGEST, rows // 5)
    for _ in range(100 * rows):
        if mask.sum() >= BLOCK_SHARE * rows:
            break
        length = int(random.integers(SHORTEST, longest + 1))
        start = int(random.integers(1, rows - length - 1))
        if not mask[start - 1 : start + length + 1].any():
            mask[start : start + length] = True
    return mask


def _of_imputegap(values, task, random):
    """Its patterns begin at the first column: columns are shuffled so that seeds differ."""
    from imputegap.recovery.contamination import GenGap

    pattern, rate = task.rsplit("-", 1)
    rate = int(rate) / 100
    order = random.permutation(values.shape[1])
    filled = np.where(np.isnan(values), 0.0, values)[:, order]
    np.random.seed(int(random.integers(2**31)))  # its generator draws from numpy's global state
    options = {"rate_series": rate, "verbose": False}
    if pattern in ("mcar", "aligned", "scattered"):
        options["rate_dataset"] = rate
    if pattern in ("mcar", "scattered"):
        options["seed"] = False
    found = np.isnan(getattr(GenGap, pattern)(filled, **options))
    mask = np.empty_like(found)
    mask[:, order] = found
    return mask
