//! The page: one file with everything in it, that asks for nothing from anywhere.
//!
//! Names and ids come from other people's tables. They reach the page in two ways only: the title as escaped text, and all
//! else as JSON in which `<`, `>` and `&` are written as `\u003c` and so on, so that nothing in it can end the element
//! it stands in; the page's script then sets text, never markup. On top of that the page forbids
//! itself all connections.

use crate::content::Report;
use crate::payload::Payload;
use crate::svg::escaped;
use std::io::{self, Write};

const PAGE: &str = include_str!("../assets/report.html");
const PARTS: [(&str, &str); 4] = [
    ("/*uplot-style*/", include_str!("../assets/uPlot.min.css")),
    ("/*style*/", include_str!("../assets/report.css")),
    ("/*uplot*/", include_str!("../assets/uPlot.iife.min.js")),
    ("/*script*/", include_str!("../assets/report.js")),
];

/// Writes the page of `report`: one file that opens without a network.
///
/// # Errors
/// Those of `output`.
pub fn write_html(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let data = serde_json::to_string(&Payload::new(report)?)?;
    let parts = [
        ("<!--title-->", escaped(&report.title)),
        ("/*data*/", harmless(&data)),
    ];
    let parts = parts.iter().map(|(mark, text)| (*mark, text.as_str()));
    let parts: Vec<(&str, &str)> = PARTS.into_iter().chain(parts).collect();
    // One pass over the page, so that a mark inside what is put in is only text.
    let mut rest = PAGE;
    while let Some((at, mark, text)) = first_mark(rest, &parts) {
        output.write_all(&rest.as_bytes()[..at])?;
        output.write_all(text.as_bytes())?;
        rest = &rest[at + mark.len()..];
    }
    output.write_all(rest.as_bytes())
}

fn first_mark<'a>(text: &str, parts: &[(&'a str, &'a str)]) -> Option<(usize, &'a str, &'a str)> {
    let found = parts
        .iter()
        .filter_map(|&(mark, part)| Some((text.find(mark)?, mark, part)));
    found.min_by_key(|(at, ..)| *at)
}

/// JSON that means the same and can stand in a script element.
fn harmless(json: &str) -> String {
    // Outside strings JSON has none of these characters, inside them this is an allowed spelling.
    json.replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}
