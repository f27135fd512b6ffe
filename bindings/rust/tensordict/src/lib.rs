//! Dictionaries of tensors with a batch size: indexed, reshaped, stacked, moved and stored as one, in
//! memory and in the folders of Python's tensordict.
//!
//! ```
//! use tensordict::{i, DType, Ellipsis, ErrorKind, NewAxis, Step as _, Tensor, TensorDict};
//!
//! # fn main() -> tensordict::Result<()> {
//! let mut td = TensorDict::new([3, 4])?;
//! td.set("obs", Tensor::from_vec(vec![0.5f32; 3 * 4 * 84], [3, 4, 84])?)?; // the Vec moves in
//! td.set(("agents", "reward"), Tensor::zeros([3, 4, 1], DType::F32)?)?;
//! println!("{td}"); // reads like Python's repr
//!
//! let first = td.at(0)?; // batch [4], views
//! let tail = td.at(i![.., -2..])?; // td[:, -2:]
//! let odd = td.at(i![(1..).step(2), Ellipsis, NewAxis])?; // td[1::2, ..., None]
//! assert_eq!(tail.batch_size(), [3, 2]);
//! assert_eq!(odd.batch_size(), [1, 4, 1]);
//! td.set_at(i![0, 1], &first.at(3)?)?;
//!
//! for entry in td.leaves() {
//!     let (key, leaf) = entry?;
//!     println!("{key:?}: {:?} {}", leaf.shape(), leaf.dtype());
//! }
//! match td.get("missing") {
//!     Err(e) if e.kind() == ErrorKind::Key => println!("{e}"),
//!     other => panic!("{other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Every value is a handle that is cheap to make and is given back when dropped; nothing that is
//! passed by reference is consumed. Failures are an [`Error`] with a kind, one line of text and the line
//! of the caller; nothing panics on bad input.

#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod options;

mod apply;
mod archive;
mod arrow;
mod batches;
mod call;
mod callback;
mod consolidate;
mod convert;
mod dataset;
mod device;
mod dict;
mod distribution;
mod dtype;
mod edit;
mod entry;
mod error;
mod file_format;
mod files;
mod fill;
mod fmt;
mod future;
mod gradient;
mod group;
mod grow;
mod handle;
mod hdf5;
mod index;
mod iter;
mod joins;
mod key;
mod layout;
mod lazy;
mod library;
mod lock;
mod map;
mod mask;
mod math;
mod math_ops;
mod memmap;
mod message;
mod module;
mod names;
mod nested_tensor;
mod operators;
mod optimizer;
mod pack;
mod part;
mod progress;
mod random;
mod rearrange;
mod reload;
mod replay;
mod rows;
mod select;
mod sequences;
mod shape;
mod share;
mod sizes;
mod state;
mod state_dict;
mod store;
mod table;
mod tensor;
mod tensorclass;
mod tensorclass_type;
mod tree;
mod update;
mod values;
mod verify;
mod writer;

pub use apply::{ApplyEntry, ApplyOptions, FilterEmpty};
pub use archive::{Compression, PackOptions};
pub use arrow::{
    ArrowArray, ArrowArrayStream, ArrowNulls, ArrowSchema, FromArrowOptions, ToArrowOptions,
};
pub use batches::{BatchIter, Batches, EpochIter, Loader};
pub use call::{CallArgument, CallOptions, CallValue, Leaf};
pub use consolidate::ConsolidateOptions;
pub use convert::{DTypeKinds, Target, ToOptions};
pub use dataset::{
    Dataset, DatasetKind, DatasetOptions, DatasetSaveOptions, DatasetVideo, DatasetWriter,
};
pub use device::{Device, DeviceKind};
pub use dict::{Dict, DictMut, DictRef, TensorDict};
pub use distribution::{Distribution, DistributionKind, ProbabilisticOptions};
pub use dtype::{DType, Element, BF16, F16};
pub use edit::OwnedValue;
pub use entry::{EntryKind, IntoEntry, Value};
pub use error::{Error, ErrorKind, Result};
pub use files::{FileFormat, FileOptions};
pub use fill::{CloseOptions, Fill, FillOptions};
pub use fmt::{PrintOptions, PrintPart};
pub use future::Future;
pub use gradient::BackwardOptions;
pub use group::{Group, GroupCall, GroupOp, GroupOptions};
pub use grow::{AppendOptions, MemmapLength, Shard};
pub use hdf5::{Hdf5, Hdf5Options, Hdf5SaveOptions};
pub use index::{Ellipsis, Index, IndexList, Indices, NewAxis, Step};
pub use iter::{Items, Keys, KeysOptions, Leaves};
pub use joins::Join;
pub use key::{Key, KeyPath};
pub use layout::Layout;
pub use lazy::{DictKind, Jagged, Padding};
pub use library::{
    abi_version, clear_log, live_handles, set_grad_enabled, set_log, torch_version, version,
    LogLevel,
};
pub use lock::LockGuard;
pub use map::{MapIter, MapOptions, Piece};
pub use math::{Interpolation, Missing, Operand, Reduce};
pub use memmap::{LoadOptions, MemmapOptions};
pub use message::MessageOptions;
pub use module::{Interaction, LoadModuleOptions, Module, ModuleCall, TensorDictModule};
pub use nested_tensor::NestedTensor;
pub use optimizer::{Optimizer, OptimizerKind};
pub use pack::PackLayout;
pub use progress::ProgressBar;
pub use random::Generator;
pub use replay::{HindsightOptions, HindsightStrategy, Replay, ReplayOptions};
pub use select::{KeySet, SplitKeysOptions};
pub use sequences::{CollateOptions, Masks, PadSequenceOptions};
pub use sizes::{Size, Sizes};
pub use state_dict::{LoadStateOptions, SchemaContent, StateOptions};
pub use store::{StoreOptions, TensorDictStore};
pub use table::TableFormat;
pub use tensor::{Dlpack, DlpackForm, Tensor};
pub use tensorclass::{FieldType, Json, Tensorclass};
pub use tensorclass_type::{FieldInfo, FieldKind, FieldSpec, TensorclassOptions, TensorclassType};
pub use tensordict_sys::{DLManagedTensor, DLManagedTensorVersioned};
pub use tree::{TensorMap, Tree};
pub use update::{UpdateMode, UpdateOptions};
pub use verify::{Damage, DamageKind};
pub use writer::{Field, TextField, Writer, WriterOptions};
