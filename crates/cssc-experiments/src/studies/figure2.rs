//! Figure 2: a toy curve with ten observations. a: the methods; b: o, c and ô of CSSC; c: the first number of hidden
//! CSSC's state, before and after.

use super::finding::Finding;
use super::lines::{curves, state, times};
use super::workshop::Workshop;
use crate::paper_set::{PaperSet, shown};
use cssc::fill::Method;
use cssc::train::Sample;
use cssc::{Error, Series};
use cssc_report::{Axis, Chart, Ink, Mark, Plot};

/// The test series that is shown.
const SERIES: usize = 1;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Toy)?;
    let sample = &set.test(10)[SERIES];
    let series = shown(sample)?;
    let (truth, observed) = ground(sample, &series);
    let cssc = curves(&workshop.model("table1/toy-cssc-10")?, &series, 0)?;
    let ode_rnn = curves(&workshop.model("table1/toy-ode-rnn-10")?, &series, 0)?;
    let hidden_model = workshop.model("table1/toy-hidden-cssc-10")?;
    let hidden = curves(&hidden_model, &series, 0)?;
    let latent = curves(&workshop.model("table1/toy-latent-cssc-10")?, &series, 0)?;
    let (before, after) = state(&hidden_model, &series, 0)?;
    let compared = vec![
        truth.clone(),
        Mark::line(Ink::Black, spline(&series)?)
            .dashed()
            .sized(1.0)
            .called("natural spline"),
        Mark::line(Ink::Vermilion, ode_rnn.predicted).called("ODE-RNN"),
        Mark::line(Ink::Pink, hidden.smoothed.clone()).called("hidden CSSC"),
        Mark::line(Ink::Blue, cssc.smoothed.clone()).called("CSSC"),
        Mark::line(Ink::Green, latent.smoothed).called("latent CSSC"),
        observed.clone(),
    ];
    let parts = vec![
        truth.clone(),
        Mark::line(Ink::Vermilion, cssc.predicted).called("prediction o"),
        Mark::line(Ink::Green, cssc.compensation)
            .dashed()
            .called("compensation c"),
        Mark::line(Ink::Blue, cssc.smoothed).called("ô = o + c"),
        observed.clone(),
    ];
    let states = vec![
        Mark::line(Ink::Vermilion, before)
            .dashed()
            .called("state h"),
        Mark::line(Ink::Pink, after).called("state ĥ"),
    ];
    let output = vec![
        truth,
        Mark::line(Ink::Vermilion, hidden.predicted)
            .dashed()
            .called("prediction from h"),
        Mark::line(Ink::Pink, hidden.smoothed).called("output from ĥ"),
        observed,
    ];
    let plot = |title: &str, marks: Vec<Mark>| Plot {
        title: title.to_owned(),
        x: Axis::of("time"),
        marks,
        ..Plot::default()
    };
    let plots = vec![
        plot("a: methods", compared),
        plot("b: CSSC, output and its parts", parts),
        plot("c: hidden CSSC, first number of the state", states),
        plot("c: hidden CSSC, output", output),
    ];
    let title = "Figure 2: a toy curve with 10 observations";
    let chart = Chart::new(title, plots).in_columns(2);
    Ok(Finding::picture(chart.with_panels(440.0, 220.0)))
}

/// The true curve and the dots on it.
fn ground(sample: &Sample, series: &Series) -> (Mark, Mark) {
    let truth = sample.query.iter().copied();
    let truth = truth.zip(sample.targets.iter().copied()).collect();
    let observed = series.times().iter().copied();
    let observed = observed.zip(series.values().iter().copied()).collect();
    (
        Mark::line(Ink::Grey, truth).sized(3.0).called("truth"),
        Mark::dots(Ink::Black, observed).called("observed"),
    )
}

fn spline(series: &Series) -> Result<Vec<(f64, f64)>, Error> {
    let method = Method::named("natural")?.plain();
    let method = method.ok_or_else(|| Error::Setting("natural is a plain method".into()))?;
    let times = times(series.times());
    let curve = method.curve(series, &[0], &times)?;
    Ok(times.into_iter().zip(curve.values).collect())
}
