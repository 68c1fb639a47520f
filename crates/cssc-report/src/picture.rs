//! The two kinds of picture.

use crate::content::Report;
use crate::png::write_png;
use crate::svg::write_svg;
use std::io::{self, Write};
use std::path::Path;

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Lines that stay sharp at any size.
    Svg,
    /// Pixels, twice as many each way as the SVG is wide and high.
    Png,
}

impl Picture {
    /// The kind that the ending of a file name tells: `svg` or `png`.
    #[must_use]
    pub fn from_ending(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    /// Draws `report` and writes the picture.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write(self, report: &Report, output: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Svg => write_svg(report, output),
            Self::Png => write_png(report, output),
        }
    }
}
