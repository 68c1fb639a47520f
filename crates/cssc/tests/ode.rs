//! Solvers: each shows its order on a problem whose answer is known; fields that are not plain
//! networks show their derivative.
#![cfg(feature = "nn")]

use cssc::data::Random;
use cssc::nn::{Activation, Float, Graph, Initializer, Linear, Memory, Mlp, Parameters, Var};
use cssc::ode::{Field, SmoothField, Solver, Tableau, advance, advance_with_error};

/// h' = tanh(h), whose solution is sinh h(t) = sinh h(0) · eᵗ: a network of one unit with
/// weights 1 (tanh layer, then identity).
fn tanh_field() -> (Mlp, Parameters<f64>) {
    let mut parameters = Parameters::new();
    let activations = [Activation::Tanh, Activation::Identity];
    let mut random = Random::new(0);
    let field = Mlp::new(
        &mut parameters,
        "f",
        &[1, 1, 1],
        activations,
        Initializer::Zeros,
        &mut random,
    );
    for name in ["f.0.weight", "f.1.weight"] {
        let info = parameters.infos().iter().find(|info| info.name == name);
        let range = info.unwrap().range.clone();
        parameters.values_mut()[range].fill(1.0);
    }
    parameters.pack();
    (field, parameters)
}

const STARTS: [f64; 2] = [0.7, -0.3];

fn exact(start: f64, time: f64) -> f64 {
    (start.sinh() * time.exp()).asinh()
}

/// Errors at t = 1 and t = 2 from h = 0.7 and h = -0.3 with `steps` equal steps each.
fn error(tableau: &Tableau, steps: usize) -> f64 {
    let (field, parameters) = tanh_field();
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, &parameters);
    let ends = [1.0, 2.0];
    let mut state = graph.input(2, 1, &STARTS);
    let lengths = ends.map(|end: f64| end / steps as f64);
    for _ in 0..steps {
        state = advance(&mut graph, &field, tableau, state, &lengths);
    }
    let found = graph.value(state);
    (0..2)
        .map(|i| (found[i] - exact(STARTS[i], ends[i])).abs())
        .fold(0.0, f64::max)
}

fn measured_order(tableau: &Tableau) -> f64 {
    (error(tableau, 40) / error(tableau, 80)).log2()
}

#[test]
fn each_solver_shows_its_order() {
    for solver in Solver::ALL {
        let order = measured_order(solver.tableau());
        let expected = f64::from(solver.tableau().order);
        assert!(
            (order - expected).abs() < 0.1,
            "{solver:?}: order {order}, not {expected}"
        );
    }
}

fn with_error() -> impl Iterator<Item = (Solver, &'static Tableau)> {
    let all = Solver::ALL.into_iter();
    all.map(|solver| (solver, solver.tableau()))
        .filter(|(_, tableau)| tableau.embedded.is_some())
}

#[test]
fn each_embedded_method_shows_its_order() {
    assert_eq!(with_error().count(), 2);
    for (solver, tableau) in with_error() {
        let embedded = tableau.embedded.unwrap();
        let alone = Tableau {
            order: embedded.order,
            weights: embedded.weights,
            ..*tableau
        };
        let (order, expected) = (measured_order(&alone), f64::from(embedded.order));
        assert!(
            (order - expected).abs() < 0.1,
            "{solver:?}: the embedded order is {order}, not {expected}"
        );
    }
}

#[test]
fn the_estimated_error_of_a_step_is_that_of_the_embedded_method() {
    let (field, parameters) = tanh_field();
    for (solver, tableau) in with_error() {
        let estimate_and_truth = |length: f64| {
            let mut memory = Memory::new();
            let mut graph = Graph::forward_only(&mut memory, &parameters);
            let state = graph.input(2, 1, &STARTS);
            let (end, error) = advance_with_error(&mut graph, &field, tableau, state, &[length; 2]);
            let error = graph.value(error.expect("it has one")).to_vec();
            let end = graph.value(end);
            [0, 1].map(|i| (error[i], exact(STARTS[i], length) - (end[i] - error[i])))
        };
        for (estimate, truth) in estimate_and_truth(0.02) {
            assert!(
                (estimate / truth - 1.0).abs() < 0.15,
                "{solver:?}: {estimate} for {truth}"
            );
        }
        let order = (estimate_and_truth(0.04)[0].0 / estimate_and_truth(0.02)[0].0).log2();
        let expected = f64::from(tableau.embedded.unwrap().order + 1);
        assert!((order - expected).abs() < 0.2, "{solver:?}: {order}");
    }
}

#[test]
fn a_stage_that_serves_the_error_only_is_not_evaluated_without_it() {
    let evaluations = Solver::ALL.map(|solver| solver.tableau().evaluations());
    assert_eq!(evaluations, [1, 2, 2, 3, 4, 6]);
}

