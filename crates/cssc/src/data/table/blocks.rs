//! An open table, whatever its format.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::formats::{Blocks, TableFormat, TableSource, TextStyle};
use super::guard::{guarded, guarded_blocks};
use super::input::Input;
use super::options::ReadOptions;
use crate::Error;
use crate::error::Place;

/// A table that can be read from the start as often as needed.
pub(super) struct Table {
    name: PathBuf,
    source: Box<dyn TableSource>,
    pub(super) format: Arc<dyn TableFormat>,
    pub(super) schema: SchemaRef,
}

impl Table {
    /// Opens a table; the format by the user's word, the ending, or the first bytes.
    pub(super) fn open(name: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let named = options
            .format
            .as_deref()
            .map(|name| options.formats.named(name));
        let named = named.transpose();
        let named = named.map_err(|problem| Place::file(name).problem(problem))?;
        let input = Input::open(name)?;
        let format = named
            .or_else(|| options.formats.by_ending(name))
            .unwrap_or_else(|| options.formats.by_bytes(input.start()));
        let source = guarded(name, || format.open(input, options))?;
        Ok(Self {
            name: name.to_owned(),
            format: source.format(),
            schema: source.schema(),
            source,
        })
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    pub(super) fn style(&self) -> TextStyle {
        self.source.style()
    }

    /// Where the row of that number (see [`Block::numbers`](super::formats::Block::numbers)) stands.
    pub(super) fn place(&self, number: u64) -> Place {
        let place = Place::file(&self.name);
        if self.format.is_text() {
            Place {
                line: Some(number),
                ..place
            }
        } else {
            Place {
                row: Some(number),
                ..place
            }
        }
    }

    /// Reads from the start; `wanted` chooses columns.
    pub(super) fn blocks(&self, wanted: Option<&[usize]>) -> Result<Blocks, Error> {
        let blocks = guarded(&self.name, || self.source.blocks(wanted))?;
        Ok(guarded_blocks(&self.name, blocks))
    }
}
