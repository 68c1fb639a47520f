//! Panels of lines and dots, for documents: what the figures of a paper are made of.
//!
//! ```
//! use cssc_report::{Axis, Chart, Ink, Mark, Plot};
//!
//! let parabola = (0..=20).map(|i| f64::from(i) / 10.0).map(|x| (x, x * x)).collect();
//! let plot = Plot {
//!     title: "a parabola".to_owned(),
//!     marks: vec![Mark::line(Ink::Blue, parabola).called("x²")],
//!     ..Plot::default()
//! };
//! let mut svg = Vec::new();
//! Chart::new("An example", vec![plot]).write_svg(&mut svg)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::canvas::{
    Anchor, COMPENSATION, Canvas, Colour, FILLED, HAIRLINE, INK, PAPER, PREDICTED, Place, QUIET,
    SMOOTHED, Stroke, TextStyle, rectangle,
};
use crate::font::{Font, Weight};
use crate::svg;
use crate::ticks::{self, Tick};
use std::io::{self, Write};

const MARGIN: f32 = 20.0;
const TEXT: f32 = 11.0;
/// Room above a panel for its title, and below it for its axis.
const TITLE: f32 = 26.0;
const AXIS: f32 = 22.0;
const AXIS_LABEL: f32 = 16.0;
/// Room left of a panel for the numbers of its axis.
const NUMBERS: f32 = 48.0;
/// Width of a sample in the legend, the first baseline there, and the distance to the next.
const SAMPLE: f32 = 20.0;
const LEGEND: f32 = 54.0;
const LINE: f32 = 18.0;
const NAME: TextStyle = TextStyle::new(12.0, QUIET, Anchor::Start);

/// A colour that people with any kind of colour vision can tell from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// For what is true or observed.
    Black,
    /// For what is ours.
    Blue,
    /// For what it is made from.
    Vermilion,
    /// For a third thing.
    Green,
    /// For a fourth.
    Pink,
    /// For what stands behind.
    Grey,
}

impl Ink {
    const fn colour(self) -> Colour {
        match self {
            Self::Black => INK,
            Self::Blue => SMOOTHED,
            Self::Vermilion => PREDICTED,
            Self::Green => COMPENSATION,
            Self::Pink => FILLED,
            Self::Grey => Colour::new(160, 166, 173),
        }
    }
}

/// How a mark looks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    Line { width: f32, dashed: bool },
    Dots { radius: f32 },
}

/// A line or dots.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    ink: Ink,
    look: Look,
    points: Vec<(f64, f64)>,
    name: Option<String>,
}

impl Mark {
    /// A line through `points`; it breaks where one is not finite.
    #[must_use]
    pub const fn line(ink: Ink, points: Vec<(f64, f64)>) -> Self {
        let look = Look::Line {
            width: 1.6,
            dashed: false,
        };
        Self {
            ink,
            look,
            points,
            name: None,
        }
    }

    /// Dots.
    #[must_use]
    pub const fn dots(ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Self {
            ink,
            look: Look::Dots { radius: 3.0 },
            points,
            name: None,
        }
    }

    /// The same, dashed; dots stay dots.
    #[must_use]
    pub const fn dashed(mut self) -> Self {
        if let Look::Line { width, .. } = self.look {
            self.look = Look::Line {
                width,
                dashed: true,
            };
        }
        self
    }

    /// The same with lines so wide, or dots so large.
    #[must_use]
    pub const fn sized(mut self, size: f32) -> Self {
        self.look = match self.look {
            Look::Line { dashed, .. } => Look::Line {
                width: size,
                dashed,
            },
            Look::Dots { .. } => Look::Dots { radius: size },
        };
        self
    }

    /// The same with a name for the legend, which shows every name once.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    fn draw(&self, runs: &[Vec<Place>], canvas: &mut dyn Canvas) {
        let colour = self.ink.colour();
        for run in runs {
            match self.look {
                Look::Dots { radius } => canvas.dots(run, radius, colour),
                Look::Line { width, dashed } => {
                    let stroke = Stroke::new(colour, width);
                    let stroke = if dashed {
                        stroke.dashed(4.0, 2.5)
                    } else {
                        stroke
                    };
                    canvas.line(run, stroke);
                }
            }
        }
    }
}

