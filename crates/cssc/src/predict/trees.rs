//! Boosted regression trees for squared errors.
//!
//! The sum of many small trees, each fitted to what those before it leave (Friedman, "Greedy function approximation", 2001):
//!
//! $$ F_m = F_{m-1} + \nu\,T_m, \qquad T_m \approx r = y - F_{m-1}. $$
//!
//! A leaf with n samples says Σr/(n + λ). A split is the one that gains most,
//! G = S_L²/(n_L+λ) + S_R²/(n_R+λ) - S²/(n+λ) with S the sums of r. Features are sorted into 64 bins once, so a split costs
//! one pass over the bytes of its smaller half; the other half's sums are those of the whole less these.
//! The leaf that gains most is split next, up to 16 leaves. Every tree sees a part of the samples and of the features,
//! drawn by a seed, and nothing depends on the number of threads.
//!
//! How many trees there are is found by samples that were left out (see `fit`), and all of them are taken then.

use crate::data::Random;

/// Most bins of a feature.
const BINS: usize = 64;
/// ν, most trees, and how many of them may bring nothing before it ends.
const RATE: f64 = 0.13;
const MOST_TREES: usize = 70;
const PATIENCE: usize = 10;
const MOST_LEAVES: usize = 16;
/// Fewest samples of a leaf, and λ.
const FEWEST: f64 = 12.0;
const DRAWN_TO_ZERO: f64 = 4.0;
/// Parts of the samples and of the features that a tree sees.
const SAMPLES: f64 = 0.5;
const FEATURES: f64 = 0.5;
/// Fewest samples to learn from.
const FEWEST_SAMPLES: usize = 60;
/// What trees must leave at most of the squares of left-out samples to be worth anything.
const WORTH: f64 = 0.99;

/// Samples to learn from: features `[samples, width]`, targets, and which of them tell how many trees there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples {
    pub(super) width: usize,
    pub(super) features: Vec<f32>,
    pub(super) targets: Vec<f64>,
    pub(super) left_out: Vec<bool>,
}

/// A sum of trees.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trees {
    trees: Vec<Vec<Node>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    feature: u32,
    /// At most this goes to the first child, more to the second; a leaf has none (0).
    edge: f32,
    children: [u32; 2],
    value: f64,
}

impl Trees {
    /// What they say; no trees where nothing is found.
    pub(super) fn value(&self, features: &[f32]) -> f64 {
        let of_tree = |tree: &Vec<Node>| {
            let mut at = 0;
            while tree[at].children[0] > 0 {
                let node = &tree[at];
                let more = features[node.feature as usize] > node.edge;
                at = node.children[usize::from(more)] as usize;
            }
            tree[at].value
        };
        self.trees.iter().map(of_tree).sum()
    }

    /// Fitted to all samples but those left out, which tell when to stop; then to all of them, with as many trees. `None`
    /// where those left out do not become any better.
    pub(super) fn fit(examples: &Examples, seed: u64) -> Option<Self> {
        if examples.targets.len() < FEWEST_SAMPLES {
            return None;
        }
        let binned = Binned::new(examples);
        let inside: Vec<bool> = examples.left_out.iter().map(|out| !out).collect();
        let count = binned.grow(examples, &inside, MOST_TREES, seed).1?;
        let all = vec![true; inside.len()];
        let (trees, _) = binned.grow(examples, &all, count, seed);
        Some(Self { trees })
    }
}

/// Features as bytes, one feature after the other, and what the bytes mean.
struct Binned {
    samples: usize,
    bytes: Vec<u8>,
    /// The largest value of each bin but the last.
    edges: Vec<Vec<f32>>,
}

/// A leaf that may be split.
struct Leaf {
    node: usize,
    samples: Vec<u32>,
    sum: f64,
    /// [features, bins]: sums of residuals, and counts.
    sums: Vec<(f64, f64)>,
    best: Option<Split>,
}

#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    /// Place among the features of the tree, and the last bin of the left half.
    feature: usize,
    bin: usize,
}

