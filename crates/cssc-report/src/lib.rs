//! What filled series look like: a picture (SVG or PNG), a page to explore it (HTML) and a summary (text).
//!
//! A [`Report`] says what is shown, in the user's units, and knows nothing about drawing; [`FilledTable`] makes one of what
//! the library found. The result is written to any writer, so whoever calls decides about files:
//!
//! ```
//! use cssc_report::{ChannelPicture, Curve, Picture, Points, Report, SeriesPicture};
//!
//! let channel = ChannelPicture {
//!     name: "glucose".to_owned(),
//!     observed: Points { times: vec![0.0, 1.0, 3.0], values: vec![5.1, 5.6, 7.2] },
//!     filled: Points { times: vec![2.0], values: vec![6.5] },
//!     curve: Some(Curve {
//!         times: vec![0.0, 1.0, 2.0, 3.0],
//!         smoothed: vec![5.1, 5.6, 6.5, 7.2],
//!         ..Curve::default()
//!     }),
//!     gaps: vec![(1.0, 3.0)],
//!     ..ChannelPicture::default()
//! };
//! let report = Report {
//!     title: "one night".to_owned(),
//!     series: vec![SeriesPicture { id: None, channels: vec![channel] }],
//!     ..Report::default()
//! };
//! let (mut picture, mut page) = (Vec::new(), Vec::new());
//! Picture::Svg.write(&report, &mut picture)?;
//! cssc_report::write_html(&report, &mut page)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `content` | what is shown: series, channels, curves, scores |
//! | `filled_table` | the content of a table that the library filled |
//! | `decimate` | which points of a long series are enough for a width in pixels |
//! | `ticks`, `number` | round numbers and dates for the axes, numbers for people |
//! | `font` | the embedded font: widths and outlines of text |
//! | `canvas`, `svg`, `png` | lines, areas, dots and text, and the two ways to write them |
//! | `layout`, `panel`, `legend`, `picture` | the picture, drawn on any canvas |
//! | `chart` | panels of lines and dots, for documents |
//! | `film` | frames of videos, for documents and pages |
//! | [`summary`], `text_table` | what a terminal shows of gaps and comparisons |
//! | `columns`, `payload`, `html` | the page: its numbers, its data, and the file that opens without a network |
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod canvas;
mod chart;
mod columns;
mod content;
mod decimate;
mod filled_table;
mod film;
mod font;
mod html;
mod layout;
mod legend;
mod number;
mod panel;
mod payload;
mod picture;
mod png;
pub mod summary;
mod svg;
#[cfg(test)]
mod tests;
mod text_table;
mod ticks;

pub use chart::{Axis, Chart, Ink, Mark, Plot};
pub use content::{
    ChannelPicture, Curve, MethodScore, Points, Report, SeriesPicture, TimeAxis, TrainingCurve,
};
pub use filled_table::FilledTable;
pub use film::{Film, FilmFrame, FilmRow, film_html};
pub use html::write_html;
pub use number::{grouped, percent, readable, several, short};
pub use picture::Picture;
pub use text_table::TextTable;