/// One direction of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// From where to where; otherwise what the marks need.
    pub range: Option<(f64, f64)>,
    /// Whether equal lengths are equal factors; only positive numbers are shown.
    pub logarithmic: bool,
}

impl Axis {
    /// An axis of this meaning.
    #[must_use]
    pub fn of(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..Self::default()
        }
    }

    /// The same with equal lengths for equal factors.
    #[must_use]
    pub fn logarithmic(mut self) -> Self {
        self.logarithmic = true;
        self
    }

    /// The same from `start` to `end`.
    #[must_use]
    pub fn between(mut self, start: f64, end: f64) -> Self {
        self.range = Some((start, end));
        self
    }

    /// A number as a length.
    fn along(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.log10()
        } else {
            value
        }
    }

    /// What is shown, as lengths: the range asked for, or all that is there with a little room.
    fn span(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        if let Some((start, end)) = self.range {
            return (self.along(start), self.along(end));
        }
        let known = values
            .map(|value| self.along(value))
            .filter(|value| value.is_finite());
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match high - low {
            width if width > 0.0 => (low - 0.05 * width, high + 0.05 * width),
            _ if low.is_finite() => (low - 0.5, low + 0.5),
            _ => (0.0, 1.0),
        }
    }

    /// Marks of a part of the axis, places as lengths.
    fn ticks(&self, (start, end): (f64, f64), most: usize) -> Vec<Tick> {
        if !self.logarithmic {
            return ticks::of_numbers(start, end, most);
        }
        let powers = (start.ceil() as i32)..=(end.floor() as i32);
        let every = (powers.clone().count() / most.max(1) + 1) as i32;
        let shown = powers.filter(|power| power % every == 0);
        let tick = |power: i32| Tick {
            at: f64::from(power),
            label: match power {
                -3..=3 => format!("{}", 10f64.powi(power)),
                _ => format!("1e{power}"),
            },
            context: None,
        };
        shown.map(tick).collect()
    }
}

/// One panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// From back to front.
    pub marks: Vec<Mark>,
    /// A picture instead of a diagram: no axes, one scale for both directions.
    pub picture: bool,
    /// Whether a frame stands around it, to point it out.
    pub framed: bool,
}

/// Panels under a title.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    title: String,
    plots: Vec<Plot>,
    columns: usize,
    panel: (f32, f32),
}

impl Chart {
    /// Panels side by side.
    #[must_use]
    pub fn new(title: &str, plots: Vec<Plot>) -> Self {
        Self {
            title: title.to_owned(),
            columns: plots.len().max(1),
            plots,
            panel: (290.0, 170.0),
        }
    }

    /// The same in so many columns.
    #[must_use]
    pub fn in_columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// The same with panels of this width and height in pixels.
    #[must_use]
    pub const fn with_panels(mut self, width: f32, height: f32) -> Self {
        self.panel = (width, height);
        self
    }

