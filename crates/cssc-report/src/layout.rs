//! The picture: a title, a legend, and one panel a channel, those of a series above one time axis.

use crate::canvas::{Anchor, Canvas, INK, PAPER, QUIET, TextStyle, rectangle};
use crate::content::{ChannelPicture, Report, SeriesPicture};
use crate::font::{Font, Weight};
use crate::panel::{self, Panel};
use crate::{legend, ticks};

/// Panels in a picture; of the rest only the number is told.
pub(crate) const MOST_PANELS: usize = 12;

const WIDTH: f32 = 960.0;
const MARGIN: f32 = 24.0;
/// Height of title, subtitle and legend.
const HEADER: f32 = 86.0;
/// Height of the name above a panel.
const NAME: f32 = 24.0;
const PANEL: f32 = 170.0;
const COMPENSATION: f32 = 52.0;
/// Between a channel and its compensation.
const SEAM: f32 = 10.0;
/// Height of the labels under a series.
const TIMES: f32 = 44.0;
const FOOTER: f32 = 26.0;
/// Pixels that a label of the time axis needs.
const TIME_LABEL: f32 = 92.0;

/// A channel's panels.
struct Row {
    series: usize,
    channel: usize,
    main: Panel,
    compensation: Option<Panel>,
    /// Whether the labels of the times stand under it.
    last: bool,
}

/// Where everything stands.
pub(crate) struct Layout {
    rows: Vec<Row>,
    left_out: usize,
    height: f32,
}

/// Finds a place for everything.
pub(crate) fn plan(report: &Report) -> Layout {
    let all: Vec<(usize, usize)> = report
        .series
        .iter()
        .enumerate()
        .flat_map(|(series, shown)| (0..shown.channels.len()).map(move |channel| (series, channel)))
        .collect();
    let shown = &all[..all.len().min(MOST_PANELS)];
    let mut rows: Vec<Row> = Vec::new();
    let mut top = HEADER;
    for (number, &(series, channel)) in shown.iter().enumerate() {
        let last = shown.get(number + 1).is_none_or(|next| next.0 != series);
        let row = row(&report.series[series], (series, channel), top, last);
        top = row.bottom();
        rows.push(row);
    }
    let left_out = all.len() - shown.len();
    align(&mut rows);
    Layout {
        rows,
        left_out,
        height: top + if left_out > 0 { FOOTER } else { 8.0 },
    }
}

fn row(series: &SeriesPicture, number: (usize, usize), top: f32, last: bool) -> Row {
    let channel = &series.channels[number.1];
    let main = Panel {
        left: MARGIN,
        right: WIDTH - MARGIN,
        top: top + NAME,
        bottom: top + NAME + PANEL,
        times: series.span().unwrap_or((0.0, 1.0)),
        values: panel::value_range(channel),
    };
    let compensation = compensation(channel).map(|values| Panel {
        top: main.bottom + SEAM,
        bottom: main.bottom + SEAM + COMPENSATION,
        values: panel::compensation_range(values),
        ..main.clone()
    });
    Row {
        series: number.0,
        channel: number.1,
        main,
        compensation,
        last,
    }
}

fn compensation(channel: &ChannelPicture) -> Option<&[f64]> {
    channel.curve.as_ref()?.compensation.as_deref()
}

/// All panels begin right of the widest label of any of them.
fn align(rows: &mut [Row]) {
    let font = Font::new(Weight::Regular);
    let panels = rows.iter().flat_map(Row::panels);
    let labels = panels
        .flat_map(Panel::value_ticks)
        .map(|tick| font.width(&tick.label, 11.0));
    let left = MARGIN + 8.0 + labels.fold(0.0, f32::max);
    for row in rows {
        row.main.left = left;
        row.compensation
            .iter_mut()
            .for_each(|panel| panel.left = left);
    }
}

impl Row {
    fn panels(&self) -> impl Iterator<Item = &Panel> {
        [Some(&self.main), self.compensation.as_ref()]
            .into_iter()
            .flatten()
    }

    fn lowest(&self) -> &Panel {
        self.compensation.as_ref().unwrap_or(&self.main)
    }

    /// Where the next row begins.
    fn bottom(&self) -> f32 {
        self.lowest().bottom + if self.last { TIMES } else { 6.0 }
    }

