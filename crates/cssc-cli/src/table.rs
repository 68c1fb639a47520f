//! A table of numbers as people keep it: comma-separated, the first column time, the others channels.

use crate::failure::Failure;
use crate::source::Source;
use csv::StringRecord;

/// A table whose times increase and whose numbers are finite.
#[derive(Debug)]
pub(crate) struct Table {
    /// Heading of the time column.
    pub(crate) time_name: String,
    /// Increasing times, one a row.
    pub(crate) times: Vec<f64>,
    /// The other columns.
    pub(crate) channels: Vec<Channel>,
}

/// One column of a table.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// One a row; an empty cell is `None`.
    pub(crate) values: Vec<Option<f64>>,
}

impl Table {
    /// Reads a table. The first line is the heading unless its first cell is a number; then the columns are
    /// called `time`, `channel_1`, `channel_2` and so on.
    pub(crate) fn read(source: &Source) -> Result<Self, Failure> {
        let text = source.read()?;
        let mut rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes())
            .into_records()
            .map(|row| row.map_err(|error| Failure::new(format!("{source}: {error}."))));
        let Some(first) = rows.next().transpose()? else {
            return Err(Failure::new(format!(
                "{source} is empty. Give a table whose first column is time and whose other columns are channels."
            )));
        };
        let mut reader = Reader::start(source, &first)?;
        if first[0].parse::<f64>().is_ok() {
            reader.push(&first)?;
        }
        for row in rows {
            reader.push(&row?)?;
        }
        reader.finish()
    }

    /// All values, one row a time; NaN where one is missing.
    pub(crate) fn time_major(&self) -> Vec<f64> {
        let rows = 0..self.times.len();
        rows.flat_map(|row| {
            self.channels
                .iter()
                .map(move |channel| channel.values[row].unwrap_or(f64::NAN))
        })
        .collect()
    }
}

/// A table under construction, with what its error messages need.
struct Reader<'a> {
    source: &'a Source,
    table: Table,
}

impl<'a> Reader<'a> {
    fn start(source: &'a Source, first: &StringRecord) -> Result<Self, Failure> {
        if first.len() < 2 {
            return Err(Failure::new(format!(
                "{source}, line {}: only one column was found. Expected time and at least one channel, \
                 with commas between them.",
                line(first)
            )));
        }
        let headed = first[0].parse::<f64>().is_err();
        let name = |column: usize| match (headed, column) {
            (true, _) => first[column].to_owned(),
            (false, 0) => "time".to_owned(),
            (false, _) => format!("channel_{column}"),
        };
        let channels = (1..first.len())
            .map(|column| Channel {
                name: name(column),
                values: Vec::new(),
            })
            .collect();
        Ok(Self {
            source,
            table: Table {
                time_name: name(0),
                times: Vec::new(),
                channels,
            },
        })
    }

    fn push(&mut self, row: &StringRecord) -> Result<(), Failure> {
        let expected = self.table.channels.len() + 1;
        if row.len() != expected {
            return Err(Failure::new(format!(
                "{}, line {}: expected {expected} cells as in the first line, found {}. \
                 Leave a cell empty where a value is missing, but keep its comma.",
                self.source,
                line(row),
                row.len()
            )));
        }
        let time = self.time(row)?;
        self.table.times.push(time);
        for column in 1..expected {
            let value = self.number(row, column)?;
            self.table.channels[column - 1].values.push(value);
        }
        Ok(())
    }

    fn time(&self, row: &StringRecord) -> Result<f64, Failure> {
        let Some(time) = self.number(row, 0)? else {
            return Err(Failure::new(format!(
                "{}: the time is missing. Fill it in or remove the line.",
                self.at(row, 0)
            )));
        };
        match self.table.times.last() {
            Some(&before) if time <= before => Err(Failure::new(format!(
                "{}: times must increase from line to line, but {time} comes after {before}. \
                 Sort the table by time and keep one line for each time.",
                self.at(row, 0)
            ))),
            _ => Ok(time),
        }
    }

    fn number(&self, row: &StringRecord, column: usize) -> Result<Option<f64>, Failure> {
        let cell = &row[column];
        if cell.is_empty() {
            return Ok(None);
        }
        match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(Failure::new(format!(
                "{}: expected a finite number, found {cell:?}. Write numbers like 1.5 or 2e-3, and leave the cell \
                 empty where a value is missing.",
                self.at(row, column)
            ))),
        }
    }

    fn at(&self, row: &StringRecord, column: usize) -> String {
        let name = match column {
            0 => &self.table.time_name,
            _ => &self.table.channels[column - 1].name,
        };
        format!(
            "{}, line {}, column {} ({name:?})",
            self.source,
            line(row),
            column + 1
        )
    }

    fn finish(self) -> Result<Table, Failure> {
        if self.table.times.is_empty() {
            return Err(Failure::new(format!(
                "{} has a heading but no rows. Add at least one line of numbers.",
                self.source
            )));
        }
        let empty = |channel: &Channel| channel.values.iter().all(Option::is_none);
        match self.table.channels.iter().position(empty) {
            Some(index) => Err(Failure::new(format!(
                "{}: column {} ({:?}) has no values at all. Remove the column.",
                self.source,
                index + 2,
                self.table.channels[index].name
            ))),
            None => Ok(self.table),
        }
    }
}

fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}
