//! NumPy archives (`.npz`): named arrays in one zip file.
//!
//! Only what tables and generators need: floats, integers, booleans and text, in C order. Files
//! are written without times of day inside, so equal arrays give equal bytes.
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder};
use zip::write::SimpleFileOptions;

use super::DataError;

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
    /// The elements as 64-bit floats, `None` for text.
    pub fn floats(&self) -> Option<Vec<f64>> {
        match &self.elements {
            Elements::Float(values) => Some(values.clone()),
            Elements::Float32(values) => Some(values.iter().map(|&x| f64::from(x)).collect()),
            Elements::Integer(values) => Some(values.iter().map(|&x| x as f64).collect()),
            Elements::Boolean(values) => Some(values.iter().map(|&x| f64::from(x)).collect()),
            Elements::Text(_) => None,
        }
    }
}

/// Reads all arrays of an archive.
pub fn read(path: &Path) -> Result<Vec<Array>, DataError> {
    let file = File::open(path).map_err(DataError::reading(path))?;
    let broken = |problem: &dyn ToString| DataError::content(path, problem.to_string());
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| broken(&e))?;
    let mut arrays = Vec::with_capacity(archive.len());
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|e| broken(&e))?;
        let name = entry
            .name()
            .map_err(|e| broken(&e))?
            .trim_end_matches(".npy")
            .to_owned();
        let array = read_array(&name, entry);
        arrays.push(array.map_err(|e| broken(&format!("array `{name}`: {e}")))?);
    }
    Ok(arrays)
}

/// The array of that name, or an error that lists the names there are.
pub fn find<'a>(arrays: &'a [Array], name: &str, path: &Path) -> Result<&'a Array, DataError> {
    arrays
        .iter()
        .find(|array| array.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
            let problem = format!("expected an array `{name}`, found {}", names.join(", "));
            DataError::content(path, problem)
        })
}

fn read_array(name: &str, source: impl Read) -> std::io::Result<Array> {
    let file = NpyFile::new(source)?;
    let shape: Vec<usize> = file.shape().iter().map(|&length| length as usize).collect();
    let unsupported = |what: String| std::io::Error::new(std::io::ErrorKind::Unsupported, what);
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

fn widen<T: npyz::Deserialize + Into<i64>>(file: NpyFile<impl Read>) -> std::io::Result<Vec<i64>> {
    Ok(file.into_vec::<T>()?.into_iter().map(Into::into).collect())
}

/// Writes arrays to an archive, compressed.
pub fn write(path: &Path, arrays: &[Array]) -> Result<(), DataError> {
    let failed = DataError::writing(path);
    let file = File::create(path).map_err(&failed)?;
    write_to(BufWriter::new(file), arrays).map_err(failed)
}

/// Writes arrays to an archive on any output, compressed.
pub fn write_to(mut output: impl Write, arrays: &[Array]) -> std::io::Result<()> {
    // A zip file ends with its table of contents, so it is made in memory, then copied.
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().large_file(true);
    for array in arrays {
        archive
            .start_file(format!("{}.npy", array.name), options)
            .map_err(std::io::Error::other)?;
        match &array.elements {
            Elements::Float(values) => write_plain(&mut archive, &array.shape, values)?,
            Elements::Float32(values) => write_plain(&mut archive, &array.shape, values)?,
            Elements::Integer(values) => write_plain(&mut archive, &array.shape, values)?,
            Elements::Boolean(values) => write_plain(&mut archive, &array.shape, values)?,
            Elements::Text(values) => write_text(&mut archive, &array.shape, values)?,
        }
    }
    output.write_all(archive.finish().map_err(std::io::Error::other)?.get_ref())?;
    output.flush()
}

fn lengths(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&length| length as u64).collect()
}

fn write_plain<T: npyz::AutoSerialize + Copy>(
    output: &mut impl Write,
    shape: &[usize],
    values: &[T],
) -> std::io::Result<()> {
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&lengths(shape))
        .writer(output)
        .begin_nd()?;
    writer.extend(values.iter().copied())?;
    writer.finish()
}

fn write_text(output: &mut impl Write, shape: &[usize], texts: &[String]) -> std::io::Result<()> {
    let longest = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let kind = format!("<U{longest}")
        .parse()
        .map_err(std::io::Error::other)?;
    let mut writer = npyz::WriteOptions::new()
        .dtype(DType::Plain(kind))
        .shape(&lengths(shape))
        .writer(output)
        .begin_nd()?;
    texts
        .iter()
        .try_for_each(|text| writer.push(text.as_str()))?;
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
