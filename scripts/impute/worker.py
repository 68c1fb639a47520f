"""A process that runs rivals: one JSON request a line in, one answer a line out.

Request: {"method", "input": .npz with times and values, "output": .npy, "dated", "seed", "limit"}.
Answer: {"seconds", "processor" (seconds of all its threads), "note"} or {"failed": why}. What the libraries
print goes to standard error.
"""

import json
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

from . import methods


@dataclass
class Problem:
    """What a method gets."""

    times: np.ndarray
    values: np.ndarray
    dated: bool
    seed: int
    limit: float


def answer(request):
    given = np.load(request["input"])
    problem = Problem(given["times"], given["values"], request["dated"], request["seed"], request["limit"])
    start, processor = time.monotonic(), time.process_time()
    found = methods.METHODS[request["method"]][1](problem)
    found, note = found if isinstance(found, tuple) else (found, "")
    seconds, processor = time.monotonic() - start, time.process_time() - processor
    np.save(request["output"], np.asarray(found, dtype=float))
    return {"seconds": seconds, "processor": processor, "note": note}


def warm(names):
    """Imports are no part of the time of a fill."""
    times = np.arange(64, dtype=float) * 3600
    values = np.sin(times[:, None] / 5000 + np.arange(3))
    values[5:9, 0] = values[20:24, 1] = np.nan
    for name in names:
        try:
            methods.METHODS[name][1](Problem(times, values.copy(), True, 0, 0.1))
        except Exception as error:  # noqa: BLE001: it will be said when it is asked
            print(f"{name}: {error}", file=sys.stderr)


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warm(sys.argv[1:])
    print(json.dumps({"ready": True}), file=replies, flush=True)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001: a rival's failure is a result
            reply = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