/// The flow of GRU-ODE-Bayes: h' = (1 - z) ⊙ (n - h) with r = σ(R h), z = σ(Z h),
/// n = tanh(N(r ⊙ h)).
#[derive(Debug)]
struct GruFlow {
    reset: Linear,
    update: Linear,
    candidate: Linear,
    width: usize,
}

#[derive(Clone, Copy, Debug)]
struct GruTrace {
    state: Var,
    reset: Var,
    update: Var,
    candidate: Var,
    /// n - h.
    pull: Var,
}

/// (1 - z) ⊙ x.
fn kept<T: Float>(graph: &mut Graph<'_, T>, update: Var, x: Var) -> Var {
    let part = graph.product(update, x);
    graph.difference(x, part)
}

impl<T: Float> Field<T> for GruFlow {
    fn width(&self) -> usize {
        self.width
    }

    fn flow(&self, graph: &mut Graph<'_, T>, state: Var) -> Var {
        self.trace(graph, state).0
    }
}

impl<T: Float> SmoothField<T> for GruFlow {
    type Trace = GruTrace;

    fn trace(&self, graph: &mut Graph<'_, T>, state: Var) -> (Var, GruTrace) {
        let reset = graph.linear(state, &self.reset, Activation::Sigmoid);
        let update = graph.linear(state, &self.update, Activation::Sigmoid);
        let shown = graph.product(reset, state);
        let candidate = graph.linear(shown, &self.candidate, Activation::Tanh);
        let pull = graph.difference(candidate, state);
        let trace = GruTrace {
            state,
            reset,
            update,
            candidate,
            pull,
        };
        (kept(graph, update, pull), trace)
    }

    /// -z' ⊙ (n - h) + (1 - z) ⊙ (n' - v).
    fn tangent(&self, graph: &mut Graph<'_, T>, at: &GruTrace, direction: Var) -> Var {
        let reset = graph.linear_tangent(direction, &self.reset);
        let reset = graph.tangent(at.reset, reset, Activation::Sigmoid);
        let shown = [(reset, at.state), (at.reset, direction)];
        let [a, b] = shown.map(|(a, b)| graph.product(a, b));
        let shown = graph.sum(a, b);
        let candidate = graph.linear_tangent(shown, &self.candidate);
        let candidate = graph.tangent(at.candidate, candidate, Activation::Tanh);
        let pull = graph.difference(candidate, direction);
        let pull = kept(graph, at.update, pull);
        let update = graph.linear_tangent(direction, &self.update);
        let update = graph.tangent(at.update, update, Activation::Sigmoid);
        let released = graph.product(update, at.pull);
        graph.difference(pull, released)
    }

    fn tangent_rows(
        &self,
        graph: &mut Graph<'_, T>,
        traces: &[GruTrace],
        picks: &[(usize, usize)],
        direction: Var,
    ) -> Var {
        let mut rows = |part: fn(&GruTrace) -> Var| {
            let sources: Vec<Var> = traces.iter().map(part).collect();
            graph.collect(&sources, picks.iter().copied())
        };
        let trace = GruTrace {
            state: rows(|t| t.state),
            reset: rows(|t| t.reset),
            update: rows(|t| t.update),
            candidate: rows(|t| t.candidate),
            pull: rows(|t| t.pull),
        };
        self.tangent(graph, &trace, direction)
    }
}

#[test]
fn a_field_that_is_no_network_gives_the_curvature_of_its_solution() {
    let (width, mut random) = (3, Random::new(4));
    let mut parameters = Parameters::<f64>::new();
    let mut gate = |name| {
        let init = Initializer::Normal(0.8);
        Linear::new(&mut parameters, name, width, width, init, &mut random)
    };
    let field = GruFlow {
        reset: gate("reset"),
        update: gate("update"),
        candidate: gate("candidate"),
        width,
    };
    parameters.pack();
    let (starts, step) = ([0.4, -0.8, 0.3, -0.2, 0.9, 0.1], 1e-3);
    let mut memory = Memory::new();
    let mut graph = Graph::forward_only(&mut memory, &parameters);
    let state = graph.input(2, width, &starts);
    let (flow, trace) = field.trace(&mut graph, state);
    let curvature = field.tangent(&mut graph, &trace, flow);
    let swapped = graph.collect(&[flow], [(0, 1), (0, 0)]);
    let rows = field.tangent_rows(&mut graph, &[trace], &[(0, 1), (0, 0)], swapped);
    let rk4 = Solver::Rk4.tableau();
    let [before, after] =
        [-step, step].map(|length| advance(&mut graph, &field, rk4, state, &[length; 2]));
    let [before, after] = [before, after].map(|var| graph.value(var).to_vec());
    for i in 0..starts.len() {
        let difference = (before[i] - 2.0 * starts[i] + after[i]) / (step * step);
        let found = graph.value(curvature)[i];
        assert!((found - difference).abs() < 1e-6, "{found} {difference}");
        let other = graph.value(rows)[(i + width) % (2 * width)];
        assert_eq!(found, other, "the same rows in another order");
    }
}
