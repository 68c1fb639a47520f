//! Draws `docs/idea.svg`, the picture in the README: `cargo run --release --example idea`.
//!
//! A fading swing is observed nine times. The model's state (angle and speed) swings without fading and too slowly; each
//! observation pulls it nearer to the truth, so the state jumps, and with it the prediction o = g(h).
//! Above, the output is compensated (Theorem 1 of the paper): o + c is smooth and passes through every observation. Below, the
//! state is (Theorem 3): it passes smoothly through its own updates, and so the decoded output is smooth too. Both compensations are computed
//! by the library from values and one-sided limits, nothing else.
//!
//! The file has its own ground and the colours for light and for dark, so it can be read wherever it is shown.

use cssc::{CompensationOptions, EndRule, Jets, PiecewiseCubic, compensate};
use std::error::Error;
use std::f64::consts::TAU;
use std::fmt::Write as _;

/// When the swing is observed.
const TIMES: [f64; 9] = [0.0, 0.9, 2.3, 3.1, 4.6, 5.9, 6.8, 8.4, 10.0];
/// Points drawn on each interval.
const STEPS: usize = 30;
/// The decoder saturates: g(h) = LARGEST · tanh(angle / LARGEST).
const LARGEST: f64 = 1.4;

/// Places in pixels.
const COLUMNS: [f64; 3] = [32.0, 360.0, 688.0];
const ROWS: [f64; 2] = [76.0, 318.0];
const PANEL: (f64, f64) = (280.0, 138.0);

type Curve = Vec<(f64, f64)>;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1);
    let walk = Walk::new();
    let picture = draw(
        &walk,
        &walk.compensated_output()?,
        &walk.compensated_state()?,
    );
    std::fs::write(file.unwrap_or_else(|| "docs/idea.svg".to_owned()), picture)?;
    Ok(())
}

/// The swing as it is: fading, period 4.4.
fn truth(time: f64) -> f64 {
    (-0.09 * time).exp() * (TAU * time / 4.4).sin()
}

/// Its speed, by which the model's state is updated too.
fn speed(time: f64) -> f64 {
    let (fading, phase) = ((-0.09 * time).exp(), TAU * time / 4.4);
    fading * (TAU / 4.4 * phase.cos() - 0.09 * phase.sin())
}

/// The model's state: a swing that does not fade, with too long a period.
#[derive(Clone, Copy)]
struct State {
    angle: f64,
    speed: f64,
}

impl State {
    const FREQUENCY: f64 = TAU / 5.6;

    fn after(self, elapsed: f64) -> Self {
        let (sin, cos) = (Self::FREQUENCY * elapsed).sin_cos();
        Self {
            angle: self.angle * cos + self.speed / Self::FREQUENCY * sin,
            speed: self.speed * cos - self.angle * Self::FREQUENCY * sin,
        }
    }

    /// Moves most of the way to the state that would show what is seen.
    fn updated(self, time: f64) -> Self {
        let towards = |from: f64, to: f64| from + 0.7 * (to - from);
        let inside = truth(time) / LARGEST;
        Self {
            angle: towards(self.angle, LARGEST * inside.atanh()),
            speed: towards(self.speed, speed(time) / (1.0 - inside * inside)),
        }
    }

    /// Value, slope and curvature of the angle and of the speed.
    fn jets(self) -> [[f64; 3]; 2] {
        let square = Self::FREQUENCY * Self::FREQUENCY;
        [
            [self.angle, self.speed, -square * self.angle],
            [self.speed, -square * self.angle, -square * self.speed],
        ]
    }
}

/// g, and its first two derivatives in time by the chain rule.
fn decoded([angle, slope, curvature]: [f64; 3]) -> [f64; 3] {
    let y = (angle / LARGEST).tanh();
    let inner = 1.0 - y * y;
    let second = inner * (curvature - 2.0 * y * slope * slope / LARGEST);
    [LARGEST * y, inner * slope, second]
}

/// The model's states just before and just after the knots.
struct Walk {
    before: Vec<State>,
    after: Vec<State>,
}

