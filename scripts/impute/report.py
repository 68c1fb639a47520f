"""The page docs/imputation.md from the records."""

import os
import platform
from pathlib import Path

from . import board, environment, ours, pictures, scores, sets, windows

HEAD = """# Filling gaps: `cssc fill` and others

Made by `scripts/bench-impute`, which anyone can run: known cells of real tables are hidden, every method fills them, and
errors are measured on the hidden cells only, in standard deviations of the columns, relative to straight lines (1.00;
smaller is better). `scripts/bench-impute --quick` takes a minute, everything {hours}; what has its result is not run again.

Machine: {machine}. Versions: {versions}. Our program: build `{program}`. {load}
"""
TASKS = """## Tasks

| task | what is hidden |
|---|---|
| P10, P50 | single cells at random, 10 and 50 % of them |
| BLOCK | blocks of 3 to 48 rows, in every column at other places, a tenth of the cells |
| BLOCKALL | blocks of 3 to 48 rows in all columns at once, a tenth of the rows |
| mcar, aligned, disjoint, overlap, scattered, blackout | the patterns of ImputeGAP by its own generator at 10, 30 and 50 % of the columns and of their rows (blackout: all columns): but for mcar (blocks of 10 rows) one gap of a tenth to half of the table |

Tables have at most {rows:,} rows and {columns} columns (the first ones). Where the source tells no spacing of the rows, or one that contradicts the data,
times count the rows. In the last six tasks gaps may reach the end of the table.

## Methods

`pandas`, `scipy` interpolate each column by itself (the nearest value beyond the ends). `IterativeImputer` (scikit-learn, Bayesian ridge) sees each column also one row earlier and
later. `ridge` and `trees` are regressions written for this comparison (`scripts/impute/regress.py`; the trees are scikit-learn's HistGradientBoosting): departures of the
other columns, of one period earlier and later, of a mean profile and of the Akima curve from their chords over the gap, learned from cells hidden in the pattern of the gaps.
`UnobservedComponents` (statsmodels) is a local level with one seasonal cycle, column by column, within {limit}. CDRec, IterativeSVD, TRMF, DynaMMo and TKCM are
ImputeGAP's, with its default settings on standardised columns; TKCM fills one column from those rows that come before its first gap, so each is filled in turn with the others interpolated. SAITS and BRITS are PyPOTS' on windows of 48 rows, trained on the table itself for as many
epochs as fit into {limit} (at most 100), on the processor. `cssc` is `cssc fill` with its default budget, `cssc --budget 0s` trains no network.
"""


def write(records, given):
    """Writes the page and its pictures; returns the text."""
    output = given.output
    output.parent.mkdir(parents=True, exist_ok=True)
    found = board.boards(records)
    parts = [_head(records), TASKS.format(limit=_limit(records, given), rows=given.rows, columns=given.columns)]
    for number, one in enumerate(found):
        parts += _summary(one, number, output)
    if found:
        parts += [_wins(found[0]), _tables(found[0])]
    parts += [_coverage(records), _protocol(records), _unable(records)]
    text = "\n".join(part for part in parts if part)
    output.write_text(text)
    return text


def _head(records):
    programs = sorted({record["program"] for record in records if record.get("program")})
    names = ", ".join(f"{name} {version}" for name, version in environment.versions().items() if name != "toml")
    total = sum(record.get("processor") or 0 for record in records) / 3600
    return HEAD.format(machine=machine(), versions=names, program=", ".join(programs) or "none", hours=f"{total:.1f} processor hours",
                       load="Times are processor seconds of all threads together, without imports.")


def _limit(records, given):
    limits = sorted({record["limit"] for record in records if "limit" in record}) or [given.limit]
    return f"{' or '.join(f'{limit:.0f}' for limit in limits)} processor seconds"


