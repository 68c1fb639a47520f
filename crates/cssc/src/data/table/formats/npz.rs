//! NumPy archives as tables, in two forms that other tools write easily:
//!
//! | form | arrays |
//! |---|---|
//! | dense | `times` [T] or [N, T], `values` [N, T] or [N, T, C], and if wanted `mask`, `ids` [N], `channel_names` [C] |
//! | videos | the same with `values` [N, T, height, width] |
//! | columns | one array [rows] per column |
//!
//! In a dense archive times that are NaN are no rows: so series of different length are padded. A `mask` of the shape
//! [N, T], or of that of `values`, is 0 where a value is missing; it is not written, since afterwards it would not be true.
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;

use super::super::cells;
use super::super::columns::Columns as UsedColumns;
use super::super::input::Input;
use super::super::options::ReadOptions;
use super::super::output::Output;
use super::super::shape::Shape;
use super::{Loaded, TableEncoder, TableFormat, TableSource};
use crate::Error;
use crate::data::npz::{self, Array, Elements, MomentUnit};
use crate::error::Place;

/// How an archive holds its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NpzForm {
    /// `times` and `values` by series.
    Dense {
        /// Rows and columns of the pixels where the values of a time are an image.
        frame: Option<[usize; 2]>,
    },
    /// One array per column.
    Columns,
}

/// A NumPy archive. It is read whole, since it is compressed column by column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Npz {
    /// How it is written; columns unless said.
    pub form: Option<NpzForm>,
}

impl TableFormat for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn recognises(&self, start: &[u8]) -> bool {
        start.starts_with(b"PK\x03\x04")
    }

    fn open(&self, input: Input, _: &ReadOptions) -> Result<Box<dyn TableSource>, Error> {
        let arrays = npz::read_from(input.file()?, input.name())?;
        let (form, batch) = table(&arrays, input.name())?;
        let format = Arc::new(Npz { form: Some(form) });
        Ok(Box::new(Loaded { batch, format }))
    }

    fn frame(&self) -> Option<[usize; 2]> {
        match self.form? {
            NpzForm::Dense { frame } => frame,
            NpzForm::Columns => None,
        }
    }

    fn losses(&self, schema: &SchemaRef) -> Vec<String> {
        let loss = |field: &Arc<Field>| {
            let name = field.name();
            match field.data_type() {
                DataType::Timestamp(_, Some(zone)) if zone.as_ref() != "UTC" => Some(format!(
                    "NumPy knows no time zones: the times of `{name}` are written in UTC, without their zone {zone}"
                )),
                kind if kind.is_decimal() => Some(format!(
                    "NumPy knows no decimals: the values of `{name}` are written as 64-bit floats"
                )),
                _ => None,
            }
        };
        schema.fields().iter().filter_map(loss).collect()
    }

    fn create(
        &self,
        output: Output,
        schema: &SchemaRef,
        shape: &Shape,
    ) -> Result<Box<dyn TableEncoder>, Error> {
        Ok(Box::new(NpzEncoder {
            output,
            form: self.form.unwrap_or(NpzForm::Columns),
            schema: schema.clone(),
            columns: shape.columns.clone(),
            batches: Vec::new(),
        }))
    }
}

struct NpzEncoder {
    output: Output,
    form: NpzForm,
    schema: SchemaRef,
    columns: UsedColumns,
    batches: Vec<RecordBatch>,
}

impl TableEncoder for NpzEncoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.batches.push(batch.clone());
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Output, Error> {
        let path = self.output.name().to_owned();
        let arrays = concat_batches(&self.schema, &self.batches)
            .and_then(|all| self.arrays(&all))
            .map_err(|error| Place::file(&path).error(error))?;
        npz::write_to(&mut self.output, &arrays).map_err(Error::writing(&path))?;
        Ok(self.output)
    }
}

impl NpzEncoder {
    fn arrays(&self, all: &RecordBatch) -> Result<Vec<Array>, ArrowError> {
        let ids = &self.columns.ids;
        match (self.form, &self.columns.time[..]) {
            (NpzForm::Dense { frame }, &[time]) if ids.len() < 2 => {
                let channels = &self.columns.channels;
                let frame = frame.filter(|[height, width]| height * width == channels.len());
                dense_arrays(all, ids.first().copied(), time, channels, frame)
            }
            _ => column_arrays(all),
        }
    }
}

