//! NumPy archives (`.npz`): named arrays in one zip file.
//!
//! Only what tables and generators need: floats, integers, booleans and text, in C order. Files
//! are written without times of day inside, so equal arrays give equal bytes.
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use npyz::{DType, NpyFile, Order, TimeUnits, TypeChar, WriterBuilder};
use zip::write::SimpleFileOptions;

use crate::Error;
use crate::io::{WholeFile, write_whole};

/// Bytes of the head of an array: the first version of the format has no more, and names of columns are not read.
const MOST_HEAD: u32 = 1 << 16;
/// Brackets that open in the head of an array: of the whole, of its shape, and some of a type that is then refused by name.
const MOST_BRACKETS: usize = 12;

/// The numbers of an array, in C order.
#[derive(Debug, Clone, PartialEq)]
pub enum Elements {
    /// 64-bit floats (half floats are not read).
    Float(Vec<f64>),
    /// 32-bit floats.
    Float32(Vec<f32>),
    /// Signed integers, and unsigned ones that fit.
    Integer(Vec<i64>),
    /// Truth values.
    Boolean(Vec<bool>),
    /// Text (`<U`).
    Text(Vec<String>),
    /// Moments (`datetime64`): counts of a unit since 1970, [`NOT_A_TIME`] where there is none.
    Moments(MomentUnit, Vec<i64>),
}

/// What counts of moments are multiples of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentUnit {
    /// Seconds; coarser units are read as seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
    /// Nanoseconds.
    Nanosecond,
}

/// The count that means no moment, as in NumPy.
pub const NOT_A_TIME: i64 = i64::MIN;

impl MomentUnit {
    /// The unit in a type of NumPy, and how many of it make one count there; years and months are
    /// not all of one length.
    fn of_type(units: TimeUnits) -> Option<(Self, i64)> {
        Some(match units {
            TimeUnits::Week => (Self::Second, 604_800),
            TimeUnits::Day => (Self::Second, 86_400),
            TimeUnits::Hour => (Self::Second, 3600),
            TimeUnits::Minute => (Self::Second, 60),
            TimeUnits::Second => (Self::Second, 1),
            TimeUnits::Millisecond => (Self::Millisecond, 1),
            TimeUnits::Microsecond => (Self::Microsecond, 1),
            TimeUnits::Nanosecond => (Self::Nanosecond, 1),
            _ => return None,
        })
    }

    fn type_text(self) -> &'static str {
        match self {
            Self::Second => "<M8[s]",
            Self::Millisecond => "<M8[ms]",
            Self::Microsecond => "<M8[us]",
            Self::Nanosecond => "<M8[ns]",
        }
    }

    /// Counts in a second.
    pub fn per_second(self) -> f64 {
        match self {
            Self::Second => 1.0,
            Self::Millisecond => 1e3,
            Self::Microsecond => 1e6,
            Self::Nanosecond => 1e9,
        }
    }
}

/// A named array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Its name in the archive.
    pub name: String,
    /// Its lengths.
    pub shape: Vec<usize>,
    /// Its elements.
    pub elements: Elements,
}

impl Array {
    /// The elements as 64-bit floats (moments as seconds since 1970), `None` for text.
    pub fn floats(&self) -> Option<Vec<f64>> {
        match &self.elements {
            Elements::Float(values) => Some(values.clone()),
            Elements::Float32(values) => Some(values.iter().map(|&x| f64::from(x)).collect()),
            Elements::Integer(values) => Some(values.iter().map(|&x| x as f64).collect()),
            Elements::Boolean(values) => Some(values.iter().map(|&x| f64::from(x)).collect()),
            Elements::Text(_) => None,
            Elements::Moments(unit, counts) => {
                let seconds = |&count: &i64| match count {
                    NOT_A_TIME => f64::NAN,
                    count => count as f64 / unit.per_second(),
                };
                Some(counts.iter().map(seconds).collect())
            }
        }
    }
}

/// Reads all arrays of an archive.
///
/// # Errors
/// If the file cannot be read, is no archive, or holds arrays of other types.
pub fn read(path: &Path) -> Result<Vec<Array>, Error> {
    read_from(File::open(path).map_err(Error::reading(path))?, path)
}

/// Reads all arrays of an archive, called `path` in messages.
pub(super) fn read_from(file: File, path: &Path) -> Result<Vec<Array>, Error> {
    let broken = |problem: &dyn ToString| Error::content(path, problem.to_string());
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| broken(&e))?;
    let mut arrays = Vec::with_capacity(archive.len());
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|e| broken(&e))?;
        let name = entry
            .name()
            .map_err(|e| broken(&e))?
            .trim_end_matches(".npy")
            .to_owned();
        if entry.size() > most_bytes(entry.compressed_size()) {
            return Err(broken(&format!(
                "array `{name}` is said to take {} bytes",
                entry.size()
            )));
        }
        let array = read_array(&name, entry);
        arrays.push(array.map_err(|e| broken(&format!("array `{name}`: {e}")))?);
    }
    Ok(arrays)
}

