"""JAX and diffrax programs, one for each workload they can do; the same shape as torch_programs."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from . import jax_model, workloads


class Program:
    """One compiled iteration: forward, for training also backward and an AdaMax step."""

    def __init__(self, inputs, names, loss, data, optimise=False, train=True):
        self.parameters = {name: jnp.asarray(inputs[name], jnp.float32) for name in names}
        self.data, self.train, self.optimise = data, train, optimise
        zeros = jax.tree.map(jnp.zeros_like, self.parameters)
        self.state = {"count": jnp.zeros(()), "mean": zeros, "norm": zeros} if optimise else None

        def iteration(parameters, state, data):
            if not train:
                return loss(parameters, *data)
            value, gradients = jax.value_and_grad(loss)(parameters, *data)
            if not optimise:
                return value, gradients
            return value, *jax_model.adamax(parameters, gradients, state)

        self.iteration = jax.jit(iteration)
        self.value_and_grad = jax.jit(jax.value_and_grad(loss)) if train else None

    def run(self):
        outcome = jax.block_until_ready(self.iteration(self.parameters, self.state, self.data))
        if not self.train:
            return outcome
        if self.optimise:
            _, self.parameters, self.state = outcome
        return outcome[0]

    def check(self):
        """The outcome of one iteration as arrays: `loss` and `grad.NAME`, or `predicted`."""
        if not self.train:
            return {"predicted": np.asarray(self.run(), np.float64).T}
        loss, gradients = self.value_and_grad(self.parameters, *self.data)
        return {"loss": np.float64(loss),
                **{f"grad.{name}": np.asarray(g, np.float64) for name, g in gradients.items()}}


def arrays_of(arrays):
    """On the device; double precision becomes single."""
    return {name: jnp.asarray(array, jnp.float32 if array.dtype.kind == "f" else None)
            for name, array in arrays.items()}


def series_of(inputs):
    return arrays_of(workloads.series_arrays(inputs))


def knots_of(inputs):
    return arrays_of(workloads.knot_arrays(inputs))


def field(inputs):
    return Program(inputs, workloads.parameter_names("field"), jax_model.field_loss,
                   (jnp.asarray(inputs["initial"]),))


def field_diffrax(inputs):
    """The public solver: `diffeqsolve` with Euler, all states saved.

    A checkpoint for every step: faster here than fewer checkpoints and than DirectAdjoint.
    """
    adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=workloads.POINTS)

    def loss(parameters, initial):
        layers = jax_model.network(parameters, "dynamics")
        end = workloads.POINTS * workloads.GRID_STEP
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, h, args: jax_model.mlp(args, h)), diffrax.Euler(),
            t0=0.0, t1=end, dt0=None, y0=initial, args=layers, adjoint=adjoint,
            stepsize_controller=diffrax.StepTo(jnp.linspace(0.0, end, workloads.POINTS + 1)),
            saveat=diffrax.SaveAt(steps=True), max_steps=workloads.POINTS)
        return jnp.square(solution.ys).mean()

    return Program(inputs, workloads.parameter_names("field"), loss,
                   (jnp.asarray(inputs["initial"]),))


def ode_rnn(inputs, optimise=True):
    return Program(inputs, workloads.parameter_names("ode-rnn"), jax_model.ode_rnn_loss,
                   (series_of(inputs),), optimise)


def infer(inputs):
    return Program(inputs, workloads.parameter_names("infer"), jax_model.ode_rnn_predict,
                   (series_of(inputs),), train=False)


def cssc(inputs, loss=jax_model.cssc_loss):
    return Program(inputs, workloads.parameter_names("cssc-30"), loss,
                   (series_of(inputs), knots_of(inputs)), optimise=True)


def hidden(inputs):
    return cssc(inputs, jax_model.hidden_loss)


def ragged(inputs):
    """By step index: the k-th step of every series together, each with its own length."""
    return ode_rnn(inputs, optimise=False)


PROGRAMS = {
    "JAX": {"field": field, "ode-rnn": ode_rnn, "infer": infer, "ragged": ragged,
            **{f"cssc-{share}": cssc for share in (10, 30, 50)},
            **{f"hidden-{share}": hidden for share in (10, 30, 50)}},
    "diffrax": {"field": field_diffrax},
}
