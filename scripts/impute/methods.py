"""The rivals by name: what each makes of times [rows] and values [rows, columns] with NaN where missing."""

import numpy as np

MAIN, NETWORKS = "impute", "pypots"  # the environments


def pandas_interpolate(problem, method):
    import pandas as pd

    index = pd.to_datetime(problem.times, unit="s") if method == "time" else pd.RangeIndex(len(problem.times))
    frame = pd.DataFrame(problem.values, index=index)
    return frame.interpolate(method=method, limit_direction="both").to_numpy()


def iterative_imputer(problem):
    """Bayesian ridges in turn, with each column one row earlier and later as further columns."""
    import warnings

    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    values = problem.values
    earlier, later = np.roll(values, 1, axis=0), np.roll(values, -1, axis=0)
    earlier[0], later[-1] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer = IterativeImputer(random_state=problem.seed, keep_empty_features=True)
        return imputer.fit_transform(np.hstack([values, earlier, later]))[:, : values.shape[1]]


def _plain(name):
    def run(problem):
        from . import plain

        return getattr(plain, name)(problem.times, problem.values)

    return run


def _regression(name):
    def run(problem):
        from . import regress

        return getattr(regress, name)(problem.times, problem.values, problem.dated, problem.seed)

    return run


def _structural(problem):
    from . import features, plain, structural

    periods = features.find_periods(problem.times, plain.linear(problem.times, problem.values), problem.dated)
    return structural.unobserved_components(problem.times, problem.values, periods[:1], problem.limit)


def _matrix(name):
    def run(problem):
        from . import matrices

        return getattr(matrices, name)(problem.values)

    return run


def _network(name):
    def run(problem):
        from . import networks

        return getattr(networks, name)(problem.values, problem.limit, problem.seed)

    return run


# name: (environment, function, shared library of imputegap that it needs)
METHODS = {
    "linear": (MAIN, _plain("linear"), None),
    "pandas linear": (MAIN, lambda problem: pandas_interpolate(problem, "linear"), None),
    "pandas time": (MAIN, lambda problem: pandas_interpolate(problem, "time"), None),
    "scipy makima": (MAIN, _plain("makima"), None),
    "scipy pchip": (MAIN, _plain("pchip"), None),
    "IterativeImputer": (MAIN, iterative_imputer, None),
    "ridge": (MAIN, _regression("ridge"), None),
    "trees": (MAIN, _regression("trees"), None),
    "UnobservedComponents": (MAIN, _structural, None),
    "CDRec": (MAIN, _matrix("cdrec"), "lib_cdrec"),
    "IterativeSVD": (MAIN, _matrix("iterative_svd"), "lib_iterative_svd"),
    "TRMF": (MAIN, _matrix("trmf"), None),
    "DynaMMo": (MAIN, _matrix("dynammo"), "lib_dynammo"),
    "TKCM": (MAIN, _matrix("tkcm"), "lib_tkcm"),
    "SAITS": (NETWORKS, _network("saits"), None),
    "BRITS": (NETWORKS, _network("brits"), None),
}
