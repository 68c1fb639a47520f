"""The fixed workloads: sizes, made inputs, files to exchange them, and what they cost.

A workload's inputs are one dictionary of arrays, the same in numpy, in the peers and in
the safetensors file written by `cssc bench --check DIR WORKLOAD`:

    times    [points], or [batch, points] where every series has its own (ragged)
    values   [batch, points]      what is to be predicted, known at every point
    masks    [batch, points]      1 where the model sees the value; first and last are 1
    initial  [batch, hidden]      state to start from (field only)
    dynamics.0.weight, ...        parameters; a weight is [in, out], y = x W + b
    loss, grad.NAME               what the writer of the file found (absent in made inputs)

The model (sizes of the paper's appendix D): h = 0 before the first observation; one Euler
step h += dt f(h) between neighbouring points; at an observed point the cell updates h after
the step; o = g(h) is read after the update. The cell sees u = [value or 0, mask]:

    r = sigmoid(reset [h, u])        z = sigmoid(update [h, u])
    n = tanh(candidate [r h, u])     h+ = (1 - z) n + z h
"""

import sys
from pathlib import Path

try:
    import numpy as np
except ModuleNotFoundError:  # sizes and costs are also asked outside the environment
    np = None

BATCH, POINTS, HIDDEN, CHANNELS = 50, 100, 15, 1
GRID_STEP = 0.05
RAGGED_POINTS = 30
COMPENSATION_WEIGHT = 1000.0
LEARNING_RATE, BETAS, EPSILON = 0.005, (0.9, 0.999), 1e-8

# Layer widths of every network, in the order in which their parameters are drawn.
NETWORKS = {
    "dynamics": (HIDDEN, 300, 300, 300, 300, HIDDEN),
    "decoder": (HIDDEN, 300, CHANNELS),
    "cell.reset": (HIDDEN + 2 * CHANNELS, 100, HIDDEN),
    "cell.update": (HIDDEN + 2 * CHANNELS, 100, HIDDEN),
    "cell.candidate": (HIDDEN + 2 * CHANNELS, 100, HIDDEN),
}

# Observed points of each series' 100 (field has no observations, ragged sees all of its own).
OBSERVED = {"ode-rnn": 30, "cssc-10": 10, "cssc-30": 30, "cssc-50": 50,
            "hidden-10": 10, "hidden-30": 30, "hidden-50": 50, "infer": 30}
WORKLOADS = ("field", *OBSERVED, "ragged")


def parameter_names(workload):
    """Names of the parameters the workload uses, in a fixed order."""
    networks = ["dynamics"] if workload == "field" else NETWORKS
    return [
        f"{network}.{layer}.{part}"
        for network in networks
        for layer in range(len(NETWORKS[network]) - 1)
        for part in ("weight", "bias")
    ]


def make_inputs(workload, seed=1):
    """Inputs drawn here, for runs without our own program (it brings its own)."""
    random = np.random.default_rng(seed)
    inputs = _made_series(workload, random)
    for network in ["dynamics"] if workload == "field" else NETWORKS:
        widths = NETWORKS[network]
        for layer, (rows, columns) in enumerate(zip(widths, widths[1:])):
            weight = 0.1 * random.standard_normal((rows, columns))
            inputs[f"{network}.{layer}.weight"] = weight.astype(np.float32)
            inputs[f"{network}.{layer}.bias"] = np.zeros(columns, np.float32)
    return inputs


def _made_series(workload, random):
    if workload == "field":
        return {"initial": random.standard_normal((BATCH, HIDDEN)).astype(np.float32)}
    if workload == "ragged":
        # 1,500 times that are all different, 30 to each series, in order within a series.
        times = np.sort(random.permutation(BATCH * RAGGED_POINTS).reshape(BATCH, -1), axis=1)
        times = times * (POINTS * GRID_STEP / (BATCH * RAGGED_POINTS))
        masks = np.ones(times.shape)
    else:
        times = np.arange(POINTS) * GRID_STEP
        masks = np.stack([_mask(OBSERVED[workload], random) for _ in range(BATCH)])
    frequency = random.uniform(0.4, 0.8, (BATCH, 1))
    values = np.sin(2 * np.pi * frequency * times) + random.normal(1.0, 0.1, (BATCH, 1))
    return {name: array.astype(np.float32)
            for name, array in (("times", times), ("values", values), ("masks", masks))}


def _mask(observed, random):
    mask = np.zeros(POINTS)
    mask[[0, -1]] = 1
    mask[1 + random.permutation(POINTS - 2)[: observed - 2]] = 1
    return mask


