//! Value and gradients of every operation of the engine against plain candle in f64.

#[path = "../../cssc/tests/common/mod.rs"]
mod common;
#[path = "../../cssc/tests/engine/operations/mod.rs"]
#[macro_use]
mod operations;

use candle_core::{DType, Device, Result, Tensor, Var};
use common::{dense, problem::Problem};
use cssc::nn::{Activation, ImageShape, Kernel};
use cssc::{CompensationOptions, Jets};
use cssc_reference::through_activation;
use cssc_reference::{Named, Network, activate, gated_cell, matrix, named, slopes};
use operations::convolution;
use operations::{ACTIVATIONS, Operation, activation, attention, compensation, elementwise};
use operations::{evaluate, layer};
use operations::{loss_constants, network, rows};

/// Of the largest entry of a block: only rounding differs, over sums of some hundred terms.
const DOUBLE: f64 = 1e-12;
const SINGLE: f64 = 2e-5;

/// The same operation in plain candle.
trait Reference: Operation {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor>;
}

/// The one check: result, gradients of operands and parameters, in both precisions.
fn check(operation: &impl Reference) {
    let (operands, parameters) = (operation.operands(), operation.parameters());
    let variables = named(&parameters, DType::F64).unwrap();
    let inputs: Vec<Var> = operands
        .iter()
        .map(|x| {
            let numbers = x.values.iter().copied();
            Var::from_tensor(&matrix([x.rows, x.columns], numbers, DType::F64).unwrap()).unwrap()
        })
        .collect();
    let tensors: Vec<Tensor> = inputs.iter().map(|x| x.as_tensor().clone()).collect();
    let y = operation.candle(&tensors, &variables).unwrap();
    let gradients = loss(&y).unwrap().backward().unwrap();
    let gradient = |variable: &Var| match gradients.get(variable) {
        Some(gradient) => numbers(gradient),
        None => vec![0.0; variable.elem_count()],
    };
    let single = evaluate::<f32>(operation, &operands, &parameters);
    let double = evaluate::<f64>(operation, &operands, &parameters);
    for (found, tolerance) in [(double, DOUBLE), (single, SINGLE)] {
        compare("result", &found.result, &numbers(&y), tolerance);
        for (i, (ours, input)) in found.operand_gradients.iter().zip(&inputs).enumerate() {
            compare(&format!("operand {i}"), ours, &gradient(input), tolerance);
        }
        for info in parameters.infos() {
            let ours = &found.parameter_gradient[info.range.clone()];
            compare(
                &info.name,
                ours,
                &gradient(&variables[&info.name]),
                tolerance,
            );
        }
    }
}

fn loss(y: &Tensor) -> Result<Tensor> {
    let (weights, targets): (Vec<f64>, Vec<f64>) = (0..y.elem_count()).map(loss_constants).unzip();
    let weights = Tensor::from_vec(weights, y.shape(), &Device::Cpu)?;
    let targets = Tensor::from_vec(targets, y.shape(), &Device::Cpu)?;
    (weights * (y - targets)?.sqr()?)?.sum_all()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn compare(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let largest = theirs.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let difference = (a - b).abs();
        assert!(
            difference <= tolerance * largest,
            "{what}, entry {i}: {a}, candle has {b}"
        );
    }
}

/// Rows as sums of (source, row, factor), by one matrix.
fn mixed(x: &[Tensor], terms: &[Vec<(usize, usize, f64)>]) -> Result<Tensor> {
    let counts: Vec<usize> = x.iter().map(|x| x.dims()[0]).collect();
    let total = counts.iter().sum();
    let mut factors = vec![0.0; terms.len() * total];
    for (r, terms) in terms.iter().enumerate() {
        for &(source, row, factor) in terms {
            factors[r * total + counts[..source].iter().sum::<usize>() + row] += factor;
        }
    }
    matrix([terms.len(), total], factors.into_iter(), DType::F64)?.matmul(&Tensor::cat(x, 0)?)
}

fn picked(x: &[Tensor], picks: impl IntoIterator<Item = (usize, usize)>) -> Result<Tensor> {
    let terms: Vec<_> = picks.into_iter().map(|(s, r)| vec![(s, r, 1.0)]).collect();
    mixed(x, &terms)
}

fn column(numbers: &[f64]) -> Result<Tensor> {
    matrix([numbers.len(), 1], numbers.iter().copied(), DType::F64)
}