/// What can come out of so many compressed bytes: deflate makes at most 1,032 of one.
fn most_bytes(compressed: u64) -> u64 {
    compressed.saturating_mul(1032).saturating_add(1024)
}

/// The array of that name, or an error that lists the names there are.
pub fn find<'a>(arrays: &'a [Array], name: &str, path: &Path) -> Result<&'a Array, Error> {
    arrays
        .iter()
        .find(|array| array.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
            let problem = format!("expected an array `{name}`, found {}", names.join(", "));
            Error::content(path, problem)
        })
}

fn read_array(name: &str, mut source: impl Read) -> io::Result<Array> {
    let start = checked_head(&mut source)?;
    let file = NpyFile::new(io::Cursor::new(start).chain(source))?;
    let shape: Vec<usize> = file.shape().iter().map(|&length| length as usize).collect();
    let unsupported = |what: String| io::Error::new(io::ErrorKind::Unsupported, what);
    if file.order() != Order::C && shape.len() > 1 {
        return Err(unsupported(
            "is in Fortran order; save np.ascontiguousarray(x)".into(),
        ));
    }
    let DType::Plain(kind) = file.dtype() else {
        return Err(unsupported(
            "has several fields; save one array per field".into(),
        ));
    };
    let elements = match (kind.type_char(), kind.size_field()) {
        (TypeChar::Float, 8) => Elements::Float(file.into_vec()?),
        (TypeChar::Float, 4) => Elements::Float32(file.into_vec()?),
        (TypeChar::Int, 8) => Elements::Integer(file.into_vec()?),
        (TypeChar::Int, 4) => Elements::Integer(widen::<i32>(file)?),
        (TypeChar::Int, 2) => Elements::Integer(widen::<i16>(file)?),
        (TypeChar::Int, 1) => Elements::Integer(widen::<i8>(file)?),
        (TypeChar::Uint, 4) => Elements::Integer(widen::<u32>(file)?),
        (TypeChar::Uint, 2) => Elements::Integer(widen::<u16>(file)?),
        (TypeChar::Uint, 1) => Elements::Integer(widen::<u8>(file)?),
        (TypeChar::Bool, _) => Elements::Boolean(file.into_vec()?),
        (TypeChar::UnicodeStr, _) => Elements::Text(file.into_vec()?),
        (TypeChar::DateTime, 8) => {
            let unit = kind.time_units().and_then(MomentUnit::of_type);
            let (unit, factor) =
                unit.ok_or_else(|| unsupported(format!("has the type {kind}, which is not read")))?;
            let scaled = |count: i64| match count {
                NOT_A_TIME => NOT_A_TIME,
                count => count.saturating_mul(factor),
            };
            let counts: Vec<i64> = file.into_vec()?;
            Elements::Moments(unit, counts.into_iter().map(scaled).collect())
        }
        _ => {
            return Err(unsupported(format!(
                "has the type {kind}, which is not read"
            )));
        }
    };
    Ok(Array {
        name: name.to_owned(),
        shape,
        elements,
    })
}

/// Reads the head of an array, before the parser sees it, which allocates what the head says its length is, and whose
/// time doubles with every bracket inside a bracket.
fn checked_head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.by_ref().take(12).read_to_end(&mut head)?;
    // Magic, version, and the length of what follows: two bytes in version 1, four in later ones.
    let rest = match head[..] {
        [_, _, _, _, _, _, 0 | 1, _, a, b, _, _] => {
            u32::from(u16::from_le_bytes([a, b])).saturating_sub(2)
        }
        [_, _, _, _, _, _, _, _, a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    };
    let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    if rest > MOST_HEAD {
        return refuse(format!("its head is said to take {rest} bytes"));
    }
    source
        .by_ref()
        .take(u64::from(rest))
        .read_to_end(&mut head)?;
    let brackets = head.iter().filter(|byte| b"([{".contains(byte)).count();
    if brackets > MOST_BRACKETS {
        return refuse("its head does not describe a plain array".to_owned());
    }
    Ok(head)
}

fn widen<T: npyz::Deserialize + Into<i64>>(file: NpyFile<impl Read>) -> io::Result<Vec<i64>> {
    Ok(file.into_vec::<T>()?.into_iter().map(Into::into).collect())
}

/// Writes arrays to an archive, compressed.
pub fn write(path: &Path, arrays: &[Array]) -> Result<(), Error> {
    write_whole(path, |mut output| write_to(&mut output, arrays)).map_err(Error::writing(path))
}

/// Writes arrays to an archive on any output, compressed.
pub(super) fn write_to(output: &mut impl Write, arrays: &[Array]) -> io::Result<()> {
    let mut archive = zip::ZipWriter::new_stream(output);
    for array in arrays {
        archive.start_file(format!("{}.npy", array.name), entry_options())?;
        write_elements(&mut archive, array)?;
    }
    archive.finish()?;
    Ok(())
}