impl Walk {
    fn new() -> Self {
        let (mut before, mut after): (Vec<State>, Vec<State>) = (Vec::new(), Vec::new());
        for (knot, &time) in TIMES.iter().enumerate() {
            let state = after.last().map_or(
                State {
                    angle: 0.35,
                    speed: 0.6,
                },
                |state| state.after(time - TIMES[knot - 1]),
            );
            before.push(state);
            after.push(state.updated(time));
        }
        Self { before, after }
    }

    fn compensated_output(&self) -> Result<PiecewiseCubic, cssc::Error> {
        let observed = TIMES.map(truth);
        let limits = |states: &[State]| {
            let output = |state: &State| vec![decoded(state.jets()[0])];
            limits(states.iter().map(output).collect())
        };
        fit(1, &observed, &limits(&self.before), &limits(&self.after))
    }

    /// The states after their updates take the place of observations.
    fn compensated_state(&self) -> Result<PiecewiseCubic, cssc::Error> {
        let limits = |states: &[State]| {
            let state = |state: &State| state.jets().to_vec();
            limits(states.iter().map(state).collect())
        };
        let (before, after) = (limits(&self.before), limits(&self.after));
        fit(2, &after.value, &before, &after)
    }

    /// The angle and the speed at a time after `knot`.
    fn state(&self, knot: usize, time: f64) -> State {
        self.after[knot].after(time - TIMES[knot])
    }
}

fn limits(knots: Vec<Vec<[f64; 3]>>) -> Jets {
    let channels: Vec<[f64; 3]> = knots.concat();
    let column = |order: usize| channels.iter().map(|jet| jet[order]).collect();
    Jets {
        value: column(0),
        slope: column(1),
        curvature: column(2),
    }
}