impl Reference for layer::Layer {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let a = x[0].matmul(&parameters["layer.weight"])?;
        activate(
            &a.broadcast_add(&parameters["layer.bias"])?,
            self.activation,
        )
    }
}

impl Reference for layer::LayerTangent {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        x[0].matmul(&parameters["layer.weight"])
    }
}

impl Reference for layer::RepeatedLayer {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        (0..self.uses).try_fold(x[0].clone(), |x, _| {
            let a = x.matmul(&parameters["layer.weight"])?;
            let y = a.broadcast_add(&parameters["layer.bias"])?.tanh()?;
            x + (y / self.uses as f64)?
        })
    }
}

impl Reference for activation::Activate {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        activate(&x[0], self.0)
    }
}

impl Reference for activation::Tangent {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let [slope, _] = slopes(&x[0], self.0)?;
        slope * &x[1]
    }
}

impl Reference for activation::TangentRows {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let [slope, _] = slopes(&picked(&x[..2], activation::PICKS)?, self.0)?;
        slope * &x[2]
    }
}

impl Reference for activation::Curve {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let [_, curvature] = through_activation(&x[0], [&x[1], &x[2]], self.0)?;
        Ok(curvature)
    }
}

impl Reference for rows::Mix {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        mixed(x, &rows::MIX.map(<[_]>::to_vec))
    }
}

impl Reference for rows::AddScaled {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let slope = ((&x[1] * rows::WEIGHTS[0])? + (&x[2] * rows::WEIGHTS[1])?)?;
        &x[0] + slope.broadcast_mul(&column(&rows::STEPS)?)?
    }
}

impl Reference for rows::Collect {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        picked(x, rows::PICKS)
    }
}

impl Reference for elementwise::Product {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        &x[0] * &x[1]
    }
}

impl Reference for elementwise::ProductWithItself {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        x[0].sqr()
    }
}

impl Reference for elementwise::Sum {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        (&x[0] * 2.0)? + &x[1]
    }
}

impl Reference for elementwise::Blend {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        ((1.0 - &x[0])? * &x[1])? + (&x[0] * &x[2])?
    }
}

impl Reference for elementwise::Concat {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        Tensor::cat(x, 1)
    }
}

impl Reference for elementwise::Square {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        (x[0].sqr()?.sum_all()? * 0.3)?.reshape((1, 1))
    }
}

impl Reference for elementwise::Difference {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        &x[0] + &x[1]
    }
}

impl Reference for elementwise::Affine {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        (&x[0] * -0.7)? + 0.4
    }
}

impl Reference for elementwise::Columns {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        x[0].narrow(1, 1, 2)? * x[0].narrow(1, 2, 2)?
    }
}

impl Reference for rows::AddRow {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        x[0].broadcast_add(&x[1])
    }
}

impl Reference for rows::Groups {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let terms: Vec<_> = rows::OFFSETS
            .windows(2)
            .map(|group| {
                let count = (group[1] - group[0]) as f64;
                let factor = if self.mean { 1.0 / count } else { 1.0 };
                (group[0]..group[1]).map(|row| (0, row, factor)).collect()
            })
            .collect();
        mixed(x, &terms)
    }
}

impl Reference for layer::Learned {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let row = parameters["row"].as_tensor();
        (&x[0] + row)? * row
    }
}

impl Reference for attention::Normalization {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let centred = x[0].broadcast_sub(&x[0].mean_keepdim(1)?)?;
        let deviation = (centred.sqr()?.mean_keepdim(1)? + 1e-5)?.sqrt()?;
        let normal = centred.broadcast_div(&deviation)?;
        let scaled = normal.broadcast_mul(&parameters["norm.gain"])?;
        scaled.broadcast_add(&parameters["norm.bias"])
    }
}

/// Attention of one series after the other, one head after the other.
fn attend(x: [&Tensor; 3], queries: &[usize], keys: &[usize]) -> Result<Tensor> {
    let width = attention::COLUMNS / attention::HEADS;
    let mut all = Vec::new();
    for (q_rows, k_rows) in queries.windows(2).zip(keys.windows(2)) {
        if q_rows[0] == q_rows[1] {
            continue;
        }
        let mut heads = Vec::new();
        for head in 0..attention::HEADS {
            let part = |x: &Tensor, rows: &[usize]| {
                let rows = x.narrow(0, rows[0], rows[1] - rows[0])?;
                rows.narrow(1, head * width, width)?.contiguous()
            };
            let (q, k, v) = (
                part(x[0], q_rows)?,
                part(x[1], k_rows)?,
                part(x[2], k_rows)?,
            );
            let scores = (q.matmul(&k.t()?)? / (width as f64).sqrt())?;
            let weights = scores.exp()?;
            let weights = weights.broadcast_div(&weights.sum_keepdim(1)?)?;
            heads.push(weights.matmul(&v)?);
        }
        all.push(Tensor::cat(&heads, 1)?);
    }
    Tensor::cat(&all, 0)
}

