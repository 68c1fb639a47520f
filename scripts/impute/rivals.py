"""Rivals in processes of their own, stopped where they take far too long."""

import json
import os
import selectors
import subprocess
import sys
from pathlib import Path

import numpy as np

from . import methods

SCRIPTS = Path(__file__).resolve().parent.parent
START = 600  # seconds for the imports of a worker
PATIENCE = 10  # times the limit after which a rival is stopped; it is counted in processor seconds, this is not


class Rivals:
    """One worker for each environment, started when it is needed."""

    def __init__(self, pythons, threads, limit, unable, directory):
        self.pythons, self.threads, self.limit, self.unable = pythons, threads, limit, unable
        self.directory, self.workers = Path(directory), {}

    def why_not(self, name):
        """Why a method cannot run on this machine; empty if it can."""
        environment, _, library = methods.METHODS[name]
        if environment not in self.pythons:
            return self.unable.get(environment, "its environment was not made")
        return self.unable.get(library, "") if library else ""

    def fill(self, name, times, values, dated, seed):
        """The filled matrix (or none), (seconds, processor seconds), and a note (why there is none)."""
        environment = methods.METHODS[name][0]
        given, found = self.directory / "given.npz", self.directory / "found.npy"
        np.savez(given, times=times, values=values)
        request = {
            "method": name,
            "input": str(given),
            "output": str(found),
            "dated": dated,
            "seed": seed,
            "limit": self.limit,
        }
        reply = self._ask(environment, request)
        if "failed" in reply:
            return None, None, reply["failed"]
        return np.load(found), (reply["seconds"], reply["processor"]), reply["note"]

    def close(self):
        for worker in self.workers.values():
            worker.kill()
            worker.wait()

    def _ask(self, environment, request):
        if environment not in self.workers:
            self.workers[environment] = self._start(environment)
        worker = self.workers[environment]
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        reply = _line(worker, PATIENCE * self.limit)
        if reply is None:
            worker.kill()
            worker.wait()
            del self.workers[environment]
            ended = worker.returncode != -9
            return {
                "failed": f"ended with code {worker.returncode}"
                if ended
                else f"stopped after {PATIENCE * self.limit:.0f} s"
            }
        return json.loads(reply)

    def _start(self, environment):
        names = [
            name
            for name, (where, _, _) in methods.METHODS.items()
            if where == environment and not self.why_not(name)
        ]
        surroundings = {
            **os.environ,
            "OMP_WAIT_POLICY": "PASSIVE",
            "PYTHONDONTWRITEBYTECODE": "1",
            **{f"{library}_NUM_THREADS": str(self.threads) for library in ("OMP", "OPENBLAS", "MKL")},
        }
        worker = subprocess.Popen(
            [self.pythons[environment], "-m", "impute.worker", *names],
            cwd=SCRIPTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=surroundings,
        )
        if _line(worker, START) is None:
            print(f"the worker of {environment} did not start", file=sys.stderr)
        return worker


def _line(worker, seconds):
    """A line of its answer; none if it ended or the time is over."""
    with selectors.DefaultSelector() as ready:
        ready.register(worker.stdout, selectors.EVENT_READ)
        if not ready.select(seconds):
            return None
    return worker.stdout.readline() or None
