//! Draws `docs/figure1.svg`, the picture in the README: `cargo run --release --example figure1`.
//!
//! A fading swing is observed nine times. The model knows neither that it fades nor its exact frequency; between
//! observations it follows its own equation, and each observation pulls its state nearer to the truth. So its
//! prediction jumps. The compensation is computed by the library from the observations and the model's one-sided
//! limits, nothing else.

use cssc::{EndRule, Jets, Options, compensate};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::f64::consts::TAU;
use std::ops::Range;

/// When the swing is observed.
const TIMES: [f64; 9] = [0.0, 0.9, 2.3, 3.1, 4.6, 5.9, 6.8, 8.4, 10.0];
/// The plotting library rounds to whole units: units of a tenth of a pixel keep the curves smooth.
const PIXEL: i32 = 10;
/// Size of the page, and its empty border left and right.
const WIDTH: i32 = 900 * PIXEL;
const HEIGHT: i32 = 540 * PIXEL;
const MARGIN: i32 = 28 * PIXEL;
/// Points drawn on each interval.
const STEPS: usize = 60;

// Okabe and Ito's palette, which people with any kind of colour vision can tell apart.
const PREDICTED: RGBColor = RGBColor(213, 94, 0);
const SMOOTHED: RGBColor = RGBColor(0, 114, 178);
const COMPENSATION: RGBColor = RGBColor(0, 128, 96);
const QUIET: RGBColor = RGBColor(118, 126, 135);
const HAIRLINE: RGBColor = RGBColor(228, 231, 235);
const INK: RGBColor = RGBColor(36, 41, 47);

type Anything = Box<dyn Error>;
type Curve = Vec<(f64, f64)>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Panel<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The swing as it is: fading, period 4.4.
fn truth(time: f64) -> f64 {
    (-0.09 * time).exp() * (TAU * time / 4.4).sin()
}

/// Its speed, by which the model's state is updated too.
fn speed(time: f64) -> f64 {
    let (fading, phase) = ((-0.09 * time).exp(), TAU * time / 4.4);
    fading * (TAU / 4.4 * phase.cos() - 0.09 * phase.sin())
}

/// The model: a swing that does not fade, with too long a period.
#[derive(Clone, Copy)]
struct Model {
    angle: f64,
    speed: f64,
}

impl Model {
    const FREQUENCY: f64 = TAU / 5.6;

    fn after(self, elapsed: f64) -> Self {
        let (sin, cos) = (Self::FREQUENCY * elapsed).sin_cos();
        Self {
            angle: self.angle * cos + self.speed / Self::FREQUENCY * sin,
            speed: self.speed * cos - self.angle * Self::FREQUENCY * sin,
        }
    }

    /// Moves most of the way to what is seen.
    fn updated(self, time: f64) -> Self {
        let towards = |from: f64, to: f64| from + 0.55 * (to - from);
        Self {
            angle: towards(self.angle, truth(time)),
            speed: towards(self.speed, speed(time)),
        }
    }

    /// Value, slope and curvature of the prediction in this state.
    fn push_onto(self, limits: &mut Jets) {
        limits.value.push(self.angle);
        limits.slope.push(self.speed);
        limits.curvature.push(-Self::FREQUENCY.powi(2) * self.angle);
    }
}

/// The model's states just after the knots, and its limits on both sides.
fn walk() -> (Vec<Model>, Jets, Jets) {
    let (mut states, mut left, mut right) = (Vec::new(), Jets::default(), Jets::default());
    let mut state = Model {
        angle: 0.35,
        speed: 0.6,
    };
    for (knot, &time) in TIMES.iter().enumerate() {
        state = if knot == 0 {
            state
        } else {
            state.after(time - TIMES[knot - 1])
        };
        state.push_onto(&mut left);
        state = state.updated(time);
        state.push_onto(&mut right);
        states.push(state);
    }
    (states, left, right)
}

