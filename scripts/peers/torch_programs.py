"""PyTorch, torch.compile and torchdiffeq programs, one for each workload they can do.

A program is made from inputs once and then offers `run()`, the timed iteration, which
returns what `check` compares: the loss, or the prediction for `infer`.
"""

import numpy as np
import torch
from torchdiffeq import odeint

from . import torch_cssc, torch_latent, torch_model, torch_systems, torch_video, workloads


class Program:
    """One iteration: forward, for training also backward and an AdaMax step."""

    def __init__(self, inputs, names, loss, optimise=False, train=True):
        self.parameters = {name: torch.tensor(inputs[name], dtype=DTYPE[0], requires_grad=train)
                           for name in names}
        self.loss, self.train = loss, train
        self.optimiser = None
        if optimise:
            self.optimiser = torch.optim.Adamax(
                self.parameters.values(), lr=workloads.LEARNING_RATE, betas=workloads.BETAS,
                eps=workloads.EPSILON, foreach=True)

    def run(self):
        if not self.train:
            with torch.no_grad():
                return self.loss(self.parameters)
        for parameter in self.parameters.values():
            parameter.grad = None
        loss = self.loss(self.parameters)
        loss.backward()
        if self.optimiser:
            self.optimiser.step()
        return loss.detach()

    def check(self):
        """The outcome of one iteration as arrays: `loss` and `grad.NAME`, or `predicted`."""
        outcome = self.run().double().numpy()
        if not self.train:
            return {"predicted": outcome.T}
        gradients = {f"grad.{name}": parameter.grad.double().numpy()
                     for name, parameter in self.parameters.items()}
        return {"loss": outcome, **gradients}


# The number type of programs made from now on; checks make a set in double precision.
DTYPE = [torch.float32]


def field(inputs, **how):
    initial = torch.tensor(inputs["initial"], dtype=DTYPE[0])
    return Program(inputs, workloads.parameter_names("field"),
                   lambda p: torch_model.field_loss(p, initial, **how))


def field_torchdiffeq(inputs):
    """The public solver: `odeint` on the 101 times, Euler."""
    initial = torch.tensor(inputs["initial"], dtype=DTYPE[0])
    times = torch.arange(workloads.POINTS + 1, dtype=DTYPE[0]) * workloads.GRID_STEP

    def loss(parameters):
        layers = torch_model.network(parameters, "dynamics")
        states = odeint(lambda _, h: torch_model.mlp(layers, h), initial, times, method="euler")
        return states[1:].square().mean()

    return Program(inputs, workloads.parameter_names("field"), loss)


def ode_rnn(inputs, optimise=True, **how):
    series = torch_model.series_of(inputs, DTYPE[0])
    return Program(inputs, workloads.parameter_names("ode-rnn"),
                   lambda p: torch_model.ode_rnn_loss(p, series, **how), optimise)


def infer(inputs, **how):
    series = torch_model.series_of(inputs, DTYPE[0])
    return Program(inputs, workloads.parameter_names("infer"),
                   lambda p: torch_model.ode_rnn_predict(p, series, **how), train=False)


def cssc(inputs, loss=torch_cssc.cssc_loss, **how):
    series = torch_model.series_of(inputs, DTYPE[0])
    knots = torch_cssc.knots_of(inputs, DTYPE[0])
    return Program(inputs, workloads.parameter_names("cssc-30"),
                   lambda p: loss(p, series, knots, **how), optimise=True)


def hidden(inputs, **how):
    return cssc(inputs, torch_cssc.hidden_loss, **how)


def ragged(inputs):
    """By step index: the k-th step of every series together, each with its own length."""
    return ode_rnn(inputs, optimise=False)


