"""The page docs/imputation.md from the records."""

import os
import platform
from pathlib import Path

from . import board, environment, ours, pictures, prose, scores, sets, tasks, windows


def write(records, given):
    """Writes the page and its pictures; returns the text."""
    output = given.output
    output.parent.mkdir(parents=True, exist_ok=True)
    found = board.boards(records)
    parts = [_head(records), prose.TASKS.format(limit=_limit(records, given), rows=given.rows, columns=given.columns)]
    if given.fresh or not given.tables:
        parts.append(prose.FRESH if given.fresh else prose.AT_HAND)
    for number, one in enumerate(found):
        parts += _summary(one, number, output)
    if found:
        parts += [_wins(found[0]), _rates(found[0]), _tables(found[0])]
    parts += [_coverage(records), _protocol(records), _unable(records)]
    text = "\n".join(part for part in parts if part)
    output.write_text(text)
    return text


def _head(records):
    contest = [record for record in records if not record["task"].startswith("tsi ")]
    programs = sorted({record["program"] for record in contest if record.get("program")})
    names = ", ".join(f"{name} {version}" for name, version in environment.versions().items() if name != "toml")
    total = sum(record.get("processor") or 0 for record in records) / 3600
    return prose.HEAD.format(
        machine=machine(), versions=names, program=", ".join(programs) or "none", hours=f"{total:.1f} processor hours"
    )


def _limit(records, given):
    limits = sorted({record["limit"] for record in records if "limit" in record}) or [given.limit]
    return f"{' or '.join(f'{limit:.0f}' for limit in limits)} processor seconds"


def _summary(one, number, output):
    title = "All tables and tasks" if number == 0 else "With the slow methods, on the tasks that all have run"
    tables, tasks, seeds = (len(set(part)) for part in zip(*one.cases))
    picture = output.with_name(f"{output.stem}-{'fast' if number == 0 else 'all'}.svg")
    pictures.families(one, picture)
    lengths = ""
    if number == 0:
        path = output.with_name(f"{output.stem}-lengths.svg")
        pictures.lengths(one, path)
        lengths = f"![Error by length of the gap]({path.name})\n"
    return [
        f"## {title}\n",
        prose.SUMMARY.format(cases=len(one.cases), tables=tables, tasks=tasks, seeds=seeds),
        _summary_table(one),
        f"![Squared error by task]({picture.name})\n",
        lengths,
    ]


def _summary_table(one):
    families = one.families()
    best = {
        family: min(
            scores.geometric_mean(one.relative(method, family))
            for method in one.methods
            if one.relative(method, family)
        )
        for family in [*families, None]
    }
    rows = []
    for method in sorted(one.methods, key=lambda name: one.mean_rank(name) if name != board.REFERENCE else 1e9):
        cells = [_name(method)]
        for family in [*families, None]:
            found = one.relative(method, family)
            mean = scores.geometric_mean(found)
            cells.append((f"**{_ratio(mean)}**" if mean == best[family] else _ratio(mean)) if found else "")
        worst = one.worst(method)[0]
        failed = one.failures(method)
        cells += [
            f"{scores.geometric_mean(one.relative(method, None, 'absolute')):.2f}",
            "" if method == board.REFERENCE else f"{one.mean_rank(method):.1f}",
            _ratio(worst) if worst else "",
            _seconds(one.seconds(method)),
            str(failed) if failed else "",
        ]
        rows.append(cells)
    counts = [f"{family} ({sum(case[1] in board.FAMILIES[family] for case in one.cases)})" for family in families]
    return table(
        ["", *counts, "all", "absolute", "mean rank", "worst", "processor seconds, median", "gave nothing"], rows
    )


def _ratio(number):
    if number >= 1e7:  # some diverge
        return f"{number:.0e}"
    return f"{number:.2f}" if number < 100 else f"{number:,.0f}"


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
        some = f": {', '.join(map(_case, beyond[:12]))}{' …' if len(beyond) > 12 else ''}" if beyond else ""
        parts.append(
            f"`{method}` has a smaller squared error than *every* rival in {won} of {len(pairs)} cases. Its geometric\n"
            f"mean is {own_mean / single[0]:.2f} of that of the best single rival ({single[1]}). It is above 1.05 of the\n"
            f"better of linear and makima in {len(beyond)} cases{some}.\n"
        )

        def show(some):
            return table(
                ["case", "squared error relative to the best rival", "best rival"],  # noqa: E731
                [[_case(case), f"{ratio:.2f}", name] for ratio, case, name in some],
            )

        parts += [
            f"Best cases of `{method}`:\n",
            show(pairs[:6]),
            f"Worst cases of `{method}`:\n",
            show(pairs[::-1][:10]),
        ]
    return "\n".join(parts)


