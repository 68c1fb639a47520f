"""CSSC in PyTorch: exact derivatives by jets, the compensation, its loss.

With a = x - o(t+), b = x - o(t-), gaps τ, slope and curvature jumps ṙ, r̈ (right minus left)
and M the curvature of c right of each knot (method: Theorem 1), slope continuity gives

    τ₋/6 M₋ + (τ₋ + τ)/3 M + τ/6 M₊ = (b₊ - a)/τ - (b - a₋)/τ₋ + ṙ - τ₋/3 r̈ - τ/6 r̈₊

at interior knots; the end rule `output` sets M at both ends to minus the curvature of o.
At the last knot o and c are read from the left: nothing to the right of it is ever used.
"""

import torch

from .torch_model import network, predict, tensors, walk
from .workloads import COMPENSATION_WEIGHT, knot_arrays


def jets(parameters, h):
    """o, its slope and its curvature along the flow at the states h [rows, hidden]."""
    layers = network(parameters, "dynamics")
    value, slopes = h, []
    for weight, bias in layers[:-1]:
        value = torch.addmm(bias, value, weight).tanh_()
        slopes.append(1 - value.square())
    velocity = tangent = torch.addmm(layers[-1][1], value, layers[-1][0])
    for (weight, _), slope in zip(layers, slopes):
        tangent = slope * (tangent @ weight)
    acceleration = tangent @ layers[-1][0]

    (first, first_bias), (second, second_bias) = network(parameters, "decoder")
    inner = torch.cat((h, velocity, acceleration)) @ first
    a, a1, a2 = inner.view(3, len(h), -1).unbind()
    y = torch.tanh(a + first_bias)
    slope = 1 - y.square()
    y1 = slope * a1
    y2 = slope * a2 - 2 * y * a1 * y1
    o, o1, o2 = (torch.cat((y, y1, y2)) @ second).view(3, len(h)).unbind()
    return o + second_bias, o1, o2


def knots_of(inputs, dtype=torch.float32):
    """What depends on times and masks alone; see workloads.knot_arrays."""
    return tensors(knot_arrays(inputs), dtype)


def limits(parameters, knots, before, after):
    """(o, ȯ, ö) right of all knots but the last and left of all but the first, [batch, knots-1]."""
    states = torch.cat((after.flatten(0, 1).index_select(0, knots["right"]),
                        before.flatten(0, 1).index_select(0, knots["left"])))
    shape = (2, *knots["gaps"].shape)
    right_left = [part.view(shape).unbind() for part in jets(parameters, states)]
    return [part[0] for part in right_left], [part[1] for part in right_left]


def moments(gaps, a, b, right, left):
    """c'' at the start and the end of every interval, each [batch, knots-1]."""
    slope_jump = right[1][:, 1:] - left[1][:, :-1]
    curvature_jump = right[2][:, 1:] - left[2][:, :-1]
    first, last = -right[2][:, :1], -left[2][:, -1:]
    t0, t1 = gaps[:, :-1], gaps[:, 1:]
    chord = (b - a) / gaps
    rhs = chord[:, 1:] - chord[:, :-1] + slope_jump - t0 / 3 * curvature_jump
    # The next knot's curvature: a jump inside, the end rule's value at the last interval; the
    # end rule's value at the first.
    beyond = torch.cat((curvature_jump[:, 1:], last), dim=1)
    rhs = rhs - t1 / 6 * beyond
    rhs = torch.cat((rhs[:, :1] - t0[:, :1] / 6 * first, rhs[:, 1:]), dim=1)
    matrix = torch.diag_embed((t0 + t1) / 3)
    beside = t1[:, :-1] / 6
    matrix = matrix + torch.diag_embed(beside, 1) + torch.diag_embed(beside, -1)
    inner = torch.linalg.solve(matrix, rhs)
    start = torch.cat((first, inner), dim=1)
    end = torch.cat((inner + curvature_jump, last), dim=1)
    return start, end


def compensation(knots, right, left):
    """c at every grid point, [batch, points]."""
    a = knots["observed"][:, :-1] - right[0]
    b = knots["observed"][:, 1:] - left[0]
    start, end = moments(knots["gaps"], a, b, right, left)
    gap = knots["gaps"]
    slope = (b - a) / gap - gap / 6 * (2 * start + end)
    coefficients = torch.stack((a, slope, start / 2, (end - start) / (6 * gap)))
    index = knots["interval"].expand(4, *knots["interval"].shape)
    c0, c1, c2, c3 = coefficients.gather(2, index).unbind()
    s = knots["offset"]
    return c0 + s * (c1 + s * (c2 + s * c3))


def cssc_loss(parameters, series, knots, **how):
    """Mean of |x - ô|² + 1000 |c|² over all grid points."""
    before, after = walk(parameters, series, **how)
    right, left = limits(parameters, knots, before, after)
    c = compensation(knots, right, left)
    o = predict(parameters, after[:-1]).T
    o = torch.cat((o, left[0][:, -1:]), dim=1)
    return ((knots["values"] - o - c).square() + COMPENSATION_WEIGHT * c.square()).mean()
