//! Training: samples, shards, the loss, the optimiser and the loop around them.

mod adamax;
mod checkpoint;
mod fit;
mod parallel;
mod rate;
mod sample;
mod trainer;

pub use adamax::AdaMax;
pub use fit::fit;
pub use parallel::{LossStep, ParallelBatch, SHARD, Scores};
pub use rate::RateSchedule;
pub use sample::{Masking, Sample};
pub use trainer::{Control, MOST_RECOVERIES, Progress, Summary, TrainConfig, Trainer};
