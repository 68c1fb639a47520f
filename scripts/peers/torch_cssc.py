"""CSSC and hidden CSSC in PyTorch: exact derivatives by jets, the compensation, the loss.

With a = x - o(t+), b = x - o(t-), gaps τ, slope and curvature jumps ṙ, r̈ (right minus left)
and M the curvature of c right of each knot (Theorem 1 of the paper), slope continuity gives

    τ₋/6 M₋ + (τ₋ + τ)/3 M + τ/6 M₊ = (b₊ - a)/τ - (b - a₋)/τ₋ + ṙ - τ₋/3 r̈ - τ/6 r̈₊

at interior knots; the end rule `output` sets M at both ends to minus the curvature of o. In hidden
CSSC the state takes the place of o, and its value after the update that of x.
At the last knot the curves are read from the left: nothing to the right of it is ever used.
"""

import torch

from .torch_model import mlp, network, predict, tensors, walk
from .workloads import COMPENSATION_WEIGHT, knot_arrays


def flow(parameters, h):
    """Velocity and acceleration of the states h [rows, hidden]."""
    layers = network(parameters, "dynamics")
    value, slopes = h, []
    for weight, bias in layers[:-1]:
        value = torch.addmm(bias, value, weight).tanh_()
        slopes.append(1 - value.square())
    velocity = tangent = torch.addmm(layers[-1][1], value, layers[-1][0])
    for (weight, _), slope in zip(layers, slopes):
        tangent = slope * (tangent @ weight)
    return velocity, tangent @ layers[-1][0]


def jets(parameters, h):
    """o, its slope and its curvature along the flow at the states h; each [rows, channels]."""
    (first, first_bias), (second, second_bias) = network(parameters, "decoder")
    inner = torch.cat((h, *flow(parameters, h))) @ first
    a, a1, a2 = inner.view(3, len(h), -1).unbind()
    y = torch.tanh(a + first_bias)
    slope = 1 - y.square()
    y1 = slope * a1
    y2 = slope * a2 - 2 * y * a1 * y1
    o, o1, o2 = (torch.cat((y, y1, y2)) @ second).view(3, len(h), -1).unbind()
    return o + second_bias, o1, o2


def knots_of(inputs, dtype=torch.float32):
    """What depends on times and masks alone; see workloads.knot_arrays."""
    return tensors(knot_arrays(inputs), dtype)


def limits(knots, before, after, derivatives):
    """(value, slope, curvature) right of all knots but the last and left of all but the first,
    each [batch, knots-1, channels]; `derivatives` finds them for stacked states."""
    states = torch.cat((after.flatten(0, 1).index_select(0, knots["right"]),
                        before.flatten(0, 1).index_select(0, knots["left"])))
    batch, intervals, _ = knots["gaps"].shape
    sides = [part.view(2, batch, intervals, -1).unbind() for part in derivatives(states)]
    return [part[0] for part in sides], [part[1] for part in sides]


def moments(gaps, a, b, right, left):
    """c'' at the start and the end of every interval, each [batch, knots-1, channels]."""
    slope_jump = right[1][:, 1:] - left[1][:, :-1]
    curvature_jump = right[2][:, 1:] - left[2][:, :-1]
    first, last = -right[2][:, :1], -left[2][:, -1:]
    t0, t1 = gaps[:, :-1], gaps[:, 1:]
    chord = (b - a) / gaps
    # What is known of the next knot's curvature: its jump, or the end rule's value.
    beyond = torch.cat((curvature_jump[:, 1:], last), dim=1)
    rhs = chord[:, 1:] - chord[:, :-1] + slope_jump - t0 / 3 * curvature_jump - t1 / 6 * beyond
    rhs = torch.cat((rhs[:, :1] - t0[:, :1] / 6 * first, rhs[:, 1:]), dim=1)
    matrix = torch.diag_embed(((t0 + t1) / 3).squeeze(-1))
    beside = (t1[:, :-1] / 6).squeeze(-1)
    matrix = matrix + torch.diag_embed(beside, 1) + torch.diag_embed(beside, -1)
    inner = torch.linalg.solve(matrix, rhs)
    start = torch.cat((first, inner), dim=1)
    end = torch.cat((inner + curvature_jump, last), dim=1)
    return start, end


def compensation(knots, observed, right, left):
    """c at every grid point, [batch, points, channels]; `observed` is [batch, knots, channels]."""
    a, b, gap = observed[:, :-1] - right[0], observed[:, 1:] - left[0], knots["gaps"]
    start, end = moments(gap, a, b, right, left)
    slope = (b - a) / gap - gap / 6 * (2 * start + end)
    coefficients = torch.stack((a, slope, start / 2, (end - start) / (6 * gap)))
    index = knots["interval"].unsqueeze(-1).expand(4, -1, -1, a.shape[-1])
    c0, c1, c2, c3 = coefficients.gather(2, index).unbind()
    s = knots["offset"]
    return c0 + s * (c1 + s * (c2 + s * c3))


def loss(values, smoothed, c):
    """Mean over points of |x - ô|² + 1000 |c|², norms over channels."""
    points = values.shape[0] * values.shape[1]
    return ((values - smoothed).square().sum() + COMPENSATION_WEIGHT * c.square().sum()) / points


def cssc_loss(parameters, series, knots, **how):
    before, after = walk(parameters, series, **how)
    right, left = limits(knots, before, after, lambda h: jets(parameters, h))
    c = compensation(knots, knots["observed"], right, left)
    o = predict(parameters, after[:-1]).T.unsqueeze(-1)
    return loss(knots["values"], torch.cat((o, left[0][:, -1:]), dim=1) + c, c)


def hidden_loss(parameters, series, knots, **how):
    before, after = walk(parameters, series, **how)
    right, left = limits(knots, before, after, lambda h: (h, *flow(parameters, h)))
    batch, points = knots["interval"].shape
    updated = after.flatten(0, 1).index_select(0, knots["all"]).view(batch, -1, after.shape[-1])
    c = compensation(knots, updated, right, left)
    states = torch.cat((after[:-1], before[-1:])).transpose(0, 1)
    o = mlp(network(parameters, "decoder"), (states + c).flatten(0, 1))
    return loss(knots["values"], o.view(batch, points, -1), c)
