//! Generated series to a file, one at a time, so that the set never stands in memory.
//!
//! | ending | content |
//! |---|---|
//! | `.npz` | `times` [T], `channel_names` [C], `values` [N, T], [N, T, C] for several channels, or [N, T, height, width] for videos |
//! | `.parquet`, `.arrow`, `.csv`, ... | a long table: `id`, `time`, one column per channel |
//!
//! Values are 32-bit floats, as in the frozen set.
use std::path::Path;

use super::Generator;
use cssc::Error;
use cssc::data::npz::{self, Array, Elements};
use cssc::data::table::{Compression, Formats, Shape, TableWriter};

/// Writes the first `count` series to `path`; `made` is called after each.
///
/// # Errors
/// If the ending tells no format, the file cannot be written, or the generator fails.
pub fn write(
    generator: &mut dyn Generator,
    count: usize,
    path: &Path,
    mut made: impl FnMut(),
) -> Result<(), Error> {
    let plain = Compression::by_ending(path).0 == Compression::None;
    match Formats::default().by_ending(path) {
        Some(format) if format.name() == "npz" && plain => write_npz(generator, count, path, made),
        Some(_) => {
            let names = generator.channel_names();
            let mut writer = TableWriter::create(path, &Shape::generated(&names))?;
            for number in 0..count {
                writer.write_series(&generator.series(number)?)?;
                made();
            }
            writer.finish()
        }
        None => Err(Error::content(
            path,
            "expected an ending that tells the format, such as .parquet or .npz",
        )),
    }
}

fn write_npz(
    generator: &mut dyn Generator,
    count: usize,
    path: &Path,
    mut made: impl FnMut(),
) -> Result<(), Error> {
    let (times, names) = (generator.times(), generator.channel_names());
    let mut shape = vec![count, times.len()];
    match generator.frame() {
        Some(frame) => shape.extend(frame),
        None if names.len() > 1 => shape.push(names.len()),
        None => {}
    }
    let array = |name: &str, length, elements| Array {
        name: name.into(),
        shape: vec![length],
        elements,
    };
    let arrays = [
        array("times", times.len(), Elements::Float(times)),
        array("channel_names", names.len(), Elements::Text(names)),
    ];
    let values = (0..count).map(|number| {
        let values = generator.values(number)?;
        made();
        Ok(values.into_iter().map(|value| value as f32).collect())
    });
    npz::write_streamed(path, &arrays, ("values", &shape), values)
}