    /// Writes it as SVG.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write_svg(&self, output: &mut dyn Write) -> io::Result<()> {
        let size = self.size();
        svg::write(
            &self.title,
            (size.0 as u32, size.1 as u32),
            |canvas| self.draw(size, canvas),
            output,
        )
    }

    /// Whether no panel has axes.
    fn is_picture(&self) -> bool {
        self.plots.iter().all(|plot| plot.picture)
    }

    /// Room beside and below each panel.
    fn room(&self) -> (f32, f32) {
        if self.is_picture() {
            return (6.0, 6.0);
        }
        let labelled = self.plots.iter().any(|plot| !plot.x.label.is_empty());
        (NUMBERS, AXIS + if labelled { AXIS_LABEL } else { 0.0 })
    }

    /// The width of everything between the margins.
    fn width(&self) -> f32 {
        self.columns as f32 * (self.panel.0 + self.room().0)
    }

    /// Every name once, in the order of the marks, where its sample begins; in as many lines as it takes.
    fn legend(&self) -> Vec<(&Mark, &str, Place)> {
        let font = Font::new(Weight::Regular);
        let (mut left, mut baseline) = (MARGIN, LEGEND);
        let mut entries: Vec<(&Mark, &str, Place)> = Vec::new();
        for mark in self.plots.iter().flat_map(|plot| &plot.marks) {
            let Some(name) = mark.name.as_deref() else {
                continue;
            };
            if entries.iter().any(|entry| entry.1 == name) {
                continue;
            }
            let width = SAMPLE + 6.0 + font.width(name, NAME.size);
            if left > MARGIN && left + width > MARGIN + self.width() {
                (left, baseline) = (MARGIN, baseline + LINE);
            }
            entries.push((mark, name, (left, baseline)));
            left += width + 18.0;
        }
        entries
    }

    /// Where the first row begins.
    fn top(&self) -> f32 {
        let last = self.legend().last().map(|entry| entry.2.1);
        last.map_or(48.0, |baseline| baseline + 18.0)
    }

    /// Height of one row with everything in it.
    fn row(&self) -> f32 {
        let titled = self.plots.iter().any(|plot| !plot.title.is_empty());
        self.panel.1 + self.room().1 + if titled { TITLE } else { 6.0 }
    }

    fn size(&self) -> (f32, f32) {
        let rows = self.plots.len().div_ceil(self.columns);
        let width = self.width() + 2.0 * MARGIN;
        (
            width.ceil(),
            (self.top() + rows as f32 * self.row() + 8.0).ceil(),
        )
    }

    fn draw(&self, size: (f32, f32), canvas: &mut dyn Canvas) {
        canvas.area(&rectangle((0.0, 0.0), size), PAPER);
        let title = TextStyle::new(15.0, INK, Anchor::Start).bold();
        canvas.text((MARGIN, 30.0), &self.title, title);
        self.draw_legend(canvas);
        for (number, plot) in self.plots.iter().enumerate() {
            let (column, row) = (number % self.columns, number / self.columns);
            let right = MARGIN + (column + 1) as f32 * (self.panel.0 + self.room().0);
            let bottom = self.top() + (row + 1) as f32 * self.row() - self.room().1;
            let corners = (
                (right - self.panel.0, bottom - self.panel.1),
                (right, bottom),
            );
            plot.draw(corners, canvas);
        }
    }

    fn draw_legend(&self, canvas: &mut dyn Canvas) {
        for (mark, name, (left, baseline)) in self.legend() {
            let middle = baseline - 4.0;
            let sample = match mark.look {
                Look::Dots { .. } => vec![(left + SAMPLE / 2.0, middle)],
                Look::Line { .. } => vec![(left, middle), (left + SAMPLE, middle)],
            };
            mark.draw(&[sample], canvas);
            canvas.text((left + SAMPLE + 6.0, baseline), name, NAME);
        }
    }
}

impl Plot {
    fn draw(&self, corners: (Place, Place), canvas: &mut dyn Canvas) {
        let ((left, top), (right, bottom)) = corners;
        let points = || self.marks.iter().flat_map(|mark| &mark.points);
        let mut across = self.x.span(points().map(|point| point.0));
        let mut upwards = self.y.span(points().map(|point| point.1));
        if self.picture {
            (across, upwards) = same_scale(across, upwards, (right - left) / (bottom - top));
        }
        let part = |(start, end): (f64, f64), at: f64| ((at - start) / (end - start)) as f32;
        let place = |(x, y): (f64, f64)| {
            let (x, y) = (part(across, x), part(upwards, y));
            (left + x * (right - left), bottom - y * (bottom - top))
        };
        if !self.picture {
            self.draw_axes(corners, (across, upwards), canvas);
        }
        if !self.title.is_empty() {
            let style = TextStyle::new(12.5, INK, Anchor::Start).bold();
            canvas.text((left, top - 8.0), &self.title, style);
        }
        for mark in &self.marks {
            let known = |&(x, y): &(f64, f64)| {
                let (x, y) = (
                    part(across, self.x.along(x)),
                    part(upwards, self.y.along(y)),
                );
                (-1e-6..=1.000_001).contains(&x) && (-1e-6..=1.000_001).contains(&y)
            };
            let runs: Vec<Vec<Place>> = mark
                .points
                .split(|point| !known(point))
                .filter(|run| !run.is_empty())
                .map(|run| {
                    let lengths = |&(x, y): &(f64, f64)| (self.x.along(x), self.y.along(y));
                    run.iter().map(lengths).map(place).collect()
                })
                .collect();
            mark.draw(&runs, canvas);
        }
        if self.framed {
            let [first, second, third, fourth] = rectangle((left, top), (right, bottom));
            let frame = [first, second, third, fourth, first];
            canvas.line(&frame, Stroke::new(INK, 1.6));
        }
    }

