//! Inputs and outcome of a workload, for the comparison with other programs.

use cssc::nn::{Gradient, Parameters};
use cssc::train::Sample;
use safetensors::tensor::{Dtype, TensorView};
use std::io;
use std::path::Path;

/// A named array.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name in the file.
    pub name: String,
    /// Empty for a single number.
    pub shape: Vec<usize>,
    /// Row by row.
    pub values: Vec<f32>,
}

impl Array {
    pub(super) fn new(name: &str, shape: &[usize], values: Vec<f32>) -> Self {
        Self {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        }
    }

    /// Times, values and which points are shown.
    pub(super) fn of_samples(samples: &[Sample]) -> Vec<Self> {
        let points = samples[0].query.len();
        let shape = [samples.len(), points];
        let same_times = samples.iter().all(|s| s.query == samples[0].query);
        let times: Vec<f32> = if same_times {
            samples[0].query.iter().map(|&t| t as f32).collect()
        } else {
            samples
                .iter()
                .flat_map(|s| &s.query)
                .map(|&t| t as f32)
                .collect()
        };
        let times_shape = if same_times { &shape[1..] } else { &shape[..] };
        let values = samples
            .iter()
            .flat_map(|s| &s.targets)
            .map(|&x| x as f32)
            .collect();
        let masks = samples
            .iter()
            .flat_map(|s| &s.shown)
            .map(|&m| f32::from(u8::from(m)))
            .collect();
        vec![
            Self::new("times", times_shape, times),
            Self::new("values", &shape, values),
            Self::new("masks", &shape, masks),
        ]
    }

    /// One array per parameter.
    pub(super) fn of_parameters(parameters: &Parameters<f32>) -> Vec<Self> {
        named_like(parameters, parameters.values(), "")
    }

    /// Parameters, gradient and loss.
    pub(super) fn of_outcome(
        parameters: &Parameters<f32>,
        gradient: &Gradient<f32>,
        loss: f64,
    ) -> Vec<Self> {
        let mut arrays = Self::of_parameters(parameters);
        arrays.extend(named_like(parameters, &gradient.values, "grad."));
        arrays.push(Self::new("loss", &[], vec![loss as f32]));
        arrays
    }
}

/// `values` cut and named like the parameters; a bias is a vector.
fn named_like(parameters: &Parameters<f32>, values: &[f32], prefix: &str) -> Vec<Array> {
    parameters
        .infos()
        .iter()
        .map(|info| {
            let shape = if info.name.ends_with(".bias") {
                &info.shape[1..]
            } else {
                &info.shape
            };
            Array::new(
                &format!("{prefix}{}", info.name),
                shape,
                values[info.range.clone()].to_vec(),
            )
        })
        .collect()
}

/// Writes arrays to a safetensors file.
///
/// # Errors
/// Those of the file.
pub fn write_arrays(path: &Path, arrays: &[Array]) -> io::Result<()> {
    let bytes: Vec<Vec<u8>> = arrays
        .iter()
        .map(|a| a.values.iter().flat_map(|x| x.to_le_bytes()).collect())
        .collect();
    let views = arrays.iter().zip(&bytes).map(|(array, bytes)| {
        let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes)
            .expect("as many numbers as the shape says");
        (array.name.clone(), view)
    });
    let file = safetensors::serialize(views, None).expect("names are unique and shapes fit");
    std::fs::write(path, file)
}