impl Binned {
    fn new(examples: &Examples) -> Self {
        let (width, samples) = (examples.width, examples.targets.len());
        let mut bytes = vec![0; width * samples];
        let mut edges = Vec::with_capacity(width);
        let mut column = vec![0.0; samples];
        for feature in 0..width {
            for (at, value) in column.iter_mut().enumerate() {
                *value = examples.features[at * width + feature];
            }
            let mut sorted = column.clone();
            sorted.sort_by(f32::total_cmp);
            let mut own: Vec<f32> = (1..BINS)
                .filter_map(|bin| sorted.get(bin * samples / BINS).copied())
                .collect();
            own.dedup();
            let own_bytes = &mut bytes[feature * samples..][..samples];
            for (byte, value) in own_bytes.iter_mut().zip(&column) {
                *byte = own.partition_point(|edge| edge < value) as u8;
            }
            edges.push(own);
        }
        Self {
            samples,
            bytes,
            edges,
        }
    }

    /// Trees for the samples `inside`, and how many of them are best for the others, if any.
    fn grow(
        &self,
        examples: &Examples,
        inside: &[bool],
        most: usize,
        seed: u64,
    ) -> (Vec<Vec<Node>>, Option<usize>) {
        let mut random = Random::stream(seed, 0x7472_6565);
        let mut left = examples.targets.clone();
        let others = |left: &[f64]| -> f64 {
            let others = left.iter().zip(inside).filter(|(_, inside)| !**inside);
            others.map(|(left, _)| left * left).sum()
        };
        let begin = others(&left);
        let (mut least, mut best) = (begin * WORTH, None);
        let mut trees: Vec<Vec<Node>> = Vec::new();
        let width = self.edges.len();
        let taken = ((FEATURES * width as f64).ceil() as usize).min(width);
        let mut order: Vec<usize> = (0..width).collect();
        while trees.len() < most {
            random.shuffle(&mut order);
            let mut features = order[..taken].to_vec();
            features.sort_unstable();
            let drawn: Vec<u32> = (0..self.samples)
                .filter(|&at| random.unit() < SAMPLES && inside[at])
                .map(|at| at as u32)
                .collect();
            let tree = self.tree(&left, drawn, &features);
            let row = |at: usize| &examples.features[at * width..][..width];
            let one = Trees { trees: vec![tree] };
            for (at, left) in left.iter_mut().enumerate() {
                *left -= one.value(row(at));
            }
            trees.extend(one.trees);
            let now = others(&left);
            if now < least {
                (least, best) = (now, Some(trees.len()));
            } else if begin > 0.0 && trees.len() >= best.unwrap_or(0) + PATIENCE {
                break;
            }
        }
        (trees, best)
    }

    fn tree(&self, left: &[f64], samples: Vec<u32>, features: &[usize]) -> Vec<Node> {
        let sum = samples.iter().map(|&at| left[at as usize]).sum();
        let sums = self.sums(left, &samples, features);
        let mut nodes = vec![leaf(sum, samples.len())];
        let mut leaves = vec![self.leaf(0, samples, sum, sums, features)];
        while leaves.len() < MOST_LEAVES {
            let gain = |leaf: &Leaf| leaf.best.map_or(0.0, |best| best.gain);
            let by_gain = |a: &usize, b: &usize| gain(&leaves[*a]).total_cmp(&gain(&leaves[*b]));
            let Some(at) = (0..leaves.len()).max_by(by_gain) else {
                break;
            };
            let Some(split) = leaves[at].best else {
                break;
            };
            let whole = leaves.swap_remove(at);
            let feature = features[split.feature];
            let parent = whole.node;
            nodes[parent].feature = feature as u32;
            nodes[parent].edge = self.edges[feature][split.bin];
            nodes[parent].children = [nodes.len() as u32, nodes.len() as u32 + 1];
            for half in self.halves(left, whole, split, features, nodes.len()) {
                nodes.push(leaf(half.sum, half.samples.len()));
                leaves.push(half);
            }
        }
        nodes
    }

