//! From the flags of `cssc fill` to checked settings.

use crate::failure::Failure;
use crate::span::{Span, readable};
use cssc::data::Dataset;
use cssc::data::table::Shape;
use cssc::fill::{
    Asked, AutoOptions, Choice, FillMethod, Filler, HoldOutOptions, LearnOptions, Limits,
    find_steps,
};
use std::time::Duration;

/// The flags as they were given.
pub(crate) struct Request<'a> {
    pub(crate) every: Option<Span>,
    pub(crate) at: Option<&'a str>,
    pub(crate) only: bool,
    pub(crate) method: &'a str,
    pub(crate) budget: f64,
    pub(crate) steps: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) max_gap: Option<Span>,
    pub(crate) extrapolate: bool,
    pub(crate) min: &'a [String],
    pub(crate) max: &'a [String],
    pub(crate) nonnegative: bool,
    pub(crate) bands: Option<f64>,
}

/// What is to be done, checked against the data.
pub(crate) struct Plan {
    pub(crate) auto: AutoOptions,
    asked: Asked,
    longest_gap: Option<f64>,
    extrapolate: bool,
    dates: bool,
    /// What the user should know before it begins.
    pub(crate) notes: Vec<String>,
    /// Settings for the report.
    pub(crate) settings: Vec<(String, String)>,
}

impl Request<'_> {
    pub(crate) fn plan(&self, dataset: &Dataset, shape: &Shape) -> Result<Plan, Failure> {
        let dates = shape.times_are_seconds();
        let (methods, named) = self.methods()?;
        let longest_gap = self
            .max_gap
            .map(|span| span.in_table(dates, "--max-gap"))
            .transpose()?;
        let mut learn = LearnOptions::default();
        learn.training.seed = self.seed;
        learn.longest_gap = longest_gap;
        if let Some(steps) = self.steps {
            learn.training.steps = steps;
        }
        let steps = find_steps(dataset);
        let notes = steps.iter().map(|found| {
            format!(
                "`{}` moves in steps ({:.0} % of its movement happens in a twentieth of its changes); no smooth curve \
                 can follow a jump, and values near one are not to be trusted",
                dataset.channel_names()[found.channel],
                100.0 * found.movement
            )
        });
        let auto = AutoOptions {
            methods,
            named,
            hold_out: HoldOutOptions {
                longest: longest_gap,
                seed: self.seed,
                ..HoldOutOptions::default()
            },
            learn,
            budget: self
                .steps
                .is_none()
                .then(|| Duration::from_secs_f64(self.budget)),
            bands: self.bands,
            limits: self.limits(dataset)?,
        };
        let settings = vec![
            ("method".to_owned(), self.method.to_owned()),
            ("seed".to_owned(), self.seed.to_string()),
            (
                "longest gap".to_owned(),
                longest_gap.map_or("any".to_owned(), |gap| readable(gap, dates)),
            ),
            (
                "training".to_owned(),
                match self.steps {
                    Some(steps) => format!("{steps} steps each"),
                    None => format!("{} s", self.budget),
                },
            ),
        ];
        Ok(Plan {
            auto,
            asked: self.asked(dates, shape)?,
            longest_gap,
            extrapolate: self.extrapolate,
            dates,
            notes: notes.collect(),
            settings,
        })
    }

    fn methods(&self) -> Result<(Vec<FillMethod>, bool), Failure> {
        if self.method == "auto" {
            let trains = self.budget > 0.0 || self.steps.is_some();
            let usable = |method: &FillMethod| trains || !method.is_trained();
            return Ok((FillMethod::ALL.into_iter().filter(usable).collect(), false));
        }
        let methods: Result<Vec<FillMethod>, String> = self
            .method
            .split(',')
            .map(|name| name.trim().parse())
            .collect();
        let mut methods = methods.map_err(|problem| {
            Failure::new(format!(
                "--method: {problem}, or auto to choose from all of them."
            ))
        })?;
        methods.sort();
        Ok((methods, true))
    }

    fn asked(&self, dates: bool, shape: &Shape) -> Result<Asked, Failure> {
        if self.only && self.every.is_none() && self.at.is_none() {
            return Err(Failure::new(
                "--only leaves out rows that were not asked for. Give --every or --at as well.",
            ));
        }
        if let Some(every) = self.every {
            let step = every.in_table(dates, "--every")?;
            return Ok(if self.only {
                Asked::Grid(step)
            } else {
                Asked::Every(step)
            });
        }
        let Some(at) = self.at else {
            return Ok(Asked::Holes);
        };
        let mut times = times(at, shape)?;
        times.sort_by(f64::total_cmp);
        times.dedup();
        Ok(if self.only {
            Asked::OnlyAt(times)
        } else {
            Asked::At(times)
        })
    }

    fn limits(&self, dataset: &Dataset) -> Result<Limits, Failure> {
        let mut limits = Limits::none(dataset.channels()).keep_whole(dataset);
        let names = dataset.channel_names();
        for text in self.min {
            for (channel, number) in limit(text, "--min", names)? {
                limits.set_smallest(channel, number);
            }
        }
        if self.nonnegative {
            (0..names.len()).for_each(|channel| limits.set_smallest(channel, 0.0));
        }
        for text in self.max {
            for (channel, number) in limit(text, "--max", names)? {
                limits.set_largest(channel, number);
            }
        }
        Ok(limits)
    }
}