/// `function(knot, time)` on each interval, both ends included.
fn sampled(function: impl Fn(usize, f64) -> f64) -> Vec<Curve> {
    let interval = |knot: usize| {
        let gap = TIMES[knot + 1] - TIMES[knot];
        let time = |step: usize| TIMES[knot] + gap * step as f64 / STEPS as f64;
        (0..=STEPS)
            .map(|step| (time(step), function(knot, time(step))))
            .collect()
    };
    (0..TIMES.len() - 1).map(interval).collect()
}

fn rms_error(curves: &[Curve]) -> f64 {
    let squares: Vec<f64> = curves
        .iter()
        .flatten()
        .map(|&(time, value)| (value - truth(time)).powi(2))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

fn main() -> Result<(), Anything> {
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "docs/figure1.svg".to_owned());
    let (states, left, right) = walk();
    let observed = TIMES.map(truth);
    let (left, right) = (left.as_slices(), right.as_slices());
    let options = Options {
        end_rule: EndRule::Compensation,
        ..Options::default()
    };
    let compensation = compensate(&TIMES, 1, &observed, left, right, options)?;

    let predicted = sampled(|knot, time| states[knot].after(time - TIMES[knot]).angle);
    let correction = sampled(|knot, time| at(compensation.piece(knot, 0), time - TIMES[knot]));
    let smoothed = sampled(|knot, time| {
        states[knot].after(time - TIMES[knot]).angle
            + at(compensation.piece(knot, 0), time - TIMES[knot])
    });
    std::fs::write(file, draw(&predicted, &correction, &smoothed)?)?;
    Ok(())
}

/// A cubic in powers of the distance from its knot.
fn at([a, b, c, d]: [f64; 4], distance: f64) -> f64 {
    a + distance * (b + distance * (c + distance * d))
}

fn draw(predicted: &[Curve], correction: &[Curve], smoothed: &[Curve]) -> Result<String, Anything> {
    let mut text = String::new();
    {
        let page =
            SVGBackend::with_string(&mut text, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
        page.fill(&WHITE)?;
        draw_prediction(&page, predicted)?;
        draw_compensation(&page, correction)?;
        draw_smoothed(&page, smoothed)?;
        draw_legend(&page)?;
        page.present()?;
    }
    // The view box stays in units; shown at this width, a unit is a tenth of a pixel.
    let size = |unit: i32| {
        format!(
            r#"<svg width="{}" height="{}""#,
            WIDTH / unit,
            HEIGHT / unit
        )
    };
    Ok(text.replacen(&size(1), &size(PIXEL), 1))
}

fn draw_prediction(page: &Area, predicted: &[Curve]) -> Result<(), Anything> {
    let remark = format!("rms error {:.3}", rms_error(predicted));
    draw_caption(
        page,
        22,
        "The prediction o jumps at every observation",
        PREDICTED,
        &remark,
    )?;
    let panel = panel(page, 40..180, 1.15)?;
    draw_truth(&panel)?;
    for pair in predicted.windows(2) {
        if let (Some(&before), Some(&after)) = (pair[0].last(), pair[1].first()) {
            panel.draw(&PathElement::new(
                [before, after],
                line(PREDICTED.mix(0.4), 2),
            ))?;
        }
    }
    draw_curves(&panel, predicted, PREDICTED)?;
    draw_observations(&panel)
}

fn draw_compensation(page: &Area, correction: &[Curve]) -> Result<(), Anything> {
    draw_caption(
        page,
        212,
        "The compensation c, a cubic on each interval, jumps the other way",
        COMPENSATION,
        "",
    )?;
    let panel = panel(page, 230..310, 0.7)?;
    for curve in correction {
        let (Some(&(start, _)), Some(&(end, _))) = (curve.first(), curve.last()) else {
            continue;
        };
        let mut outline = curve.clone();
        outline.extend([(end, 0.0), (start, 0.0)]);
        panel.draw(&Polygon::new(outline, COMPENSATION.mix(0.18)))?;
    }
    draw_curves(&panel, correction, COMPENSATION)
}

fn draw_smoothed(page: &Area, smoothed: &[Curve]) -> Result<(), Anything> {
    let remark = format!("rms error {:.3}", rms_error(smoothed));
    draw_caption(
        page,
        342,
        "o + c is smooth and passes through every observation",
        SMOOTHED,
        &remark,
    )?;
    let panel = panel(page, 360..500, 1.15)?;
    draw_truth(&panel)?;
    draw_curves(&panel, &[smoothed.concat()], SMOOTHED)?;
    draw_observations(&panel)
}

/// A part of the page in which points are given by time and value, with a line at zero and at each knot.
fn panel<'a>(page: &Area<'a>, rows: Range<i32>, largest: f64) -> Result<Panel<'a>, Anything> {
    let (start, end) = (TIMES[0], TIMES[TIMES.len() - 1]);
    // Rows are counted downwards.
    let place = (MARGIN..WIDTH - MARGIN, rows.end * PIXEL..rows.start * PIXEL);
    let panel: Panel =
        page.clone()
            .apply_coord_spec(Cartesian2d::new(start..end, -largest..largest, place));
    for time in TIMES {
        panel.draw(&PathElement::new(
            [(time, -largest), (time, largest)],
            line(HAIRLINE, 1),
        ))?;
    }
    panel.draw(&PathElement::new(
        [(start, 0.0), (end, 0.0)],
        line(HAIRLINE, 1),
    ))?;
    Ok(panel)
}

