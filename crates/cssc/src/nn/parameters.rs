//! All parameters of a model in one named store.
//!
//! The numbers lie in one flat array, in the order of their creation: the optimiser, the
//! gradient buffers of the shards, checkpoints and model files all see this array. Beside it
//! each weight matrix is kept in the layout of the kernels, straight and transposed; call
//! [`Parameters::pack`] after every change (once per optimiser step).

use super::arch;
use super::float::Float;
use super::kernel::{Orientation, Packed};
use crate::data::Random;
use std::ops::Range;

/// One parameter of a store: a matrix [rows, columns] (a bias has one row).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ParameterId(pub(crate) usize);

/// What a parameter does in its layer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParameterRole {
    /// A matrix that rows are multiplied by: laid out for the kernels by [`Parameters::pack`].
    Weight,
    /// The same where a network begins or ends: an optimiser may treat it differently.
    Embedding,
    /// Numbers that are added to each row.
    Bias,
    /// Numbers that each row is multiplied by, column by column.
    Gain,
}

/// Name, role, shape and place of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterInfo {
    /// Its name, e.g. `dynamics.0.weight`.
    pub name: String,
    /// What it does.
    pub role: ParameterRole,
    /// Rows (inputs of a layer) and columns (its outputs).
    pub shape: [usize; 2],
    /// Its numbers in [`Parameters::values`].
    pub range: Range<usize>,
}

/// How a new parameter is filled.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "nn", derive(serde::Serialize, serde::Deserialize))]
#[serde(rename_all = "kebab-case")]
pub enum Initializer {
    /// All zero.
    Zeros,
    /// All one: for gains.
    Ones,
    /// Normal with mean 0 and this standard deviation; the reference code uses 0.1.
    Normal(f64),
    /// Uniform in ±√(6/(rows + columns)) (Glorot and Bengio 2010).
    Glorot,
    /// Uniform in ±1/√rows, rows being the inputs of a layer.
    FanIn,
}

#[derive(Clone, Debug, Default)]
struct PackedWeight<T> {
    straight: Packed<T>,
    transposed: Packed<T>,
}

/// The named store.
#[derive(Clone, Debug, Default)]
pub struct Parameters<T> {
    infos: Vec<ParameterInfo>,
    values: Vec<T>,
    packed: Vec<PackedWeight<T>>,
    content: Content,
}

/// What new parameters are filled with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Content {
    /// What their initializer says.
    #[default]
    Drawn,
    /// Zeros, to be filled from a file.
    Blank,
    /// Nothing: names and shapes only, so that sizes are known before memory is taken.
    Planned,
}

impl<T: Float> Parameters<T> {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            infos: Vec::new(),
            values: Vec::new(),
            packed: Vec::new(),
            content: Content::Drawn,
        }
    }

    /// An empty store whose parameters will be zero, to be filled from a file.
    #[must_use]
    pub fn blank() -> Self {
        Self {
            content: Content::Blank,
            ..Self::new()
        }
    }

    /// An empty store that keeps names and shapes only, to know the size of a network before any memory
    /// is taken for it ([`Parameters::count`]).
    #[must_use]
    pub fn planned() -> Self {
        Self {
            content: Content::Planned,
            ..Self::new()
        }
    }

    /// How many numbers all parameters have.
    #[must_use]
    pub fn count(&self) -> usize {
        self.infos.last().map_or(0, |info| info.range.end)
    }

    /// Adds a parameter; its name must be new.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        role: ParameterRole,
        shape: [usize; 2],
        initializer: Initializer,
        random: &mut Random,
    ) -> ParameterId {
        let name = name.into();
        debug_assert!(self.find(&name).is_none(), "{name} exists already");
        let start = self.count();
        let count = shape[0].saturating_mul(shape[1]);
        match self.content {
            Content::Drawn => self
                .values
                .extend((0..count).map(|_| T::from_f64(initializer.draw(shape, random)))),
            Content::Blank => self.values.resize(start + count, T::ZERO),
            Content::Planned => {}
        }
        self.infos.push(ParameterInfo {
            name,
            role,
            shape,
            range: start..start.saturating_add(count),
        });
        self.packed.push(PackedWeight::default());
        ParameterId(self.infos.len() - 1)
    }

    /// Says that the weight of the layer `name` is an [`Embedding`](ParameterRole::Embedding).
    pub fn embed(&mut self, name: &str) {
        let weight = format!("{name}.weight");
        let found = self.infos.iter_mut().find(|info| info.name == weight);
        if let Some(info) = found {
            info.role = ParameterRole::Embedding;
        }
    }

    /// Names, shapes and places, in order.
    #[must_use]
    pub fn infos(&self) -> &[ParameterInfo] {
        &self.infos
    }

    /// The parameter of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ParameterId> {
        self.infos
            .iter()
            .position(|info| info.name == name)
            .map(ParameterId)
    }

    /// All numbers, in order of creation.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All numbers, to be changed; call [`Parameters::pack`] afterwards.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The numbers of one parameter.
    #[must_use]
    pub fn get(&self, id: ParameterId) -> &[T] {
        &self.values[self.infos[id.0].range.clone()]
    }

    /// Lays the weights out for the kernels.
    pub fn pack(&mut self) {
        let arch = arch::best();
        for (info, packed) in self.infos.iter().zip(&mut self.packed) {
            let [rows, columns] = info.shape;
            if matches!(info.role, ParameterRole::Weight | ParameterRole::Embedding) {
                let matrix = &self.values[info.range.clone()];
                packed
                    .straight
                    .pack(arch, matrix, rows, columns, Orientation::Straight);
                packed
                    .transposed
                    .pack(arch, matrix, rows, columns, Orientation::Transposed);
            }
        }
    }

    /// The same store in another precision, packed.
    #[must_use]
    pub fn cast<U: Float>(&self) -> Parameters<U> {
        let mut other = Parameters {
            infos: self.infos.clone(),
            values: self
                .values
                .iter()
                .map(|x| U::from_f64(x.to_f64()))
                .collect(),
            packed: vec![PackedWeight::default(); self.infos.len()],
            content: self.content,
        };
        other.pack();
        other
    }

    /// Whether the numbers come from somewhere else, or are not wanted.
    pub(crate) fn is_blank(&self) -> bool {
        self.content != Content::Drawn
    }

    pub(crate) fn straight(&self, id: ParameterId) -> &Packed<T> {
        &self.packed[id.0].straight
    }

    pub(crate) fn transposed(&self, id: ParameterId) -> &Packed<T> {
        &self.packed[id.0].transposed
    }

    pub(crate) fn shape(&self, id: ParameterId) -> [usize; 2] {
        self.infos[id.0].shape
    }

    pub(crate) fn range(&self, id: ParameterId) -> Range<usize> {
        self.infos[id.0].range.clone()
    }
}

impl Initializer {
    fn draw(self, [rows, columns]: [usize; 2], random: &mut Random) -> f64 {
        match self {
            Self::Zeros => 0.0,
            Self::Ones => 1.0,
            Self::Normal(std_dev) => random.normal(0.0, std_dev),
            Self::Glorot => {
                let reach = (6.0 / (rows + columns) as f64).sqrt();
                random.uniform(-reach, reach)
            }
            Self::FanIn => {
                let reach = 1.0 / (rows as f64).sqrt();
                random.uniform(-reach, reach)
            }
        }
    }
}