def read_inputs(path, workload):
    """Read a file of inputs; wrong or missing arrays are refused with what was expected."""
    from safetensors.numpy import load_file

    found = load_file(str(path))
    inputs = dict(found)
    series = ("initial",) if workload == "field" else ("times", "values", "masks")
    for name in (*series, *parameter_names(workload)):
        if name not in found:
            raise ValueError(f"{Path(path).name}: expected an array `{name}`, "
                             f"found {', '.join(sorted(found))}")
    for name in ("values", "masks"):
        if name in found and found[name].ndim == 3:  # [batch, points, channels]
            inputs[name] = found[name][:, :, 0]
    for name in parameter_names(workload):
        expected = _parameter_shape(name)
        if found[name].shape != expected:
            raise ValueError(f"{Path(path).name}: expected `{name}` of shape {expected}, "
                             f"found {found[name].shape}")
    return inputs


def _parameter_shape(name):
    network, layer, part = name.rsplit(".", 2)
    rows, columns = NETWORKS[network][int(layer):int(layer) + 2]
    return (rows, columns) if part == "weight" else (columns,)


def write_arrays(path, arrays):
    """Write named arrays as safetensors."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, str(path))


def series_arrays(inputs):
    """The series with time first, and the steps between points ([points-1], or with own times
    [points-1, batch, 1])."""
    gaps = np.diff(inputs["times"].astype(np.float64), axis=-1)
    return {"values": inputs["values"].T, "masks": inputs["masks"].T,
            "steps": gaps if gaps.ndim == 1 else gaps.T[:, :, None]}


def knot_arrays(inputs):
    """What a compensation needs that depends on times and masks alone.

    `interval` [batch, points], `offset` [batch, points, 1]: the knot interval of every grid point and the
    time since its start; `gaps` [batch, knots-1, 1]; `right`, `left`, `all`: rows of [points * batch] states
    at all knots but the last, but the first, at all; `observed` [batch, knots, 1]; `values` [batch, points, 1].
    """
    index, times = knot_indices(inputs["masks"]), inputs["times"].astype(np.float64)
    batch, knots = index.shape
    interval = np.minimum((inputs["masks"] > 0.5).cumsum(axis=1) - 1, knots - 2)
    rows = index * batch + np.arange(batch)[:, None]
    return {"interval": interval,
            "offset": (times - times[np.take_along_axis(index, interval, axis=1)])[..., None],
            "gaps": np.diff(times[index], axis=1)[..., None],
            "right": rows[:, :-1].reshape(-1), "left": rows[:, 1:].reshape(-1), "all": rows.reshape(-1),
            "observed": np.take_along_axis(inputs["values"], index, axis=1)[..., None],
            "values": inputs["values"][..., None]}


def knot_indices(masks):
    """Grid indices of the observed points, [batch, knots]; every series has equally many."""
    counts = (masks > 0.5).sum(axis=1)
    if counts.min() != counts.max():
        raise ValueError(f"expected equally many observed points in every series, "
                         f"found {counts.min()} to {counts.max()}")
    return np.nonzero(masks > 0.5)[1].reshape(len(masks), counts[0])


def _products(network):
    widths = NETWORKS[network]
    return sum(rows * columns for rows, columns in zip(widths, widths[1:]))


def flop(workload):
    """Floating-point operations of the matrix products that one iteration cannot avoid.

    Backward costs twice the forward pass. For CSSC: f is known at right limits from the walk,
    so it is evaluated at left limits only; tangents of f and three passes of g at all limits.
    """
    dynamics, decoder = _products("dynamics"), _products("decoder")
    cell = sum(_products(f"cell.{gate}") for gate in ("reset", "update", "candidate"))
    if workload == "field":
        return 3 * 2 * BATCH * POINTS * dynamics
    points, observed = (RAGGED_POINTS,) * 2 if workload == "ragged" else (POINTS, OBSERVED[workload])
    products = (points - 1) * dynamics + points * decoder + observed * cell
    if workload.startswith(("cssc", "hidden")):
        products += (observed - 1) * (dynamics + 2 * dynamics)
    if workload.startswith("cssc"):
        products += (observed - 1) * 2 * 3 * decoder
    return (1 if workload == "infer" else 3) * 2 * BATCH * products


if __name__ == "__main__":  # python -m peers.workloads DIRECTORY WORKLOAD...
    for _workload in sys.argv[2:]:
        write_arrays(Path(sys.argv[1]) / f"{_workload}.safetensors", make_inputs(_workload))
