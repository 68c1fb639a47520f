//! Latent-ODE (Rubanova et al. 2019, *Latent ODEs for irregularly-sampled time series*, NeurIPS): a
//! variational autoencoder whose code is the initial state of an ODE.
//!
//! ```text
//!   encoder    an ODE-RNN walks back over all observations, from t_n to t_0
//!   posterior  q(z_0) = N(μ, σ²), (μ, ln σ²) = a network of its last state      prior N(0, 1)
//!   decoder    z' = f(z) from z(t_0) = z_0 = μ + σ ε,   o(t) = g(z(t))
//!   loss       -ELBO = Σ |x - o|²/(2s²) + KL(q ‖ prior),  s the noise of an observation
//! ```
//!
//! The whole curve comes from z_0, so o has no jumps: from both sides of a knot it is g of
//! (z, f(z), (∂f/∂z) f(z)). It knows the future of every time.
//!
//! Followed from the public code: s = 0.01 (for the hopper it has 0.001), and the weight of KL that is 0 in the first thirtieth of
//! the training (10 of 300 epochs) and then rises as 1 - 0.99^epoch. Chosen here:
//! - The trainer's loss is the mean of |x - o|² over points, so the ELBO is multiplied by 2s² and KL
//!   enters as 2s² KL.
//! - In training one sample of z_0 a series and step: the gradient is that of the ELBO on average.
//!   (The public code takes three and weighs them by importance.)
//! - Elsewhere the mean over `samples` curves whose ε are fixed numbers, the same for every series: an
//!   answer depends on nothing but the series.
//! - σ is 0.1 e^(s/2) with s an output, instead of the absolute value of one, and the encoder's state has no second
//!   part for its deviation, as in our ODE-RNN.
//! - g has a hidden layer as that of the ODE-RNN (linear in the public code), and the steps
//!   of the decoder are fixed, of order 2 (adaptive there).

mod config;
mod network;

pub use config::LatentOdeConfig;
pub use network::LatentOde;