    fn draw(&self, report: &Report, canvas: &mut dyn Canvas) {
        let series = &report.series[self.series];
        let channel = &series.channels[self.channel];
        let (start, end) = self.main.times;
        let most = ((self.main.right - self.main.left) / TIME_LABEL) as usize;
        let times = ticks::of_time(&report.time, start, end, most);
        for panel in self.panels() {
            panel.draw_ground(&channel.gaps, &times, canvas);
        }
        self.main.draw_channel(channel, canvas);
        if let (Some(panel), Some(curve)) = (&self.compensation, &channel.curve) {
            let values = curve.compensation.as_deref().unwrap_or_default();
            panel.draw_compensation(&curve.times, values, canvas);
        }
        if self.last {
            self.lowest().draw_times(&times, canvas);
        }
        self.draw_name(series, channel, canvas);
    }

    fn draw_name(&self, series: &SeriesPicture, channel: &ChannelPicture, canvas: &mut dyn Canvas) {
        let place = (self.main.left, self.main.top - 8.0);
        let style = TextStyle::new(13.0, INK, Anchor::Start).bold();
        let room = self.main.right - self.main.left;
        let mut name = channel.name.clone();
        if let Some(id) = &series.id {
            name = format!("{id} · {name}");
        }
        canvas.text(place, &shortened(&name, style, room), style);
    }
}

impl Layout {
    /// Width and height in pixels.
    pub(crate) fn size(&self) -> (u32, u32) {
        (WIDTH as u32, self.height.ceil() as u32)
    }

    /// Draws the picture of the report that the layout was made for.
    pub(crate) fn draw(&self, report: &Report, canvas: &mut dyn Canvas) {
        canvas.area(&rectangle((0.0, 0.0), (WIDTH, self.height.ceil())), PAPER);
        let room = WIDTH - 2.0 * MARGIN;
        let title = TextStyle::new(18.0, INK, Anchor::Start).bold();
        canvas.text(
            (MARGIN, 32.0),
            &shortened(&report.title, title, room),
            title,
        );
        let quiet = TextStyle::new(12.0, QUIET, Anchor::Start);
        if let Some(text) = subtitle(report) {
            canvas.text((MARGIN, 51.0), &shortened(&text, quiet, room), quiet);
        }
        let shown = self
            .rows
            .iter()
            .map(|row| &report.series[row.series].channels[row.channel]);
        legend::draw(shown, (MARGIN, 76.0), canvas);
        for row in &self.rows {
            row.draw(report, canvas);
        }
        if self.left_out > 0 {
            let (all, shown) = (self.rows.len() + self.left_out, self.rows.len());
            let text = format!("The first {shown} of {all} panels are shown.");
            canvas.text((MARGIN, self.height - 14.0), &text, quiet);
        }
    }
}

/// The method that filled the table, and how well it did.
fn subtitle(report: &Report) -> Option<String> {
    let all: Vec<_> = report
        .comparison
        .iter()
        .filter(|score| score.chosen)
        .collect();
    let (chosen, others) = all.split_first()?;
    if !others.is_empty() {
        let names: Vec<&str> = all.iter().map(|score| score.name.as_str()).collect();
        return Some(format!(
            "Filled by {}, each column by its best",
            names.join(", ")
        ));
    }
    let coverage = chosen.coverage.map_or(String::new(), |coverage| {
        format!(", {:.0} % inside the band", 100.0 * coverage)
    });
    let error = match chosen.mse.is_finite() {
        true => format!(
            "; on hidden points: mean squared error {}",
            Short(chosen.mse)
        ),
        false => String::new(),
    };
    Some(format!("Filled by {}{error}{coverage}", chosen.name))
}

/// A number with four digits that count.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-3..1e6).contains(&size) {
            return write!(formatter, "{:.3e}", self.0);
        }
        let digits = 3 - size.max(1e-3).log10().floor() as i32;
        write!(formatter, "{:.*}", digits.clamp(0, 7) as usize, self.0)
    }
}

/// The beginning of a text that fits, with an ellipsis if there was more.
fn shortened(text: &str, style: TextStyle, room: f32) -> String {
    let font = Font::new(style.weight);
    if font.width(text, style.size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = font.width("…", style.size);
    for letter in text.chars() {
        width += font.width(letter.encode_utf8(&mut [0; 4]), style.size);
        if width > room {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}