fn fit(
    channels: usize,
    values: &[f64],
    before: &Jets,
    after: &Jets,
) -> Result<PiecewiseCubic, cssc::Error> {
    let options = CompensationOptions {
        end_rule: EndRule::Compensation,
        ..CompensationOptions::default()
    };
    let (before, after) = (before.as_slices(), after.as_slices());
    compensate(&TIMES, channels, values, before, after, options)
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

/// A channel of the compensation at a time after `knot`: a cubic in the distance from it.
fn added(compensation: &PiecewiseCubic, channel: usize, knot: usize, time: f64) -> f64 {
    let [a, b, c, d] = compensation.piece(knot, channel);
    let distance = time - TIMES[knot];
    a + distance * (b + distance * (c + distance * d))
}

fn rms_error(curves: &[Curve]) -> f64 {
    let squares: Vec<f64> = curves
        .iter()
        .flatten()
        .map(|&(time, value)| (value - truth(time)).powi(2))
        .collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

const STYLE: &str = "
:root { --ground: #ffffff; --edge: #d9dee4; --ink: #24292f; --quiet: #656d76; --hair: #e6e9ed;
  --predicted: #d55e00; --smoothed: #0072b2; --added: #008060; --state: #8250a8; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --edge: #30363d; --ink: #e6edf3; --quiet: #9aa4af; --hair: #232a33;
  --predicted: #ff9a4d; --smoothed: #5bb4e8; --added: #3fc89a; --state: #c297eb; } }
text { font-family: Inter, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif; font-size: 13px; fill: var(--quiet); }
.title { font-size: 15px; font-weight: 600; fill: var(--ink); } .sign { font-size: 24px; text-anchor: middle; } .right { text-anchor: end; }
path { fill: none; stroke-linejoin: round; stroke-width: 2.4; } .hair { stroke: var(--hair); stroke-width: 1; }
.truth { stroke: var(--quiet); stroke-width: 1.3; stroke-dasharray: 4 3.5; } .thin { stroke-width: 1.3; opacity: .75; }
.jump { stroke-width: 1.3; opacity: .55; stroke-dasharray: 2 2; } .area { opacity: .2; }
.predicted { stroke: var(--predicted); } .smoothed { stroke: var(--smoothed); } .added { stroke: var(--added); } .state { stroke: var(--state); }
.area.added { fill: var(--added); stroke: none; } .dot { fill: var(--ink); stroke: var(--ground); stroke-width: 1.5; } .small { fill: var(--state); }
text.predicted { fill: var(--predicted); stroke: none; } text.smoothed { fill: var(--smoothed); stroke: none; }
text.added { fill: var(--added); stroke: none; } text.state { fill: var(--state); stroke: none; }
";

fn draw(walk: &Walk, output: &PiecewiseCubic, state: &PiecewiseCubic) -> String {
    let predicted = sampled(|knot, time| decoded(walk.state(knot, time).jets()[0])[0]);
    let correction = sampled(|knot, time| added(output, 0, knot, time));
    let smoothed = sampled(|knot, time| {
        decoded(walk.state(knot, time).jets()[0])[0] + added(output, 0, knot, time)
    });
    let angle = sampled(|knot, time| walk.state(knot, time).angle);
    let speed = sampled(|knot, time| walk.state(knot, time).speed);
    let smooth = |channel: usize, raw: fn(State) -> f64| {
        sampled(|knot, time| raw(walk.state(knot, time)) + added(state, channel, knot, time))
    };
    let (smooth_angle, smooth_speed) = (smooth(0, |h| h.angle), smooth(1, |h| h.speed));
    let smooth_output = sampled(|knot, time| {
        decoded([
            walk.state(knot, time).angle + added(state, 0, knot, time),
            0.0,
            0.0,
        ])[0]
    });

    let mut page = Page::default();
    page.text(
        (32.0, 34.0),
        "title",
        "Output CSSC: the prediction is compensated",
    );
    page.text(
        (32.0, 276.0),
        "title",
        "Hidden CSSC: the state is compensated, then decoded",
    );

    let mut panel = page.panel(0, 0, 1.25, "predicted", "o jumps at every observation");
    panel.truth();
    panel.jumping(&predicted, "predicted");
    panel.observations();
    panel.remark(rms_error(&predicted));
    let mut panel = page.panel(1, 0, 0.85, "added", "c, a cubic on each interval");
    panel.shaded(&correction);
    let mut panel = page.panel(2, 0, 1.25, "smoothed", "ô is smooth and exact");
    panel.truth();
    panel.line(&smoothed.concat(), "smoothed");
    panel.observations();
    panel.remark(rms_error(&smoothed));

    let updates = |value: fn(&State) -> f64| -> Curve {
        TIMES
            .into_iter()
            .zip(walk.after.iter().map(value))
            .collect()
    };
    let (angles, speeds) = (updates(|h| h.angle), updates(|h| h.speed));
    let mut panel = page.panel(0, 1, 1.75, "state", "h jumps when it is updated");
    panel.jumping(&speed, "state thin");
    panel.jumping(&angle, "state");
    panel.dots(&angles, "small");
    panel.dots(&speeds, "small");
    let mut panel = page.panel(1, 1, 1.75, "state", "h + c goes through its updates");
    panel.line(&smooth_speed.concat(), "state thin");
    panel.line(&smooth_angle.concat(), "state");
    panel.dots(&angles, "small");
    panel.dots(&speeds, "small");
    let mut panel = page.panel(2, 1, 1.25, "smoothed", "g(h + c) is smooth");
    panel.truth();
    panel.line(&smooth_output.concat(), "smoothed");
    panel.observations();
    panel.remark(rms_error(&smooth_output));

    for (column, row, sign) in [(1, 0, "+"), (2, 0, "="), (1, 1, "→"), (2, 1, "→")] {
        let place = (COLUMNS[column] - 24.0, ROWS[row] + 0.5 * PANEL.1 + 8.0);
        page.text(place, "sign", sign);
    }
    page.legend();
    page.finish()
}

/// The elements so far.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Writing to a string cannot fail.
    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(arguments);
    }

    fn text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        self.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>\n"
        ));
    }

    /// A panel with values from -`largest` to `largest`, a line at zero and at each knot.
    fn panel(
        &mut self,
        column: usize,
        row: usize,
        largest: f64,
        class: &str,
        name: &str,
    ) -> Panel<'_> {
        let corner = (COLUMNS[column], ROWS[row]);
        self.text((corner.0, corner.1 - 14.0), class, name);
        let mut panel = Panel {
            page: self,
            corner,
            largest,
        };
        for time in TIMES {
            panel.line(&[(time, -largest), (time, largest)], "hair");
        }
        panel.line(&[(TIMES[0], 0.0), (TIMES[8], 0.0)], "hair");
        panel
    }

    fn legend(&mut self) {
        let y = 490.0;
        self.add(format_args!(
            "<circle cx=\"38\" cy=\"{y}\" r=\"4.5\" class=\"dot\"/>\n"
        ));
        self.text((50.0, y + 4.5), "", "observation");
        self.add(format_args!(
            "<circle cx=\"152\" cy=\"{y}\" r=\"3.5\" class=\"dot small\"/>\n"
        ));
        self.text((163.0, y + 4.5), "", "state after its update");
        self.add(format_args!("<path d=\"M326 {y}h30\" class=\"truth\"/>\n"));
        self.text((364.0, y + 4.5), "", "truth, unknown to the model");
        self.text((968.0, y + 4.5), "right", "time →");
    }

    fn finish(self) -> String {
        let label = "A prediction that jumps, its compensation, and their smooth sum; below the same for the hidden state";
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"512\" viewBox=\"0 0 1000 512\" role=\"img\" aria-label=\"{label}\">\n\
             <style>{STYLE}</style>\n\
             <rect x=\".5\" y=\".5\" width=\"999\" height=\"511\" rx=\"10\" fill=\"var(--ground)\" stroke=\"var(--edge)\"/>\n{}</svg>\n",
            self.0
        )
    }
}

