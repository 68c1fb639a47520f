"""The figures of a run as a page of Markdown."""

import os
import platform
from pathlib import Path

from . import workloads
from .contest import OURS

# What the project has promised: (workload, peer, ratio of times), with the most threads of the run.
PROMISES = (
    ("field", "PyTorch", 1.8), ("field", "JAX", 2.2),
    ("ode-rnn", "PyTorch", 2.5), ("ode-rnn", "JAX", 2.0), ("infer", "PyTorch", 3.0),
    *((f"{method}-{share}", peer, ratio) for method in ("cssc", "hidden") for share in (10, 30, 50)
      for peer, ratio in (("PyTorch", 2.5), ("JAX", 2.0))),
    ("ragged", "torchdiffeq", 10.0),
    ("latent-ode", "torchdiffeq", 2.0), ("gru-ode-bayes", "torchdiffeq", 2.0),
    ("latent-30", "PyTorch", 2.0), ("video", "PyTorch", 0.8),
)
PROMISED_SHARE = {"field": 0.60}
PROMISED_SCALING = 1.7
PROMISED_COST = {f"{method}-{share}": cost for method in ("cssc", "hidden")  # of an ode-rnn iteration
                 for share, cost in ((10, 1.2), (30, 1.6), (50, 2.0))}

HEAD = """# Benchmarks

Made by `scripts/bench-peers`, which anyone can run. All programs got the same inputs, compute the same
(see the last table) and were timed in turn, {rounds} rounds of {repeats} iterations each, on the same processors
with equally many threads. Times are milliseconds of one iteration, shortest (median).

Machine: {machine}. Versions: {versions}.

| workload | one iteration |
|---|---|
| `field` | forward and backward; batch 50, state 15, tanh MLP 15-300-300-300-300-15, 100 Euler steps, mean square of all states |
| `ode-rnn` | training iteration of the ODE-RNN: 50 series of 100 points, 30 observed, cell, decoder, backward, AdaMax |
| `cssc-10/30/50` | the same with 10/30/50 observed, exact derivatives at both limits of every knot, compensation, loss with weight 1000 |
| `hidden-10/30/50` | likewise with the compensation of the state (hidden CSSC) |
| `infer` | `ode-rnn` forward only |
| `latent-ode` | training step of a Latent-ODE: encoder back over 30 observed of 100 points, one sample, Euler decoder |
| `gru-ode-bayes` | training step of a GRU-ODE-Bayes with its own loss, state of 100, Euler |
| `latent-30` | training step of latent CSSC: 50 series, 30 of 100 points observed, width 64, 2 layers of self-attention, AdaMax |
| `video` | forward and backward; 250 frames of 32 x 32 pixels through the encoder (two residual blocks) and decoder of videos |
| `ragged` | forward and backward; 50 series of 30 points at 1,500 different times. torchdiffeq runs on the union of the times, as its users do (and so takes smaller steps); the others by step index |

`torch.compile` compiles the Euler step and the cell; `PyTorch` is eager.
"""


def write(runs, differences, rounds, repeats, versions):
    """`runs` is {threads: {times, peak, megabytes}} as found by bench-peers."""
    names = ", ".join(f"{name} {version}" for name, version in versions.items()
                      if name in ("torch", "torchdiffeq", "jax", "diffrax"))
    parts = [HEAD.format(rounds=rounds, repeats=repeats, machine=machine(), versions=names)]
    for threads, run in runs.items():
        parts += [f"## {threads} thread{'s' if threads > 1 else ''}\n", times_table(run["times"])]
        if _has_ours(run):
            parts += ["Times of the peers as multiples of ours (shortest times):\n",
                      ratio_table(run["times"]), ours_table(run)]
    most = max(runs)
    if _has_ours(runs[most]):
        parts += ["## What was promised\n", promises_table(runs)]
    parts += ["## Agreement\n", "Worst relative difference of loss and gradients (of predictions for `infer`) from "
              "PyTorch in double precision; 1e-4 is allowed.\n", agreement_table(differences)]
    return "\n".join(parts)