/// The table in an archive, called `name` in messages.
fn table(arrays: &[Array], name: &Path) -> Result<(NpzForm, RecordBatch), Error> {
    let has = |wanted: &str| arrays.iter().any(|array| array.name == wanted);
    let read = if has("times") && has("values") {
        dense_columns(arrays).map(|(frame, columns)| (NpzForm::Dense { frame }, columns))
    } else {
        plain_columns(arrays).map(|columns| (NpzForm::Columns, columns))
    };
    let (form, columns) = read.map_err(|problem| Place::file(name).error(problem))?;
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
    Ok((form, batch.map_err(|error| Place::file(name).error(error))?))
}

type Columns = Vec<(String, ArrayRef)>;

fn plain_columns(arrays: &[Array]) -> Result<Columns, String> {
    let rows = arrays
        .first()
        .map_or(0, |array| array.shape.iter().product());
    arrays
        .iter()
        .map(|array| {
            if array.shape[..] != [rows] {
                return Err(format!(
                    "array `{}` has the shape {:?}, expected [{rows}]; an archive is read as `times` \
                     and `values`, or as columns of equal length",
                    array.name, array.shape
                ));
            }
            Ok((array.name.clone(), column_of(&array.elements)))
        })
        .collect()
}

fn column_of(elements: &Elements) -> ArrayRef {
    match elements.clone() {
        Elements::Float(values) => Arc::new(Float64Array::from(values)),
        Elements::Float32(values) => Arc::new(Float32Array::from(values)),
        Elements::Integer(values) => Arc::new(Int64Array::from(values)),
        Elements::Boolean(values) => Arc::new(BooleanArray::from(values)),
        Elements::Text(values) => Arc::new(StringArray::from(values)),
        Elements::Moments(unit, counts) => {
            let counts = counts.into_iter();
            let counts = counts.map(|count| (count != npz::NOT_A_TIME).then_some(count));
            match unit {
                MomentUnit::Second => Arc::new(counts.collect::<TimestampSecondArray>()),
                MomentUnit::Millisecond => Arc::new(counts.collect::<TimestampMillisecondArray>()),
                MomentUnit::Microsecond => Arc::new(counts.collect::<TimestampMicrosecondArray>()),
                MomentUnit::Nanosecond => Arc::new(counts.collect::<TimestampNanosecondArray>()),
            }
        }
    }
}

/// Long columns `id`, `time` and the channels from `times` and `values`, and the shape of an image.
fn dense_columns(arrays: &[Array]) -> Result<(Option<[usize; 2]>, Columns), String> {
    let find = |name: &str| arrays.iter().find(|array| array.name == name);
    let (times, values) = (
        find("times").expect("looked for"),
        find("values").expect("looked for"),
    );
    let numbers = |array: &Array| {
        array
            .floats()
            .ok_or(format!("`{}` must be numbers", array.name))
    };
    let (series, length, channels, frame) = match values.shape[..] {
        [series, length] => (series, length, 1, None),
        [series, length, channels] => (series, length, channels, None),
        [series, length, height, width] => {
            let pixels = height.checked_mul(width).ok_or("`values` is too large")?;
            (series, length, pixels, Some([height, width]))
        }
        _ => {
            return Err(format!(
                "`values` must be [N, T], [N, T, C] or [N, T, height, width], found {:?}",
                values.shape
            ));
        }
    };
    let shared = times.shape[..] == [length];
    if !shared && times.shape[..] != [series, length] {
        let found = &times.shape;
        return Err(format!(
            "`times` must be [{length}] or [{series}, {length}], found {found:?}"
        ));
    }
    let (all_times, mut all_values) = (numbers(times)?, numbers(values)?);
    if let Some(mask) = find("mask") {
        let each = match &mask.shape {
            shape if *shape == values.shape => 1,
            shape if shape[..] == [series, length] => channels,
            found => {
                return Err(format!(
                    "`mask` must be [{series}, {length}] or {:?}, found {found:?}",
                    values.shape
                ));
            }
        };
        for (cells, known) in all_values.chunks_mut(each.max(1)).zip(numbers(mask)?) {
            if known == 0.0 {
                cells.fill(f64::NAN);
            }
        }
    }
    let place = |row: usize| if shared { row % length } else { row };
    let rows: Vec<usize> = (0..series * length)
        .filter(|&row| !all_times[place(row)].is_nan())
        .collect();
    let time: ArrayRef = match &times.elements {
        // Bit for bit, since a float does not hold every nanosecond.
        Elements::Moments(unit, counts) => {
            let counts = rows.iter().map(|&row| counts[place(row)]);
            column_of(&Elements::Moments(*unit, counts.collect()))
        }
        _ => Arc::new(
            rows.iter()
                .map(|&row| Some(all_times[place(row)]))
                .collect::<Float64Array>(),
        ),
    };
    let mut columns: Columns = vec![
        ("id".to_owned(), ids(find("ids"), series, &rows, length)?),
        ("time".to_owned(), time),
    ];
    for (channel, name) in channel_names(find("channel_names"), channels, frame)?
        .into_iter()
        .enumerate()
    {
        let column = rows.iter().map(|row| all_values[row * channels + channel]);
        let column: ArrayRef = Arc::new(column.collect::<Float64Array>());
        let kind = match values.elements {
            Elements::Float32(_) => DataType::Float32,
            _ => DataType::Float64,
        };
        columns.push((
            name,
            cast(&column, &kind).map_err(|error| error.to_string())?,
        ));
    }
    Ok((frame, columns))
}

