//! The embedded font, Inter: widths and outlines of text, without kerning.
//!
//! A subset with Latin, Greek and Cyrillic letters, so that pictures need no font of the system. A letter that
//! it lacks is a box in PNG; SVG leaves the choice of a font to whoever shows it.

use tiny_skia::PathBuilder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The two weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// A weight, ready to be measured and drawn.
pub(crate) struct Font(Face<'static>);

impl Font {
    pub(crate) fn new(weight: Weight) -> Self {
        let data: &'static [u8] = match weight {
            Weight::Regular => include_bytes!("../assets/Inter-Regular.otf"),
            Weight::SemiBold => include_bytes!("../assets/Inter-SemiBold.otf"),
        };
        Self(Face::parse(data, 0).expect("the embedded font is sound, as its test shows"))
    }

    /// The width of `text` set in `size` pixels.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        let advances = text.chars().map(|letter| self.advance(self.glyph(letter)));
        advances.sum::<f32>() * self.scale(size)
    }

    /// Adds the outlines of `text`, whose baseline begins at `place`, to `path`.
    pub(crate) fn outline(&self, text: &str, size: f32, place: (f32, f32), path: &mut PathBuilder) {
        let scale = self.scale(size);
        let mut pen = Pen { path, place, scale };
        for letter in text.chars() {
            let glyph = self.glyph(letter);
            self.0.outline_glyph(glyph, &mut pen);
            pen.place.0 += self.advance(glyph) * scale;
        }
    }

    /// Pixels per unit of the font.
    fn scale(&self, size: f32) -> f32 {
        size / f32::from(self.0.units_per_em())
    }

    fn glyph(&self, letter: char) -> GlyphId {
        let known = self.0.glyph_index(letter);
        known
            .or_else(|| self.0.glyph_index('□'))
            .unwrap_or_default()
    }

    fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.0.glyph_hor_advance(glyph).unwrap_or(0))
    }
}

/// Turns the font's units, upwards, into pixels, downwards.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    place: (f32, f32),
    scale: f32,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.place.0 + x * self.scale, self.place.1 - y * self.scale)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{Font, Weight};

    #[test]
    fn the_embedded_weights_know_the_letters_of_our_labels() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let font = Font::new(weight);
            for letter in "Aa09.,:−–·×ôĉ→…äßñłčøΩμжЯ°²".chars() {
                assert!(font.0.glyph_index(letter).is_some(), "{letter} is missing");
            }
            assert!(
                font.width("漢", 10.0) > 0.0,
                "a box stands for an unknown letter"
            );
        }
    }

    #[test]
    fn width_grows_with_text_and_size() {
        let font = Font::new(Weight::Regular);
        let width = font.width("glucose", 10.0);
        assert!((20.0..60.0).contains(&width), "{width}");
        assert!((font.width("glucose", 20.0) / width - 2.0).abs() < 1e-5);
        assert!((font.width("glucoseglucose", 10.0) / width - 2.0).abs() < 1e-5);
    }
}