/// Writes an archive whose last array is made piece by piece and never held whole. `pieces` must
/// have as many values together as `shape` says; errors of the pieces stop the writing.
pub fn write_streamed(
    path: &Path,
    arrays: &[Array],
    (name, shape): (&str, &[usize]),
    pieces: impl Iterator<Item = Result<Vec<f32>, Error>>,
) -> Result<(), Error> {
    let failed = Error::writing(path);
    let mut output = WholeFile::create(path).map_err(&failed)?;
    let mut archive = zip::ZipWriter::new_stream(&mut output);
    let start = |archive: &mut zip::ZipWriter<_>, name: &str| {
        let entry = archive.start_file(format!("{name}.npy"), entry_options());
        entry.map_err(|error| failed(error.into()))
    };
    for array in arrays {
        start(&mut archive, &array.name)?;
        write_elements(&mut archive, array).map_err(&failed)?;
    }
    start(&mut archive, name)?;
    let options = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&lengths(shape));
    let mut writer = options.writer(&mut archive).begin_nd().map_err(&failed)?;
    for piece in pieces {
        writer.extend(piece?).map_err(&failed)?;
    }
    writer.finish().map_err(&failed)?;
    archive.finish().map_err(|error| failed(error.into()))?;
    output.finish().map_err(failed)
}

fn entry_options() -> SimpleFileOptions {
    SimpleFileOptions::default().large_file(true)
}

fn lengths(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&length| length as u64).collect()
}

fn write_elements(output: &mut impl Write, array: &Array) -> io::Result<()> {
    match &array.elements {
        Elements::Float(values) => write_plain(output, &array.shape, values),
        Elements::Float32(values) => write_plain(output, &array.shape, values),
        Elements::Integer(values) => write_plain(output, &array.shape, values),
        Elements::Boolean(values) => write_plain(output, &array.shape, values),
        Elements::Text(values) => write_text(output, &array.shape, values),
        Elements::Moments(unit, values) => {
            write_as(output, unit.type_text(), &array.shape, values.iter())
        }
    }
}

fn write_plain<T: npyz::AutoSerialize + Copy>(
    output: &mut impl Write,
    shape: &[usize],
    values: &[T],
) -> io::Result<()> {
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&lengths(shape))
        .writer(output)
        .begin_nd()?;
    writer.extend(values.iter().copied())?;
    writer.finish()
}

fn write_text(output: &mut impl Write, shape: &[usize], texts: &[String]) -> io::Result<()> {
    let longest = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let texts = texts.iter().map(String::as_str);
    write_as(output, &format!("<U{longest}"), shape, texts)
}

fn write_as<'a, T: npyz::Serialize + ?Sized + 'a>(
    output: &mut impl Write,
    kind: &str,
    shape: &[usize],
    elements: impl Iterator<Item = &'a T>,
) -> io::Result<()> {
    let kind = kind.parse().map_err(io::Error::other)?;
    let mut writer = npyz::WriteOptions::new()
        .dtype(DType::Plain(kind))
        .shape(&lengths(shape))
        .writer(output)
        .begin_nd()?;
    for element in elements {
        writer.push(element)?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, shape: &[usize], elements: Elements) -> Array {
        Array {
            name: name.into(),
            shape: shape.into(),
            elements,
        }
    }

    #[test]
    fn arrays_of_every_kind_come_back_as_they_were() {
        let arrays = vec![
            array(
                "a",
                &[2, 2],
                Elements::Float(vec![1.0, f64::MIN_POSITIVE, -0.1, 3e300]),
            ),
            array("b", &[3], Elements::Float32(vec![0.5, -1.0, 2.0])),
            array("c", &[1, 2], Elements::Integer(vec![i64::MIN, 7])),
            array("d", &[2], Elements::Boolean(vec![true, false])),
            array(
                "e",
                &[2],
                Elements::Text(vec!["Zürich".into(), String::new()]),
            ),
            array(
                "f",
                &[2],
                Elements::Moments(
                    MomentUnit::Nanosecond,
                    vec![1_711_846_800_000_000_001, NOT_A_TIME],
                ),
            ),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), &arrays).unwrap();
        assert_eq!(read(file.path()).unwrap(), arrays);
    }

    #[test]
    fn a_file_that_is_no_archive_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not a zip file").unwrap();
        let message = read(file.path()).unwrap_err().to_string();
        assert!(
            message.contains(&file.path().display().to_string()),
            "{message}"
        );
    }

    #[test]
    fn a_missing_array_is_named_beside_those_there_are() {
        let arrays = [array("x", &[1], Elements::Float(vec![1.0]))];
        let message = find(&arrays, "times", Path::new("f.npz"))
            .unwrap_err()
            .to_string();
        assert_eq!(message, "f.npz: expected an array `times`, found x");
    }
}
