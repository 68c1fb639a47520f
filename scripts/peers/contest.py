"""The contestants of one run, and the rounds in which they are timed in turn.

Everyone is kept on the same processors (the first N for N threads). The peers live in worker
processes that stay alive and wait; our program is started anew for every round.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

OURS = "cssc"
SCRIPTS = Path(__file__).resolve().parent.parent
PAUSE = 0.2  # seconds between contestants: threads that spin in wait have gone to sleep


class Failure(Exception):
    """A message for the user, without a traceback."""


def progress(text):
    print(text, file=sys.stderr, flush=True)


def on_processors(threads):
    """A function to run in a started process: keeps it on as many processors as threads."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < threads:
        raise Failure(f"expected {threads} processors for {threads} threads, found {len(processors)}; "
                      f"ask for fewer with --threads")
    return lambda: os.sched_setaffinity(0, processors[:threads])


class Peer:
    """A worker process of one library."""

    def __init__(self, python, library, directory, threads):
        self.library = library
        self.process = subprocess.Popen(
            [python, "-m", "peers.worker", library, str(directory), str(threads)], cwd=SCRIPTS,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=on_processors(threads))
        self.programs = self.ask(op="list")["programs"]

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Failure(f"the {self.library} worker ended (exit code {self.process.wait()}) "
                          f"while asked for {request}; its messages are above")
        answer = json.loads(answer)
        if "error" in answer:
            raise Failure(f"the {self.library} worker could not answer {request}: {answer['error']}")
        return answer

    def times(self, peer, workload, repeats):
        """(shortest, median) of one round in milliseconds."""
        found = self.ask(op="time", peer=peer, workload=workload, repeats=repeats)["ms"]
        return min(found), statistics.median(found)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ours:
    """The program under test, `cssc bench`."""

    def __init__(self, binary, threads):
        self.binary, self.threads = binary, threads
        self.megabytes = {}  # peak memory of each workload's process

    def times(self, _, workload, repeats):
        """(shortest, median) of one start of the program in milliseconds."""
        command = [self.binary, "bench", "--threads", str(self.threads),
                   "--repeats", str(repeats), "--json", workload]
        output, kilobytes = run(command, on_processors(self.threads))
        self.megabytes[workload] = max(self.megabytes.get(workload, 0), kilobytes / 1024)
        try:
            (found,) = [row for row in json.loads(output) if row["workload"] == workload]
            return found["min_ms"], found["median_ms"]
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(f"expected from `{' '.join(command)}` a JSON list with one object of workload, "
                          f"threads, min_ms, median_ms; found {output[:200]!r} ({error})") from error


def run(command, before=None, cwd=None):
    """Standard output of a command and the peak memory of its process in kB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=before, cwd=cwd)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failure(f"`{' '.join(map(str, command))}` ended with exit code {process.returncode}; "
                      f"its messages are above")
    return output, usage.ru_maxrss


class Times:
    """Times of one contestant in one workload, collected round by round."""

    def __init__(self):
        self.shortest, self.medians = [], []

    def add(self, shortest, median):
        self.shortest.append(shortest)
        self.medians.append(median)

    @property
    def minimum(self):
        return min(self.shortest)

    @property
    def median(self):
        return statistics.median(self.medians)


def hold(contestants, workloads, rounds, repeats, measure_peak):
    """Time all in turn; returns {workload: {name: Times}} and the best peak in GFLOP/s.

    `contestants` maps a name to (who to ask, workloads it can do).
    """
    found = {workload: {name: Times() for name, (_, able) in contestants.items() if workload in able}
             for workload in workloads}
    peaks = []
    for number in range(1, rounds + 1):
        peaks.append(measure_peak())
        progress(f"  round {number}/{rounds}: products reach {peaks[-1]:.0f} GFLOP/s")
        for workload in workloads:
            for name in _turn(list(found[workload]), number):
                asked, _ = contestants[name]
                time.sleep(PAUSE)
                found[workload][name].add(*asked.times(name, workload, repeats))
            line = ", ".join(f"{name} {times.shortest[-1]:.1f}" for name, times in found[workload].items())
            progress(f"    {workload}: {line} ms")
    return found, max(peaks)


def _turn(names, number):
    """Another order in every round, so that nobody always runs after the same neighbour."""
    shift = number % len(names) if names else 0
    return names[shift:] + names[:shift]