/// A part of the page in which points are given by time and value.
struct Panel<'a> {
    page: &'a mut Page,
    corner: (f64, f64),
    largest: f64,
}

impl Panel<'_> {
    fn place(&self, (time, value): (f64, f64)) -> (f64, f64) {
        let right = (time - TIMES[0]) / (TIMES[8] - TIMES[0]);
        let down = 0.5 - 0.5 * value / self.largest;
        (
            self.corner.0 + right * PANEL.0,
            self.corner.1 + down * PANEL.1,
        )
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let places = points.iter().map(|&point| {
            let (x, y) = self.place(point);
            format!("{x:.1} {y:.1}")
        });
        format!("M{}", places.collect::<Vec<_>>().join(" "))
    }

    fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let path = self.path(points);
        self.page
            .add(format_args!("<path d=\"{path}\" class=\"{class}\"/>\n"));
    }

    /// Curves with a faint line at each jump between them.
    fn jumping(&mut self, curves: &[Curve], class: &str) {
        for pair in curves.windows(2) {
            if let (Some(&before), Some(&after)) = (pair[0].last(), pair[1].first()) {
                self.line(&[before, after], &format!("{class} jump"));
            }
        }
        for curve in curves {
            self.line(curve, class);
        }
    }

    fn shaded(&mut self, curves: &[Curve]) {
        for (knot, curve) in curves.iter().enumerate() {
            let mut outline = curve.clone();
            outline.extend([(TIMES[knot + 1], 0.0), (TIMES[knot], 0.0)]);
            self.line(&outline, "added area");
            self.line(curve, "added");
        }
    }

    fn truth(&mut self) {
        self.line(&sampled(|_, time| truth(time)).concat(), "truth");
    }

    fn observations(&mut self) {
        self.dots(&TIMES.map(|time| (time, truth(time))), "");
    }

    fn dots(&mut self, points: &[(f64, f64)], class: &str) {
        let radius = if class.is_empty() { 4.5 } else { 3.5 };
        for &point in points {
            let (x, y) = self.place(point);
            self.page.add(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" class=\"dot {class}\"/>\n"
            ));
        }
    }

    fn remark(&mut self, error: f64) {
        let place = (self.corner.0 + PANEL.0, self.corner.1 - 14.0);
        self.page
            .text(place, "right", &format!("rms error {error:.3}"));
    }
}
