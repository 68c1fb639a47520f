"""PyPOTS' networks on windows of the table, trained on the table itself, on the processor."""

import time

import numpy as np

STEPS = 48  # rows of a window
BATCH = 32
MOST_EPOCHS = 100
SAITS = {"n_layers": 2, "d_model": 128, "n_heads": 4, "d_k": 32, "d_v": 32, "d_ffn": 256, "dropout": 0.1}
BRITS = {"rnn_hidden_size": 64}


def saits(values, limit, seed):
    from pypots.imputation import SAITS as Network

    return _fill(Network, SAITS, values, limit, seed)


def brits(values, limit, seed):
    from pypots.imputation import BRITS as Network

    return _fill(Network, BRITS, values, limit, seed)


def _fill(network, options, values, limit, seed):
    """One epoch is timed; then a fresh network gets as many as fit into the limit of processor seconds, at most
    MOST_EPOCHS."""
    from pypots.utils.random import set_random_seed

    mean, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    standard = ((values - mean) / scale).astype(np.float32)
    windows, starts = _windows(standard)
    make = lambda epochs: network(
        n_steps=windows.shape[1],
        n_features=windows.shape[2],
        batch_size=BATCH,  # noqa: E731
        epochs=epochs,
        device="cpu",
        verbose=False,
        **options,
    )
    set_random_seed(seed)
    start = time.process_time()
    make(1).fit({"X": windows})
    epochs = int(np.clip(limit / (time.process_time() - start) - 1, 1, MOST_EPOCHS))
    set_random_seed(seed)
    model = make(epochs)
    model.fit({"X": windows})
    found = model.predict({"X": windows})["imputation"]
    filled = np.array(standard, dtype=float)
    for first, window in zip(starts, found):
        filled[first : first + len(window)] = window
    return np.where(np.isnan(values), filled * scale + mean, values), f"{epochs} epochs"


def _windows(standard):
    """Windows one after another; the last one ends with the table."""
    steps = min(STEPS, len(standard))
    starts = [*range(0, len(standard) - steps, steps), len(standard) - steps]
    return np.stack([standard[start : start + steps] for start in starts]), starts