impl Reference for attention::Attention {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        attend([&x[0], &x[1], &x[2]], &attention::QUERIES, &attention::KEYS)
    }
}

impl Reference for attention::SelfAttention {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        attend([&x[0]; 3], &attention::KEYS, &attention::KEYS)
    }
}

/// For fixed times the compensation is a matrix; its columns come from the dense solve of the
/// constraints.
impl Reference for compensation::Compensation {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let mut first = 0;
        let mut all = Vec::new();
        for (series, times) in compensation::TIMES.iter().enumerate() {
            let mut channels = Vec::new();
            for channel in 0..compensation::CHANNELS {
                let parts = x.iter().map(|x| {
                    let rows = x.narrow(0, first, times.len())?;
                    rows.narrow(1, channel, 1)
                });
                let inputs = Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 0)?;
                channels.push(self.map(series, channel)?.matmul(&inputs)?);
            }
            all.push(Tensor::cat(&channels, 1)?);
            first += times.len();
        }
        Tensor::cat(&all, 0)
    }
}

trait LinearMap {
    fn map(&self, series: usize, channel: usize) -> Result<Tensor>;
}

impl LinearMap for compensation::Compensation {
    /// [query times, 7 · knots]
    fn map(&self, series: usize, channel: usize) -> Result<Tensor> {
        let (times, query) = (compensation::TIMES[series], compensation::QUERY[series]);
        let knots = times.len();
        let mask = self.observed.map_or(vec![true; knots], |masks| {
            let channels = compensation::CHANNELS;
            (0..knots)
                .map(|k| masks[series][k * channels + channel])
                .collect()
        });
        let options = CompensationOptions {
            end_rule: self.end_rule,
            ..CompensationOptions::default()
        };
        let mut columns = Vec::new();
        for unit in 0..7 * knots {
            let mut parts = (0..7).map(|part| {
                (0..knots)
                    .map(|k| f64::from(part * knots + k == unit))
                    .collect::<Vec<f64>>()
            });
            let mut next = || parts.next().unwrap();
            let values = next();
            let mut jets = || Jets {
                value: next(),
                slope: next(),
                curvature: next(),
            };
            let problem = Problem {
                times: times.to_vec(),
                channels: 1,
                observed: mask.clone(),
                values,
                left: jets(),
                right: jets(),
                options,
            };
            let pieces = dense::solve(&problem, 0);
            columns.extend(query.iter().map(|&t| {
                let piece = times.partition_point(|&knot| knot <= t).clamp(1, knots - 1) - 1;
                let u = (t - times[piece]) / problem.gap(piece);
                pieces[piece].iter().rev().fold(0.0, |sum, a| sum * u + a)
            }));
        }
        matrix([7 * knots, query.len()], columns.into_iter(), DType::F64)?
            .t()?
            .contiguous()
    }
}

fn network<'a>(parameters: &'a Named, name: &'a str, activations: [Activation; 2]) -> Network<'a> {
    let depth = if name == "decoder" {
        &network::DECODER[..]
    } else {
        &network::DYNAMICS[..]
    };
    Network {
        parameters,
        name,
        depth: depth.len() - 1,
        activations,
    }
}

/// Which number of an image stands where in its windows, as a matrix of zeros and ones [image, windows].
fn windows(image: ImageShape, kernel: Kernel) -> Result<Tensor> {
    let count = |length: usize| (length + 2 * kernel.padding - kernel.side) / kernel.stride + 1;
    let width = count(image.height) * count(image.width) * kernel.side.pow(2) * image.channels;
    let mut numbers = vec![0.0; image.len() * width];
    let mut column = 0;
    for (i, j) in
        (0..count(image.height)).flat_map(|i| (0..count(image.width)).map(move |j| (i, j)))
    {
        for (row, across) in (0..kernel.side).flat_map(|r| (0..kernel.side).map(move |c| (r, c))) {
            let y = (i * kernel.stride + row).checked_sub(kernel.padding);
            let x = (j * kernel.stride + across).checked_sub(kernel.padding);
            for channel in 0..image.channels {
                if let (Some(y), Some(x)) = (y, x)
                    && y < image.height
                    && x < image.width
                {
                    let from = (y * image.width + x) * image.channels + channel;
                    numbers[from * width + column] = 1.0;
                }
                column += 1;
            }
        }
    }
    matrix([image.len(), width], numbers.into_iter(), DType::F64)
}

