//! What a picture is made of, whatever it is written to.

use super::font::Weight;

/// A place in pixels, from the top left corner.
pub(super) type Place = (f32, f32);

/// Red, green and blue, and how opaque.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    pub(super) rgb: [u8; 3],
    pub(super) opacity: f32,
}

impl Colour {
    pub(super) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    pub(super) const fn faded(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }
}

// Okabe and Ito's palette, which people with any kind of colour vision can tell apart. The page uses the same.
pub(super) const SMOOTHED: Colour = Colour::new(0, 114, 178);
pub(super) const PREDICTED: Colour = Colour::new(213, 94, 0);
pub(super) const COMPENSATION: Colour = Colour::new(0, 128, 96);
pub(super) const FILLED: Colour = Colour::new(204, 82, 150);
pub(super) const OBSERVED: Colour = Colour::new(36, 41, 47);
pub(super) const GAP: Colour = Colour::new(120, 113, 90).faded(0.11);
pub(super) const INK: Colour = Colour::new(36, 41, 47);
pub(super) const QUIET: Colour = Colour::new(101, 109, 118);
pub(super) const HAIRLINE: Colour = Colour::new(228, 231, 235);
pub(super) const PAPER: Colour = Colour::new(255, 255, 255);

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    pub(super) width: f32,
    /// Lengths of a dash and of the space after it.
    pub(super) dash: Option<(f32, f32)>,
}

impl Stroke {
    pub(super) const fn new(colour: Colour, width: f32) -> Self {
        Self {
            colour,
            width,
            dash: None,
        }
    }

    pub(super) const fn dashed(self, dash: f32, space: f32) -> Self {
        Self {
            dash: Some((dash, space)),
            ..self
        }
    }
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) size: f32,
    pub(super) weight: Weight,
    pub(super) colour: Colour,
    pub(super) anchor: Anchor,
}

impl TextStyle {
    pub(super) const fn new(size: f32, colour: Colour, anchor: Anchor) -> Self {
        Self {
            size,
            weight: Weight::Regular,
            colour,
            anchor,
        }
    }

    pub(super) const fn bold(self) -> Self {
        Self {
            weight: Weight::SemiBold,
            ..self
        }
    }
}

/// Something to draw on.
pub(super) trait Canvas {
    /// A filled outline.
    fn area(&mut self, outline: &[Place], colour: Colour);
    /// A line through all places.
    fn line(&mut self, places: &[Place], stroke: Stroke);
    /// Filled dots.
    fn dots(&mut self, centres: &[Place], radius: f32, colour: Colour);
    /// Circles.
    fn rings(&mut self, centres: &[Place], radius: f32, stroke: Stroke);
    /// A text on one line, its baseline at `place`.
    fn text(&mut self, place: Place, text: &str, style: TextStyle);
}

/// A rectangle from corner to corner, as an outline.
pub(super) fn rectangle((left, top): Place, (right, bottom): Place) -> [Place; 4] {
    [(left, top), (right, top), (right, bottom), (left, bottom)]
}