fn line(colour: impl Color, pixels: u32) -> ShapeStyle {
    colour.stroke_width(pixels * PIXEL as u32)
}

fn draw_truth(panel: &Panel) -> Result<(), Anything> {
    let curve = sampled(|_, time| truth(time)).concat();
    panel.draw(&DashedPathElement::new(
        curve,
        5 * PIXEL,
        4 * PIXEL,
        line(QUIET, 2),
    ))?;
    Ok(())
}

fn draw_curves(panel: &Panel, curves: &[Curve], colour: RGBColor) -> Result<(), Anything> {
    for curve in curves {
        panel.draw(&PathElement::new(curve.clone(), line(colour, 3)))?;
    }
    Ok(())
}

fn draw_observations(panel: &Panel) -> Result<(), Anything> {
    for time in TIMES {
        panel.draw(&Circle::new((time, truth(time)), 7 * PIXEL, WHITE.filled()))?;
        panel.draw(&Circle::new((time, truth(time)), 5 * PIXEL, INK.filled()))?;
    }
    Ok(())
}

fn draw_text(
    page: &Area,
    text: &str,
    place: (i32, i32),
    colour: RGBColor,
    side: HPos,
) -> Result<(), Anything> {
    let style = ("sans-serif", 20 * PIXEL)
        .into_font()
        .color(&colour)
        .pos(Pos::new(side, VPos::Center));
    page.draw(&Text::new(text.to_owned(), place, style))?;
    Ok(())
}

fn draw_caption(
    page: &Area,
    row: i32,
    title: &str,
    colour: RGBColor,
    remark: &str,
) -> Result<(), Anything> {
    draw_text(page, title, (MARGIN, row * PIXEL), colour, HPos::Left)?;
    draw_text(
        page,
        remark,
        (WIDTH - MARGIN, row * PIXEL),
        QUIET,
        HPos::Right,
    )
}

fn draw_legend(page: &Area) -> Result<(), Anything> {
    let row = HEIGHT - 20 * PIXEL;
    let column = |pixels: i32| MARGIN + pixels * PIXEL;
    page.draw(&Circle::new((column(5), row), 5 * PIXEL, INK.filled()))?;
    draw_text(page, "observation", (column(18), row), QUIET, HPos::Left)?;
    let dashes = [(column(150), row), (column(184), row)];
    page.draw(&DashedPathElement::new(
        dashes,
        5 * PIXEL,
        4 * PIXEL,
        line(QUIET, 2),
    ))?;
    draw_text(
        page,
        "truth, unknown to the model",
        (column(194), row),
        QUIET,
        HPos::Left,
    )?;
    draw_text(page, "time →", (WIDTH - MARGIN, row), QUIET, HPos::Right)
}
