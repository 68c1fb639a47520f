//! What each column of a table is for: named by the user, or found by name, type and content.
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{DataType, SchemaRef};

use super::cells::{self, counts_per_second, integer_range, is_text};
use super::number::{Entry, NumberRules};
use super::options::ReadOptions;
use super::time_guess::looks_like_time;
use crate::error::{Hint, Problem};

/// Names of id columns, in lower case.
const ID_NAMES: [&str; 14] = [
    "id",
    "series",
    "series_id",
    "unique_id",
    "item_id",
    "subject",
    "subject_id",
    "patient",
    "patient_id",
    "recordid",
    "record_id",
    "sensor_id",
    "station_id",
    "device_id",
];
/// Names of time columns, in lower case, the best first.
const TIME_NAMES: [&str; 9] = [
    "time",
    "timestamp",
    "datetime",
    "date_time",
    "date",
    "t",
    "times",
    "ds",
    "epoch",
];

/// The columns of a table by their use; all others are passed through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// Names and types of all columns.
    pub schema: SchemaRef,
    /// The column or columns that say which series a row belongs to.
    pub ids: Vec<usize>,
    /// The column or columns of time.
    pub time: Vec<usize>,
    /// The columns of values.
    pub channels: Vec<usize>,
    /// Columns of values that the user said hold integers.
    pub integers: Vec<usize>,
}

impl Columns {
    /// Finds the use of every column; `sample` are the first rows.
    pub(super) fn find(
        schema: SchemaRef,
        sample: &RecordBatch,
        rules: &NumberRules,
        options: &ReadOptions,
    ) -> Result<Self, Problem> {
        let finder = Finder {
            schema: &schema,
            sample,
            rules,
        };
        let ids = match &options.id[..] {
            [] => finder.first_called(&ID_NAMES).into_iter().collect(),
            names => names
                .iter()
                .map(|name| finder.named(name))
                .collect::<Result<Vec<_>, _>>()?,
        };
        let time = match &options.time[..] {
            [] => finder.time(&ids)?,
            names => names
                .iter()
                .map(|name| finder.named(name))
                .collect::<Result<_, _>>()?,
        };
        let taken = |column: &usize| ids.contains(column) || time.contains(column);
        let channels: Vec<usize> = match &options.channels[..] {
            [] => (0..schema.fields().len())
                .filter(|column| !taken(column) && !finder.is_index(*column))
                .filter(|column| finder.is_numeric(*column))
                .collect(),
            names => names
                .iter()
                .map(|name| finder.named(name))
                .collect::<Result<_, _>>()?,
        };
        if let Some(&twice) = channels.iter().find(|&channel| taken(channel)) {
            let name = schema.field(twice).name();
            return Err(
                format!("column `{name}` cannot be a channel and id or time at once").into(),
            );
        }
        if channels.is_empty() {
            let names = finder.names();
            let text = format!("no column of numbers is left for values; the columns are {names}");
            return Err(text.into());
        }
        let integers: Vec<usize> = options
            .integers
            .iter()
            .map(|name| finder.named(name))
            .collect::<Result<_, _>>()?;
        if let Some(&other) = integers.iter().find(|column| !channels.contains(column)) {
            let name = schema.field(other).name();
            return Err(
                format!("column `{name}` is to hold integers, but is no column of values").into(),
            );
        }
        Ok(Self {
            schema,
            ids,
            time,
            channels,
            integers,
        })
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> &str {
        self.schema.field(column).name()
    }

    /// Names of the channels.
    pub fn channel_names(&self) -> Vec<String> {
        self.channels
            .iter()
            .map(|&column| self.name(column).to_owned())
            .collect()
    }

    /// Smallest and largest integer that each channel can hold; `None` for channels of other
    /// numbers.
    pub fn integer_ranges(&self) -> Vec<Option<(f64, f64)>> {
        let range = |column: &usize| {
            let asked = self.integers.contains(column);
            let asked = asked.then(|| integer_range(&DataType::Int64)).flatten();
            integer_range(self.schema.field(*column).data_type()).or(asked)
        };
        self.channels.iter().map(range).collect()
    }

    /// Names of the columns that are passed through.
    pub fn passed_names(&self) -> Vec<&str> {
        let used = |column: &usize| {
            self.ids.contains(column)
                || self.time.contains(column)
                || self.channels.contains(column)
        };
        (0..self.schema.fields().len())
            .filter(|column| !used(column))
            .map(|column| self.name(column))
            .collect()
    }
}

struct Finder<'a> {
    schema: &'a SchemaRef,
    sample: &'a RecordBatch,
    rules: &'a NumberRules,
}

