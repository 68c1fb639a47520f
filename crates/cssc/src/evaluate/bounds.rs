//! Bounds that physics sets: smallest and largest values, integers.

use crate::Error;
use crate::data::Dataset;
use crate::settings::name_and_value;

/// A smallest or a largest value, for one column or for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// The column; `None`: all.
    pub column: Option<String>,
    /// Nothing is below this.
    pub least: Option<f64>,
    /// Nothing is above this.
    pub most: Option<f64>,
}

impl Bound {
    /// A smallest value: `NUMBER` for all columns, or `COLUMN=NUMBER`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn at_least(text: &str) -> Result<Self, Error> {
        let (column, number) = column_and_number(text)?;
        Ok(Self {
            column,
            least: Some(number),
            most: None,
        })
    }

    /// A largest value: `NUMBER` for all columns, or `COLUMN=NUMBER`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn at_most(text: &str) -> Result<Self, Error> {
        let (column, number) = column_and_number(text)?;
        Ok(Self {
            column,
            least: None,
            most: Some(number),
        })
    }
}

fn column_and_number(text: &str) -> Result<(Option<String>, f64), Error> {
    let (column, number) = match name_and_value(text) {
        Some((column, number)) => (Some(column.to_owned()), number),
        None => (None, text.trim()),
    };
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((column, number)),
        _ => Err(Error::Setting(
            "expected a number, or COLUMN=NUMBER".to_owned(),
        )),
    }
}

/// Bounds of every channel; what is filled in is brought inside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    channels: Vec<Range>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Range {
    least: Option<f64>,
    most: Option<f64>,
    /// The smallest and largest integer the channel can hold, if it holds integers.
    integers: Option<(f64, f64)>,
}

impl Range {
    /// NaN stays NaN.
    fn clamp(self, value: f64) -> f64 {
        let value = match self.integers {
            Some((smallest, largest)) => value.clamp(smallest, largest),
            None => value,
        };
        let value = match self.least {
            Some(least) if value < least => least,
            _ => value,
        };
        match self.most {
            Some(most) if value > most => most,
            _ => value,
        }
    }

    /// The same with a smallest and a largest value that are integers.
    fn whole(self) -> Self {
        Self {
            least: self.least.map(f64::ceil),
            most: self.most.map(f64::floor),
            ..self
        }
    }
}

impl Bounds {
    /// No bounds.
    #[must_use]
    pub fn none(channels: usize) -> Self {
        Self {
            channels: vec![Range::default(); channels],
        }
    }

    /// A channel of integers stays one, within what its type can hold. A channel of floats whose
    /// known values happen to be integers is not one.
    #[must_use]
    pub fn of(dataset: &Dataset) -> Self {
        let range = |channel: usize| Range {
            integers: dataset.integer_range(channel),
            ..Range::default()
        };
        Self {
            channels: (0..dataset.channels()).map(range).collect(),
        }
    }

    /// Adds one; `names` are those of the channels. The last one given for a channel counts.
    ///
    /// # Errors
    /// If there is no such column, or nothing would be left between the bounds of one.
    pub fn restrict(&mut self, bound: &Bound, names: &[String]) -> Result<(), Error> {
        let channels = match &bound.column {
            None => 0..names.len(),
            Some(column) => match names.iter().position(|name| name == column.trim()) {
                Some(channel) => channel..channel + 1,
                None => {
                    return Err(Error::Setting(format!(
                        "there is no column of values `{column}`; there are {}",
                        names.join(", ")
                    )));
                }
            },
        };
        for channel in channels {
            let range = &mut self.channels[channel];
            range.least = bound.least.or(range.least);
            range.most = bound.most.or(range.most);
            if let (Some(least), Some(most)) = (range.least, range.most)
                && least > most
            {
                return Err(Error::Setting(format!(
                    "the smallest value of `{}`, {least}, is above the largest, {most}; give a range that holds values",
                    names[channel]
                )));
            }
        }
        Ok(())
    }

