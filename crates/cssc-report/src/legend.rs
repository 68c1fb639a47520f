//! What the marks mean: only those that the picture has.

use crate::canvas::{
    Anchor, COMPENSATION, Canvas, FILLED, GAP, OBSERVED, Place, QUIET, SMOOTHED, Stroke, TextStyle,
    rectangle,
};
use crate::content::{ChannelPicture, Curve};
use crate::font::{Font, Weight};
use crate::panel::{BAND, PREDICTED_LINE, SMOOTHED_LINE};

const TEXT: TextStyle = TextStyle::new(12.0, QUIET, Anchor::Start);
/// Width of a sample.
const SAMPLE: f32 = 20.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Observed,
    Filled,
    Smoothed,
    Band,
    Predicted,
    Compensation,
    Gap,
}

/// Draws the legend from `place` to the right; it is as wide as its entries.
pub(crate) fn draw<'a>(
    channels: impl Iterator<Item = &'a ChannelPicture> + Clone,
    place: Place,
    canvas: &mut dyn Canvas,
) {
    let font = Font::new(Weight::Regular);
    let (mut left, baseline) = place;
    for (mark, text) in marks(channels) {
        draw_sample(mark, (left, baseline - 4.0), canvas);
        canvas.text((left + SAMPLE + 6.0, baseline), text, TEXT);
        left += SAMPLE + 6.0 + font.width(text, TEXT.size) + 18.0;
    }
}

fn marks<'a>(
    channels: impl Iterator<Item = &'a ChannelPicture> + Clone,
) -> impl Iterator<Item = (Mark, &'static str)> {
    let any = |has: fn(&ChannelPicture) -> bool| channels.clone().any(has);
    let curve = |has: fn(&Curve) -> bool| {
        let mut curves = channels
            .clone()
            .filter_map(|channel| channel.curve.as_ref());
        curves.any(has)
    };
    let present = [
        (
            Mark::Observed,
            "observed",
            any(|c| !c.observed.times.is_empty()),
        ),
        (Mark::Filled, "filled", any(|c| !c.filled.times.is_empty())),
        (Mark::Smoothed, "curve ô", curve(|_| true)),
        (Mark::Band, "band", curve(|c| c.band.is_some())),
        (
            Mark::Predicted,
            "prediction o",
            curve(|c| c.predicted.is_some()),
        ),
        (
            Mark::Compensation,
            "compensation c",
            curve(|c| c.compensation.is_some()),
        ),
        (Mark::Gap, "gap", any(|c| !c.gaps.is_empty())),
    ];
    let present = present.into_iter().filter(|(_, _, there)| *there);
    present.map(|(mark, text, _)| (mark, text))
}

fn draw_sample(mark: Mark, (left, middle): Place, canvas: &mut dyn Canvas) {
    let (right, centre) = (left + SAMPLE, left + SAMPLE / 2.0);
    let line = [(left, middle), (right, middle)];
    let area = rectangle((left, middle - 6.0), (right, middle + 6.0));
    match mark {
        Mark::Observed => canvas.dots(&[(centre, middle)], 3.0, OBSERVED),
        Mark::Filled => canvas.dots(&[(centre, middle)], 3.0, FILLED),
        Mark::Smoothed => canvas.line(&line, SMOOTHED_LINE),
        Mark::Band => canvas.area(&area, SMOOTHED.faded(BAND)),
        Mark::Predicted => canvas.line(&line, PREDICTED_LINE),
        Mark::Compensation => canvas.line(&line, Stroke::new(COMPENSATION, 1.2)),
        Mark::Gap => canvas.area(&area, GAP.faded(2.0 * GAP.opacity)),
    }
}
