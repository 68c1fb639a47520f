//! Settings as people write them: defaults, below a TOML file, below single ones.
//!
//! ```toml
//! [model]
//! compensation = "hidden"
//! dynamics = [100, 100]
//!
//! [training]
//! rate = 0.005
//! ```
//!
//! [`Settings`] holds what was written; [`Settings::over`] merges it with the defaults of any
//! serialisable type of two levels (parts, and names inside them), refuses what the type does not know, with
//! its path, and gives the type.
//!
//! ```
//! # #[cfg(feature = "nn")]
//! # fn main() -> Result<(), cssc::Error> {
//! use cssc::settings::Settings;
//! use cssc::fill::LearnOptions;
//!
//! let mut settings = Settings::default();
//! settings.set("training.rate=0.005")?;
//! settings.set("model.dynamics=[100, 100]")?;
//! let options = LearnOptions::from_settings(&settings)?;
//! assert_eq!(options.training.rate, 0.005);
//!
//! settings.set("training.speed=1")?;
//! let wrong = LearnOptions::from_settings(&settings).unwrap_err().to_string();
//! assert!(wrong.starts_with("training.speed: unknown field `speed`"), "{wrong}");
//! # Ok(()) }
//! # #[cfg(not(feature = "nn"))]
//! # fn main() {}
//! ```

#[cfg(feature = "nn")]
use crate::Error;
#[cfg(feature = "nn")]
use serde::{Serialize, de::DeserializeOwned};
#[cfg(feature = "nn")]
use std::path::Path;

/// Cuts `NAME=VALUE` at the last `=` that stands outside brackets and quotes, so that names
/// may hold one (`b=c=-2` is -2 for the column `b=c`) and values as well (`masking={fraction=0.5}`).
/// `None` if there is none.
#[must_use]
pub fn name_and_value(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quote, mut place) = (0i32, None, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth -= 1,
            (None, '=') if depth == 0 => place = Some(at),
            _ => {}
        }
    }
    let (name, value) = text.split_at(place?);
    Some((name.trim(), value[1..].trim()))
}

/// Names of settings that were called otherwise once. They are replaced before settings are merged:
/// merging goes by name, and an old one would stand beside the new one's default.
#[cfg(feature = "nn")]
const RENAMED: [(&str, &str, &str); 3] = [
    ("model", "method", "compensation"),
    ("model", "initial-deviation", "initial-std-dev"),
    ("training", "observation", "masking"),
];

/// The name that says which of several forms a part has; defaults of another form do not count.
#[cfg(feature = "nn")]
const TAG: &str = "kind";

/// Tables within a part that are parts themselves: the model of codes inside a model of videos.
#[cfg(feature = "nn")]
const NESTED: [&str; 1] = ["inner"];

/// What was written, in a file or one by one; what comes later stands above what was there.
#[cfg(feature = "nn")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    given: toml::Table,
}

#[cfg(feature = "nn")]
impl Settings {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// If it cannot be read or is not TOML, with the place.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        let given = text
            .parse()
            .map_err(|error: toml::de::Error| Error::content(path, error))?;
        let mut settings = Self::default();
        settings.add(given);
        Ok(settings)
    }

    /// One setting, `PART.NAME=VALUE`. The value is TOML; what is not, counts as text.
    ///
    /// # Errors
    /// If it is not of this form.
    pub fn set(&mut self, pair: &str) -> Result<(), Error> {
        let wrong = || {
            Error::Setting(format!(
                "{pair}: expected PART.NAME=VALUE, such as model.hidden=20"
            ))
        };
        let (name, value) = name_and_value(pair).ok_or_else(wrong)?;
        if !name.contains('.') {
            return Err(wrong());
        }
        let read = |value: &str| format!("{name} = {value}").parse::<toml::Table>();
        let given = read(value).or_else(|_| read(&format!("{value:?}")));
        self.add(given.map_err(|_| wrong())?);
        Ok(())
    }

    /// What was written later, above this.
    pub fn extend(&mut self, later: Self) {
        self.add(later.given);
    }

    /// Whether a setting was written.
    #[must_use]
    pub fn has(&self, part: &str, name: &str) -> bool {
        let part = self.given.get(part);
        part.is_some_and(|part| part.get(name).is_some())
    }

    /// `defaults` with what was written instead of what they say.
    ///
    /// Parts are merged name by name; below them a table is one value. Where a part's `kind`
    /// differs from that of its defaults, these do not count.
    ///
    /// # Errors
    /// If a name is not known or a value is not what is expected there, with the path.
    pub fn over<T: Serialize + DeserializeOwned>(&self, defaults: &T) -> Result<T, Error> {
        let defaults = toml::Table::try_from(defaults)
            .map_err(|error| Error::Setting(format!("the defaults are no table: {error}")))?;
        let mut merged = Self { given: defaults };
        merged.add(self.given.clone());
        serde_path_to_error::deserialize(toml::Value::Table(merged.given)).map_err(
            |error: serde_path_to_error::Error<toml::de::Error>| {
                let path = error.path().to_string();
                Error::Setting(format!("{path}: {}", error.into_inner().message()))
            },
        )
    }

    /// Entries replace those that are there, part by part.
    fn add(&mut self, given: toml::Table) {
        for (part, value) in given {
            let value = match value {
                toml::Value::Table(table) => renamed(&part, table).into(),
                value => value,
            };
            lay_over(&mut self.given, part, value);
        }
    }
}

