//! Every operation of the engine, described once for all comparisons.
//!
//! An [`Operation`] is a small example: operands and parameters filled with chance, and the
//! call under test. [`evaluate`] turns its result y into a loss Σ w (y - z)² with fixed
//! uneven w and z, so that no entry of y or of a gradient can hide behind another.

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod compensation;
pub(crate) mod convolution;
pub(crate) mod elementwise;
pub(crate) mod layer;
pub(crate) mod network;
pub(crate) mod rows;

use cssc::data::Random;
use cssc::nn::{Activation, Float, Gradient, Graph, Memory, Parameters, Var};

/// All activation functions.
pub(crate) const ACTIVATIONS: [Activation; 10] = [
    Activation::Identity,
    Activation::Tanh,
    Activation::Sigmoid,
    Activation::Softplus,
    Activation::Elu,
    Activation::Silu,
    Activation::Exp,
    Activation::Relu,
    Activation::Gelu,
    Activation::Sine,
];

/// Calls `$check(&operation)` in one test for each operation.
macro_rules! every_operation {
    ($check:ident) => {
        every_operation! { $check:
            a_layer_with_any_activation =>
                ACTIVATIONS.map(operations::layer::Layer::new);
            a_layer_without_bias => [operations::layer::LayerTangent::new()];
            one_layer_used_many_times => [
                // more rows, and more uses, than are summed at once
                operations::layer::RepeatedLayer::new(17, 40),
                operations::layer::RepeatedLayer::new(2, 70),
            ];
            an_activation => ACTIVATIONS.map(operations::activation::Activate);
            a_slope_through_an_activation =>
                ACTIVATIONS.map(operations::activation::Tangent);
            a_slope_through_picked_activations =>
                ACTIVATIONS.map(operations::activation::TangentRows);
            a_curvature_through_an_activation =>
                ACTIVATIONS.map(operations::activation::Curve);
            mixed_rows => [operations::rows::Mix];
            a_step_with_its_own_length_in_each_row => [operations::rows::AddScaled];
            picked_rows => [operations::rows::Collect];
            a_product => [operations::elementwise::Product];
            a_square_as_a_product => [operations::elementwise::ProductWithItself];
            a_sum => [operations::elementwise::Sum];
            a_difference => [operations::elementwise::Difference];
            a_factor_and_a_shift => [operations::elementwise::Affine];
            some_columns => [operations::elementwise::Columns];
            a_row_added_to_all => [operations::rows::AddRow];
            sums_of_groups => [operations::rows::Groups { mean: false }];
            means_of_groups => [operations::rows::Groups { mean: true }];
            a_parameter_as_an_operand => [operations::layer::Learned::new()];
            a_layer_normalization => [operations::attention::Normalization::new()];
            attention_of_queries_over_keys => [operations::attention::Attention];
            attention_of_rows_over_themselves => [operations::attention::SelfAttention];
            means_over_squares_of_images => [operations::convolution::Means];
            a_convolution_of_images => operations::convolution::Images::all();
            jets_through_a_convolution_of_images =>
                operations::convolution::Images::all().into_iter().map(operations::convolution::ImagesJet)
                    .collect::<Vec<_>>();
            a_blend => [operations::elementwise::Blend];
            columns_side_by_side => [operations::elementwise::Concat];
            a_weighted_sum_of_squares => [operations::elementwise::Square];
            the_compensation_of_observations =>
                operations::compensation::Compensation::of_observations();
            the_compensation_of_tracked_values =>
                operations::compensation::Compensation::of_tracked_values();
            a_network => operations::network::PAIRS.map(operations::network::Network::new);
            jets_through_a_network =>
                operations::network::PAIRS.map(operations::network::NetworkJet::new);
            // more rows than pass the layers together
            jets_of_many_rows_through_a_network =>
                [operations::network::NetworkJet::of_rows(operations::network::PAIRS[2], 100)];
            jets_along_the_flow => operations::network::PAIRS.map(operations::network::Flow::new);
            a_gated_cell => [operations::network::Cell::new()];
            a_step_of_an_ode_rnn => [operations::network::OdeRnn::new()];
        }
    };
    ($check:ident: $($name:ident => $operations:expr;)*) => {
        $(
            #[test]
            fn $name() {
                for operation in &$operations {
                    $check(operation);
                }
            }
        )*
    };
}

