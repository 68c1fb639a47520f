"""The virtual environments: one for most rivals, one for PyPOTS. PyPOTS is optional: without it its rows say why."""

import hashlib
import json
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
MAIN, NETWORKS = HERE / "requirements.txt", HERE / "requirements-pypots.txt"
WITHOUT_DEPENDENCIES = "imputegap==1.1.2"  # it asks for tensorflow, ray and more, which the five algorithms do not use


class Failure(Exception):
    """What keeps the benchmark from running."""


def progress(text):
    print(text, file=sys.stderr, flush=True)


def main_python(directory):
    """The interpreter with the requirements and imputegap, made if need be; and why its libraries do not load."""
    python = _made(directory, MAIN, extra=WITHOUT_DEPENDENCIES)
    found = subprocess.run([python, "-m", "impute.native"], cwd=HERE.parent, capture_output=True, text=True)
    if found.returncode:
        raise Failure(f"imputegap cannot be imported: {found.stderr.strip()[-300:]}")
    return python, {library: reason for library, reason in json.loads(found.stdout).items() if reason}


def networks_python(directory, peers):
    """The interpreter with PyPOTS; PyTorch is taken from the environment of bench-peers where that exists."""
    return _made(directory, NETWORKS, beside=peers)


def _made(directory, requirements, extra=None, beside=None):
    directory = Path(directory)
    python, stamp = directory / "bin" / "python", directory / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return str(python)
    progress(f"making {directory} (once)")
    try:
        venv.EnvBuilder(with_pip=True).create(directory)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(
            f"could not make a virtual environment in {directory}: {error}; the Python package `venv` may be missing"
        ) from error
    for packages in Path(beside).glob("lib/python*/site-packages") if beside else ():
        own = directory / "lib" / packages.parent.name / "site-packages"
        if own.exists():
            (own / "beside.pth").write_text(f"{packages}\n")
    _install(python, "--requirement", str(requirements))
    if extra:
        _install(python, "--no-deps", extra)
    stamp.write_text(wanted)
    return str(python)


def _install(python, *what):
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    if subprocess.run(command, stdout=sys.stderr).returncode:
        raise Failure(
            f"pip could not install {what[-1]} (its messages are above); a package index and Python 3.11 "
            f"or newer are needed, found Python {sys.version.split()[0]}"
        )


def versions():
    """The pinned packages that a reader of the figures wants to know."""
    lines = [*MAIN.read_text().splitlines(), *NETWORKS.read_text().splitlines(), WITHOUT_DEPENDENCIES]
    return dict(line.split("==") for line in lines if "==" in line)