def _has_ours(run):
    return any(OURS in found for found in run["times"].values())


def machine():
    """Processor, its vector instructions, number of processors, operating system."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = fields.get("flags", "").split()
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    return f"{fields.get('model name', platform.machine())} ({vectors}), {os.cpu_count()} processors, {platform.system()}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _columns(times):
    return list(dict.fromkeys(name for found in times.values() for name in found))


def times_table(times):
    columns = _columns(times)
    rows = [[f"`{workload}`", *(f"{found[name].minimum:.1f} ({found[name].median:.1f})" if name in found else ""
                                for name in columns)] for workload, found in times.items()]
    return table(["workload", *columns], rows)


def ratio_table(times):
    columns = [name for name in _columns(times) if name != OURS]
    rows = [[f"`{workload}`", *(f"{found[name].minimum / found[OURS].minimum:.2f}" if name in found else ""
                                for name in columns)] for workload, found in times.items()]
    return table(["workload", *columns], rows)


def share(run, workload, name=OURS):
    """Part of the measured peak that the unavoidable products of an iteration reach."""
    return workloads.flop(workload) / (run["times"][workload][name].minimum * 1e6) / run["peak"]


def ours_table(run):
    part = lambda workload, name: (  # noqa: E731
        f"{share(run, workload, name):.0%}" if name in run["times"][workload] else "")
    rows = [[f"`{workload}`", part(workload, OURS), part(workload, "PyTorch"), part(workload, "JAX"),
             f"{1e3 * workloads.series(workload) / found[OURS].minimum:,.0f}", f"{run['megabytes'][workload]:.0f} MB"]
            for workload, found in run["times"].items()]
    title = (f"Large matrix products reach {run['peak']:.0f} GFLOP/s in this run (best of PyTorch and numpy); "
             f"the products that an iteration cannot avoid reach this share of it:\n")
    return title + "\n" + table(
        ["workload", OURS, "PyTorch", "JAX", "our series (frames) per second", "our peak memory"], rows)


def promises_table(runs):
    most = max(runs)
    times = runs[most]["times"]
    rows = []

    def promise(text, wanted, found, met, form):
        rows.append([text, format(wanted, form), format(found, form), "yes" if met else "**no**"])

    for workload, peer, wanted in PROMISES:
        if peer in times.get(workload, {}):
            found = times[workload][peer].minimum / times[workload][OURS].minimum
            promise(f"`{workload}`: times faster than {peer}, at least", wanted, found, found >= wanted, ".2f")
    for workload, wanted in PROMISED_SHARE.items():
        if workload in times:
            found = share(runs[most], workload)
            promise(f"`{workload}`: share of the peak, at least", wanted, found, found >= wanted, ".0%")
    for workload, wanted in PROMISED_COST.items():
        if workload in times and "ode-rnn" in times:
            found = times[workload][OURS].minimum / times["ode-rnn"][OURS].minimum
            promise(f"`{workload}`: times an `ode-rnn` iteration, at most", wanted, found, found <= wanted, ".2f")
    if {1, 2} <= set(runs):
        for workload in times:
            found = (runs[1]["times"][workload][OURS].minimum / runs[2]["times"][workload][OURS].minimum)
            promise(f"`{workload}`: 2 threads against 1, at least", PROMISED_SCALING, found,
                    found >= PROMISED_SCALING, ".2f")
    return f"With {most} thread(s).\n\n" + table(["", "promised", "found", "met"], rows)


def agreement_table(differences):
    rows = [[f"`{workload}`", who, f"{outcome['difference']:.1e}", f"`{outcome['where']}`"]
            for workload, found in differences.items() for who, outcome in found.items()]
    return table(["workload", "program", "difference", "largest in"], rows)