def _summary(one, number, output):
    title = "All tables and tasks" if number == 0 else "With the slow methods, on the tasks that all have run"
    count = len(one.cases)
    picture = output.with_name(f"{output.stem}-{'fast' if number == 0 else 'all'}.svg")
    pictures.families(one, picture)
    lengths = ""
    if number == 0:
        path = output.with_name(f"{output.stem}-lengths.svg")
        pictures.lengths(one, path)
        lengths = f"![Error by length of the gap]({path.name})\n"
    return [f"## {title}\n", f"{count} cases: {len({case[0] for case in one.cases})} tables, {len({case[1] for case in one.cases})} tasks, "
            f"{len({case[2] for case in one.cases})} seed(s). Geometric means of squared errors relative to straight lines; "
            f"`absolute` of absolute errors. Worst: largest squared error relative to the better of linear and makima.\n",
            _summary_table(one), f"![Squared error by task]({picture.name})\n", lengths]


def _summary_table(one):
    families = one.families()
    best = {family: min(scores.geometric_mean(one.relative(method, family)) for method in one.methods
                        if one.relative(method, family)) for family in [*families, None]}
    rows = []
    for method in sorted(one.methods, key=lambda name: one.mean_rank(name) if name != board.REFERENCE else 1e9):
        cells = [_name(method)]
        for family in [*families, None]:
            found = one.relative(method, family)
            mean = scores.geometric_mean(found)
            cells.append((f"**{mean:.2f}**" if mean == best[family] else f"{mean:.2f}") if found else "")
        worst = one.worst(method)[0]
        failed = one.failures(method)
        cells += [f"{scores.geometric_mean(one.relative(method, None, 'absolute')):.2f}",
                  "" if method == board.REFERENCE else f"{one.mean_rank(method):.1f}",
                  f"{worst:.2f}" if worst else "", _seconds(one.seconds(method)), str(failed) if failed else ""]
        rows.append(cells)
    return table(["", *families, "all", "absolute", "mean rank", "worst", "processor seconds, median", "gave nothing"], rows)


def _name(method):
    return f"**`{method}`**" if method in board.OURS else method


def _seconds(number):
    return "" if number is None else f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _wins(one):
    """Ours against the best rival of each case, known afterwards."""
    parts = ["## Where it wins, and where it does not\n"]
    for method in (name for name in board.OURS if name in one.methods):
        rivals = [name for name in one.methods if name not in board.OURS]
        pairs = []
        for case in one.cases:
            own = one.error(case, method)
            best = min((one.error(case, name), name) for name in rivals if one.error(case, name) is not None)
            if own is not None and best[0]:
                pairs.append((own / best[0], case, best[1]))
        pairs.sort()
        won = sum(ratio < 1 for ratio, _, _ in pairs)
        beyond = one.beyond(method, 1.05)
        single = min((scores.geometric_mean(one.relative(name)), name) for name in rivals)
        own_mean = scores.geometric_mean(one.relative(method))
        parts.append(f"`{method}` has a smaller squared error than *every* rival in {won} of {len(pairs)} cases. Its geometric mean is {own_mean / single[0]:.2f} of "
                     f"that of the best single rival ({single[1]}). It is above 1.05 of the better of linear and makima in {len(beyond)} cases"
                     + (f": {', '.join(_case(case) for case in beyond[:12])}{' …' if len(beyond) > 12 else ''}" if beyond else "") + ".\n")
        show = lambda some: table(["case", "squared error relative to the best rival", "best rival"],  # noqa: E731
                                  [[_case(case), f"{ratio:.2f}", name] for ratio, case, name in some])
        parts += [f"Best cases of `{method}`:\n", show(pairs[:6]), f"Worst cases of `{method}`:\n", show(pairs[::-1][:10])]
    return "\n".join(parts)


def _case(case):
    return f"{case[0]} {case[1]}" + (f" (seed {case[2]})" if case[2] else "")