impl Finder<'_> {
    fn names(&self) -> String {
        let names: Vec<&str> = self
            .schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        crate::data::listed(&names)
    }

    /// The column of exactly that name, which must be the only one.
    fn named(&self, name: &str) -> Result<usize, String> {
        let fields = self.schema.fields().iter().enumerate();
        let found: Vec<usize> = fields
            .filter(|(_, field)| field.name() == name)
            .map(|(column, _)| column)
            .collect();
        match found[..] {
            [column] => Ok(column),
            [] => Err(format!(
                "there is no column `{name}`; the columns are {}",
                self.names()
            )),
            _ => Err(format!(
                "{} columns are called `{name}`; rename them",
                found.len()
            )),
        }
    }

    /// The first column with one of these names, the earlier names first; case does not matter.
    fn first_called(&self, names: &[&str]) -> Option<usize> {
        let fields = self.schema.fields();
        let called = |name: &&str| {
            fields
                .iter()
                .position(|field| field.name().eq_ignore_ascii_case(name))
        };
        names.iter().find_map(called)
    }

    fn time(&self, ids: &[usize]) -> Result<Vec<usize>, Problem> {
        if let (Some(date), Some(time)) =
            (self.first_called(&["date"]), self.first_called(&["time"]))
        {
            return Ok(vec![date, time]);
        }
        let columns = || (0..self.schema.fields().len()).filter(|column| !ids.contains(column));
        let found = self
            .first_called(&TIME_NAMES)
            .or_else(|| {
                columns().find(|column| {
                    counts_per_second(self.schema.field(*column).data_type()).is_some()
                })
            })
            .or_else(|| columns().find(|column| self.starts_with_date(*column)))
            .or_else(|| columns().next().filter(|first| self.increases(*first, ids)));
        found.map(|column| vec![column]).ok_or_else(|| {
            let text = format!("no column of {} looks like time", self.names());
            Problem::new(text, Hint::TimeColumn)
        })
    }

    fn texts(&self, column: usize) -> Option<StringArray> {
        cells::texts(self.sample.column(column)).ok()
    }

    fn starts_with_date(&self, column: usize) -> bool {
        is_text(self.schema.field(column).data_type())
            && self.texts(column).is_some_and(|texts| {
                !texts.is_empty() && looks_like_time(texts.value(0), self.rules)
            })
    }

    /// Numbers that increase over the sample, within its first series.
    fn increases(&self, column: usize, ids: &[usize]) -> bool {
        let ids: Vec<StringArray> = ids.iter().filter_map(|&id| self.texts(id)).collect();
        let first_series = |row: &usize| ids.iter().all(|ids| ids.value(*row) == ids.value(0));
        let Some(texts) = self.texts(column) else {
            return false;
        };
        let rows = (0..texts.len()).take_while(first_series);
        let numbers: Option<Vec<f64>> = rows
            .map(|row| match self.rules.entry(texts.value(row)) {
                Entry::Number(number) => Some(number),
                _ => None,
            })
            .collect();
        numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1]))
    }

    /// The names of index columns, quoted, in a list as pandas writes it: `["a", "b"]`.
    fn pandas_indices(&self) -> &str {
        let about = self.schema.metadata().get("pandas");
        let list =
            about.and_then(|about| about.split_once("\"index_columns\": [")?.1.split_once(']'));
        list.map_or("", |(list, _)| list)
    }

    /// Whether a column is the index that pandas adds when it writes a table: by its name, or by what
    /// pandas says of it.
    fn is_index(&self, column: usize) -> bool {
        let name = self.schema.field(column).name();
        let counted = |start: &str, end: &str| {
            let number = name
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(end));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        name.is_empty() && column == 0
            || counted("Unnamed: ", "")
            || counted("__index_level_", "__")
            || self.pandas_indices().contains(&format!("{name:?}"))
    }

    /// A numeric type; or text whose entries in the sample are numbers or missing, not all missing.
    fn is_numeric(&self, column: usize) -> bool {
        let kind = self.schema.field(column).data_type();
        if !is_text(kind) {
            return kind.is_numeric();
        }
        let Some(texts) = self.texts(column) else {
            return false;
        };
        let entries: Vec<Entry> = texts
            .iter()
            .flatten()
            .map(|text| self.rules.entry(text))
            .collect();
        !entries.contains(&Entry::Text) && entries.iter().any(|entry| *entry != Entry::Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::ArrayRef;
    use arrow_schema::{Field, Schema};
    use std::sync::Arc;

    fn find(header: &str, rows: &[&str], options: &ReadOptions) -> Result<Columns, Problem> {
        let names: Vec<&str> = header.split(',').collect();
        let fields: Vec<Field> = names
            .iter()
            .map(|name| Field::new(*name, DataType::Utf8, true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let column = |at: usize| {
            let entries = rows.iter().map(|row| row.split(',').nth(at).unwrap());
            Arc::new(entries.map(Some).collect::<StringArray>()) as ArrayRef
        };
        let columns = (0..names.len()).map(column).collect();
        let sample = RecordBatch::try_new(schema.clone(), columns).unwrap();
        Columns::find(schema, &sample, &NumberRules::default(), options)
    }

    fn uses(header: &str, rows: &[&str]) -> (Option<usize>, Vec<usize>, Vec<usize>) {
        let found = find(header, rows, &ReadOptions::default()).unwrap();
        (found.ids.first().copied(), found.time, found.channels)
    }

    #[test]
    fn names_types_and_contents_tell_the_use_of_columns() {
        assert_eq!(
            uses("id,time,x,note", &["a,0,1,ok"]),
            (Some(0), vec![1], vec![2])
        );
        assert_eq!(
            uses("Date,Time,CO,empty", &["10/03/2004,18:00,2.6,"]),
            (None, vec![0, 1], vec![2])
        );
        assert_eq!(
            uses("x,when", &["1,2024-03-31", "2,2024-04-01"]),
            (None, vec![1], vec![0])
        );
        assert_eq!(
            uses("x,Zeit", &["1,31.01.2024", "2,01.02.2024"]),
            (None, vec![1], vec![0])
        );
        assert_eq!(
            uses("Month,x", &["2020-01,1", "2020-02,2"]),
            (None, vec![0], vec![1])
        );
        assert_eq!(
            uses("hour,x", &["0,5", "1,5", "2,5"]),
            (None, vec![0], vec![1])
        );
        assert_eq!(
            uses("subject,hour,x", &["a,0,5", "a,1,5", "b,0,5"]),
            (Some(0), vec![1], vec![2])
        );
        assert_eq!(
            uses(",t,x,Unnamed: 3", &["0,5,1,0", "1,6,1,1"]),
            (None, vec![1], vec![2])
        );
        assert_eq!(
            uses("t,x,y", &["0,NA,z", "1,2.5,w"]),
            (None, vec![0], vec![1])
        );
    }

    #[test]
    fn the_user_overrides_everything() {
        let options = ReadOptions {
            id: vec!["time".into()],
            time: vec!["x".into()],
            channels: vec!["id".into()],
            ..ReadOptions::default()
        };
        let found = find("id,time,x,y", &["1,0,1,2"], &options).unwrap();
        assert_eq!(
            (&found.ids[..], &found.time[..], &found.channels[..]),
            (&[1][..], &[2][..], &[0][..])
        );
        assert_eq!(found.passed_names(), ["y"]);
    }

    #[test]
    fn what_cannot_be_found_is_refused_with_the_columns_there_are() {
        let message = |header, rows, change: fn(&mut ReadOptions)| {
            let mut options = ReadOptions::default();
            change(&mut options);
            find(header, rows, &options).unwrap_err().to_string()
        };
        assert_eq!(
            message("t,x", &["0,1"], |options| options.time =
                vec!["when".into()]),
            "there is no column `when`; the columns are t, x"
        );
        assert_eq!(
            message("a,b", &["5,1", "4,2"], |_| ()),
            "no column of a, b looks like time; name it"
        );
        assert_eq!(
            message("t,note", &["0,ok"], |_| ()),
            "no column of numbers is left for values; the columns are t, note"
        );
        assert_eq!(
            message("t,x", &["0,1"], |options| options.channels =
                vec!["t".into()]),
            "column `t` cannot be a channel and id or time at once"
        );
        assert_eq!(
            message("t,x,x", &["0,1,1"], |options| options.channels =
                vec!["x".into()]),
            "2 columns are called `x`; rename them"
        );
    }
}
