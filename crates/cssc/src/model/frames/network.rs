//! The model of videos around a model of codes.

use super::config::FramesConfig;
use super::layers::{FrameDecoder, FrameEncoder};
use crate::data::Random;
use crate::model::network::{Batch, Codes, Network, Observed, Prediction, Trace};
use crate::model::rows::shown;
use crate::model::{Compensation, CompensationSettings};
use crate::nn::{Float, Graph, Parameters, Var};
use crate::{Error, Jets};

/// A model of videos; its numbers are in [`Parameters`].
#[derive(Debug)]
pub struct Frames<T: Float> {
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    inner: Box<dyn Network<T>>,
}

/// Codes of all observed frames, one after the other: as learned values, and as numbers.
struct Encoded {
    block: Option<Var>,
    numbers: Vec<f64>,
    width: usize,
}

impl Encoded {
    /// The series with codes instead of frames.
    fn series<'a>(&'a self, frames: &'a [Observed<'a>]) -> Vec<Observed<'a>> {
        let mut first = 0;
        let of = |series: &Observed<'a>| {
            let knots = first..first + series.times.len();
            first = knots.end;
            let values = &self.numbers[knots.start * self.width..knots.end * self.width];
            Observed {
                codes: self.block.map(|block| Codes {
                    block,
                    first: knots.start,
                }),
                ..Observed::new(series.times, values, series.query)
            }
        };
        frames.iter().map(of).collect()
    }
}

impl<T: Float> Frames<T> {
    /// The networks around an inner one, with parameters drawn from `seed` and added to the store.
    pub fn new(
        config: &FramesConfig,
        inner: Box<dyn Network<T>>,
        parameters: &mut Parameters<T>,
        seed: u64,
    ) -> Self {
        // Not the stream of the inner model, which has begun with the same seed.
        let random = &mut Random::stream(seed, 1);
        Self {
            encoder: FrameEncoder::new(parameters, config, random),
            decoder: FrameDecoder::new(parameters, config, random),
            inner,
        }
    }

    fn encode(&self, graph: &mut Graph<'_, T>, series: &[Observed<'_>]) -> Encoded {
        let rows: usize = series.iter().map(|series| series.times.len()).sum();
        let values = series.iter().flat_map(|series| series.values);
        let numbers: Vec<T> = values.map(|&x| shown(x)).collect();
        let frames = graph.input(rows, numbers.len() / rows, &numbers);
        let block = self.encoder.forward(graph, frames);
        let numbers = graph.value(block).iter().map(|x| x.to_f64()).collect();
        Encoded {
            width: graph.columns(block),
            numbers,
            block: graph.is_recording().then_some(block),
        }
    }

    fn traced(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
        trace: impl FnOnce(
            &dyn Network<T>,
            &mut Graph<'_, T>,
            &[Observed<'_>],
        ) -> Result<Option<Vec<Trace>>, Error>,
    ) -> Result<Option<Vec<Trace>>, Error> {
        let encoded = self.encode(graph, series);
        let inner = encoded.series(series);
        let mut traces = trace(&*self.inner, graph, &inner)?;
        for (trace, series) in traces.iter_mut().flatten().zip(&inner) {
            // A signal without values of its own passes through what was observed: here the codes.
            if let Some(limits) = &mut trace.limits
                && limits.values.is_empty()
            {
                limits.values = series.values.to_vec();
            }
        }
        Ok(traces)
    }
}

impl<T: Float> Network<T> for Frames<T> {
    /// What the inner model compensates, frames or state, is hidden behind the decoder.
    fn compensation(&self) -> CompensationSettings {
        let inner = self.inner.compensation();
        CompensationSettings {
            compensation: match inner.compensation {
                Compensation::None => Compensation::None,
                Compensation::Output | Compensation::Hidden => Compensation::Hidden,
            },
            ..inner
        }
    }

    fn sees_future(&self) -> bool {
        self.inner.sees_future()
    }

    fn decodes(&self) -> bool {
        true
    }

    fn predict(
        &self,
        graph: &mut Graph<'_, T>,
        batch: &Batch<'_>,
        random: &mut Random,
    ) -> Result<Prediction, Error> {
        let encoded = self.encode(graph, batch.series);
        let series = encoded.series(batch.series);
        let inner = Batch {
            series: &series,
            training: batch.training,
        };
        let prediction = self.inner.predict(graph, &inner, random)?;
        Ok(Prediction {
            values: self.decoder.forward(graph, prediction.values),
            ..prediction
        })
    }

    fn trace(
        &self,
        graph: &mut Graph<'_, T>,
        series: &[Observed<'_>],
    ) -> Result<Option<Vec<Trace>>, Error> {
        self.traced(graph, series, |inner, graph, series| {
            inner.trace(graph, series)
        })
    }

    fn decode(&self, graph: &mut Graph<'_, T>, signal: Jets<Var>) -> Jets<Var> {
        let codes = match self.inner.decodes() {
            true => self.inner.decode(graph, signal),
            false => signal,
        };
        self.decoder.jet(graph, codes)
    }
}