fn ids(
    ids: Option<&Array>,
    series: usize,
    rows: &[usize],
    length: usize,
) -> Result<ArrayRef, String> {
    let Some(ids) = ids else {
        return Ok(Arc::new(
            rows.iter()
                .map(|row| Some((row / length) as i64))
                .collect::<Int64Array>(),
        ));
    };
    if ids.shape[..] != [series] {
        return Err(format!("`ids` must be [{series}], found {:?}", ids.shape));
    }
    match &ids.elements {
        Elements::Text(ids) => {
            let repeated = rows.iter().map(|row| Some(ids[row / length].as_str()));
            Ok(Arc::new(repeated.collect::<StringArray>()))
        }
        Elements::Integer(ids) => Ok(Arc::new(
            rows.iter()
                .map(|row| Some(ids[row / length]))
                .collect::<Int64Array>(),
        )),
        _ => Err("`ids` must be text or integers".to_owned()),
    }
}

fn channel_names(
    names: Option<&Array>,
    channels: usize,
    frame: Option<[usize; 2]>,
) -> Result<Vec<String>, String> {
    if let (None, Some([height, width])) = (names, frame) {
        let row = |row: usize| (0..width).map(move |column| format!("r{row}c{column}"));
        return Ok((0..height).flat_map(row).collect());
    }
    match names.map(|names| &names.elements) {
        None if channels == 1 => Ok(vec!["x".to_owned()]),
        None => Ok((0..channels).map(|channel| format!("x{channel}")).collect()),
        Some(Elements::Text(names)) if names.len() == channels => Ok(names.clone()),
        Some(_) => Err(format!("`channel_names` must be {channels} texts")),
    }
}

/// The arrays of a table in columns.
fn column_arrays(batch: &RecordBatch) -> Result<Vec<Array>, ArrowError> {
    let fields = batch.schema();
    let columns = fields.fields().iter().zip(batch.columns());
    columns
        .map(|(field, column)| {
            let elements = elements(column)?;
            Ok(Array {
                name: field.name().clone(),
                shape: vec![batch.num_rows()],
                elements,
            })
        })
        .collect()
}

/// The elements of a column: integers with holes become floats, what is no number becomes text.
fn elements(column: &ArrayRef) -> Result<Elements, ArrowError> {
    let (kind, whole) = (column.data_type(), column.null_count() == 0);
    if let DataType::Timestamp(unit, _) = kind {
        return moments(column, *unit);
    }
    Ok(match kind {
        DataType::Boolean if whole => {
            let flags = cells::integers(column)?;
            Elements::Boolean(flags.values().iter().map(|&flag| flag != 0).collect())
        }
        DataType::Float32 => Elements::Float32(
            cells::floats(column)?
                .into_iter()
                .map(|x| x as f32)
                .collect(),
        ),
        _ if kind.is_integer() && whole => {
            Elements::Integer(cells::integers(column)?.values().to_vec())
        }
        _ if kind.is_numeric() => Elements::Float(cells::floats(column)?),
        _ => Elements::Text(
            cells::texts(column)?
                .iter()
                .map(|text| text.unwrap_or_default().to_owned())
                .collect(),
        ),
    })
}