/// Puts a part above what is there of it: name by name, unless it is of another kind.
#[cfg(feature = "nn")]
fn lay_over(parts: &mut toml::Table, part: String, value: toml::Value) {
    let another_kind = |old: &toml::Table, new: &toml::Table| {
        let kinds = old.get(TAG).zip(new.get(TAG));
        kinds.is_some_and(|(old, new)| old != new)
    };
    match (parts.get_mut(&part), value) {
        (Some(toml::Value::Table(old)), toml::Value::Table(new)) if !another_kind(old, &new) => {
            for (name, value) in new {
                if NESTED.contains(&name.as_str()) {
                    lay_over(old, name, value);
                } else {
                    old.insert(name, value);
                }
            }
        }
        (_, value) => {
            parts.insert(part, value);
        }
    }
}

/// The first setting in which two of a kind differ: its name, and its value in each.
#[cfg(feature = "nn")]
#[must_use]
pub fn first_difference<T: Serialize>(
    one: &T,
    other: &T,
) -> Option<(String, serde_json::Value, serde_json::Value)> {
    let [one, other] =
        [one, other].map(|settings| serde_json::to_value(settings).unwrap_or_default());
    let names = other.as_object()?.iter();
    let mut differing = names.filter(|(name, value)| one.get(name) != Some(value));
    let (name, value) = differing.next()?;
    let there = one.get(name).cloned().unwrap_or_default();
    Some((name.clone(), there, value.clone()))
}

/// The same with names as they are today.
#[cfg(feature = "nn")]
fn renamed(part: &str, mut table: toml::Table) -> toml::Table {
    for (_, old, new) in RENAMED.iter().filter(|(renamed, ..)| *renamed == part) {
        if let Some(value) = table.remove(*old) {
            table.insert((*new).to_owned(), value);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_may_hold_an_equals_sign() {
        assert_eq!(name_and_value("a = 1"), Some(("a", "1")));
        assert_eq!(name_and_value("b=c=-2"), Some(("b=c", "-2")));
        let table = name_and_value("x.y={a=1,b=[2]}");
        assert_eq!(table, Some(("x.y", "{a=1,b=[2]}")));
        assert_eq!(name_and_value("x='a=b'"), Some(("x", "'a=b'")));
        assert_eq!(name_and_value("12"), None);
    }

    #[cfg(feature = "nn")]
    mod merging {
        use super::*;
        use serde::Deserialize;

        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct All {
            shape: Shape,
            count: Count,
        }

        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        enum Shape {
            Ball(Ball),
            Box(Box),
        }

        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Ball {
            radius: f64,
        }

        #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Box {
            sides: Vec<f64>,
        }

        #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Count {
            few: usize,
            many: usize,
        }

        impl Default for Ball {
            fn default() -> Self {
                Self { radius: 1.0 }
            }
        }

        impl Default for All {
            fn default() -> Self {
                let shape = Shape::Ball(Ball { radius: 3.0 });
                let count = Count { few: 2, many: 100 };
                Self { shape, count }
            }
        }

        fn over(set: &[&str]) -> Result<All, String> {
            let mut settings = Settings::default();
            for pair in set {
                settings.set(pair).map_err(|error| error.to_string())?;
            }
            let merged = settings.over(&All::default());
            merged.map_err(|error| error.to_string())
        }

        #[test]
        fn what_is_written_stands_above_the_defaults_and_later_above_earlier() {
            assert_eq!(over(&[]), Ok(All::default()));
            let found = over(&["count.few=5", "count.few=7", "shape.radius=2.5"]).unwrap();
            assert_eq!(found.count, Count { few: 7, many: 100 });
            assert_eq!(found.shape, Shape::Ball(Ball { radius: 2.5 }));
        }

        #[test]
        fn defaults_of_another_kind_do_not_count() {
            let found = over(&["shape.kind=box", "shape.sides=[1.0, 2.0]"]).unwrap();
            let sides = vec![1.0, 2.0];
            assert_eq!(found.shape, Shape::Box(Box { sides }));
            let same = over(&["shape.kind=ball"]).unwrap();
            assert_eq!(same.shape, Shape::Ball(Ball { radius: 3.0 }));
        }

        #[test]
        fn what_is_inside_is_merged_like_a_part() {
            let defaults: toml::Table =
                "[model]\nkind = 'frames'\n[model.inner]\nkind = 'a'\nx = 1\ny = 2"
                    .parse()
                    .unwrap();
            let over = |set: &[&str]| {
                let mut settings = Settings::default();
                for pair in set {
                    settings.set(pair).unwrap();
                }
                let merged: toml::Table = settings.over(&defaults).unwrap();
                merged["model"]["inner"].to_string()
            };
            let same = over(&["model.inner.x=3", "model.inner.kind=a", "model.code=8"]);
            assert_eq!(same, "{ kind = \"a\", x = 3, y = 2 }");
            let other = over(&["model.inner.kind=b", "model.inner.z=4"]);
            assert_eq!(other, "{ kind = \"b\", z = 4 }");
        }

        #[test]
        fn what_is_not_known_is_refused_with_its_path() {
            let refused = |pair: &str| over(&[pair]).unwrap_err();
            assert!(refused("count.none=1").starts_with("count.none: unknown field `none`"));
            assert!(refused("count.few=\"lots\"").starts_with("count.few: invalid type"));
            assert!(refused("counts.few=1").starts_with("counts: unknown field"));
            for pair in ["few=1", "count.few", "=1"] {
                assert!(refused(pair).contains("expected PART.NAME=VALUE"), "{pair}");
            }
        }
    }
}
