"""Records of a contest as boards: which methods on which cases, relative to straight lines."""

import statistics
from dataclasses import dataclass

from . import ours, scores, tasks

REFERENCE = "linear"
PLAIN = ("linear", "scipy makima")  # nothing may be worse than the better of these
FAMILIES = {
    **{name: (name,) for name in ("BLOCK", "BLOCKALL", "P10", "P50")},
    **{pattern: tuple(f"{pattern}-{rate}" for rate in tasks.RATES) for pattern in tasks.PATTERNS},
}
OURS = tuple(ours.METHODS)


@dataclass
class Board:
    """Results {case: {method: record}} in which every case has every method; a case is (set, task, seed)."""

    cases: dict
    methods: list

    def error(self, case, method, measure="squared"):
        return self.cases[case][method].get(measure)

    def relative(self, method, family=None, measure="squared"):
        """Errors relative to straight lines, of cases of a family (or one task) in which the method gave something."""
        names = FAMILIES.get(family, (family,))
        chosen = [case for case in self.cases if family is None or case[1] in names]
        pairs = [(self.error(case, method, measure), self.error(case, REFERENCE, measure)) for case in chosen]
        return [error / base for error, base in pairs if error is not None and base]

    def mean_rank(self, method, measure="squared"):
        """Among the methods other than the reference."""
        rivals = [name for name in self.methods if name != REFERENCE]
        found = [
            scores.ranks({name: self.error(case, name, measure) for name in rivals})[method] for case in self.cases
        ]
        return statistics.mean(found)

    def worst(self, method):
        """The largest ratio to the better of the plain methods, and its case."""
        found = []
        for case in self.cases:
            base = min(self.error(case, name) for name in PLAIN)
            if base and self.error(case, method) is not None:
                found.append((self.error(case, method) / base, case))
        return max(found) if found else (None, None)

    def beyond(self, method, limit):
        """Cases in which the error is more than `limit` of the better plain method's."""
        plain = {case: min(self.error(case, name) for name in PLAIN) for case in self.cases}
        return [case for case, base in plain.items() if (self.error(case, method) or 0) > limit * base]

    def seconds(self, method):
        """Median of the processor seconds of all threads: other programs on the machine change them little."""
        found = [record[method]["processor"] for record in self.cases.values() if "processor" in record[method]]
        return statistics.median(found) if found else None

    def failures(self, method):
        return sum("squared" not in record[method] for record in self.cases.values())

    def families(self):
        return [name for name in FAMILIES if any(case[1] in FAMILIES[name] for case in self.cases)]


def boards(records):
    """The board of the methods that ran on nearly all cases, and that of all methods on the cases they share."""
    cases = {}
    for record in records:
        if not record["task"].startswith("tsi "):
            cases.setdefault((record["set"], record["task"], record["seed"]), {})[record["method"]] = record
    whole = lambda found: all("squared" in found.get(name, {}) for name in PLAIN)  # noqa: E731
    cases = {case: found for case, found in sorted(cases.items()) if whole(found)}
    if any(ours.WITHOUT in found for found in cases.values()):
        cases = {case: found for case, found in cases.items() if ours.WITHOUT in found}
    counts = {}
    for found in cases.values():
        for method in found:
            counts[method] = counts.get(method, 0) + 1
    wide = [method for method, count in counts.items() if count >= 0.9 * len(cases)]
    result = [_board(cases, wide)]
    if set(wide) != set(counts):
        result.append(_board(cases, list(counts)))
    return [board for board in result if board.cases]


def _board(cases, methods):
    return Board({case: found for case, found in cases.items() if all(name in found for name in methods)}, methods)
