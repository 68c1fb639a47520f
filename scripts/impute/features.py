"""What a regression may know about a missing cell: departures from chords.

A cell of column j is missing at t, between the known times t_p and t_n; W = (t - t_p)/(t_n - t_p). For any
function y that is known around the gap its departure is y(t) - (1-W) y(t_p) - W y(t_n). The departure
of column j itself is to be predicted from those of the other columns, of the column one period
earlier and later, of its mean profile by phase and of the modified Akima curve, with the shape of the gap,
the neighbouring slopes and the level. Before the first and after the last known value the chord is that
value (W = 0).
"""

from dataclasses import dataclass, fields

import numpy as np

from . import plain

DAY = 86400.0
CALENDAR = (DAY, 7 * DAY, 365.2425 * DAY)  # periods tried where times are dates
PROFILE_BINS = 48  # most bins of a mean profile
PROFILE_PRIOR = 3.0  # a bin's mean counts this many values of the overall mean
CLASSES = (1, 3, 8, 20)  # longest gaps, in rows, of the classes that get their own coefficients


@dataclass
class Cells:
    """The missing cells of one column with their features."""

    rows: np.ndarray
    chord: np.ndarray
    curve: np.ndarray  # departure of the modified Akima curve of the column
    matrix: np.ndarray
    levels: np.ndarray  # what only trees can use: place in the gap, level, slopes, phases
    group: np.ndarray  # class of gap length; the last one is beyond the ends


def join(parts):
    """Cells of several rounds as one."""
    return Cells(*(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Cells)))


class View:
    """A table as a method sees it: standardised, with holes; everything that is shared by its columns."""

    def __init__(self, times, values, dated, periods=None):
        self.times = times
        self.values = values
        self.linear = plain.linear(times, values)
        self.makima = plain.makima(times, values)
        self.periods = find_periods(times, self.linear, dated) if periods is None else periods

    def cells(self, column, rows):
        """Features of some rows of a column, all missing in `values`."""
        before, after, share, length = self._gaps(column, rows)
        chord = self.linear[rows, column]
        depart = lambda y: y[rows] - (1 - share) * y[before] - share * y[after]  # noqa: E731
        shape = share * (1 - share)
        own = self.linear[:, column]
        found = [depart(self.linear[:, other]) for other in range(self.values.shape[1]) if other != column]
        curve = depart(self.makima[:, column])
        found.append(curve)
        levels = [share, length, chord, own[after] - own[before]]
        for period in self.periods:
            early, late = self._shifted(own, -period), self._shifted(own, period)
            found += [depart(early), depart(late), depart(self._profile(column, period))]
            angle = 2 * np.pi * self.times / period
            found += [depart(np.sin(angle)), depart(np.cos(angle))]
            levels += [np.sin(angle)[rows], np.cos(angle)[rows]]
        slope = np.gradient(own, self.times) * np.median(np.diff(self.times))
        left, right = slope[np.maximum(before - 1, 0)], slope[np.minimum(after + 1, len(own) - 1)]
        rows_long = shape * np.sqrt(length)
        found += [
            rows_long,
            rows_long * chord,
            shape * left * length,
            shape * right * length,
            (own[after] - own[before]) * shape * (1 - 2 * share),
        ]
        group = np.searchsorted(CLASSES, length)
        group[(before == after)] = len(CLASSES) + 1
        return Cells(rows, chord, curve, np.column_stack(found), np.column_stack([*levels, left, right]), group)

    def _gaps(self, column, rows):
        """Known rows around, position in between, and length in rows of the gap of each cell."""
        known = np.flatnonzero(~np.isnan(self.values[:, column]))
        place = np.searchsorted(known, rows)
        before = known[np.maximum(place - 1, 0)]
        after = known[np.minimum(place, len(known) - 1)]
        outside = (place == 0) | (place == len(known))
        before, after = np.where(place == 0, after, before), np.where(place == len(known), before, after)
        distance = np.where(outside, 1.0, self.times[after] - self.times[before])
        share = np.where(outside, 0.0, (self.times[rows] - self.times[before]) / distance)
        length = np.where(outside, np.abs(rows - before), after - before - 1)
        return before, after, share, length

    def _shifted(self, own, shift):
        """The column a period earlier or later; where the table does not reach, from the other side."""
        at = self.times + shift
        low, high = self.times[0], self.times[-1]
        at = np.where((at < low) | (at > high), self.times - shift, at)
        return np.interp(at, self.times, own)

    def _profile(self, column, period):
        """Mean of the known values by phase, shrunk to the mean, at every row (linear between bins)."""
        spacing = np.median(np.diff(self.times))
        bins = int(np.clip(round(period / spacing), 2, PROFILE_BINS))
        phase = (self.times % period) / period * bins
        known = ~np.isnan(self.values[:, column])
        index = np.round(phase).astype(int) % bins
        value = self.values[known, column]
        mean = value.mean() if len(value) else 0.0
        total = np.bincount(index[known], weights=value - mean, minlength=bins)
        count = np.bincount(index[known], minlength=bins)
        means = total / (count + PROFILE_PRIOR)
        return mean + np.interp(phase, np.arange(bins + 1), np.append(means, means[0]))


def find_periods(times, filled, dated):
    """Up to two periods: of the calendar where times are dates, else the strongest of the autocorrelation."""
    spacing = float(np.median(np.diff(times)))
    span = times[-1] - times[0]
    if dated:
        return [period for period in CALENDAR if 4 * spacing <= period and 2 * period <= span][:2]
    rows = len(times)
    centred = filled - filled.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * rows, axis=0)) ** 2
    correlation = np.fft.irfft(spectrum, axis=0)[:rows]
    scale = np.where(correlation[0] > 0, correlation[0], 1.0)
    mean = (correlation / scale).mean(axis=1) / (1 - np.arange(rows) / rows)
    peaks = [
        lag
        for lag in range(4, rows // 3)
        if mean[lag] > mean[lag - 1]
        and mean[lag] >= mean[lag + 1]
        and mean[lag] > 0.2
        and mean[lag] - mean[:lag].min() > 0.1
    ]
    peaks.sort(key=lambda lag: -mean[lag])
    return [peaks[0] * spacing] if peaks else []