    /// Whether a channel holds integers.
    #[must_use]
    pub fn is_whole(&self, channel: usize) -> bool {
        self.channels[channel].integers.is_some()
    }

    /// The value brought inside the bounds; NaN stays NaN.
    #[must_use]
    pub fn apply(&self, channel: usize, value: f64) -> f64 {
        let range = self.channels[channel];
        match range.integers {
            Some(_) => range.whole().clamp(value.round()),
            None => range.clamp(value),
        }
    }

    /// The end of a band brought inside the bounds, not rounded.
    #[must_use]
    pub fn clamp(&self, channel: usize, value: f64) -> f64 {
        self.channels[channel].clamp(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Series;

    fn data() -> Dataset {
        let values = vec![1.0, 0.5, 2.0, f64::NAN];
        let series = Series::new(None, 2, vec![0.0, 1.0], values).unwrap();
        let data = Dataset::new(vec!["a".into(), "b=c".into()], vec![series]).unwrap();
        data.with_integers(vec![Some((-128.0, 127.0)), None])
    }

    #[test]
    fn values_are_brought_inside_and_integers_stay_integers() {
        let data = data();
        let mut bounds = Bounds::of(&data);
        for bound in [Bound::at_least("a=0"), Bound::at_most("b=c=3")] {
            bounds
                .restrict(&bound.unwrap(), data.channel_names())
                .unwrap();
        }
        assert!(bounds.is_whole(0) && !bounds.is_whole(1));
        assert_eq!(bounds.apply(0, 1.6), 2.0);
        assert_eq!(bounds.apply(0, -1.6), 0.0);
        assert_eq!(bounds.apply(0, 200.4), 127.0);
        assert_eq!(bounds.clamp(0, 1.6), 1.6);
        assert_eq!(bounds.apply(1, 1.6), 1.6);
        assert_eq!(bounds.apply(1, 4.0), 3.0);
        assert!(bounds.apply(1, f64::NAN).is_nan());
    }

    #[test]
    fn a_bound_is_for_all_columns_or_one_and_the_last_counts() {
        let data = data();
        let mut bounds = Bounds::none(2);
        for text in ["1.5", " b=c = -2"] {
            let bound = Bound::at_least(text).unwrap();
            bounds.restrict(&bound, data.channel_names()).unwrap();
        }
        assert_eq!([0, 1].map(|c| bounds.apply(c, -9.0)), [1.5, -2.0]);
    }

    #[test]
    fn integers_stay_inside_bounds_that_are_none() {
        let data = data();
        let mut bounds = Bounds::of(&data);
        for bound in [Bound::at_least("0.5"), Bound::at_most("500")] {
            let bound = bound.unwrap();
            bounds.restrict(&bound, data.channel_names()).unwrap();
        }
        assert_eq!([0, 1].map(|c| bounds.apply(c, 0.2)), [1.0, 0.5]);
        assert_eq!([0, 1].map(|c| bounds.apply(c, 900.0)), [127.0, 500.0]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let data = data();
        let refuse = |bounds: &[Bound]| {
            let mut all = Bounds::none(2);
            let mut add = |bound: &Bound| all.restrict(bound, data.channel_names());
            let wrong = bounds.iter().try_for_each(&mut add).unwrap_err();
            wrong.to_string()
        };
        let unknown = refuse(&[Bound::at_least("d=1").unwrap()]);
        assert_eq!(
            unknown,
            "there is no column of values `d`; there are a, b=c"
        );
        let crossed = refuse(&[
            Bound::at_least("5").unwrap(),
            Bound::at_most("a=1").unwrap(),
        ]);
        assert!(
            crossed.contains("`a`, 5, is above the largest, 1"),
            "{crossed}"
        );
        assert!(Bound::at_least("many").is_err());
        assert!(Bound::at_most("a=inf").is_err());
    }
}
