"""ImputeGAP's algorithms in C++: does its wheel's build of them load here, and if not, another from the same sources.

Run by the environment's own Python: `python -m impute.native` prints a JSON object, {library: ""} or {library: why not}.
The wheel's libraries want OpenBLAS and the C++ runtime of GCC 13; the sources in the wheel want a C++
compiler, Armadillo's headers and OpenBLAS (Debian: g++ libarmadillo-dev libopenblas-dev).
"""

import ctypes
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

SOURCES = {
    "lib_cdrec": (
        "Algebra/CentroidDecomposition.cpp",
        "Algorithms/CDMissingValueRecovery.cpp",
        "shared/SharedLibCDREC.cpp",
    ),
    "lib_iterative_svd": ("Algebra/RSVD.cpp", "Algorithms/IterativeSVD.cpp", "shared/SharedLibIterativeSVD.cpp"),
    "lib_dynammo": ("Algebra/Auxiliary.cpp", "Algorithms/DynaMMo.cpp", "shared/SharedLibDynaMMo.cpp"),
    "lib_tkcm": ("Algorithms/TKCM.cpp", "shared/SharedLibTKCM.cpp"),
}
FLAGS = ("-O3", "-DARMA_DONT_USE_WRAPPER", "-DARMA_DONT_USE_ARPACK", "-fPIC", "-shared", "-fopenmp", "-std=gnu++14")


def prepare(package):
    """Makes the libraries loadable; says of each why it is not."""
    return {library: _prepare(Path(package), library) for library in SOURCES}


def _prepare(package, library):
    path = package / "algorithms" / "lib" / f"{library}.so"
    try:
        ctypes.CDLL(str(path))
        return ""
    except OSError as error:
        reason = str(error)
    command = ["g++", *FLAGS, *SOURCES[library], "-o", str(path), "-lopenblas"]
    try:
        built = subprocess.run(command, cwd=package / "wrapper" / "AlgoCollection", capture_output=True, text=True)
    except OSError as error:
        return f"{reason}; {error}"
    if built.returncode:
        first = next((line for line in built.stderr.splitlines() if "error" in line), "it did not compile")
        return f"{reason}; {first.strip()}"
    return _prepare_again(path)


def _prepare_again(path):
    try:
        ctypes.CDLL(str(path))
        return ""
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    origin = importlib.util.find_spec("imputegap").origin
    json.dump(prepare(Path(origin).parent), sys.stdout)
