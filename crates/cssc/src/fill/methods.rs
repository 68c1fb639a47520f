//! The methods by name: what each is, and how it is made.
//!
//! To add one, write an [`Interpolator`] and add an entry to `PLAIN`: command, comparison and
//! documentation know it by that. A model that is added to
//! [`MODEL_METHODS`](crate::model::MODEL_METHODS) is a method without more.

use super::plain::{Previous, Smoothing, Spline};
#[cfg(feature = "nn")]
use super::trained::{ModelInterpolator, Recipe};
use crate::evaluate::Interpolator;
#[cfg(feature = "nn")]
use crate::model::{MODEL_METHODS, ModelConfig, ModelMethod};
use crate::predict::{
    Compensated, Inputs, Kriging, Learner, PredictOptions, Regression, Residuals,
};
use crate::{Error, SplineKind};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A way to fill gaps.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name, as it is given on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub description: &'static str,
    /// Whether it takes part where no methods are named.
    pub by_default: bool,
    making: Making,
}

/// How an interpolator of a method comes to be.
#[derive(Clone, Copy, Debug)]
enum Making {
    Plain(fn() -> Arc<dyn Interpolator>),
    /// In closed form, from all data at once.
    Regression(Inputs, Learner),
    /// What these inputs say without the values around, and what is left of those.
    Compensated(Inputs, Learner, Residuals),
    #[cfg(feature = "nn")]
    Trained(Recipe),
}

/// All methods, the simpler first.
pub static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    #[allow(unused_mut, reason = "without `nn` there are only these")]
    let mut methods = PLAIN.to_vec();
    #[cfg(feature = "nn")]
    for model in MODEL_METHODS {
        methods.push(Method::trained(model));
        methods.push(Method::smooth(model));
    }
    methods
});

/// Models that take part where no methods are named: they have shown to be worth their time.
#[cfg(feature = "nn")]
const MODELS_BY_DEFAULT: [&str; 3] = ["cssc", "smooth-cssc", "hidden-cssc"];

/// What a regression can look at: all of it, or one thing.
const EVERYTHING: Inputs = Inputs {
    own: true,
    season: true,
    others: true,
    factors: true,
};
const SEASON: Inputs = Inputs {
    season: true,
    ..NOTHING
};
const FACTORS: Inputs = Inputs {
    factors: true,
    ..NOTHING
};
const NOTHING: Inputs = Inputs {
    own: false,
    season: false,
    others: false,
    factors: false,
};

const PLAIN: &[Method] = &[
    Method {
        name: "previous",
        description: "the value before the gap",
        by_default: true,
        making: Making::Plain(|| Arc::new(Previous)),
    },
    Method {
        name: "linear",
        description: "straight lines",
        by_default: true,
        making: Making::Plain(|| Arc::new(Spline::new("linear", SplineKind::Linear))),
    },
    Method {
        name: "makima",
        description: "modified Akima: local cubics with little overshoot",
        by_default: true,
        making: Making::Plain(|| Arc::new(Spline::new("makima", SplineKind::Makima))),
    },
    Method {
        name: "pchip",
        description: "monotone cubics: no overshoot",
        by_default: true,
        making: Making::Plain(|| Arc::new(Spline::new("pchip", SplineKind::Pchip))),
    },
    Method {
        name: "natural",
        description: "the natural cubic spline",
        by_default: true,
        making: Making::Plain(|| Arc::new(Spline::new("natural", SplineKind::Natural))),
    },
    Method {
        name: "not-a-knot",
        description: "the cubic spline whose first and last two pieces are one cubic each",
        by_default: false,
        making: Making::Plain(|| Arc::new(Spline::new("not-a-knot", SplineKind::NotAKnot))),
    },
    Method {
        name: "smoothing",
        description: "the cubic smoothing spline: near the values, not through them; for noisy data",
        by_default: true,
        making: Making::Plain(|| Arc::new(Smoothing)),
    },
    Method {
        name: "kriging",
        description: "the best linear guess from the values around, by how the column varies over time",
        by_default: true,
        making: Making::Plain(|| Arc::new(Kriging)),
    },
    Method {
        name: "seasonal",
        description: "the same time of day, week, year, or of a period that the data show",
        by_default: true,
        making: Making::Regression(SEASON, Learner::Ridge),
    },
    Method {
        name: "low-rank",
        description: "factors that many columns share",
        by_default: true,
        making: Making::Regression(FACTORS, Learner::Ridge),
    },
    Method {
        name: "regression",
        description: "a ridge regression on the neighbouring values, the season and the other columns",
        by_default: true,
        making: Making::Regression(EVERYTHING, Learner::Ridge),
    },
    Method {
        name: "trees",
        description: "boosted trees on the same, for circumstances that no line knows",
        by_default: true,
        making: Making::Regression(EVERYTHING, Learner::Trees),
    },
    Method {
        name: "smooth-seasonal",
        description: "the season with the noise-aware compensation: near the values, not through them",
        by_default: false,
        making: Making::Compensated(SEASON, Learner::Ridge, Residuals::Smoothed),
    },
    Method {
        name: "smooth-low-rank",
        description: "the other columns together with the noise-aware compensation",
        by_default: false,
        making: Making::Compensated(FACTORS, Learner::Ridge, Residuals::Smoothed),
    },
    Method {
        name: "smooth-regression",
        description: "season and other columns with the noise-aware compensation",
        by_default: false,
        making: Making::Compensated(EVERYTHING, Learner::Ridge, Residuals::Smoothed),
    },
    Method {
        name: "kriged-seasonal",
        description: "the season, and the best linear guess of what it leaves",
        by_default: false,
        making: Making::Compensated(SEASON, Learner::Ridge, Residuals::Kriged),
    },
    Method {
        name: "kriged-low-rank",
        description: "the other columns together, and the best linear guess of what they leave",
        by_default: false,
        making: Making::Compensated(FACTORS, Learner::Ridge, Residuals::Kriged),
    },
    Method {
        name: "kriged-regression",
        description: "season and other columns, and the best linear guess of what they leave",
        by_default: true,
        making: Making::Compensated(EVERYTHING, Learner::Ridge, Residuals::Kriged),
    },
    Method {
        name: "smooth-trees",
        description: "boosted trees on season and other columns with the noise-aware compensation",
        by_default: false,
        making: Making::Compensated(EVERYTHING, Learner::Trees, Residuals::Smoothed),
    },
    Method {
        name: "kriged-trees",
        description: "boosted trees on season and other columns, and the best linear guess of what they leave",
        by_default: false,
        making: Making::Compensated(EVERYTHING, Learner::Trees, Residuals::Kriged),
    },
];

