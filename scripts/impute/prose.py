"""The sentences of docs/imputation.md."""

HEAD = """# Filling gaps: `cssc fill` and others

Made by `scripts/bench-impute`, which anyone can run: known cells of real tables are hidden, every method fills them, and
errors are measured on the hidden cells only, in standard deviations of the columns, relative to straight lines (1.00;
smaller is better). `scripts/bench-impute --quick` is a first look; this page took {hours}. What has its result is not
run again.

Machine: {machine}. Versions: {versions}. Our program: build `{program}`. Times are processor seconds of all threads
together, without imports: the machine was shared, so times by the clock would say little.
"""

TASKS = """## Tasks

| task | what is hidden |
|---|---|
| P10, P50 | single cells at random, 10 and 50 % of them |
| BLOCK | blocks of 3 to 48 rows, in every column at other places, a tenth of the cells |
| BLOCKALL | blocks of 3 to 48 rows in all columns at once, a tenth of the rows |
| mcar | by the generator of ImputeGAP: blocks of 10 rows, in a part of the columns a part of the rows |
| aligned, disjoint, overlap, scattered, blackout | by the generator of ImputeGAP: one gap of a part of the rows, in some \
columns or (blackout) in all |

The part is the number behind the name, in percent of the columns and of their rows, as in ImputeGAP's own benchmark; only
the first tenth of the rows is spared there, so gaps may reach the end. Tables have at most {rows:,} rows and {columns} columns
(the first ones). Where the source tells no spacing of the rows, or one that contradicts the data, times count the rows.

## Methods

`linear` is what everything is relative to. pandas and scipy interpolate each column by itself (the nearest value beyond
the ends). IterativeImputer (scikit-learn, Bayesian ridge) sees each column also one row earlier and later. ridge and trees
are regressions written for this comparison (`scripts/impute/regress.py`; the trees are scikit-learn's
HistGradientBoosting): departures of the other columns, of one period earlier and later, of a mean profile and of the Akima
curve from their chords over the gap, learned from cells hidden in the pattern of the gaps. UnobservedComponents
(statsmodels) is a local level with one seasonal cycle, column by column, within {limit}. CDRec, IterativeSVD, TRMF,
DynaMMo and TKCM are ImputeGAP's, with its default settings on standardised columns; TKCM fills one column from the rows
before its first gap, so each is filled in turn with the others interpolated. SAITS and BRITS are PyPOTS' on windows of
48 rows, trained on the table itself for as many epochs as fit into {limit} (at most 100), on the processor.
`cssc` is `cssc fill` with its default budget, `cssc --budget 0s` trains no network.
"""

AT_HAND = """These tables were at hand while `cssc fill` and the two regressions were developed (some choices with the same hidden
cells), so expect a little less on tables that nobody has looked at: [here are some](imputation-fresh.md).
"""

FRESH = """These tables (`scripts/bench-impute --fresh`) came in when everything else stood. The first run on them showed a fault, mended
since (a season whose phases do not differ), and later choices were tried on them as well: compensated regressions and
when a method is left out of the combination on their first seed, what is simple (DESIGN.md) on both. Many tables are
short: with a few hundred rows a few gaps decide.
"""

SUMMARY = """{cases} cases: {tables} tables, {tasks} tasks, {seeds} seed(s). Geometric means of squared errors relative to
straight lines; `absolute` of absolute errors. Mean rank by squared error, failures last. Worst: the largest squared error
relative to the better of linear and makima. In brackets: the number of cases.
"""

RATES = """## By the part that is hidden

ImputeGAP's patterns, squared error relative to straight lines, geometric means, by the percentage of columns and of their rows.

"""

BANDS = """## Bands

Part of the hidden cells inside the bands of `--bands {level}`, by the length of the gap in rows (P10, P50, BLOCK, BLOCKALL
together).
"""

PROMISE = """`{method}`, {seeds} seed(s): between 88 and 92 % on {near} of {tables} tables, and between 85 and 95 % in every class as well
on {both}.
"""

PROTOCOL = """## The protocol of TSI-Bench

Mean absolute error on the hidden cells of the test windows (`scripts/bench-impute --tsi-bench`). Windows of 12 rows (Italy
air) and 48 (ETT-h1), split, standardised and hidden by the rules of TSI-Bench; the draws are ours, so compare with the two
rows of `linear`. The published models are trained on the training windows and see one window at a time, without dates.
`windows`: `cssc fill` gets all windows as series of their own, with their dates, cells hidden in all parts as there.
`series`: the same cells hidden, but the rows in one series, which is what a user of a table has: an easier task, to be
compared with its own row of `linear`. Our program here: build `{build}`.
"""