/// `NUMBER` for all channels, or `COLUMN=NUMBER` for one.
fn limit(text: &str, flag: &str, names: &[String]) -> Result<Vec<(usize, f64)>, Failure> {
    let (column, number) = match text.rsplit_once('=') {
        Some((column, number)) => (Some(column), number),
        None => (None, text),
    };
    let number = match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => number,
        _ => {
            return Err(Failure::new(format!(
                "{flag} {text}: expected a number, or COLUMN=NUMBER."
            )));
        }
    };
    match column {
        None => Ok((0..names.len()).map(|channel| (channel, number)).collect()),
        Some(column) => match names.iter().position(|name| name == column.trim()) {
            Some(channel) => Ok(vec![(channel, number)]),
            None => Err(Failure::new(format!(
                "{flag} {text}: there is no column of values `{column}`; there are {}.",
                names.join(", ")
            ))),
        },
    }
}

/// Times of a list with commas, or of a file with one a line, written as in the table.
fn times(argument: &str, shape: &Shape) -> Result<Vec<f64>, Failure> {
    let read = |text: &str, place: String| {
        let time = shape.times.read(text);
        time.map_err(|problem| Failure::new(format!("{place}: {problem}.")))
    };
    let first = argument.split(',').next().unwrap_or_default();
    if shape.times.read(first).is_ok() {
        let entries = argument.split(',').enumerate();
        return entries
            .map(|(index, text)| read(text, format!("--at, entry {}", index + 1)))
            .collect();
    }
    let text = std::fs::read_to_string(argument).map_err(|error| {
        Failure::new(format!(
            "--at {argument}: this is neither a time as in the table nor a file that can be read ({error}). Give times \
             with a comma between them, or a file with one a line."
        ))
    })?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let times: Vec<f64> = lines
        .map(|(index, line)| read(line, format!("{argument}, line {}", index + 1)))
        .collect::<Result<_, _>>()?;
    if times.is_empty() {
        return Err(Failure::new(format!(
            "{argument} holds no times. Write at least one into it."
        )));
    }
    Ok(times)
}

impl Plan {
    /// What fills series, once the methods are chosen.
    pub(crate) fn filler(&self, choice: &Choice) -> Filler {
        Filler {
            interpolators: choice.interpolators.clone(),
            limits: self.auto.limits.clone(),
            asked: self.asked.clone(),
            longest_gap: self.longest_gap,
            extrapolate: self.extrapolate,
            bands: choice.bands.as_ref().map(|(bands, _)| bands.clone()),
        }
    }

    /// What would be done, for a user who has given no output.
    pub(crate) fn intention(&self, dataset: &Dataset) -> String {
        let mut names: Vec<&str> = self
            .auto
            .methods
            .iter()
            .map(|method| method.name())
            .collect();
        let mut text = String::from("Nothing was written. With -o FILE, ");
        if let [one] = names[..] {
            text += &format!("gaps are filled by the method {one}");
        } else {
            let last = names.pop().unwrap_or_default();
            text += &format!(
                "a tenth of the known values is hidden like the gaps, {} and {last} are compared on them, and the best \
                 one for each of the {} columns fills the gaps",
                names.join(", "),
                dataset.channels()
            );
        }
        text += match &self.asked {
            Asked::Holes => "; missing cells are filled",
            _ => "; missing cells are filled and rows added",
        };
        if let Some(longest) = self.longest_gap {
            text += &format!(
                ", gaps longer than {} stay empty",
                readable(longest, self.dates)
            );
        }
        if !self.extrapolate {
            text += ", nothing before the first and after the last value";
        }
        text + "."
    }
}

/// Checks that the library's limits are what the flags said.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_for_all_columns_or_one() {
        let names = ["a", "b=c"].map(str::to_owned);
        assert_eq!(
            limit("1.5", "--min", &names).ok(),
            Some(vec![(0, 1.5), (1, 1.5)])
        );
        assert_eq!(limit("b=c=-2", "--min", &names).ok(), Some(vec![(1, -2.0)]));
        assert!(limit("d=1", "--min", &names).is_err());
        assert!(limit("many", "--min", &names).is_err());
    }
}
