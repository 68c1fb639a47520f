"""Latent CSSC in PyTorch: attention over all observations, a smooth decoder, bumps, the natural spline of the residuals.

Every series has equally many observed points here, so that all of it is batched products, and attention is PyTorch's own
`scaled_dot_product_attention`. Written from the description in crates/cssc/src/model/latent_cssc.
"""

import math

import torch
import torch.nn.functional as F

from .torch_cssc import compensation, knots_of
from .workloads import LATENT_CSSC as SIZES, knot_indices


def prepare(inputs, dtype):
    """Knots, and the features of all times, which do not depend on parameters."""
    knots = knots_of(inputs, dtype)
    times = torch.tensor(inputs["times"].astype("float64"))
    index = torch.tensor(knot_indices(inputs["masks"]))
    relative = (times - times[0]) / (times[-1] - times[0])  # first and last are always observed
    angles = relative[:, None] * (math.pi * torch.arange(1, SIZES["frequencies"] + 1))
    waves = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
    length = (times[-1] - times[0]).log().expand(len(times), 1)
    features = torch.cat((waves, length), dim=1).to(dtype)
    tokens = torch.cat((knots["observed"], torch.ones_like(knots["observed"]), features[index]), dim=-1)
    return {"knots": knots, "index": index, "relative": relative.to(dtype), "features": features, "tokens": tokens,
            **{name: array.to(dtype) for name, array in reach(times, times[index]).items()}}


def reach(times, knots):
    """Shares of the line through both neighbours of inner knots, gap features, and every bump at every point."""
    gaps, length = knots.diff(dim=1), times[-1] - times[0]
    part = (gaps[:, :-1] / (gaps[:, :-1] + gaps[:, 1:])).unsqueeze(-1)
    whole = length.expand(len(knots), 1)
    before, after = torch.cat((whole, gaps), dim=1), torch.cat((gaps, whole), dim=1)
    u = (times[None, :, None] - knots[:, None, :]) / torch.minimum(before, after)[:, None, :]
    return {"part": part, "gaps": torch.stack((before / length, after / length), dim=-1).log(),
            "bumps": (1 - u.square()).clamp(min=0).pow(3)}


def dense(parameters, name, x):
    return x @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"]


def norm(parameters, name, x):
    gain, bias = parameters[f"{name}.gain"].flatten(), parameters[f"{name}.bias"]
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps=SIZES["epsilon"])


def network(parameters, name, x):
    return dense(parameters, f"{name}.1", F.silu(dense(parameters, f"{name}.0", x)))


def attend(q, k, v):
    heads = lambda x: x.unflatten(-1, (SIZES["heads"], -1)).transpose(1, 2)  # noqa: E731
    seen = F.scaled_dot_product_attention(heads(q), heads(k), heads(v))
    return seen.transpose(1, 2).flatten(2)


def encode(parameters, tokens):
    x = dense(parameters, "encoder.input", tokens)
    for layer in range(SIZES["layers"]):
        name = f"encoder.{layer}"
        normal = norm(parameters, f"{name}.norm", x)
        parts = [dense(parameters, f"{name}.{part}", normal) for part in ("queries", "keys", "values")]
        x = x + dense(parameters, f"{name}.merge", attend(*parts))
        x = x + network(parameters, f"{name}.network", norm(parameters, f"{name}.second-norm", x))
    return norm(parameters, "encoder.norm", x)


def decode(parameters, tokens, ready):
    """o at all points, [batch, points, channels]."""
    code = dense(parameters, "decoder.code", tokens.mean(dim=1))
    phase, frequency = dense(parameters, "decoder.angles", code).unsqueeze(1).chunk(2, dim=-1)
    sines = (phase + ready["relative"][:, None] * frequency).sin()
    sines = dense(parameters, "decoder.sines", dense(parameters, "decoder.second-sines", sines).sin())
    shift = dense(parameters, "decoder.code-shift", code).unsqueeze(1)
    h = dense(parameters, "decoder.time", ready["features"]) + sines + shift
    seen = attend(dense(parameters, "decoder.queries", h), *(dense(parameters, f"decoder.{part}", tokens)
                                                             for part in ("keys", "values")))
    h = h + dense(parameters, "decoder.merge", seen)
    return dense(parameters, "decoder.output", h + network(parameters, "decoder.network", h))


def rough_part(parameters, tokens, residual, ready):
    """What sweeps take from the residuals: heights of the bumps, [batch, knots, channels]."""
    gates = dense(parameters, "bumps.token", tokens) + dense(parameters, "bumps.gaps", ready["gaps"])
    smoother, part = residual, ready["part"]
    for gate in gates.sigmoid().chunk(SIZES["sweeps"], dim=-1):
        line = (1 - part) * smoother[:, :-2] + part * smoother[:, 2:]
        taken = gate[:, 1:-1] * (smoother[:, 1:-1] - line)
        smoother = torch.cat((smoother[:, :1], smoother[:, 1:-1] - taken, smoother[:, -1:]), dim=1)
    return residual - smoother


def latent_loss(parameters, ready):
    """Mean over points of |x - ô|² + |ô - o|²; o with its bumps has no jumps, so c is a natural spline."""
    knots = ready["knots"]
    tokens = encode(parameters, ready["tokens"])
    o = decode(parameters, tokens, ready)
    at_knots = o.gather(1, ready["index"].unsqueeze(-1).expand(-1, -1, o.shape[-1]))
    height = rough_part(parameters, tokens, knots["observed"] - at_knots, ready)
    at_knots = at_knots + height
    nothing = torch.zeros_like(at_knots)
    right = [part[:, :-1] for part in (at_knots, nothing, nothing)]
    left = [part[:, 1:] for part in (at_knots, nothing, nothing)]
    added = compensation(knots, knots["observed"], right, left) + ready["bumps"] @ height
    points = knots["values"].shape[0] * knots["values"].shape[1]
    weight = SIZES["compensation-weight"]
    return ((knots["values"] - o - added).square().sum() + weight * added.square().sum()) / points
