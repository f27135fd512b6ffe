//! Dictionaries as the maps of the standard library, and back.

use std::collections::BTreeMap;

use crate::dict::{Dict, TensorDict};
use crate::entry::Value;
use crate::error::Result;
use crate::key::KeyPath;
use crate::nested_tensor::NestedTensor;
use crate::sizes::Sizes;
use crate::tensor::Tensor;

/// A dictionary by its names.
pub type TensorMap = BTreeMap<String, Tree>;

/// An entry of a [`TensorMap`].
#[derive(Debug)]
pub enum Tree {
    /// A tensor, which shares memory with the entry it was made of.
    Tensor(Tensor),
    /// A non-tensor value, as JSON text; one for each element of the batch is a list.
    NonTensor(String),
    /// Tensors of different shapes.
    NestedTensor(NestedTensor),
    /// A nested dictionary.
    Map(TensorMap),
}

impl From<Tensor> for Tree {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<TensorMap> for Tree {
    fn from(map: TensorMap) -> Self {
        Self::Map(map)
    }
}

impl Dict {
    /// The entries as they are, in maps of their names. [`TensorDict::from_map`] is the way back.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict, Tree};
    ///
    /// let mut td = TensorDict::new([2])?;
    /// td.set(("n", "x"), Tensor::from_slice(&[1u8, 2], [2])?)?;
    /// let map = td.to_map()?;
    /// match &map["n"] {
    ///     Tree::Map(n) => assert!(matches!(n["x"], Tree::Tensor(_))),
    ///     other => panic!("{other:?}"),
    /// }
    /// assert!(TensorDict::from_map([2], map)?.equal(&td)?);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn to_map(&self) -> Result<TensorMap> {
        let mut map = TensorMap::new();
        for item in self.items() {
            let (key, value) = item?;
            let entry = match value {
                Value::Tensor(tensor) => Tree::Tensor(tensor),
                Value::NonTensor(json) => Tree::NonTensor(json),
                Value::NestedTensor(nested_tensor) => Tree::NestedTensor(nested_tensor),
                Value::Dict(inner) => Tree::Map(inner.to_map()?),
            };
            map.insert(key.names()[0].clone(), entry);
        }
        Ok(map)
    }
}

impl TensorDict {
    /// A dictionary of the entries of a map, and of those in it.
    #[track_caller]
    pub fn from_map(batch_size: impl Sizes, map: TensorMap) -> Result<Self> {
        let sizes = batch_size.sizes();
        let mut td = Self::new(&sizes)?;
        let mut pending = vec![(Vec::<String>::new(), map)];
        while let Some((path, map)) = pending.pop() {
            for (name, entry) in map {
                let mut path = path.clone();
                path.push(name);
                let key = KeyPath::new(&path);
                match entry {
                    Tree::Tensor(tensor) => td.set(key, tensor)?,
                    Tree::NonTensor(json) => td.set_json(key, &json)?,
                    Tree::NestedTensor(nested_tensor) => td.set(key, nested_tensor)?,
                    Tree::Map(inner) => {
                        td.set(key, Self::new(&sizes)?)?;
                        pending.push((path, inner));
                    }
                }
            }
        }
        Ok(td)
    }
}
