"""`cssc fill` as a user runs it: a CSV goes in, a CSV comes out."""

import csv
import hashlib
import math
import re
import resource
import subprocess
import time
from pathlib import Path

import numpy as np

LEVEL = 0.9  # of the bands
WITHOUT, WITH = "cssc --budget 0s", "cssc"
METHODS = {WITHOUT: ("--budget", "0s"), WITH: ()}
PATIENCE = 900  # seconds


def fingerprint(program):
    """Tells one build from another, so that results are not mixed."""
    return hashlib.sha256(Path(program).read_bytes()).hexdigest()[:12]


class Ours:
    """One build of the program."""

    def __init__(self, program, directory, threads):
        self.program, self.directory, self.threads = program, Path(directory), threads
        self.fingerprint = fingerprint(program)
        help_text = subprocess.run([program, "fill", "--help"], capture_output=True, text=True).stdout
        # Beyond the ends the rivals give something too.
        self.edges = ("--edges", "predict" if re.search("--edges <[^>]*predict", help_text) else "nearest")

    def fill(self, method, table, values, ids=None):
        """Filled values, lower and upper ends of bands, (seconds, processor seconds), note; filled is none where it
        failed."""
        given, found = self.directory / "given.csv", self.directory / "found.csv"
        table.write(given, values)
        command = [
            self.program,
            "fill",
            str(given),
            "--time",
            "time",
            *METHODS[method],
            *self.edges,
            "--bands",
            str(LEVEL),
            "--threads",
            str(self.threads),
            "--quiet",
            "-o",
            str(found),
        ]
        if ids:
            command += ["--id", ids]
        start, before = time.monotonic(), _processor()
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None, None, None, None, f"stopped after {PATIENCE} s"
        spent = time.monotonic() - start, _processor() - before
        if run.returncode:
            return None, None, None, None, " ".join(run.stderr.split())[-300:]
        with open(found, newline="") as file:
            rows = list(csv.DictReader(file))
        read = lambda ending: np.array(
            [
                [_number(row.get(column + ending)) for column in table.columns]  # noqa: E731
                for row in rows
            ]
        )
        return read(""), read("_lower"), read("_upper"), spent, ""


def _processor():
    """Processor seconds of all programs run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _number(text):
    return float(text) if text else math.nan