#[cfg(feature = "nn")]
impl Method {
    /// The model as it was trained.
    fn trained(model: &ModelMethod) -> Self {
        Self {
            name: model.name,
            description: model.description,
            by_default: MODELS_BY_DEFAULT.contains(&model.name),
            making: Making::Trained(Recipe {
                config: model.config,
                apply: |model| Ok(ModelInterpolator::new(model)),
            }),
        }
    }

    /// The same model near the values.
    fn smooth(model: &ModelMethod) -> Self {
        let name = ModelInterpolator::smooth_name(model.name).leak(); // once: the list is made once
        Self {
            name,
            description: "the same model with the noise-aware compensation: near the values, not through them",
            by_default: MODELS_BY_DEFAULT.contains(&&*name),
            making: Making::Trained(Recipe {
                config: model.config,
                apply: ModelInterpolator::smooth,
            }),
        }
    }
}

impl Method {
    /// The method called `name`.
    ///
    /// # Errors
    /// If there is none, with the names there are.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        let found = METHODS.iter().find(|method| method.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
            let mut text = format!(
                "there is no method `{name}`; the methods are {}",
                names.join(", ")
            );
            if cfg!(not(feature = "nn")) {
                text += "; those that are trained need the feature `nn`";
            }
            Error::Setting(text)
        })
    }

    /// The methods of a list of names, each once, the simpler first.
    ///
    /// # Errors
    /// If there is no method of one of the names.
    pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'static Self>, Error> {
        let named: Vec<&Self> = names
            .into_iter()
            .map(|name| Self::named(name.trim()))
            .collect::<Result<_, _>>()?;
        let wanted = |method: &&Self| named.contains(method);
        Ok(METHODS.iter().filter(wanted).collect())
    }

    /// Whether a model must be trained for it.
    #[must_use]
    pub fn is_trained(&self) -> bool {
        !matches!(
            self.making,
            Making::Plain(_) | Making::Regression(..) | Making::Compensated(..)
        )
    }

    /// Its interpolator, if it needs no training.
    #[must_use]
    pub fn plain(&self) -> Option<Arc<dyn Interpolator>> {
        self.untrained(&PredictOptions::default())
    }

    /// The same with what is known about the data.
    #[must_use]
    pub fn untrained(&self, options: &PredictOptions) -> Option<Arc<dyn Interpolator>> {
        match self.making {
            Making::Plain(make) => Some(make()),
            Making::Regression(inputs, learner) => Some(Arc::new(Regression::new(
                self.name,
                inputs,
                learner,
                options.clone(),
            ))),
            Making::Compensated(inputs, learner, residuals) => Some(Arc::new(Compensated::new(
                self.name,
                inputs,
                learner,
                residuals,
                options.clone(),
            ))),
            #[cfg(feature = "nn")]
            Making::Trained(_) => None,
        }
    }

    /// The settings of the model it is made of, if it needs one; what it does not set is as in `base`.
    #[cfg(feature = "nn")]
    #[must_use]
    pub fn model(&self, base: &ModelConfig) -> Option<ModelConfig> {
        self.recipe().map(|recipe| recipe.config(base))
    }

    /// How its model is trained and applied, if it needs one.
    #[cfg(feature = "nn")]
    pub(super) fn recipe(&self) -> Option<&Recipe> {
        match &self.making {
            Making::Plain(_) | Making::Regression(..) | Making::Compensated(..) => None,
            Making::Trained(recipe) => Some(recipe),
        }
    }
}

/// Names are unique.
impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_their_unique_names_in_the_order_of_the_list() {
        for (number, method) in METHODS.iter().enumerate() {
            let found = METHODS.iter().position(|other| other.name == method.name);
            assert_eq!(found, Some(number));
        }
        let found = Method::list(["smoothing", " linear", "smoothing"]).unwrap();
        assert_eq!(found, Method::list(["linear", "smoothing"]).unwrap());
        assert_eq!(found.len(), 2);
        let wrong = Method::named("magic").unwrap_err().to_string();
        assert!(wrong.contains("no method `magic`; the methods are previous, linear"));
    }
}