    fn draw_axes(
        &self,
        ((left, top), (right, bottom)): (Place, Place),
        (across, upwards): ((f64, f64), (f64, f64)),
        canvas: &mut dyn Canvas,
    ) {
        let part = |(start, end): (f64, f64), at: f64| ((at - start) / (end - start)) as f32;
        let hairline = Stroke::new(HAIRLINE, 1.0);
        let style = TextStyle::new(TEXT, QUIET, Anchor::Middle);
        for tick in self.x.ticks(across, ((right - left) / 55.0) as usize) {
            let x = left + part(across, tick.at) * (right - left);
            canvas.line(&[(x, top), (x, bottom)], hairline);
            canvas.text((x, bottom + 15.0), &tick.label, style);
        }
        for tick in self.y.ticks(upwards, ((bottom - top) / 30.0) as usize) {
            let y = bottom - part(upwards, tick.at) * (bottom - top);
            canvas.line(&[(left, y), (right, y)], hairline);
            let style = TextStyle::new(TEXT, QUIET, Anchor::End);
            canvas.text((left - 6.0, y + 0.36 * TEXT), &tick.label, style);
        }
        if !self.x.label.is_empty() {
            let middle = 0.5 * (left + right);
            canvas.text((middle, bottom + 31.0), &self.x.label, style);
        }
        if !self.y.label.is_empty() {
            // Upright and out of the way of the numbers: in the corner, above them.
            let style = TextStyle::new(TEXT, QUIET, Anchor::End);
            canvas.text((right, top - 8.0), &self.y.label, style);
        }
    }
}

/// Widens the shorter direction until one unit is as long in both; `shape` is width over height.
fn same_scale(across: (f64, f64), upwards: (f64, f64), shape: f32) -> ((f64, f64), (f64, f64)) {
    let widened = |(start, end): (f64, f64), width: f64| {
        let middle = 0.5 * (start + end);
        (middle - 0.5 * width, middle + 0.5 * width)
    };
    let (width, height) = (across.1 - across.0, upwards.1 - upwards.0);
    let shape = f64::from(shape);
    if width < shape * height {
        (widened(across, shape * height), upwards)
    } else {
        (across, widened(upwards, width / shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(plots: Vec<Plot>) -> String {
        let mut written = Vec::new();
        Chart::new("t", plots).write_svg(&mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn a_line_spans_its_panel_and_breaks_where_nothing_is_known() {
        let points = vec![
            (0.0, 0.0),
            (1.0, 1.0),
            (2.0, f64::NAN),
            (3.0, 1.0),
            (4.0, 0.0),
        ];
        let plot = Plot {
            x: Axis::of("time").between(0.0, 4.0),
            y: Axis::default().between(0.0, 1.0),
            marks: vec![Mark::line(Ink::Blue, points).called("wave")],
            ..Plot::default()
        };
        let svg = svg(vec![plot]);
        let blue = svg.lines().filter(|line| line.contains("#0072b2"));
        let paths: Vec<&str> = blue.collect();
        assert_eq!(paths.len(), 3, "a sample and two runs: {paths:?}");
        assert!(
            paths[1].contains("M68 ") && paths[2].contains("358 "),
            "{paths:?}"
        );
        assert!(svg.contains(">wave</text>") && svg.contains(">time</text>"));
    }

    #[test]
    fn factors_are_equally_far_apart_on_a_logarithmic_axis() {
        let axis = Axis::of("").logarithmic();
        let ticks = axis.ticks((-4.0, 1.0), 10);
        let labels: Vec<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["1e-4", "0.001", "0.01", "0.1", "1", "10"]);
        assert_eq!(axis.span([0.0, 0.1, 10.0].into_iter()), (-1.1, 1.1));
    }

    #[test]
    fn a_picture_has_one_scale() {
        let (across, upwards) = same_scale((0.0, 1.0), (0.0, 4.0), 2.0);
        assert_eq!((across, upwards), ((-3.5, 4.5), (0.0, 4.0)));
        let (across, upwards) = same_scale((0.0, 8.0), (0.0, 1.0), 2.0);
        assert_eq!((across, upwards), ((0.0, 8.0), (-1.5, 2.5)));
    }
}
