"""The fixed workloads: sizes, made inputs, files to exchange them, and what they cost.

A workload's inputs are one dictionary of arrays, the same in numpy, in the peers and in
the safetensors file written by `cssc bench --check DIR WORKLOAD`:

    times    [points], or [batch, points] where every series has its own (ragged)
    values   [batch, points]      what is to be predicted, known at every point
    masks    [batch, points]      1 where the model sees the value; first and last are 1
    initial  [batch, hidden]      state to start from (field only)
    draws    [batch, latent]      standard normal numbers (latent-ode only)
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

LATENT, ENCODER_STATE, CELL = 15, 30, 100
LATENT_ODE_NETWORKS = {
    "encoder.dynamics": (ENCODER_STATE, 300, 300, 300, 300, ENCODER_STATE),
    **{f"encoder.cell.{gate}": (ENCODER_STATE + 2 * CHANNELS, CELL, ENCODER_STATE)
       for gate in ("reset", "update", "candidate")},
    "posterior": (ENCODER_STATE, 100, 2 * LATENT),
    "dynamics": (LATENT, 300, 300, 300, 300, LATENT),
    "decoder": (LATENT, 300, CHANNELS),
}
OBSERVATION_STD_DEV, START_STD_DEV = 0.01, 0.1
# Of the Kullback-Leibler term at half of the training (10 of 300 epochs without it).
DIVERGENCE_WEIGHT = 1 - 0.99 ** 140

GRU_STATE, PREPARED, LIKELIHOOD_WEIGHT, MIXING = 100, 25, 0.01, 0.0001
GRU_ODE_BAYES_NETWORKS = {
    **{f"flow.{gate}": (GRU_STATE, GRU_STATE) for gate in ("reset", "update", "candidate")},
    "belief": (GRU_STATE, 300, 2 * CHANNELS),
    "prepare.0": (4, PREPARED),
    **{f"cell.{gate}": (GRU_STATE + PREPARED, CELL, GRU_STATE)
       for gate in ("reset", "update", "candidate")},
}

LATENT_CSSC = {"width": 64, "layers": 2, "heads": 4, "feed-forward": 128, "frequencies": 24, "sines": 32, "code": 32, "sweeps": 3,
               "compensation-weight": 1.0, "epsilon": 1e-5}

VIDEO = {"frames": 250, "side": 32, "filters": 16, "code": 32}


def _video_layers():
    """Layers of encoder and decoder: name, shape of the weight, numbers out, and products of one frame."""
    side, filters, code = VIDEO["side"], VIDEO["filters"], VIDEO["code"]
    small = (side // 8) ** 2 * 4 * filters
    layers = []

    def convolution(name, kernel, inner, outer, out_side):
        layers.append((f"frame-encoder.{name}", (kernel * kernel * inner, outer), outer,
                       out_side**2 * kernel * kernel * inner * outer))

    convolution("first", 4, 1, filters, side // 2)
    for number in range(2):
        width, place = filters << number, side >> (number + 1)
        convolution(f"block{number}.0", 3, width, width, place)
        convolution(f"block{number}.1", 3, width, width, place)
        convolution(f"halving{number}", 4, width, 2 * width, place // 2)
    layers.append(("frame-encoder.code", (small, code), code, small * code))
    layers.append(("frame-decoder.first", (code, small), small, code * small))
    for number, (inner, outer) in enumerate(((4, 2), (2, 1), (1, 0))):
        inner, outer, place = inner * filters, outer * filters or 1, side >> (3 - number)
        layers.append((f"frame-decoder.doubling{number}", (inner, 16 * outer), outer, place**2 * inner * 16 * outer))
    return layers


def _latent_cssc_shapes():
    """Names and shapes of the parameters of latent CSSC."""
    width, sines, code = LATENT_CSSC["width"], LATENT_CSSC["sines"], LATENT_CSSC["code"]
    features, inner = 2 * LATENT_CSSC["frequencies"] + 1, LATENT_CSSC["feed-forward"]
    dense = {"encoder.input": (2 * CHANNELS + features, width)}
    norms = ["encoder.norm"]
    for layer in range(LATENT_CSSC["layers"]):
        name = f"encoder.{layer}"
        dense |= {f"{name}.{part}": (width, width) for part in ("queries", "keys", "values", "merge")}
        dense |= {f"{name}.network.0": (width, inner), f"{name}.network.1": (inner, width)}
        norms += [f"{name}.norm", f"{name}.second-norm"]
    dense |= {f"decoder.{name}": shape for name, shape in {
        "time": (features, width), "code": (width, code), "angles": (code, 2 * sines),
        "second-sines": (sines, sines), "sines": (sines, width), "code-shift": (code, width),
        "queries": (width, width), "keys": (width, width), "values": (width, width), "merge": (width, width),
        "output": (width, CHANNELS), "network.0": (width, inner), "network.1": (inner, width)}.items()}
    gates = LATENT_CSSC["sweeps"] * CHANNELS
    dense |= {"bumps.token": (width, gates), "bumps.gaps": (2, gates)}
    shapes = {}
    for name, shape in dense.items():
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, shape[1:]
    for name in norms:
        shapes[f"{name}.gain"], shapes[f"{name}.bias"] = (1, width), (width,)
    return shapes


# Observed points of each series' 100 (field has no observations, ragged sees all of its own).
OBSERVED = {"ode-rnn": 30, "cssc-10": 10, "cssc-30": 30, "cssc-50": 50,
            "hidden-10": 10, "hidden-30": 30, "hidden-50": 50, "infer": 30,
            "latent-ode": 30, "gru-ode-bayes": 30, "latent-30": 30}
WORKLOADS = ("field", *OBSERVED, "video", "ragged")


def series(workload):
    """Series, or frames, of one iteration."""
    return VIDEO["frames"] if workload == "video" else BATCH


def networks(workload):
    """Layer widths of the networks the workload uses."""
    if workload == "field":
        return {"dynamics": NETWORKS["dynamics"]}
    others = {"latent-ode": LATENT_ODE_NETWORKS, "gru-ode-bayes": GRU_ODE_BAYES_NETWORKS}
    return others.get(workload, NETWORKS)


def _layer_name(network, layer, depth):
    """`NAME.LAYER`, or `NAME` for a layer that stands alone."""
    return network if depth == 1 else f"{network}.{layer}"


def parameter_shapes(workload):
    """Names and shapes of the parameters the workload uses, in a fixed order."""
    if workload == "latent-30":
        return _latent_cssc_shapes()
    if workload == "video":
        return {f"{name}.{part}": of for name, shape, out, _ in _video_layers()
                for part, of in (("weight", shape), ("bias", (out,)))}
    shapes = {}
    for network, widths in networks(workload).items():
        for layer, (rows, columns) in enumerate(zip(widths, widths[1:])):
            name = _layer_name(network, layer, len(widths) - 1)
            shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (rows, columns), (columns,)
    if workload == "gru-ode-bayes":
        shapes["start"] = (1, GRU_STATE)
    return shapes


def parameter_names(workload):
    """Names of the parameters the workload uses, in a fixed order."""
    return list(parameter_shapes(workload))


def make_inputs(workload, seed=1):
    """Inputs drawn here, for runs without our own program (it brings its own)."""
    random = np.random.default_rng(seed)
    inputs = _made_series(workload, random)
    for name, shape in parameter_shapes(workload).items():
        deviation = 0.0 if name.endswith(".bias") else 0.1
        inputs[name] = (deviation * random.standard_normal(shape)).astype(np.float32)
    inputs["draws"] = random.standard_normal((BATCH, LATENT)).astype(np.float32)
    return inputs


def _made_series(workload, random):
    if workload == "field":
        return {"initial": random.standard_normal((BATCH, HIDDEN)).astype(np.float32)}
    if workload == "video":
        return {"frames": random.random((VIDEO["frames"], VIDEO["side"], VIDEO["side"])).astype(np.float32)}
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
    series = {"field": ("initial",), "video": ("frames",)}.get(workload, ("times", "values", "masks"))
    series += ("draws",) if workload == "latent-ode" else ()
    for name in (*series, *parameter_names(workload)):
        if name not in found:
            raise ValueError(f"{Path(path).name}: expected an array `{name}`, "
                             f"found {', '.join(sorted(found))}")
    for name in ("values", "masks"):
        if name in found and found[name].ndim == 3:  # [batch, points, channels]
            inputs[name] = found[name][:, :, 0]
    for name, expected in parameter_shapes(workload).items():
        if found[name].shape != expected:
            raise ValueError(f"{Path(path).name}: expected `{name}` of shape {expected}, "
                             f"found {found[name].shape}")
    return inputs


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


def _products(network, of=NETWORKS):
    widths = of[network]
    return sum(rows * columns for rows, columns in zip(widths, widths[1:]))


def _latent_cssc_products():
    """Multiplications of one series: every weight for each of its rows, and the two products of every attention."""
    knots, width = OBSERVED["latent-30"], LATENT_CSSC["width"]
    of_code = ("decoder.code.", "decoder.angles.", "decoder.code-shift.")
    of_tokens = ("encoder.", "bumps.", "decoder.keys.", "decoder.values.")
    products = 0
    for name, shape in _latent_cssc_shapes().items():
        if name.endswith(".weight"):
            rows = 1 if name.startswith(of_code) else knots if name.startswith(of_tokens) else POINTS
            products += rows * shape[0] * shape[1]
    attention = LATENT_CSSC["layers"] * knots * knots + POINTS * knots
    return products + 2 * attention * width


def flop(workload):
    """Floating-point operations of the matrix products that one iteration cannot avoid.

    Backward costs twice the forward pass. For CSSC: f is known at right limits from the walk,
    so it is evaluated at left limits only; tangents of f and three passes of g at all limits.
    """
    if workload == "video":
        return 3 * 2 * VIDEO["frames"] * sum(products for *_, products in _video_layers())
    if workload == "latent-30":
        return 3 * 2 * BATCH * _latent_cssc_products()
    if workload in ("latent-ode", "gru-ode-bayes"):
        return 3 * 2 * BATCH * _system_products(workload)
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


def _system_products(workload):
    """Products of one series: states that are visited times the networks that are used there."""
    of, observed = networks(workload), OBSERVED[workload]
    used = {"encoder.dynamics": observed - 1, "encoder.cell": observed, "posterior": 1,
            "dynamics": POINTS - 1, "flow": POINTS - 1, "decoder": POINTS,
            "belief": POINTS + 2 * observed, "prepare": observed, "cell": observed}
    return sum(_products(name, of) * (used.get(name) or used[name.rsplit(".", 1)[0]]) for name in of)


if __name__ == "__main__":  # python -m peers.workloads DIRECTORY WORKLOAD...
    for _workload in sys.argv[2:]:
        write_arrays(Path(sys.argv[1]) / f"{_workload}.safetensors", make_inputs(_workload))
