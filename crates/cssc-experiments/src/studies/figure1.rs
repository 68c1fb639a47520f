//! Figure 1: the prediction of an ODE-RNN jumps at the observations because its state does; CSSC mends the output, hidden
//! CSSC the state.

use super::finding::Finding;
use super::lines::{curves, state};
use super::workshop::Workshop;
use crate::paper_set::{PaperSet, shown};
use cssc::Error;
use cssc_report::{Axis, Chart, Ink, Mark, Plot};

/// The test series that is shown.
const SERIES: usize = 0;

pub(super) fn study(workshop: &mut Workshop<'_>) -> Result<Finding, Error> {
    let set = workshop.set(PaperSet::Toy)?;
    let sample = &set.test(10)[SERIES];
    let series = shown(sample)?;
    let observed = series.times().iter().copied();
    let observed = Mark::dots(
        Ink::Black,
        observed.zip(series.values().iter().copied()).collect(),
    );
    let truth = sample.query.iter().copied();
    let truth = truth.zip(sample.targets.iter().copied()).collect();
    let truth = Mark::line(Ink::Grey, truth).called("truth");
    let observed = observed.called("observed");
    let prediction = |line| Mark::line(Ink::Vermilion, line).called("jumps");
    let smooth = |line| Mark::line(Ink::Blue, line).called("smooth");

    let ode_rnn = workshop.model("table1/toy-ode-rnn-10")?;
    let cssc = workshop.model("table1/toy-cssc-10")?;
    let hidden = workshop.model("table1/toy-hidden-cssc-10")?;
    let plot = |title: &str, marks: Vec<Mark>| Plot {
        title: title.to_owned(),
        x: Axis::of("time"),
        marks,
        ..Plot::default()
    };
    let jumping = curves(&ode_rnn, &series, 0)?.predicted;
    let (h, _) = state(&ode_rnn, &series, 0)?;
    let compensated = curves(&cssc, &series, 0)?;
    let (before, after) = state(&hidden, &series, 0)?;
    let inside = curves(&hidden, &series, 0)?;
    let plots = vec![
        plot(
            "ODE-RNN: output",
            vec![truth.clone(), prediction(jumping), observed.clone()],
        ),
        plot(
            "CSSC: output",
            vec![
                truth.clone(),
                prediction(compensated.predicted).dashed(),
                smooth(compensated.smoothed),
                observed.clone(),
            ],
        ),
        plot(
            "hidden CSSC: output",
            vec![
                truth,
                prediction(inside.predicted).dashed(),
                smooth(inside.smoothed),
                observed,
            ],
        ),
        plot("ODE-RNN: first number of the state", vec![prediction(h)]),
        plot(
            "CSSC: compensation",
            vec![Mark::line(Ink::Green, compensated.compensation).called("compensation c")],
        ),
        plot(
            "hidden CSSC: first number of the state",
            vec![prediction(before).dashed(), smooth(after)],
        ),
    ];
    let title =
        "Figure 1: what jumps, and what makes it smooth (toy-v1, 10 of 100 points observed)";
    Ok(Finding::picture(Chart::new(title, plots).in_columns(3)))
}
