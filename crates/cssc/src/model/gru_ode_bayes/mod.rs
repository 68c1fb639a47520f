//! GRU-ODE-Bayes (De Brouwer et al. 2019, *GRU-ODE-Bayes: continuous modeling of sporadically-observed
//! time series*, NeurIPS): a gated recurrent unit made continuous, and a Bayesian update that knows
//! which channels were observed.
//!
//! ```text
//!   between   h' = (1 - z) ⊙ (n - h),  r = σ(R h), z = σ(Z h), n = tanh(N (r ⊙ h))     `flow.rs`
//!   belief    (mean, ln variance) of every channel = p(h)
//!   update    h⁺ = GRU(h, q),  q_j = m_j relu(W_j [x_j, mean_j, ln variance_j, error_j])
//!   loss      -ln N(x; p(h)) before the update  +  mixing · KL(p(h⁺) ‖ N(x, s²)) after it
//! ```
//!
//! with error = (x - mean)/deviation. The state stays in [-1, 1]: the flow pulls it towards n. Only
//! rows that are observed now are updated, and channels that are not observed give q_j = 0.
//!
//! Followed from the public code: s = 0.01, mixing = 0.0001, q of 25 numbers a channel, a start
//! that is learnt. Chosen here:
//! - The flow is the autonomous one (`impute = False` there): the belief is a function of h and adds
//!   nothing that h does not have.
//! - The answer is the mean, and the trainer's squared error at all times asked, which the paper does
//!   not have, stands beside the model's own loss; that one is weighed by `likelihood-weight`.
//! - p has tanh layers, since o is C² only if they are (ReLU there); the gates of the update have a
//!   hidden layer, as those of the ODE-RNN.
//! - The deviation of the belief is at least s, by ln variance = ln s² + softplus(· - ln s²): on data
//!   without noise the likelihood has no bound and its gradient grows as 1/variance.

mod config;
mod flow;
mod network;

pub use config::GruOdeBayesConfig;
pub use network::GruOdeBayes;
