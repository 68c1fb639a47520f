//! What a picture is made of, whatever it is written to.

use crate::font::Weight;

/// A place in pixels, from the top left corner.
pub(crate) type Place = (f32, f32);

/// Red, green and blue, and how opaque.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Colour {
    pub(crate) rgb: [u8; 3],
    pub(crate) opacity: f32,
}

impl Colour {
    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    pub(crate) const fn faded(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }
}

// Okabe and Ito's palette, which people with any kind of colour vision can tell apart. The page uses the same.
pub(crate) const SMOOTHED: Colour = Colour::new(0, 114, 178);
pub(crate) const PREDICTED: Colour = Colour::new(213, 94, 0);
pub(crate) const COMPENSATION: Colour = Colour::new(0, 128, 96);
pub(crate) const FILLED: Colour = Colour::new(204, 82, 150);
pub(crate) const OBSERVED: Colour = Colour::new(36, 41, 47);
pub(crate) const GAP: Colour = Colour::new(120, 113, 90).faded(0.11);
pub(crate) const INK: Colour = Colour::new(36, 41, 47);
pub(crate) const QUIET: Colour = Colour::new(101, 109, 118);
pub(crate) const HAIRLINE: Colour = Colour::new(228, 231, 235);
pub(crate) const PAPER: Colour = Colour::new(255, 255, 255);

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Colour,
    pub(crate) width: f32,
    /// Lengths of a dash and of the space after it.
    pub(crate) dash: Option<(f32, f32)>,
}

impl Stroke {
    pub(crate) const fn new(colour: Colour, width: f32) -> Self {
        Self {
            colour,
            width,
            dash: None,
        }
    }

    pub(crate) const fn dashed(self, dash: f32, space: f32) -> Self {
        Self {
            dash: Some((dash, space)),
            ..self
        }
    }
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub(crate) size: f32,
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
    pub(crate) anchor: Anchor,
}

impl TextStyle {
    pub(crate) const fn new(size: f32, colour: Colour, anchor: Anchor) -> Self {
        Self {
            size,
            weight: Weight::Regular,
            colour,
            anchor,
        }
    }

    pub(crate) const fn bold(self) -> Self {
        Self {
            weight: Weight::SemiBold,
            ..self
        }
    }
}

/// Something to draw on.
pub(crate) trait Canvas {
    /// A filled outline.
    fn area(&mut self, outline: &[Place], colour: Colour);
    /// A line through all places.
    fn line(&mut self, places: &[Place], stroke: Stroke);
    /// Filled dots.
    fn dots(&mut self, centres: &[Place], radius: f32, colour: Colour);
    /// A text on one line, its baseline at `place`.
    fn text(&mut self, place: Place, text: &str, style: TextStyle);
}

/// A rectangle from corner to corner, as an outline.
pub(crate) fn rectangle((left, top): Place, (right, bottom): Place) -> [Place; 4] {
    [(left, top), (right, top), (right, bottom), (left, bottom)]
}
