"""The virtual environment with the peers, made once from pinned versions."""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

from .contest import Failure, progress

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def python_of(directory):
    """The interpreter of an environment that holds the requirements, made if need be."""
    python = Path(directory) / "bin" / "python"
    stamp = Path(directory) / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return str(python)
    progress(f"making {directory} (once; PyTorch from PyPI brings its GPU libraries, about 3 GB to load "
             f"and 6 GB on disk, although only the processor is used)")
    try:
        venv.EnvBuilder(with_pip=True).create(directory)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"could not make a virtual environment in {directory}: {error}; "
                      f"the Python package `venv` may be missing") from error
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--requirement", str(REQUIREMENTS)]
    if subprocess.run(install, stdout=sys.stderr).returncode:
        raise Failure(f"pip could not install {REQUIREMENTS.name} (its messages are above); "
                      f"a package index and Python 3.11 or newer are needed, found Python {sys.version.split()[0]}")
    stamp.write_text(wanted)
    return str(python)


def versions():
    """The pinned packages that a reader of the figures wants to know."""
    lines = REQUIREMENTS.read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)
