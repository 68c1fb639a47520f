"""The models in PyTorch, eager: what a careful user would write.

Weights that share an input are joined (the first layers of the three gates see u, known
for all points beforehand; reset and update see h together), predictions are read from all
states in one product, and the derivatives of all limits are one stacked pass of jets.
"""

import torch

from . import workloads


def mlp(layers, x):
    """Tanh layers, the last one linear."""
    for weight, bias in layers[:-1]:
        x = torch.addmm(bias, x, weight).tanh_()
    weight, bias = layers[-1]
    return torch.addmm(bias, x, weight)


def network(parameters, name):
    """The (weight, bias) pairs of one network."""
    depth = len(workloads.NETWORKS[name]) - 1
    return [(parameters[f"{name}.{layer}.weight"], parameters[f"{name}.{layer}.bias"])
            for layer in range(depth)]


class Cell:
    """The GRU-type cell with the weights of its gates joined once for a whole walk."""

    def __init__(self, parameters, values, masks):
        """`values` and `masks` are [points, batch]."""
        hidden = workloads.HIDDEN
        reset, update, candidate = (
            network(parameters, f"cell.{gate}") for gate in ("reset", "update", "candidate"))
        first = [gate[0] for gate in (reset, update, candidate)]
        u = torch.stack((values * masks, masks), dim=-1)
        from_u = torch.cat([bias for _, bias in first]) + u @ torch.cat(
            [weight[hidden:] for weight, _ in first], dim=1)
        width = 2 * first[0][0].shape[1]
        self.gates_u, self.candidate_u = from_u[..., :width].unbind(), from_u[..., width:].unbind()
        self.gates_first = torch.cat([reset[0][0][:hidden], update[0][0][:hidden]], dim=1)
        self.gates_second = torch.block_diag(reset[1][0], update[1][0])
        self.gates_bias = torch.cat([reset[1][1], update[1][1]])
        self.candidate_first = candidate[0][0][:hidden]
        self.candidate_second, self.candidate_bias = candidate[1]
        self.seen = (masks > 0.5).unsqueeze(-1).unbind()

    def step(self, index, h):
        """The state after the update at point `index`; series without observation keep theirs."""
        return update(h, self.gates_u[index], self.candidate_u[index], self.seen[index],
                      self.gates_first, self.gates_second, self.gates_bias,
                      self.candidate_first, self.candidate_second, self.candidate_bias)


def update(h, gates_u, candidate_u, seen, gates_first, gates_second, gates_bias,
           candidate_first, candidate_second, candidate_bias):
    """One update of the cell; a function of tensors alone, so that it can be compiled."""
    gates = torch.addmm(gates_u, h, gates_first).tanh_()
    r, z = torch.addmm(gates_bias, gates, gates_second).sigmoid_().chunk(2, dim=1)
    n = torch.addmm(candidate_u, r * h, candidate_first).tanh_()
    n = torch.addmm(candidate_bias, n, candidate_second).tanh_()
    return torch.where(seen, torch.lerp(n, h, z), h)


def euler(h, dt, layers):
    """One Euler step; `dt` is a number, or a column with one step for each series."""
    if isinstance(dt, float):
        return torch.add(h, mlp(layers, h), alpha=dt)
    return torch.addcmul(h, mlp(layers, h), dt)


def field_loss(parameters, initial, steps=workloads.POINTS, advance=euler):
    """Mean square of the states after each of 100 Euler steps."""
    layers, h, states = network(parameters, "dynamics"), initial, []
    for _ in range(steps):
        h = advance(h, workloads.GRID_STEP, layers)
        states.append(h)
    return torch.stack(states).square().mean()


def walk(parameters, series, advance=euler, cell_step=Cell.step):
    """States before and after the update at every point, each [points, batch, hidden]."""
    layers = network(parameters, "dynamics")
    cell = Cell(parameters, series["values"], series["masks"])
    h = torch.zeros(series["values"].shape[1], workloads.HIDDEN, dtype=series["values"].dtype)
    before, after = [], []
    for index, dt in enumerate([None, *series["steps"]]):
        if dt is not None:
            h = advance(h, dt, layers)
        before.append(h)
        h = cell_step(cell, index, h)
        after.append(h)
    return torch.stack(before), torch.stack(after)


def predict(parameters, states):
    """o = g(h) for all states, [points, batch]."""
    flat = mlp(network(parameters, "decoder"), states.flatten(0, -2))
    return flat.view(states.shape[:-1])


def ode_rnn_predict(parameters, series, **how):
    """The prediction at every point, after the update where there is one."""
    return predict(parameters, walk(parameters, series, **how)[1])


def ode_rnn_loss(parameters, series, **how):
    """Mean squared error over all points."""
    return (series["values"] - ode_rnn_predict(parameters, series, **how)).square().mean()


def tensors(arrays, dtype):
    """Arrays as tensors; numbers in the type asked for, indices as they are."""
    return {name: torch.tensor(array.copy(), dtype=dtype if array.dtype.kind == "f" else None)
            for name, array in arrays.items()}


def series_of(inputs, dtype=torch.float32):
    """The series as tensors with time first, and the list of steps between points."""
    series = tensors(workloads.series_arrays(inputs), dtype)
    steps = series["steps"]
    return {**series, "steps": steps.tolist() if steps.ndim == 1 else list(steps.unbind())}
