"""The tables of the benchmark, read from the wheel `imputegap` and from examples/.

The wheel stores matrices without names and times. Where its README (or the set's origin) tells the
spacing of the rows, times are dates that begin at a nominal date. They count the rows where it does
not, and where the spacing that it tells contradicts the data: airq and chlorine have no daily cycle
at their spacing, exchange leaves out days; electricity is hourly (cycles of 24 and 168 rows).
"""

import csv
import datetime
import gzip
import math
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from . import fresh
from .environment import Failure

WHEEL = "imputegap==1.1.2"
FOLDER = "imputegap/datasets"
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
ROWS, COLUMNS = 3000, 10  # what a set is limited to unless told: the contest has many methods

MINUTE = datetime.timedelta(minutes=1)
HOUR, DAY = 60 * MINUTE, 1440 * MINUTE


@dataclass
class Source:
    """Where a set comes from and what its rows and columns are."""

    file: str
    what: str
    start: str = ""  # the date of the first row; nominal where the README has none
    spacing: datetime.timedelta | None = None
    names: tuple = ()
    header: bool = False
    transposed: bool = False


SOURCES = {
    "airq": Source("airq.txt", "street air sensors"),
    "bafu": Source("bafu.txt", "discharge of Swiss rivers, half-hourly", "1974-01-01", 30 * MINUTE),
    "chlorine": Source("chlorine.txt", "chlorine in a water network (simulated)"),
    "climate": Source("climate.txt", "climate variables of North America, months laid end to end"),
    "drift": Source("drift.txt", "gas sensors, sample by sample"),
    "eeg-alcohol": Source("eeg-alcohol.txt", "electrodes on a head, 256 Hz"),
    "eeg-reading": Source("eeg-reading.txt", "electrodes on a head", header=True),
    "electricity": Source("electricity.txt", "load of households, hourly", "2011-01-01", HOUR),
    "economy": Source("forecast-economy.txt", "economic series"),
    "etth": Source(
        "z_etth.txt",
        "ETT-h1, a transformer's loads and oil temperature, hourly",
        "2016-07-01",
        HOUR,
        ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"),
    ),
    "guangzhou": Source("z_guangzhou.txt", "speed on roads, 10 min", "2016-08-01", 10 * MINUTE, transposed=True),
    "meteo": Source("meteo.txt", "Swiss weather, 10 min", "2008-01-01", 10 * MINUTE),
    "motion": Source("motion.txt", "a telephone's motion sensors, 50 Hz"),
    "soccer": Source("soccer.txt", "positions of soccer players"),
    "solar": Source("y_solar.txt", "solar power"),
    "sport": Source("sport-activity.txt", "sensors on athletes"),
    "exchange": Source(
        "stock-exchange.txt",
        "exchange rates, trading days",
        names=("AUD", "GBP", "CAD", "CHF", "CNY", "JPY", "NZD", "SGD"),
    ),
    "temperature": Source("temperature.txt", "temperature at Chinese stations, daily", "1960-01-01", DAY),
    "traffic": Source("traffic.txt", "occupancy of roads, hourly", "2015-01-01", HOUR),
}
OURS = {
    "air-quality": "the UCI table with its own holes (-200), hourly",
    "co2": "weekly carbon dioxide",
    "glucose": "a glucose monitor, about every 5 min",
}
NAMES = [*SOURCES, *OURS]
OWN = {}  # tables of the user by their names, see `own`


@dataclass
class Table:
    """Times as text and as numbers, and rows of values (NaN where missing)."""

    name: str
    times: list
    seconds: list
    columns: list
    values: list = field(repr=False)
    ids: list = field(default_factory=list)  # of the series that rows belong to, if there are several

    def write(self, path, values=None):
        """As CSV; a missing value is an empty cell."""
        text = lambda value: "" if math.isnan(value) else repr(float(value))  # noqa: E731
        first = list(zip(self.ids, self.times)) if self.ids else [(time,) for time in self.times]
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*(["id"] if self.ids else []), "time", *self.columns])
            rows = self.values if values is None else values
            writer.writerows([*begin, *map(text, row)] for begin, row in zip(first, rows))


def wheel(cache):
    """The wheel in the cache directory, loaded by pip if it is not there."""
    found = sorted(Path(cache).glob("imputegap-*.whl"))
    if not found:
        Path(cache).mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(cache), WHEEL]
        subprocess.run(command, check=True, stdout=sys.stderr)
        found = sorted(Path(cache).glob("imputegap-*.whl"))
    return found[0]


