//! From a filled table to what the report shows.

use crate::failure::Failure;
use cssc::data::Dataset;
use cssc::data::table::Shape;
use cssc::fill::{Choice, Filler};
use std::path::Path;

pub(crate) struct Pictures;

pub(crate) fn draw(
    _title: &str,
    _dataset: &Dataset,
    _shape: &Shape,
    _choice: &Choice,
    _filler: &Filler,
    _settings: &[(String, String)],
) -> Result<Pictures, Failure> {
    Ok(Pictures)
}

impl Pictures {
    pub(crate) fn write(
        &self,
        _plot: Option<&Path>,
        _report: Option<&Path>,
    ) -> Result<(), Failure> {
        Err(Failure::new("not yet"))
    }
}
