"""The models in JAX: jit and lax.scan, derivatives by nested jvp, a tridiagonal solver."""

import jax
import jax.numpy as jnp
from jax import lax

from . import workloads
from .workloads import COMPENSATION_WEIGHT


def mlp(layers, x):
    """Tanh layers, the last one linear."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def network(parameters, name):
    """The (weight, bias) pairs of one network."""
    depth = len(workloads.NETWORKS[name]) - 1
    return [(parameters[f"{name}.{layer}.weight"], parameters[f"{name}.{layer}.bias"])
            for layer in range(depth)]


def field_loss(parameters, initial):
    """Mean square of the states after each of 100 Euler steps."""
    layers = network(parameters, "dynamics")

    def step(h, _):
        h = h + workloads.GRID_STEP * mlp(layers, h)
        return h, h

    _, states = lax.scan(step, initial, None, length=workloads.POINTS)
    return jnp.square(states).mean()


def cell_of(parameters):
    """The cell with the weights of its gates joined, as a function of state and the u part."""
    hidden = workloads.HIDDEN
    reset, update, candidate = (
        network(parameters, f"cell.{gate}") for gate in ("reset", "update", "candidate"))
    gates_first = jnp.concatenate([reset[0][0][:hidden], update[0][0][:hidden]], axis=1)
    candidate_first = candidate[0][0][:hidden]
    width = reset[0][0].shape[1]

    def from_u(u):
        first = [gate[0] for gate in (reset, update, candidate)]
        weight = jnp.concatenate([weight[hidden:] for weight, _ in first], axis=1)
        return u @ weight + jnp.concatenate([bias for _, bias in first])

    def step(h, u_part, seen):
        gates = jnp.tanh(h @ gates_first + u_part[:, :2 * width])
        r = jax.nn.sigmoid(gates[:, :width] @ reset[1][0] + reset[1][1])
        z = jax.nn.sigmoid(gates[:, width:] @ update[1][0] + update[1][1])
        n = jnp.tanh((r * h) @ candidate_first + u_part[:, 2 * width:])
        n = jnp.tanh(n @ candidate[1][0] + candidate[1][1])
        return jnp.where(seen, (1 - z) * n + z * h, h)

    return from_u, step


def walk(parameters, series):
    """States before and after the update at every point, each [points, batch, hidden]."""
    layers = network(parameters, "dynamics")
    from_u, update = cell_of(parameters)
    values, masks = series["values"], series["masks"]
    u_parts = from_u(jnp.stack((values * masks, masks), axis=-1))
    seen = (masks > 0.5)[..., None]

    def step(h, point):
        dt, u_part, now = point
        before = h + dt * mlp(layers, h)
        after = update(before, u_part, now)
        return after, (before, after)

    start = jnp.zeros((values.shape[1], workloads.HIDDEN), values.dtype)
    first = update(start, u_parts[0], seen[0])
    _, (before, after) = lax.scan(step, first, (series["steps"], u_parts[1:], seen[1:]))
    return jnp.concatenate((start[None], before)), jnp.concatenate((first[None], after))


def predict(parameters, states):
    """o = g(h) for all states, [points, batch]."""
    return mlp(network(parameters, "decoder"), states)[..., 0]


def ode_rnn_predict(parameters, series):
    """The prediction at every point, after the update where there is one."""
    return predict(parameters, walk(parameters, series)[1])


def ode_rnn_loss(parameters, series):
    """Mean squared error over all points."""
    return jnp.square(series["values"] - ode_rnn_predict(parameters, series)).mean()


def flow(parameters, h):
    """Velocity and acceleration of the states h."""
    dynamics = network(parameters, "dynamics")
    velocity = mlp(dynamics, h)
    return jax.jvp(lambda state: mlp(dynamics, state), (h,), (velocity,))


def jets(parameters, h):
    """o, its slope and its curvature along the flow at the states h; each [rows, channels]."""
    dynamics, decoder = network(parameters, "dynamics"), network(parameters, "decoder")

    def value_and_slope(state):
        return jax.jvp(lambda s: mlp(decoder, s), (state,), (mlp(dynamics, state),))

    (o, slope), (_, curvature) = jax.jvp(value_and_slope, (h,), (mlp(dynamics, h),))
    return o, slope, curvature


def limits(knots, before, after, derivatives):
    """(value, slope, curvature) right and left of the knots, each [batch, knots-1, channels]."""
    flat = (-1, workloads.HIDDEN)
    states = jnp.concatenate((after.reshape(flat)[knots["right"]], before.reshape(flat)[knots["left"]]))
    batch, intervals, _ = knots["gaps"].shape
    return zip(*(part.reshape(2, batch, intervals, -1) for part in derivatives(states)))


def moments(gaps, a, b, right, left):
    """c'' at the start and the end of every interval; the equations are in torch_cssc.py."""
    slope_jump = right[1][:, 1:] - left[1][:, :-1]
    curvature_jump = right[2][:, 1:] - left[2][:, :-1]
    first, last = -right[2][:, :1], -left[2][:, -1:]
    t0, t1 = gaps[:, :-1], gaps[:, 1:]
    chord = (b - a) / gaps
    beyond = jnp.concatenate((curvature_jump[:, 1:], last), axis=1)
    rhs = chord[:, 1:] - chord[:, :-1] + slope_jump - t0 / 3 * curvature_jump - t1 / 6 * beyond
    rhs = rhs.at[:, :1].add(-t0[:, :1] / 6 * first)
    edge = jnp.zeros_like(gaps[:, :1])
    below = jnp.concatenate((edge, t0[:, 1:] / 6), axis=1)
    above = jnp.concatenate((t1[:, :-1] / 6, edge), axis=1)
    bands = (band[..., 0] for band in (below, (t0 + t1) / 3, above))
    inner = lax.linalg.tridiagonal_solve(*bands, rhs)
    start = jnp.concatenate((first, inner), axis=1)
    end = jnp.concatenate((inner + curvature_jump, last), axis=1)
    return start, end


def compensation(knots, observed, right, left):
    """c at every grid point, [batch, points, channels]; `observed` is [batch, knots, channels]."""
    a, b, gap = observed[:, :-1] - right[0], observed[:, 1:] - left[0], knots["gaps"]
    start, end = moments(gap, a, b, right, left)
    slope = (b - a) / gap - gap / 6 * (2 * start + end)
    coefficients = jnp.stack((a, slope, start / 2, (end - start) / (6 * gap)))
    c0, c1, c2, c3 = jnp.take_along_axis(coefficients, knots["interval"][None, ..., None], axis=2)
    s = knots["offset"]
    return c0 + s * (c1 + s * (c2 + s * c3))


def loss(values, smoothed, c):
    """Mean over points of |x - ô|² + 1000 |c|², norms over channels."""
    points = values.shape[0] * values.shape[1]
    return (jnp.square(values - smoothed).sum() + COMPENSATION_WEIGHT * jnp.square(c).sum()) / points


def cssc_loss(parameters, series, knots):
    before, after = walk(parameters, series)
    right, left = limits(knots, before, after, lambda h: jets(parameters, h))
    c = compensation(knots, knots["observed"], right, left)
    o = predict(parameters, after[:-1]).T[..., None]
    return loss(knots["values"], jnp.concatenate((o, left[0][:, -1:]), axis=1) + c, c)


def hidden_loss(parameters, series, knots):
    before, after = walk(parameters, series)
    right, left = limits(knots, before, after, lambda h: (h, *flow(parameters, h)))
    batch, _ = knots["interval"].shape
    updated = after.reshape(-1, workloads.HIDDEN)[knots["all"]].reshape(batch, -1, workloads.HIDDEN)
    c = compensation(knots, updated, right, left)
    states = jnp.concatenate((after[:-1], before[-1:])).transpose(1, 0, 2)
    return loss(knots["values"], mlp(network(parameters, "decoder"), states + c), c)


def adamax(parameters, gradients, state):
    """One step of AdaMax (Kingma and Ba 2015, algorithm 2)."""
    (beta1, beta2), count = workloads.BETAS, state["count"] + 1
    mean = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, state["mean"], gradients)
    norm = jax.tree.map(lambda u, g: jnp.maximum(beta2 * u, jnp.abs(g) + workloads.EPSILON),
                        state["norm"], gradients)
    rate = workloads.LEARNING_RATE / (1 - beta1 ** count)
    parameters = jax.tree.map(lambda p, m, u: p - rate * m / u, parameters, mean, norm)
    return parameters, {"count": count, "mean": mean, "norm": norm}