def load(name, cache, rows=ROWS, columns=COLUMNS):
    """A set by its name, its first rows and columns."""
    if name in OWN:
        return _of_own(name, rows, columns)
    if name in fresh.SOURCES:
        return Table(name, *fresh.load(name, cache, rows, columns))
    return _of_ours(name, rows) if name in OURS else _of_wheel(name, cache, rows, columns)


def own(paths):
    """Takes the user's tables instead of ours and returns their names: CSV files, or folders of them, whose first column is
    the time (dates or numbers, rising) and whose others are numbers; an empty cell is missing."""
    for path in map(Path, paths):
        files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        if not files:
            raise Failure(f"no .csv files in {path}")
        for file in files:
            if OWN.setdefault(file.stem, file) != file or file.stem in NAMES:
                raise Failure(f"{file}: there is another table called `{file.stem}`")
            _of_own(file.stem, ROWS, COLUMNS)  # what cannot be read is told before anything runs
    return list(OWN)


def what(name):
    """A set in a few words."""
    return OURS.get(name) or next((known[name].what for known in (SOURCES, fresh.SOURCES) if name in known), "")


def _of_wheel(name, cache, rows, columns):
    source = SOURCES[name]
    with zipfile.ZipFile(wheel(cache)) as archive:
        lines = archive.read(f"{FOLDER}/{source.file}").decode().split("\n")
    cells = [line.split() for line in lines if line.strip()]
    names = cells.pop(0) if source.header else source.names
    if source.transposed:
        cells = list(zip(*cells))
    values = [[float(cell) for cell in row[:columns]] for row in cells[:rows]]
    names = list(names[:columns]) or [f"{name}_{k + 1}" for k in range(len(values[0]))]
    if source.spacing is None:
        times = [str(row) for row in range(len(values))]
        return Table(name, times, [float(row) for row in range(len(values))], names, values)
    start = datetime.datetime.fromisoformat(source.start)
    dates = [start + row * source.spacing for row in range(len(values))]
    return Table(name, [date.isoformat() for date in dates], _seconds(dates), names, values)


def _of_ours(name, rows):
    if name == "air-quality":
        dates, columns, values = italy(missing=-200)
        times = [date.isoformat() for date in dates[:rows]]
        return Table(name, times, _seconds(dates[:rows]), columns, values[:rows])
    if name == "co2":
        found = _read(EXAMPLES / "co2/co2.csv")
        dates = [datetime.datetime.fromisoformat(row.pop("date")) for row in found]
    else:
        found = _read(EXAMPLES / "glucose/glucose.csv.gz")
        dates = [datetime.datetime.fromisoformat(row.pop("time")) for row in found]
        # The monitor wrote some times twice; the first of them is taken.
        first = [k for k in range(len(dates)) if k == 0 or dates[k] > max(dates[:k][-50:])]
        found, dates = [found[k] for k in first], [dates[k] for k in first]
    found, dates = found[:rows], dates[:rows]
    number = lambda cell: float(cell) if cell.strip() else math.nan  # noqa: E731
    columns = list(found[0])
    values = [[number(row[column]) for column in columns] for row in found]
    return Table(name, [date.isoformat() for date in dates], _seconds(dates), columns, values)


def _of_own(name, rows, columns):
    try:
        found = _read(OWN[name])[:rows]
        time, *names = found[0]
        times = [row.pop(time) for row in found]
        values = [[float(row[column]) if row[column].strip() else math.nan for column in names[:columns]] for row in found]
        counted = all(_is_number(text) for text in times)
        seconds = list(map(float, times)) if counted else _seconds([datetime.datetime.fromisoformat(text) for text in times])
    except (OSError, LookupError, TypeError, AttributeError, ValueError) as error:
        raise Failure(f"{OWN[name]}: not a table whose first column is a time and whose others are numbers: {error}")
    if any(after <= before for before, after in zip(seconds, seconds[1:])):
        raise Failure(f"{OWN[name]}: the times of its first column do not rise")
    return Table(name, times, seconds, names[:columns], values)


def _is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def italy(missing=None):
    """Dates, columns and values of the UCI table; the mark `missing` becomes NaN."""
    found = _read(EXAMPLES / "air-quality/AirQualityUCI.csv")
    dates = [datetime.datetime.strptime(f"{row.pop('Date')} {row.pop('Time')}", "%d/%m/%Y %H:%M:%S") for row in found]
    number = lambda cell: math.nan if float(cell) == missing else float(cell)  # noqa: E731
    return dates, list(found[0]), [[number(cell) for cell in row.values()] for row in found]


def _read(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path, newline="")
    with opened as file:
        return list(csv.DictReader(file))


def _seconds(dates):
    return [(date - dates[0]).total_seconds() for date in dates]
