"""Regressions that learn from cells hidden on purpose, in the pattern of the real gaps (method: features.py)."""

import numpy as np

from . import features

EXAMPLES = 2500  # hidden cells a column is to learn from, in so many rounds of hiding:
FEWEST_ROUNDS, MOST_ROUNDS = 4, 24
HIDE = 0.12  # most of the known cells that a round hides: the surroundings stay as dense as they are
STRENGTHS = np.array([0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0])
CHUNKS = 8  # stretches of rows that are left out in turn to choose the strength
FEW = 40  # cells of a class below which it shares the coefficients of all classes


def ridge(times, values, dated, seed=0):
    """The table filled by ridge regressions, per column and class of gap length."""
    return _fill(times, values, dated, seed, _fit_ridge)


def trees(times, values, dated, seed=0):
    """The table filled by boosted trees on the same features."""
    return _fill(times, values, dated, seed, lambda cells, truth: _fit_trees(cells, truth, seed))


def _fill(times, values, dated, seed, fit):
    missing = np.isnan(values)
    scale = np.nanstd(values, axis=0)
    mean, scale = np.nan_to_num(np.nanmean(values, axis=0)), np.where(scale > 0, scale, 1.0)
    standard = (values - mean) / scale
    view = features.View(times, standard, dated)
    rounds = _rounds(times, standard, missing, dated, view.periods, np.random.default_rng(seed))
    filled = view.linear.copy()
    for column in np.flatnonzero(missing.any(axis=0)):
        if missing[:, column].all():
            continue
        examples = features.join([seen.cells(column, np.flatnonzero(hidden[:, column])) for hidden, seen in rounds])
        cells = view.cells(column, np.flatnonzero(missing[:, column]))
        predict = fit(examples, standard[examples.rows, column] - examples.chord)
        filled[cells.rows, column] = cells.chord + predict(cells)
    return np.where(missing, filled * scale + mean, values)


def _rounds(times, standard, missing, dated, periods, random):
    """What is hidden in each round, and the table without it."""
    rounds, count = [], 0
    while len(rounds) < FEWEST_ROUNDS or (count < EXAMPLES and len(rounds) < MOST_ROUNDS):
        hidden = hide_alike(missing, random)
        count += hidden.sum() / missing.any(axis=0).sum()
        rounds.append((hidden, features.View(times, np.where(hidden, np.nan, standard), dated, periods)))
    return rounds


def hide_alike(missing, random):
    """Known cells to hide: the gaps of the table, moved by a random number of rows and thinned. Gaps that begin
    and end together in several columns stay together."""
    moved = np.roll(missing, int(random.integers(1, len(missing))), axis=0)
    moved[[0, -1]] = False
    keep = min(1.0, HIDE / max(moved.mean(), 1e-9))
    chosen, lottery = np.zeros_like(missing), {}
    for column in range(missing.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], moved[:, column].astype(np.int8), [0]])))
        for start, end in zip(edges[::2], edges[1::2]):
            if lottery.setdefault((start, end), random.random()) < keep:
                chosen[start:end, column] = True
    chosen &= ~missing
    chosen[:, (~missing & ~chosen).sum(axis=0) < 2] = False  # something of each column stays known
    return chosen


def _fit_ridge(cells, truth):
    """Coefficients for each class of gap length, of all classes where one has few examples."""
    scale = cells.matrix.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    matrix, chunk = cells.matrix / scale, cells.rows * CHUNKS // (cells.rows.max() + 1) if len(truth) else cells.rows
    nothing = (0.0, np.zeros(matrix.shape[1]))
    whole = _choose(matrix, cells.curve, truth, chunk) if len(truth) >= FEW else nothing
    found = {}
    for group in np.unique(cells.group):
        near = cells.group == group
        if near.sum() >= FEW:
            found[group] = _choose(matrix[near], cells.curve[near], truth[near], chunk[near])

    def predict(asked):
        answer = np.zeros(len(asked.rows))
        for group in np.unique(asked.group):
            near = asked.group == group
            share, weights = found.get(group, whole)
            answer[near] = share * asked.curve[near] + asked.matrix[near] / scale @ weights
        return answer

    return predict


def _choose(matrix, curve, truth, chunk):
    """The share of the Akima curve (0: straight lines, 1) to start from and the coefficients beyond it, by
    leaving out stretches of rows. Coefficients must gain more than their noise, else they are 0."""
    share = 1.0 if np.mean((truth - curve) ** 2) < np.mean(truth**2) else 0.0
    target = truth - share * curve
    left_out = np.empty((len(STRENGTHS), len(target)))
    for number in np.unique(chunk):
        out = chunk == number
        for k, weights in enumerate(_solve(matrix[~out], target[~out], STRENGTHS)):
            left_out[k, out] = target[out] - matrix[out] @ weights
    best = int(np.argmin((left_out**2).mean(axis=1)))
    gain = target**2 - left_out[best] ** 2
    by_chunk = np.array([gain[chunk == number].sum() for number in np.unique(chunk)])
    noise = by_chunk.std() * np.sqrt(len(by_chunk))
    if by_chunk.sum() <= noise:
        return share, np.zeros(matrix.shape[1])
    return share, _solve(matrix, target, STRENGTHS[best : best + 1])[0]


def _solve(matrix, target, strengths):
    """Ridge coefficients for several strengths by one eigendecomposition."""
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    along = vectors.T @ (matrix.T @ target)
    return [vectors @ (along / (np.maximum(values, 0.0) + strength)) for strength in strengths]


def _fit_trees(cells, truth, seed):
    from sklearn.ensemble import HistGradientBoostingRegressor

    if len(truth) < FEW:
        return lambda asked: np.zeros(len(asked.rows))
    inputs = lambda some: np.column_stack([some.curve, some.matrix, some.levels, some.group])  # noqa: E731
    model = HistGradientBoostingRegressor(
        max_iter=200,
        learning_rate=0.08,
        max_leaf_nodes=16,
        l2_regularization=1.0,
        early_stopping=True,
        random_state=seed,
    )
    model.fit(inputs(cells), truth)
    return lambda asked: model.predict(inputs(asked))
