"""Every method on every task, one after another; what has its result is not run again."""

import numpy as np

from . import ours, scores, sets, tasks
from .environment import progress

SLOW = ("UnobservedComponents", "SAITS", "BRITS", ours.WITH)
SLOW_TASKS = ("BLOCK", "P50")  # where these run, with the first seed


def run(chosen, ledger, rivals, program, cache):
    """`chosen` has sets, tasks, seeds, methods, rows and columns; `program` is ours (or none). What cannot run on this
    machine leaves no record, so that it runs where it can."""
    able = []
    for method in chosen.methods:
        reason = "" if method in ours.METHODS else rivals.why_not(method)
        if reason:
            progress(f"without {method}: {reason}")
        else:
            able.append(method)
    chosen.methods = able
    for seed in chosen.seeds:
        for task in chosen.tasks:
            for name in chosen.sets:
                _task(chosen, ledger, rivals, program, cache, name, task, seed)


def _task(chosen, ledger, rivals, program, cache, name, task, seed):
    build = program.fingerprint if program else ""
    size = f"{chosen.rows}x{chosen.columns}"
    slow = chosen.everywhere or (task in SLOW_TASKS and seed == chosen.seeds[0])
    wanted = [
        method for method in chosen.methods if (method not in ours.METHODS or program) and (slow or method not in SLOW)
    ]
    missing = [
        method
        for method in wanted
        if not ledger.has(
            set=name, size=size, task=task, seed=seed, method=method, program=build if method in ours.METHODS else ""
        )
    ]
    if not missing:
        return
    table = sets.load(name, cache, chosen.rows, chosen.columns)
    truth, times = np.array(table.values), np.array(table.seconds)
    if truth.shape[1] < 2 and task in tasks.IMPUTEGAP:
        return  # its patterns are about several columns
    hidden = tasks.hidden(truth, name, task, seed)
    if not hidden.any():
        return
    given = np.where(hidden, np.nan, truth)
    for method in missing:
        record = {"set": name, "size": size, "task": task, "seed": seed, "method": method}
        if method in SLOW and method not in ours.METHODS:
            record["limit"] = chosen.limit
        if method in ours.METHODS:
            filled, lower, upper, spent, note = program.fill(method, table, given)
            record["program"] = build
        else:
            filled, spent, note = rivals.fill(method, times, given, not table.times[0].isdigit(), seed)
        if filled is not None:
            filled, note = _without_holes(filled, given, hidden, note)
            record |= {
                "seconds": round(spent[0], 3),
                "processor": round(spent[1], 3),
                **scores.errors(filled, truth, hidden, given),
            }
            if method in ours.METHODS:
                record["covered"] = scores.coverage(lower, upper, truth, hidden, given)
        ledger.add(**record, note=note)
        progress(
            f"{name} {task} {seed} {method}: "
            + (f"{record['squared']:.4g} squared, {spent[0]:.1f} s {note}" if filled is not None else f"none ({note})")
        )


def _without_holes(filled, given, hidden, note):
    """What a method leaves empty counts as straight lines, and is said."""
    from . import plain

    empty = ~np.isfinite(filled) & hidden
    if not empty.any():
        return filled, note
    whole = plain.linear(np.arange(len(given), dtype=float), given)
    return np.where(empty, whole, filled), f"{note} {int(empty.sum())} cells left empty".strip()
