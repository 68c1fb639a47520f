//! The picture as SVG: text stays text, numbers have a tenth of a pixel, many dots are one path.

use crate::canvas::{Anchor, Canvas, Colour, Place, Stroke, TextStyle};
use crate::content::Report;
use crate::font::Weight;
use crate::layout;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Fonts that look like the one that was measured; the last is whatever the viewer has.
const FONTS: &str = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";

/// Writes the picture of `report` as SVG.
pub(crate) fn write_svg(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let layout = layout::plan(report);
    let draw = |canvas: &mut dyn Canvas| layout.draw(report, canvas);
    write(&report.title, layout.size(), draw, output)
}

/// Writes what `draw` draws.
pub(crate) fn write(
    title: &str,
    (width, height): (u32, u32),
    draw: impl FnOnce(&mut dyn Canvas),
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut svg = Svg(String::new());
    draw(&mut svg);
    write!(
        output,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONTS}" stroke-linejoin="round">
<title>{}</title>
{}</svg>
"#,
        escaped(title),
        svg.0
    )
}

/// The elements so far.
struct Svg(String);

impl Svg {
    /// Writing to a string cannot fail.
    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(arguments);
    }
}

impl Canvas for Svg {
    fn area(&mut self, outline: &[Place], colour: Colour) {
        let path = path(outline);
        self.add(format_args!(
            "<path d=\"{path}Z\"{}/>\n",
            paint("fill", colour)
        ));
    }

    fn line(&mut self, places: &[Place], stroke: Stroke) {
        let path = path(places);
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\"{}/>\n",
            stroked(stroke)
        ));
    }

    fn dots(&mut self, centres: &[Place], radius: f32, colour: Colour) {
        // A line without length but with round ends is a dot, in a fifth of the bytes of a circle.
        let path: String = centres
            .iter()
            .map(|&place| format!("M{}h0", pair(place)))
            .collect();
        let stroke = stroked(Stroke::new(colour, 2.0 * radius));
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke-linecap=\"round\"{stroke}/>\n"
        ));
    }

    fn text(&mut self, (x, y): Place, text: &str, style: TextStyle) {
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = match style.weight {
            Weight::Regular => "",
            Weight::SemiBold => " font-weight=\"600\"",
        };
        let (x, y, size) = (number(x), number(y), number(style.size));
        let (fill, text) = (paint("fill", style.colour), escaped(text));
        self.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{fill}>{text}</text>\n"
        ));
    }
}

fn path(places: &[Place]) -> String {
    let mut path = String::with_capacity(12 * places.len());
    for (index, &place) in places.iter().enumerate() {
        // After the first, places stand for lines without a letter of their own.
        path.push(if index == 0 { 'M' } else { ' ' });
        path.push_str(&pair(place));
    }
    path
}

fn pair((x, y): Place) -> String {
    format!("{} {}", number(x), number(y))
}

/// A tenth of a pixel is finer than anyone sees.
fn number(value: f32) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn stroked(stroke: Stroke) -> String {
    let dash = stroke.dash.map_or(String::new(), |(dash, space)| {
        format!(" stroke-dasharray=\"{} {}\"", number(dash), number(space))
    });
    let width = number(stroke.width);
    format!(
        " stroke-width=\"{width}\"{dash}{}",
        paint("stroke", stroke.colour)
    )
}

fn paint(name: &str, colour: Colour) -> String {
    let [red, green, blue] = colour.rgb;
    let opacity = match colour.opacity {
        1.0 => String::new(),
        opacity => format!(" {name}-opacity=\"{opacity}\""),
    };
    format!(" {name}=\"#{red:02x}{green:02x}{blue:02x}\"{opacity}")
}

/// Text as XML and HTML want it. Control characters, which XML forbids, become a visible stand-in.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
