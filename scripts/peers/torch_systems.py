"""Latent-ODE and GRU-ODE-Bayes in PyTorch, with the steps of torchdiffeq or by hand.

Written from the papers (Rubanova et al. 2019, De Brouwer et al. 2019) with the choices of PAPER.md, so that
loss and gradients are those of our programs.
"""

import math

import torch
import torch.nn.functional as F
from torchdiffeq import odeint

from . import workloads
from .torch_model import mlp


def layers(parameters, workload, name):
    """The (weight, bias) pairs of a network."""
    depth = len(workloads.networks(workload)[name]) - 1
    names = [name] if depth == 1 else [f"{name}.{layer}" for layer in range(depth)]
    return [(parameters[f"{part}.weight"], parameters[f"{part}.bias"]) for part in names]


def series_of(inputs, dtype):
    """Values, masks (as they decide) and times as tensors, time first."""
    of = lambda array: torch.tensor(array, dtype=dtype)  # noqa: E731
    return {"values": of(inputs["values"].T.copy()), "masks": torch.tensor(inputs["masks"].T > 0.5),
            "times": of(inputs["times"].astype("float64"))}


def by_hand(field, h, times):
    """States at all times, Euler; like `odeint`."""
    states = [h]
    for dt in times.diff().tolist():
        states.append(torch.add(states[-1], field(states[-1]), alpha=dt))
    return torch.stack(states)


def by_torchdiffeq(field, h, times):
    return odeint(lambda _, state: field(state), h, times, method="euler")


def gated(parameters, workload, prefix, h, u):
    """The gated recurrent unit with gate networks."""
    reset, update, candidate = (layers(parameters, workload, f"{prefix}.{gate}")
                                for gate in ("reset", "update", "candidate"))
    both = torch.cat((h, u), dim=1)
    r, z = mlp(reset, both).sigmoid(), mlp(update, both).sigmoid()
    n = mlp(candidate, torch.cat((r * h, u), dim=1)).tanh()
    return torch.lerp(n, h, z)


def latent_ode_loss(parameters, series, draws, solve):
    """-ELBO times 2 s²: the mean of |x - o|² and the Kullback-Leibler term."""
    workload = "latent-ode"
    values, masks, times = series["values"], series["masks"], series["times"]
    points, batch = values.shape
    field = layers(parameters, workload, "encoder.dynamics")
    # Every series has its own observed points, equally many: the k-th of all together.
    index = masks.T.nonzero()[:, 1].view(batch, -1).T.flip(0)  # [knots, batch], last first
    seen = values.gather(0, index)
    lengths = (times[index[:-1]] - times[index[1:]]).unsqueeze(-1)
    h = values.new_zeros(batch, workloads.ENCODER_STATE)
    one = torch.ones_like(seen[0])
    for knot, x in enumerate(seen):
        if knot:
            h = torch.addcmul(h, mlp(field, h), lengths[knot - 1])
        h = gated(parameters, workload, "encoder.cell", h, torch.stack((x, one), dim=1))
    mean, log_variance = mlp(layers(parameters, workload, "posterior"), h).chunk(2, dim=1)
    log_variance = log_variance + 2 * math.log(workloads.START_STD_DEV)
    z = mean + (0.5 * log_variance).exp() * draws
    dynamics = layers(parameters, workload, "dynamics")
    states = solve(lambda z: mlp(dynamics, z), z, times)
    o = mlp(layers(parameters, workload, "decoder"), states.flatten(0, 1)).view(points, batch)
    divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
    factor = 2 * workloads.OBSERVATION_STD_DEV**2 * workloads.DIVERGENCE_WEIGHT
    return ((values - o).square().sum() + factor * divergence) / (points * batch)


def gru_ode_bayes_loss(parameters, series, solve):
    """Squared error of the mean everywhere, likelihood before and divergence after each update."""
    workload = "gru-ode-bayes"
    values, masks, times = series["values"], series["masks"], series["times"]
    points, batch = values.shape
    (reset,), (update,), (candidate,) = (layers(parameters, workload, f"flow.{gate}")
                                         for gate in ("reset", "update", "candidate"))
    belief = layers(parameters, workload, "belief")
    ((prepare_weight, prepare_bias),) = layers(parameters, workload, "prepare.0")
    least = 2 * math.log(workloads.OBSERVATION_STD_DEV)

    def field(h):
        r, z = torch.addmm(reset[1], h, reset[0]).sigmoid(), torch.addmm(update[1], h, update[0]).sigmoid()
        n = torch.addmm(candidate[1], r * h, candidate[0]).tanh()
        return (1 - z) * (n - h)

    def believe(h):
        mean, free = mlp(belief, h).unbind(1)
        return mean, least + F.softplus(free - least)

    h = parameters["start"].tanh().expand(batch, -1)
    own, states = 0.0, []
    for point in range(points):
        if point:
            h = solve(field, h, times[point - 1:point + 1])[-1]
        rows = masks[point].nonzero().squeeze(1)
        if len(rows):
            x, before = values[point, rows], h[rows]
            mean, log_variance = believe(before)
            error = (x - mean) * (-0.5 * log_variance).exp()
            own = own + 0.5 * (error.square() + log_variance).sum()
            four = torch.stack((x, mean, log_variance, error), dim=1)
            read = torch.addmm(prepare_bias, four, prepare_weight).relu()
            after = gated(parameters, workload, "cell", before, read)
            mean, log_variance = believe(after)
            variance = workloads.OBSERVATION_STD_DEV**2
            apart = (log_variance.exp() + (mean - x).square()) / (2 * variance)
            divergence = 0.5 * (least - log_variance) + apart - 0.5
            own = own + workloads.MIXING * divergence.sum()
            h = h.index_copy(0, rows, after)
        states.append(h)
    o = mlp(belief, torch.cat(states))[:, 0].view(points, batch)
    return ((values - o).square().sum() + workloads.LIKELIHOOD_WEIGHT * own) / (points * batch)
