//! What a filled table looks like: a picture (SVG or PNG) and a page to explore it (HTML).
//!
//! | file | holds |
//! |---|---|
//! | `content` | what is shown: series, channels, curves, scores; knows nothing about drawing |
//! | `decimate` | which points of a long series are enough for a width in pixels |
//! | `ticks` | round numbers and dates for the axes |
//! | `font` | the embedded font: widths and outlines of text |
//! | `canvas`, `svg`, `png` | lines, areas, dots and text, and the two ways to write them |
//! | `layout`, `panel`, `legend` | the picture, drawn on any canvas |
//! | `payload`, `html` | the page: its data, and the file that opens without a network |

mod canvas;
mod content;
mod decimate;
mod font;
mod html;
mod layout;
mod legend;
mod panel;
mod payload;
mod png;
mod svg;
#[cfg(test)]
mod tests;
mod ticks;

pub(crate) use content::{
    ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis, TrainingCurve,
};
pub(crate) use html::write_html;
pub(crate) use png::write_png;
pub(crate) use svg::write_svg;