/// One example of an operation.
pub(crate) trait Operation {
    /// Its operands; all are tracked.
    fn operands(&self) -> Vec<Matrix>;

    /// Its parameters, packed.
    fn parameters(&self) -> Parameters<f64> {
        Parameters::new()
    }

    /// The call under test.
    fn run<T: Float>(&self, graph: &mut Graph<'_, T>, operands: &[Var]) -> Var;
}

/// A matrix [rows, columns], row by row.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
}

impl Matrix {
    /// Numbers between -1.2 and 1.2; `seed` tells matrices apart.
    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let values = (0..rows * columns)
            .map(|_| random.uniform(-1.2, 1.2))
            .collect();
        Self {
            rows,
            columns,
            values,
        }
    }
}

/// Fills all parameters, biases too, and packs them.
pub(crate) fn filled(mut parameters: Parameters<f64>) -> Parameters<f64> {
    let mut random = Random::new(1000);
    parameters
        .values_mut()
        .fill_with(|| random.uniform(-0.6, 0.6));
    parameters.pack();
    parameters
}

/// Weight and target of the i-th number of a result in the loss.
pub(crate) fn loss_constants(i: usize) -> (f64, f64) {
    let i = i as f64;
    (0.6 + 0.4 * (1.7 * i).sin(), 0.3 * (0.9 * i).cos())
}

/// What an operation gives.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) result: Vec<f64>,
    pub(crate) loss: f64,
    /// By operand.
    pub(crate) operand_gradients: Vec<Vec<f64>>,
    pub(crate) parameter_gradient: Vec<f64>,
}

/// Runs an operation forwards and backwards in precision `T`.
pub(crate) fn evaluate<T: Float>(
    operation: &impl Operation,
    operands: &[Matrix],
    parameters: &Parameters<f64>,
) -> Evaluated {
    let parameters = parameters.cast::<T>();
    let mut memory = Memory::new();
    let mut graph = Graph::<T>::new(&mut memory, &parameters);
    let vars: Vec<Var> = operands
        .iter()
        .map(|x| graph.tracked_input(x.rows, x.columns, &cast(&x.values)))
        .collect();
    let y = operation.run(&mut graph, &vars);
    let (rows, columns) = (graph.rows(y), graph.columns(y));
    let (weights, targets): (Vec<f64>, Vec<f64>) = (0..rows * columns).map(loss_constants).unzip();
    let weights = graph.input(rows, columns, &cast(&weights));
    let targets = graph.input(rows, columns, &cast(&targets));
    let loss = graph.square(y, Some(targets), Some(weights), 1.0);
    let (result, loss_value) = (uncast(graph.value(y)), graph.value(loss)[0].to_f64());
    let mut gradient = Gradient::zeros(&parameters);
    let mut operand_gradients: Vec<Vec<f64>> =
        operands.iter().map(|x| vec![0.0; x.values.len()]).collect();
    graph.backward_with(loss, &mut gradient, |var, g| {
        if let Some(i) = vars.iter().position(|&v| v == var) {
            operand_gradients[i] = uncast(g);
        }
    });
    Evaluated {
        result,
        loss: loss_value,
        operand_gradients,
        parameter_gradient: uncast(&gradient.values),
    }
}

fn cast<T: Float>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&x| T::from_f64(x)).collect()
}

fn uncast<T: Float>(numbers: &[T]) -> Vec<f64> {
    numbers.iter().map(|x| x.to_f64()).collect()
}