/// Moments as counts; the name of their zone is not kept.
fn moments(column: &ArrayRef, unit: TimeUnit) -> Result<Elements, ArrowError> {
    let counts = cells::integers(column)?;
    let counts = counts.iter().map(|count| count.unwrap_or(npz::NOT_A_TIME));
    let unit = match unit {
        TimeUnit::Second => MomentUnit::Second,
        TimeUnit::Millisecond => MomentUnit::Millisecond,
        TimeUnit::Microsecond => MomentUnit::Microsecond,
        TimeUnit::Nanosecond => MomentUnit::Nanosecond,
    };
    Ok(Elements::Moments(unit, counts.collect()))
}

/// The arrays of a dense archive from a long table: `id`, `time`, channels in this order.
fn dense_arrays(
    batch: &RecordBatch,
    id: Option<usize>,
    time: usize,
    channels: &[usize],
    frame: Option<[usize; 2]>,
) -> Result<Vec<Array>, ArrowError> {
    let ids = match id {
        Some(id) => cells::texts(batch.column(id))?,
        None => StringArray::from(vec!["0"; batch.num_rows()]),
    };
    let starts: Vec<usize> = (0..ids.len())
        .filter(|&row| row == 0 || ids.value(row) != ids.value(row - 1))
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([ids.len()]).collect();
    let length = starts
        .iter()
        .zip(&ends)
        .map(|(start, end)| end - start)
        .max()
        .unwrap_or(0);
    let columns = channels
        .iter()
        .map(|&channel| cells::floats(batch.column(channel)));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    // Shorter series are padded.
    let padded = starts.iter().zip(&ends);
    let padded = padded.flat_map(|(&start, &end)| {
        (start..start + length).map(move |row| (row < end).then_some(row))
    });
    let padded: Vec<Option<usize>> = padded.collect();
    let cells = padded.iter().flat_map(|row| {
        let cell = move |column: &Vec<f64>| row.map_or(f64::NAN, |row| column[row]);
        columns.iter().map(cell)
    });
    let all_values: Vec<f64> = cells.collect();
    let times = batch.column(time);
    let times = match times.data_type() {
        DataType::Timestamp(..) => elements(times)?,
        _ => Elements::Float(cells::floats(times)?),
    };
    let times = match times {
        Elements::Moments(unit, counts) => {
            let count = |row: &Option<usize>| row.map_or(npz::NOT_A_TIME, |row| counts[row]);
            Elements::Moments(unit, padded.iter().map(count).collect())
        }
        Elements::Float(times) => {
            let time = |row: &Option<usize>| row.map_or(f64::NAN, |row| times[row]);
            Elements::Float(padded.iter().map(time).collect())
        }
        other => other,
    };
    let names = channels
        .iter()
        .map(|&at| batch.schema().field(at).name().clone())
        .collect();
    let series = starts.len();
    let named = |name: &str, shape: Vec<usize>, elements| Array {
        name: name.into(),
        shape,
        elements,
    };
    let single = channels
        .iter()
        .all(|&at| *batch.column(at).data_type() == DataType::Float32);
    let values = if single {
        Elements::Float32(all_values.into_iter().map(|x| x as f32).collect())
    } else {
        Elements::Float(all_values)
    };
    let id_texts = starts
        .iter()
        .map(|&start| ids.value(start).to_owned())
        .collect();
    let mut shape = vec![series, length];
    match frame {
        Some(frame) => shape.extend(frame),
        None => shape.push(channels.len()),
    }
    Ok(vec![
        named("times", vec![series, length], times),
        named("values", shape, values),
        named("ids", vec![series], Elements::Text(id_texts)),
        named("channel_names", vec![channels.len()], Elements::Text(names)),
    ])
}