    /// Sums of residuals and counts by feature and bin.
    fn sums(&self, left: &[f64], samples: &[u32], features: &[usize]) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 0.0); features.len() * BINS];
        let own: Vec<f64> = samples.iter().map(|&at| left[at as usize]).collect();
        for (&feature, sums) in features.iter().zip(sums.chunks_mut(BINS)) {
            let bytes = &self.bytes[feature * self.samples..][..self.samples];
            for (&at, value) in samples.iter().zip(&own) {
                let sum = &mut sums[bytes[at as usize] as usize];
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
        sums
    }

    fn leaf(
        &self,
        node: usize,
        samples: Vec<u32>,
        sum: f64,
        sums: Vec<(f64, f64)>,
        features: &[usize],
    ) -> Leaf {
        let count = samples.len() as f64;
        let score = |sum: f64, count: f64| sum * sum / (count + DRAWN_TO_ZERO);
        let whole = score(sum, count);
        let mut best: Option<Split> = None;
        for (place, &feature) in features.iter().enumerate() {
            let (mut before, mut number) = (0.0, 0.0);
            for bin in 0..self.edges[feature].len() {
                let (more, one) = sums[place * BINS + bin];
                (before, number) = (before + more, number + one);
                if number < FEWEST || one == 0.0 {
                    continue;
                }
                if count - number < FEWEST {
                    break;
                }
                let gain = score(before, number) + score(sum - before, count - number) - whole;
                if gain > best.map_or(1e-12 * whole, |best| best.gain) {
                    best = Some(Split {
                        gain,
                        feature: place,
                        bin,
                    });
                }
            }
        }
        Leaf {
            node,
            samples,
            sum,
            sums,
            best,
        }
    }

    /// Both halves of a leaf; they are the nodes from `next` on.
    fn halves(
        &self,
        left: &[f64],
        whole: Leaf,
        split: Split,
        features: &[usize],
        next: usize,
    ) -> [Leaf; 2] {
        let feature = features[split.feature];
        let bytes = &self.bytes[feature * self.samples..][..self.samples];
        let is_left = |at: &u32| usize::from(bytes[*at as usize]) <= split.bin;
        let (before, after): (Vec<u32>, Vec<u32>) = whole.samples.into_iter().partition(is_left);
        let smaller_is_left = before.len() <= after.len();
        let smaller = if smaller_is_left { &before } else { &after };
        let small = self.sums(left, smaller, features);
        let mut large = whole.sums;
        for (sum, part) in large.iter_mut().zip(&small) {
            *sum = (sum.0 - part.0, sum.1 - part.1);
        }
        let small_sum: f64 = smaller.iter().map(|&at| left[at as usize]).sum();
        let ((left_sums, left_sum), (right_sums, right_sum)) = if smaller_is_left {
            ((small, small_sum), (large, whole.sum - small_sum))
        } else {
            ((large, whole.sum - small_sum), (small, small_sum))
        };
        [
            self.leaf(next, before, left_sum, left_sums, features),
            self.leaf(next + 1, after, right_sum, right_sums, features),
        ]
    }
}

fn leaf(sum: f64, count: usize) -> Node {
    Node {
        feature: 0,
        edge: 0.0,
        children: [0; 2],
        value: RATE * sum / (count as f64 + DRAWN_TO_ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y is a product of signs of two features, which no line knows, with some noise; the third tells nothing.
    fn examples(samples: usize, noise: f64) -> Examples {
        let mut random = Random::new(5);
        let mut found = Examples {
            width: 3,
            ..Examples::default()
        };
        for at in 0..samples {
            let row = [0, 1, 2].map(|_| random.normal(0.0, 1.0) as f32);
            let y = f64::from(row[0].signum() * row[1].signum());
            found.features.extend(row);
            found.targets.push(y + random.normal(0.0, noise));
            found.left_out.push(at % 5 == 0);
        }
        found
    }

    #[test]
    fn trees_find_what_no_line_knows() {
        let trees = Trees::fit(&examples(3000, 0.3), 1).unwrap();
        for row in [[1.0, 1.0, 0.0], [-1.0, 1.0, 2.0], [-0.7, -0.7, -2.0]] {
            let wanted = f64::from(row[0] * row[1]).signum();
            let found = trees.value(&row);
            assert!((found - wanted).abs() < 0.25, "{row:?}: {found}");
        }
    }

    #[test]
    fn noise_alone_and_few_samples_give_no_trees() {
        let mut noise = examples(1000, 0.0);
        let mut random = Random::new(9);
        for target in &mut noise.targets {
            *target = random.normal(0.0, 1.0);
        }
        assert_eq!(Trees::fit(&noise, 1), None);
        assert_eq!(Trees::fit(&examples(20, 0.0), 1), None);
        assert_eq!(Trees::fit(&Examples::default(), 1), None);
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let examples = examples(500, 0.1);
        assert_eq!(Trees::fit(&examples, 3), Trees::fit(&examples, 3));
        assert_ne!(Trees::fit(&examples, 3), Trees::fit(&examples, 4));
    }
}
