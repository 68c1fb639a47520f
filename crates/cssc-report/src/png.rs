//! The picture as PNG, twice as fine as its layout, so that it is sharp on today's screens.

use crate::canvas::{Anchor, Canvas, Colour, Place, Stroke, TextStyle};
use crate::content::Report;
use crate::font::{Font, Weight};
use crate::layout;
use std::io::{self, Write};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

/// Pixels of the file per pixel of the layout.
const SCALE: f32 = 2.0;

/// Writes the picture of `report` as PNG.
pub(crate) fn write_png(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let layout = layout::plan(report);
    write_canvas(layout.size(), output, |canvas| layout.draw(report, canvas))
}

/// Writes what is drawn on a canvas of this size as PNG; where nothing is drawn it is white.
pub(crate) fn write_canvas(
    (width, height): (u32, u32),
    output: &mut dyn Write,
    draw: impl FnOnce(&mut dyn Canvas),
) -> io::Result<()> {
    let (width, height) = (width * SCALE as u32, height * SCALE as u32);
    let too_large = || io::Error::other(format!("a picture of {width} × {height} pixels"));
    let mut png = Png {
        pixels: Pixmap::new(width, height).ok_or_else(too_large)?,
        fonts: [Weight::Regular, Weight::SemiBold].map(Font::new),
    };
    png.pixels.fill(tiny_skia::Color::WHITE);
    draw(&mut png);
    let encoded = png.pixels.encode_png().map_err(io::Error::other)?;
    output.write_all(&encoded)
}

struct Png {
    pixels: Pixmap,
    fonts: [Font; 2],
}

impl Png {
    fn fill(&mut self, path: Option<Path>, colour: Colour) {
        // No path: nothing to draw, or coordinates that are not finite.
        if let Some(path) = path {
            let scale = Transform::from_scale(SCALE, SCALE);
            let paint = paint(colour);
            self.pixels
                .fill_path(&path, &paint, FillRule::Winding, scale, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: Stroke) {
        if let Some(path) = path {
            let dash = stroke
                .dash
                .and_then(|(dash, space)| StrokeDash::new(vec![dash, space], 0.0));
            let drawn = tiny_skia::Stroke {
                width: stroke.width,
                dash,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                ..tiny_skia::Stroke::default()
            };
            let scale = Transform::from_scale(SCALE, SCALE);
            let paint = paint(stroke.colour);
            self.pixels.stroke_path(&path, &paint, &drawn, scale, None);
        }
    }
}

impl Canvas for Png {
    fn area(&mut self, outline: &[Place], colour: Colour) {
        self.fill(through(outline, true), colour);
    }

    fn line(&mut self, places: &[Place], stroke: Stroke) {
        self.stroke(through(places, false), stroke);
    }

    fn dots(&mut self, centres: &[Place], radius: f32, colour: Colour) {
        self.fill(circles(centres, radius), colour);
    }

    fn text(&mut self, (x, y): Place, text: &str, style: TextStyle) {
        let font = &self.fonts[usize::from(style.weight == Weight::SemiBold)];
        let width = font.width(text, style.size);
        let start = match style.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let mut path = PathBuilder::new();
        font.outline(text, style.size, (start, y), &mut path);
        self.fill(path.finish(), style.colour);
    }
}

fn paint(colour: Colour) -> Paint<'static> {
    let [red, green, blue] = colour.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * colour.opacity).round() as u8);
    paint.anti_alias = true;
    paint
}

fn through(places: &[Place], close: bool) -> Option<Path> {
    let mut path = PathBuilder::with_capacity(places.len() + 1, places.len());
    let (&(x, y), rest) = places.split_first()?;
    path.move_to(x, y);
    for &(x, y) in rest {
        path.line_to(x, y);
    }
    if close {
        path.close();
    }
    path.finish()
}

fn circles(centres: &[Place], radius: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    for &(x, y) in centres {
        path.push_circle(x, y, radius);
    }
    path.finish()
}
