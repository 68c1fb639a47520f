"""Do all programs compute the same? Losses and gradients against double precision.

    python -m peers.check INPUTS_DIRECTORY WORKLOAD RESULT.safetensors...

The reference is the PyTorch program in double precision. Every array of every result
(`loss`, `grad.NAME`, `predicted`) is compared by ‖found - reference‖ / ‖reference‖; the
inputs' own file counts as a result when it holds them. For CSSC, the reference is itself checked: its
compensation against a dense solve of the constraints, its derivatives against differences along the flow.
Prints a JSON object {result: worst relative difference, and where}.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file

from . import dense, torch_cssc, torch_model, torch_programs, workloads

OUTCOMES = ("loss", "predicted", "grad.")


def outcomes(path):
    """The outcome arrays of a file, in double precision."""
    return {name: array.astype(np.float64).squeeze() for name, array in load_file(str(path)).items()
            if name.startswith(OUTCOMES)}


def worst(found, reference):
    """The largest relative difference and the name of its array."""
    missing = set(reference) - set(found)
    if missing:
        return {"difference": float("inf"), "where": f"missing {sorted(missing)[0]}"}
    differences = {}
    # A gradient that is 0 in theory (the bias of keys: softmax does not see it) is compared on the scale of the largest.
    largest = max((float(np.linalg.norm(array)) for name, array in reference.items() if name.startswith("grad.")), default=0.0)
    for name, expected in reference.items():
        if found[name].shape != expected.shape:
            return {"difference": float("inf"),
                    "where": f"{name} has shape {found[name].shape}, not {expected.shape}"}
        scale = max(float(np.linalg.norm(expected)), 1e-2 * largest)
        differences[name] = float(np.linalg.norm(found[name] - expected) / scale)
    where = max(differences, key=differences.get)
    return {"difference": differences[where], "where": where}


def reference_of(inputs, workload):
    torch_programs.DTYPE[0] = torch.float64
    arrays = torch_programs.PROGRAMS["PyTorch"][workload](inputs).check()
    return {name: np.squeeze(array) for name, array in arrays.items()}


def check_compensation(inputs):
    """Worst difference of c from the dense solve, and of ȯ, ö from differences along the flow."""
    parameters = {name: torch.tensor(inputs[name], dtype=torch.float64)
                  for name in workloads.parameter_names("cssc-30")}
    series = torch_model.series_of(inputs, torch.float64)
    knots = torch_cssc.knots_of(inputs, torch.float64)
    before, after = torch_model.walk(parameters, series)
    right, left = torch_cssc.limits(knots, before, after, lambda h: torch_cssc.jets(parameters, h))
    found = torch_cssc.compensation(knots, knots["observed"], right, left)[..., 0].numpy()
    times, index = inputs["times"].astype(np.float64), workloads.knot_indices(inputs["masks"])
    expected = np.stack([
        dense.compensation(times, times[index[b]], inputs["values"][b, index[b]].astype(np.float64),
                           *([part[b, :, 0].numpy() for part in side] for side in (right, left)))
        for b in range(len(index))])
    states = after[:20].reshape(-1, workloads.HIDDEN)
    return {"dense solve": float(np.linalg.norm(found - expected) / np.linalg.norm(expected)),
            "differences along the flow": _jet_difference(parameters, states)}


def _jet_difference(parameters, states, step=1e-3):
    """Jets against central differences of o along a classical Runge-Kutta step of ±step."""
    layers = torch_model.network(parameters, "dynamics")

    def flow(h, dt):
        k1 = torch_model.mlp(layers, h)
        k2 = torch_model.mlp(layers, h + dt / 2 * k1)
        k3 = torch_model.mlp(layers, h + dt / 2 * k2)
        k4 = torch_model.mlp(layers, h + dt * k3)
        return torch_model.predict(parameters, h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4))

    o, slope, curvature = torch_cssc.jets(parameters, states)
    ahead, behind = flow(states, step), flow(states, -step)
    o, slope, curvature = (part[:, 0] for part in (o, slope, curvature))
    pairs = ((slope, (ahead - behind) / (2 * step)), (curvature, (ahead - 2 * o + behind) / step**2))
    return max(float((exact - estimate).norm() / exact.norm()) for exact, estimate in pairs)


def main(directory, workload, *results):
    torch.set_num_threads(1)
    inputs_file = Path(directory) / f"{workload}.safetensors"
    inputs = workloads.read_inputs(inputs_file, workload)
    reference = reference_of(inputs, workload)
    found = {Path(path).stem: worst(outcomes(path), reference) for path in results}
    own = outcomes(inputs_file)
    if own:
        found["cssc"] = worst(own, reference)
    if workload.startswith("cssc"):
        for name, difference in check_compensation(inputs).items():
            found[f"reference and {name}"] = {"difference": difference, "where": "compensation"}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
