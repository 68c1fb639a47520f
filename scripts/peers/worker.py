"""A long-running process that holds one library's programs and times them on request.

    python -m peers.worker (torch|jax) INPUTS_DIRECTORY THREADS

One JSON request a line on standard input, one JSON answer a line on standard output:

    {"op": "list"}                                   -> {"programs": {peer: [workload, ...]}}
    {"op": "check", "peer", "workload", "output"}    -> {} after writing loss and gradients
    {"op": "time", "peer", "workload", "repeats"}    -> {"ms": [...]}
    {"op": "peak"}                                   -> {"gflops": best of large products}

A failed request is answered {"error": "..."} and the process goes on. Compilation and the first
iterations happen at the first request for a program, outside any time that is counted.
"""

import json
import os
import sys
import time
from pathlib import Path

from . import workloads

WARM_UP = 2  # iterations after a program is made, before anything counts
ENOUGH = 5000  # milliseconds of one request, after which a slow program is not repeated


class Worker:
    """Programs made so far, by peer and workload."""

    def __init__(self, library, directory):
        self.library, self.directory, self.ready = library, Path(directory), {}

    def list(self):
        return {"programs": {peer: list(made) for peer, made in self.library.PROGRAMS.items()}}

    def _make(self, peer, workload):
        inputs = workloads.read_inputs(self.directory / f"{workload}.safetensors", workload)
        return self.library.PROGRAMS[peer][workload](inputs)

    def check(self, peer, workload, output):
        workloads.write_arrays(output, self._make(peer, workload).check())
        return {}

    def time(self, peer, workload, repeats):
        if (peer, workload) not in self.ready:
            program = self.ready[peer, workload] = self._make(peer, workload)
            for _ in range(WARM_UP):
                program.run()
        program, found = self.ready[peer, workload], []
        # One more than asked: in the first, the caches belong to whoever ran before us.
        while len(found) < repeats + 1 and sum(found) < ENOUGH:
            start = time.perf_counter()
            program.run()
            found.append(1e3 * (time.perf_counter() - start))
        return {"ms": found[1:] or found}

    def peak(self):
        from . import peak

        return {"gflops": peak.measure()}


def load(name, threads):
    """Import the library with its threads limited; the limits must be set before the import."""
    os.environ.update(OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads),
                      OPENBLAS_NUM_THREADS=str(threads))
    if name == "torch":
        import torch

        torch.set_num_threads(threads)
        from . import torch_programs as library
    else:
        # XLA sizes its pool by the processors this process may use (set by who starts us).
        os.environ["JAX_PLATFORMS"] = "cpu"
        from . import jax_programs as library
    return library


def main(name, directory, threads):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    worker = Worker(load(name, int(threads)), directory)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("op"))(**request)
        except Exception as error:  # reported to the asker, who decides
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