def ragged_union(inputs):
    """As torchdiffeq is run: the batch on the union of all times, the cell where masked.

    Its steps are those of the union, so its numbers are those of a finer grid.
    """
    times = np.unique(inputs["times"])
    batch, points = inputs["times"].shape
    place = np.searchsorted(times, inputs["times"])  # [batch, points]
    series = np.arange(batch)[:, None]
    dense = {name: np.zeros((batch, len(times)), np.float32) for name in ("values", "masks")}
    dense["values"][series, place] = inputs["values"]
    dense["masks"][series, place] = 1
    values, masks = (torch.tensor(dense[name].T, dtype=DTYPE[0]) for name in ("values", "masks"))
    started = (masks.cumsum(0) - masks).clamp(max=1).unsqueeze(-1).unbind()
    ends = torch.tensor(times, dtype=DTYPE[0])
    rows = torch.tensor(place.T.reshape(-1) * batch + np.tile(np.arange(batch), points))
    target = torch.tensor(inputs["values"].T.copy(), dtype=DTYPE[0])

    def loss(parameters):
        layers = torch_model.network(parameters, "dynamics")
        cell = torch_model.Cell(parameters, values, masks)
        h, states = torch.zeros(batch, workloads.HIDDEN, dtype=DTYPE[0]), []
        for index in range(len(times)):
            if index:
                h = odeint(lambda _, state: torch_model.mlp(layers, state), h,
                           ends[index - 1:index + 1], method="euler")[-1]
            h = cell.step(index, h * started[index])  # h = 0 before a series' first point
            states.append(h)
        observed = torch.cat(states).index_select(0, rows).view(points, batch, -1)
        return (target - torch_model.predict(parameters, observed)).square().mean()

    return Program(inputs, workloads.parameter_names("ragged"), loss)


def latent_ode(solve):
    """A Latent-ODE whose decoder is solved by `solve`; its encoder walks every series' own points."""
    def build(inputs):
        series = torch_systems.series_of(inputs, DTYPE[0])
        draws = torch.tensor(inputs["draws"], dtype=DTYPE[0])
        return Program(inputs, workloads.parameter_names("latent-ode"),
                       lambda p: torch_systems.latent_ode_loss(p, series, draws, solve), optimise=True)

    return build


def gru_ode_bayes(solve):
    """A GRU-ODE-Bayes whose flow is solved by `solve`."""
    def build(inputs):
        series = torch_systems.series_of(inputs, DTYPE[0])
        return Program(inputs, workloads.parameter_names("gru-ode-bayes"),
                       lambda p: torch_systems.gru_ode_bayes_loss(p, series, solve), optimise=True)

    return build


def latent_cssc(inputs):
    ready = torch_latent.prepare(inputs, DTYPE[0])
    return Program(inputs, workloads.parameter_names("latent-30"),
                   lambda p: torch_latent.latent_loss(p, ready), optimise=True)


def video(inputs):
    frames = torch_video.frames_of(inputs, DTYPE[0])
    return Program(inputs, workloads.parameter_names("video"),
                   lambda p: torch_video.video_loss(p, frames))


def systems(solve):
    return {"latent-ode": latent_ode(solve), "gru-ode-bayes": gru_ode_bayes(solve)}


def compiled(make):
    """The same program with the Euler step and the cell compiled by torch.compile."""
    def build(inputs):
        step = torch.compile(torch_model.euler, fullgraph=True, dynamic=False)
        update = torch.compile(torch_model.update, fullgraph=True, dynamic=False)

        def euler(h, dt, layers):  # a number would be compiled in, once for each value
            return step(h, torch.as_tensor(dt, dtype=h.dtype), layers)

        def cell_step(cell, index, h):
            return update(h, cell.gates_u[index], cell.candidate_u[index], cell.seen[index],
                          cell.gates_first, cell.gates_second, cell.gates_bias,
                          cell.candidate_first, cell.candidate_second, cell.candidate_bias)

        how = {"advance": euler}
        if make is not field:
            how["cell_step"] = cell_step
        return make(inputs, **how)
    return build


def with_shares(name, make):
    """The workloads of one method with 10, 30 and 50 observed points."""
    return {f"{name}-{share}": make for share in (10, 30, 50)}


PROGRAMS = {
    "PyTorch": {"field": field, "ode-rnn": ode_rnn, "infer": infer, "ragged": ragged,
                **with_shares("cssc", cssc), **with_shares("hidden", hidden),
                **systems(torch_systems.by_hand), "latent-30": latent_cssc, "video": video},
    "torch.compile": {"field": compiled(field), "ode-rnn": compiled(ode_rnn), "infer": compiled(infer),
                      **with_shares("cssc", compiled(cssc)),
                      **with_shares("hidden", compiled(hidden))},
    "torchdiffeq": {"field": field_torchdiffeq, "ragged": ragged_union,
                    **systems(torch_systems.by_torchdiffeq)},
}
