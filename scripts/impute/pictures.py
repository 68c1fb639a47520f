"""Pictures of a board, as SVG."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from . import board, scores  # noqa: E402

matplotlib.rcParams.update(
    {
        "svg.hashsalt": "cssc",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
OURS_COLOUR, OTHER_COLOUR = "#c2410c", "#94a3b8"
SHOWN = 9  # methods in a picture, the best ones
LOWEST, HIGHEST = 0.02, 6


def families(one, path):
    """Dots: geometric mean of the squared error by task family, one row a method."""
    names = [name for name in one.methods if name != board.REFERENCE and one.relative(name)]
    order = sorted(names, key=lambda name: -scores.geometric_mean(one.relative(name)))
    columns = one.families()
    figure, axes = plt.subplots(
        1, len(columns), figsize=(1.6 + 1.15 * len(columns), 0.8 + 0.24 * len(order)), sharey=True, squeeze=False
    )
    for axis, family in zip(axes[0], columns):
        for row, name in enumerate(order):
            found = one.relative(name, family)
            if found:
                mean = min(scores.geometric_mean(found), 6)
                axis.plot([mean], [row], "o", ms=5, color=OURS_COLOUR if name in board.OURS else OTHER_COLOUR)
        axis.axvline(1, lw=0.8, color="#475569")
        axis.set_xscale("log")
        axis.set_xlim(0.05, 8)
        axis.set_xticks([0.1, 1], ["0.1", "1"])
        axis.set_title(family, fontsize=9)
        axis.grid(axis="y", lw=0.4)
    axes[0][0].set_yticks(range(len(order)), order)
    _save(figure, path)


def lengths(one, path):
    """Lines: squared error relative to straight lines by length of the gap, of the best methods and ours."""
    names = [name for name in one.methods if name != board.REFERENCE and not name.startswith("pandas")]  # those are 1
    names.sort(key=one.mean_rank)
    names = list(dict.fromkeys([*(name for name in board.OURS if name in names), *names]))[:SHOWN]
    figure, axis = plt.subplots(figsize=(6.2, 3.6))
    for name in names:
        means = []
        for group in scores.CLASSES:
            ratios = []
            for found in one.cases.values():
                own, base = found[name].get("classes", {}).get(group), found[board.REFERENCE]["classes"].get(group)
                if own and base and base[1] > 0:
                    ratios.append(own[1] / base[1])
            means.append(max(scores.geometric_mean(ratios), LOWEST) if ratios else float("nan"))
        ours = name in board.OURS
        axis.plot(
            range(len(means)),
            means,
            marker="o",
            ms=4 if ours else 3,
            lw=2 if ours else 1,
            label=name,
            color=OURS_COLOUR if name == board.OURS[0] else "#7c2d12" if ours else None,
        )
    axis.axhline(1, lw=0.8, color="#475569")
    axis.set_yscale("log")
    axis.set_ylim(max(LOWEST, axis.get_ylim()[0]), min(HIGHEST, axis.get_ylim()[1]))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter("")
    axis.set_xticks(range(len(scores.CLASSES)), list(scores.CLASSES))
    axis.set_xlabel("rows of the gap")
    axis.set_ylabel("squared error, straight lines = 1")
    axis.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    _save(figure, path)


def _save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