/// x ∗ W or its transpose, without the bias.
fn convolved(one: &convolution::Images, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (images, outputs) = (x.dim(0)?, one.layer.output().len());
    if one.layer.is_transposed() {
        let windows = windows(one.layer.output(), one.layer.kernel())?;
        let pixels = x
            .reshape(((), one.layer.input().channels))?
            .matmul(weight)?;
        return pixels.reshape((images, ()))?.matmul(&windows.t()?);
    }
    let windows = windows(one.layer.input(), one.layer.kernel())?;
    let rows = x.matmul(&windows)?.reshape(((), weight.dim(0)?))?;
    rows.matmul(weight)?.reshape((images, outputs))
}

/// The same with the bias on every pixel.
fn convolved_and_shifted(
    one: &convolution::Images,
    x: &Tensor,
    parameters: &Named,
) -> Result<Tensor> {
    let images = x.dim(0)?;
    let plain = convolved(one, x, &parameters["layer.weight"])?;
    let pixels = plain.reshape(((), one.layer.output().channels))?;
    pixels
        .broadcast_add(&parameters["layer.bias"])?
        .reshape((images, ()))
}

impl Reference for convolution::Images {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        activate(
            &convolved_and_shifted(self, &x[0], parameters)?,
            self.layer.activation(),
        )
    }
}

impl Reference for convolution::ImagesJet {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let a = convolved_and_shifted(&self.0, &x[0], parameters)?;
        let weight = &parameters["layer.weight"];
        let first = convolved(&self.0, &x[1], weight)?;
        let second = convolved(&self.0, &x[2], weight)?;
        let [slope, curvature] =
            through_activation(&a, [&first, &second], self.0.layer.activation())?;
        Tensor::cat(
            &[activate(&a, self.0.layer.activation())?, slope, curvature],
            1,
        )
    }
}

impl Reference for network::Network {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        network(parameters, "network", self.activations).forward(&x[0])
    }
}

impl Reference for network::NetworkJet {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let jet = [0, 1, 2].map(|i| x[i].clone());
        let network = network(parameters, "network", self.network.activations);
        Tensor::cat(&network.jet(jet)?, 1)
    }
}

impl Reference for network::Flow {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let hidden = &x[0];
        let dynamics = network(parameters, "dynamics", self.activations);
        let flow = dynamics.forward(hidden)?;
        let [_, curvature, _] = dynamics.jet([hidden.clone(), flow.clone(), flow.zeros_like()?])?;
        let decoder = network(parameters, "decoder", self.activations);
        Tensor::cat(&decoder.jet([hidden.clone(), flow, curvature])?, 1)
    }
}

impl Reference for network::Cell {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        gated_cell(parameters, "cell", &x[0], &x[1])
    }
}

impl Reference for network::OdeRnn {
    fn candle(&self, x: &[Tensor], parameters: &Named) -> Result<Tensor> {
        let slope = network(parameters, "dynamics", network::PAIRS[0]).forward(&x[0])?;
        let left = (&x[0] + slope.broadcast_mul(&column(&network::STEPS)?)?)?;
        let observed = picked(
            std::slice::from_ref(&left),
            network::UPDATED.map(|row| (0, row)),
        )?;
        let updated = gated_cell(parameters, "cell", &observed, &x[1])?;
        let place = |row| network::UPDATED.iter().position(|&u| u == row);
        let picks = (0..5).map(|row| place(row).map_or((0, row), |at| (1, at)));
        let right = picked(&[left, updated], picks)?;
        network(parameters, "decoder", network::PAIRS[0]).forward(&right)
    }
}

impl Reference for convolution::Means {
    fn candle(&self, x: &[Tensor], _: &Named) -> Result<Tensor> {
        let mean = |x: &Tensor| {
            let squares = x.reshape(&[2, 2, 2, 3, 2, 2])?; // videos, rows, down, columns, right, channels
            squares.mean(4)?.mean(2)?.reshape((2, 12))
        };
        Tensor::cat(&[mean(&x[0])?, mean(&x[1])?, mean(&x[2])?], 1)
    }
}

every_operation!(check);