def _case(case):
    return f"{case[0]} {case[1]}" + (f" (seed {case[2]})" if case[2] else "")


def _rates(one):
    """ImputeGAP's patterns by the part that is hidden, if there are several parts."""
    parts = {rate: [f"{pattern}-{rate}" for pattern in tasks.PATTERNS] for rate in tasks.RATES}
    parts = {rate: names for rate, names in parts.items() if any(case[1] in names for case in one.cases)}
    if len(parts) < 2:
        return ""
    rows = []
    for method in (name for name in one.methods if name != board.REFERENCE):
        cells = [_name(method)]
        for names in parts.values():
            found = [ratio for name in names for ratio in one.relative(method, name)]
            cells.append(_ratio(scores.geometric_mean(found)) if found else "")
        rows.append(cells)
    counts = {rate: sum(case[1] in names for case in one.cases) for rate, names in parts.items()}
    head = ["", *(f"{rate} % ({count})" for rate, count in counts.items())]
    return prose.RATES + table(head, rows)


def _tables(one):
    """By table: geometric means over its tasks."""
    rows = []
    for name in dict.fromkeys(case[0] for case in one.cases):
        part = board.Board({case: found for case, found in one.cases.items() if case[0] == name}, one.methods)
        means = {
            method: scores.geometric_mean(part.relative(method)) for method in one.methods if part.relative(method)
        }
        rivals = {method: mean for method, mean in means.items() if method not in board.OURS}
        best = min(rivals, key=rivals.get)
        rows.append(
            [
                name,
                sets.what(name),
                *(f"{means[method]:.2f}" if method in means else "" for method in board.OURS if method in one.methods),
                f"{rivals[best]:.2f} ({best})",
            ]
        )
    head = [
        "table",
        "",
        *(f"`{method}`" for method in board.OURS if method in one.methods),
        "best rival over its tasks",
    ]
    return "## By table\n\nGeometric means over the tasks, squared error relative to straight lines.\n\n" + table(
        head, rows
    )


def _coverage(records):
    """Bands of 90 %: the part of hidden cells inside, by class of gap length, and tables within the promise."""
    rows, promises = [], ""
    for method in board.OURS:
        found = [record for record in records if record["method"] == method and record.get("covered")]
        if not found:
            continue
        seeds, held = {record["seed"] for record in found}, []
        for name in dict.fromkeys(record["set"] for record in found):
            classes = {}
            for record in found:
                if record["set"] == name and record["task"] in ("P10", "P50", "BLOCK", "BLOCKALL"):
                    for group, (cells, inside) in record["covered"].items():
                        before = classes.get(group, (0, 0))
                        classes[group] = (before[0] + cells, before[1] + inside)
            if classes:
                total = [sum(numbers) for numbers in zip(*classes.values())]
                near = 0.88 <= total[1] / total[0] <= 0.92
                held.append((near, near and all(0.85 <= part[1] / part[0] <= 0.95 for part in classes.values())))
                rows.append(
                    [
                        f"`{method}`",
                        name,
                        *(
                            f"{classes[group][1] / classes[group][0]:.0%}" if group in classes else ""
                            for group in scores.CLASSES
                        ),
                        f"{total[1] / total[0]:.1%}",
                    ]
                )
        promises += prose.PROMISE.format(
            method=method,
            seeds=len(seeds),
            near=sum(near for near, _ in held),
            both=sum(both for _, both in held),
            tables=len(held),
        )
    if not rows:
        return ""
    return prose.BANDS.format(level=ours.LEVEL) + promises + "\n" + table(["", "table", *scores.CLASSES, "all"], rows)


def _protocol(records):
    found = {
        (record["set"], record["task"], record["method"]): record["absolute"]
        for record in records
        if record["task"].startswith("tsi ") and "absolute" in record
    }
    if not found:
        return ""
    builds = {record["program"] for record in records if record["task"].startswith("tsi ") and record.get("program")}
    parts = [prose.PROTOCOL.format(build=", ".join(sorted(builds)) or "none")]
    for data in windows.DATA:
        rows = [
            [f"published: {name}", *(f"{number:.3f}" if number else "" for number in numbers)]
            for name, numbers in windows.PUBLISHED.get(data, {}).items()
        ]
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
    rows = [
        [
            _name(method),
            note.replace("|", "/")[:160],
            f"{len(where)}: {', '.join(where[:3])}{' …' if len(where) > 3 else ''}",
        ]
        for (method, note), where in sorted(reasons.items())
    ]
    return "## What could not be run\n\n" + table(["method", "why", "cases"], rows)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine():
    """Processor, number of processors, operating system."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return f"{fields.get('model name', platform.machine())}, {os.cpu_count()} processors, {platform.system()}"