def _tables(one):
    """By table: geometric means over its tasks."""
    rows = []
    for name in dict.fromkeys(case[0] for case in one.cases):
        part = board.Board({case: found for case, found in one.cases.items() if case[0] == name}, one.methods)
        means = {method: scores.geometric_mean(part.relative(method)) for method in one.methods if part.relative(method)}
        rivals = {method: mean for method, mean in means.items() if method not in board.OURS}
        best = min(rivals, key=rivals.get)
        what = sets.SOURCES[name].what if name in sets.SOURCES else sets.OURS[name]
        rows.append([name, what, *(f"{means[method]:.2f}" if method in means else "" for method in board.OURS if method in one.methods),
                     f"{rivals[best]:.2f} ({best})"])
    head = ["table", "", *(f"`{method}`" for method in board.OURS if method in one.methods), "best rival over its tasks"]
    return "## By table\n\nGeometric means over the tasks, squared error relative to straight lines.\n\n" + table(head, rows)


def _coverage(records):
    """Bands of 90 %: the part of hidden cells inside, by class of gap length, and tables within the promise."""
    rows = []
    for method in board.OURS:
        found = [record for record in records if record["method"] == method and record.get("covered")]
        if not found:
            continue
        for name in dict.fromkeys(record["set"] for record in found):
            classes = {}
            for record in found:
                if record["set"] == name and record["task"] in ("P10", "P50", "BLOCK", "BLOCKALL"):
                    for group, (cells, inside) in record["covered"].items():
                        before = classes.get(group, (0, 0))
                        classes[group] = (before[0] + cells, before[1] + inside)
            if classes:
                total = [sum(numbers) for numbers in zip(*classes.values())]
                rows.append([f"`{method}`", name, *(f"{classes[group][1] / classes[group][0]:.0%}" if group in classes else ""
                                                   for group in scores.CLASSES), f"{total[1] / total[0]:.1%}"])
    if not rows:
        return ""
    return (f"## Bands\n\nPart of the hidden cells inside the bands of `--bands {ours.LEVEL}`, by the length of the gap in rows (P10, P50, BLOCK, BLOCKALL together).\n\n"
            + table(["", "table", *scores.CLASSES, "all"], rows))


def _protocol(records):
    found = {(record["set"], record["task"], record["method"]): record["absolute"] for record in records
             if record["task"].startswith("tsi ") and "absolute" in record}
    if not found:
        return ""
    parts = ["## The protocol of TSI-Bench\n", "Mean absolute error on hidden cells of the test windows (`scripts/bench-impute --tsi-bench`). Windows of 12 (Italy air) and 48 rows "
             "(ETT-h1), split and standardised as there, the same rules of hiding; the draws of hidden cells are ours, so compare with the two rows of `linear`. The published models are trained on the training windows and see one window at a "
             "time, without dates. `windows`: `cssc fill` gets all windows as series of their own, with their dates, cells hidden in all parts as there. `series`: the same "
             "cells hidden, but rows in one series, which is what a user of a table has; an easier task, compare with its own row of `linear`.\n"]
    for data in windows.DATA:
        rows = [[f"published: {name}", *(f"{number:.3f}" if number else "" for number in numbers)]
                for name, numbers in windows.PUBLISHED.get(data, {}).items()]
        for way in ("windows", "series"):
            for method in dict.fromkeys(key[2] for key in found):
                numbers = [found.get((data, f"tsi {pattern} {way}", method)) for pattern in windows.PATTERNS]
                if any(numbers):
                    rows.append([f"{way}: {_name(method)}", *(f"{number:.3f}" if number else "" for number in numbers)])
        parts.append(table([data, *windows.PATTERNS], rows))
    return "\n".join(parts)


def _unable(records):
    """Why methods gave nothing."""
    reasons = {}
    for record in records:
        if "absolute" not in record and record.get("note"):
            reasons.setdefault((record["method"], record["note"]), []).append(f"{record['set']} {record['task']}")
    if not reasons:
        return ""
    rows = [[_name(method), note.replace("|", "/")[:160], f"{len(where)}: {', '.join(where[:3])}{' …' if len(where) > 3 else ''}"]
            for (method, note), where in sorted(reasons.items())]
    return "## What could not be run\n\n" + table(["method", "why", "cases"], rows)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine():
    """Processor, number of processors, operating system."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return f"{fields.get('model name', platform.machine())}, {os.cpu_count()} processors, {platform.system()}"
