//! Training: samples, shards, the loss, the optimiser and the loop around them.

mod checkpoint;
mod fit;
mod optimizer;
mod parallel;
mod rate;
mod sample;
mod trainer;

pub use fit::fit;
pub use optimizer::{Optimizer, OptimizerKind};
pub use parallel::{LossStep, ParallelBatch, SHARD, Scores};
pub use rate::RateSchedule;
pub use sample::{Masking, Sample};
pub use trainer::{Control, MOST_RECOVERIES, Progress, Summary, TrainConfig, Trainer};
