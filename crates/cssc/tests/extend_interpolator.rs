//! A method of one's own: compared with the built-in ones, and used where it is the best.

use cssc::Error;
use cssc::data::{Dataset, Series};
use cssc::evaluate::{Curve, EvaluateOptions, Interpolator, evaluate};
use cssc::fill::{Asked, Imputer, Method};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The mean of all values of the same phase: right for what repeats itself.
#[derive(Debug)]
struct Seasonal(f64);

impl Interpolator for Seasonal {
    fn name(&self) -> &str {
        "seasonal"
    }

    fn curve(&self, series: &Series, channels: &[usize], times: &[f64]) -> Result<Curve, Error> {
        let phase = |time: f64| time.rem_euclid(self.0).round() as i64;
        Curve::by_channel(series, channels, times, |knots, values| {
            let mean = |time: &f64| {
                let known = knots.iter().zip(values);
                let same = known.filter(|(knot, _)| phase(**knot) == phase(*time));
                let same: Vec<f64> = same.map(|(_, value)| *value).collect();
                same.iter().sum::<f64>() / same.len() as f64
            };
            Ok(times.iter().map(mean).collect())
        })
    }
}

#[test]
fn a_method_from_outside_is_compared_chosen_and_fills() -> Result<(), Error> {
    let tide = |k: usize| [0.0, 4.5, 1.0, 7.0, -3.0][k % 5];
    let times: Vec<f64> = (0..400).map(f64::from).collect();
    let known = |k: usize| if k % 40 == 7 { f64::NAN } else { tide(k) };
    let series = Series::new(None, 1, times, (0..400).map(known).collect())?;
    let data = Dataset::new(vec!["tide".into()], vec![series.clone()])?;

    let ours: Arc<dyn Interpolator> = Arc::new(Seasonal(5.0));
    let mut candidates = vec![ours.clone()];
    for method in Method::list(["linear", "natural", "smoothing"])? {
        candidates.extend(method.plain());
    }
    let found = evaluate(&candidates, &data, &EvaluateOptions::default())?;
    assert_eq!((found.chosen, found.methods[0].all.mse), (vec![0], 0.0));

    let imputer = Imputer {
        methods: Some(Method::list(["linear", "makima"])?),
        others: vec![ours],
        ..Imputer::default()
    };
    let fitted = imputer.fit(&data, |_| ControlFlow::Continue(()))?;
    assert_eq!(fitted.method(0), "seasonal");
    let filled = fitted.fill(&series, &Asked::Holes)?;
    assert_eq!(filled.values, (0..400).map(tide).collect::<Vec<_>>());
    Ok(())
}
