//! The library from outside: what a user can add through public traits, in a page each.
#![cfg(feature = "nn")]

/// A solver is a table of coefficients; what it integrates is a field.
mod a_solver {
    use cssc::nn::{Float, Graph, Memory, Parameters, Var};
    use cssc::ode::{Field, Tableau, advance};

    /// Three stages that keep what a step of Euler keeps (Shu and Osher 1988).
    const SSP_RK3: Tableau = Tableau {
        order: 3,
        stages: &[&[1.0], &[0.25, 0.25]],
        weights: &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
        embedded: None,
    };

    /// h' = h - h²: growth that levels off at 1.
    #[derive(Debug)]
    struct Growth;

    impl<T: Float> Field<T> for Growth {
        fn width(&self) -> usize {
            1
        }

        fn flow(&self, graph: &mut Graph<'_, T>, state: Var) -> Var {
            let square = graph.product(state, state);
            graph.difference(state, square)
        }
    }

    /// The error at t = 2 from h = 0.1, after `steps` steps.
    fn error(steps: usize) -> f64 {
        let parameters = Parameters::<f64>::new();
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let mut state = graph.input(1, 1, &[0.1]);
        for _ in 0..steps {
            state = advance(&mut graph, &Growth, &SSP_RK3, state, &[2.0 / steps as f64]);
        }
        let exact = 1.0 / (1.0 + 9.0 * (-2.0_f64).exp());
        (graph.value(state)[0] - exact).abs()
    }

    #[test]
    fn a_table_of_ones_own_shows_its_order() {
        let order = (error(40) / error(80)).log2();
        assert!((order - f64::from(SSP_RK3.order)).abs() < 0.1, "{order}");
    }
}

/// A layer says how values and time derivatives pass; gradients come by themselves.
mod a_layer {
    use cssc::Jets;
    use cssc::data::Random;
    use cssc::nn::{Activation, Dense, Float, Gradient, Graph, Initializer, Layer, Memory};
    use cssc::nn::{Parameters, Var};

    /// a ⊙ s with a = A(x) and s = σ(B(x)): a gated linear unit.
    #[derive(Debug)]
    struct Gated {
        content: Dense,
        gate: Dense,
    }

    impl<T: Float> Layer<T> for Gated {
        fn inputs(&self) -> usize {
            Layer::<T>::inputs(&self.content)
        }

        fn outputs(&self) -> usize {
            Layer::<T>::outputs(&self.content)
        }

        fn forward(&self, graph: &mut Graph<'_, T>, x: Var) -> Var {
            let (a, s) = (self.content.forward(graph, x), self.gate.forward(graph, x));
            graph.product(a, s)
        }

        /// The product rule: a's + as' and a''s + 2a's' + as''.
        fn jet(&self, graph: &mut Graph<'_, T>, x: Jets<Var>) -> Jets<Var> {
            let (a, s) = (self.content.jet(graph, x), self.gate.jet(graph, x));
            let mut sum = |pairs: &[(Var, Var)]| {
                let products = pairs.iter().map(|&(a, b)| graph.product(a, b));
                let products: Vec<Var> = products.collect();
                products
                    .into_iter()
                    .reduce(|a, b| graph.sum(a, b))
                    .expect("some")
            };
            let middle = (a.slope, s.slope);
            Jets {
                value: sum(&[(a.value, s.value)]),
                slope: sum(&[(a.slope, s.value), (a.value, s.slope)]),
                curvature: sum(&[
                    (a.curvature, s.value),
                    middle,
                    middle,
                    (a.value, s.curvature),
                ]),
            }
        }
    }

    // ---- its checks

    const ROWS: usize = 2;
    const X: [[f64; 6]; 3] = [
        [0.3, -0.8, 0.5, 0.9, -0.2, 0.4],
        [0.7, 0.1, -0.6, -0.3, 0.8, 0.2],
        [-0.5, 0.4, 0.9, 0.6, -0.1, 0.3],
    ];

    fn layer() -> (Gated, Parameters<f64>) {
        let mut parameters = Parameters::new();
        let mut random = Random::new(8);
        let mut part = |name, activation| {
            let init = Initializer::Normal(0.7);
            Dense::new(&mut parameters, name, [3, 2], activation, init, &mut random)
        };
        let layer = Gated {
            content: part("content", Activation::Identity),
            gate: part("gate", Activation::Sigmoid),
        };
        parameters.pack();
        (layer, parameters)
    }

    /// The curve x(t) of which [`X`] are value, slope and curvature at 0, through the layer.
    fn at(t: f64) -> Vec<f64> {
        let (layer, parameters) = layer();
        let mut memory = Memory::new();
        let mut graph = Graph::forward_only(&mut memory, &parameters);
        let x: Vec<f64> = (0..6)
            .map(|i| X[0][i] + t * X[1][i] + 0.5 * t * t * X[2][i])
            .collect();
        let x = graph.input(ROWS, 3, &x);
        let y = layer.forward(&mut graph, x);
        graph.value(y).to_vec()
    }

    /// Loss Σ (y² + y'² + y''²), its gradient, and the jet.
    fn evaluate(parameters: &Parameters<f64>) -> (f64, Vec<f64>, [Vec<f64>; 3]) {
        let (layer, mut memory) = (layer().0, Memory::new());
        let mut graph = Graph::new(&mut memory, parameters);
        let [value, slope, curvature] = X.map(|x| graph.input(ROWS, 3, &x));
        let y = layer.jet(
            &mut graph,
            Jets {
                value,
                slope,
                curvature,
            },
        );
        let parts = [y.value, y.slope, y.curvature];
        let jet = parts.map(|var| graph.value(var).to_vec());
        let squares = parts.map(|var| graph.square(var, None, None, 1.0));
        let two = graph.sum(squares[0], squares[1]);
        let loss = graph.sum(two, squares[2]);
        let (value, mut gradient) = (graph.value(loss)[0], Gradient::zeros(parameters));
        graph.backward(loss, &mut gradient);
        (value, gradient.values, jet)
    }

    #[test]
    fn a_layer_of_ones_own_has_exact_time_derivatives() {
        let (step, [value, slope, curvature]) = (1e-3, evaluate(&layer().1).2);
        let [before, here, after] = [-step, 0.0, step].map(at);
        for i in 0..here.len() {
            let first = (after[i] - before[i]) / (2.0 * step);
            let second = (after[i] - 2.0 * here[i] + before[i]) / (step * step);
            assert_eq!(value[i], here[i]);
            assert!((slope[i] - first).abs() < 1e-5, "{} {first}", slope[i]);
            assert!(
                (curvature[i] - second).abs() < 1e-5,
                "{} {second}",
                curvature[i]
            );
        }
    }

    #[test]
    fn a_layer_of_ones_own_has_exact_gradients() {
        let (_, mut parameters) = layer();
        let gradient = evaluate(&parameters).1;
        for (i, found) in gradient.iter().enumerate() {
            let mut loss = |step: f64| {
                parameters.values_mut()[i] += step;
                parameters.pack();
                let loss = evaluate(&parameters).0;
                parameters.values_mut()[i] -= step;
                loss
            };
            let difference = (loss(1e-5) - loss(-1e-5)) / 2e-5;
            assert!(
                (found - difference).abs() < 1e-7,
                "{i}: {found} {difference}"
            );
        }
    }
}
