//! Structs whose fields are entries of a dictionary.

use crate::dict::{Dict, TensorDict};
use crate::error::Result;
use crate::tensor::Tensor;
use crate::tensorclass_type::{FieldSpec, TensorclassType};

/// A struct made by [`tensorclass!`](crate::tensorclass!).
pub trait Tensorclass: Sized {
    /// Its fields, as the library knows them.
    fn tensorclass_type() -> Result<&'static TensorclassType>;

    /// A tensorclass over a dictionary that has these fields and no others.
    fn from_tensordict(dict: TensorDict) -> Result<Self>;

    /// The dictionary, plain again.
    fn into_tensordict(self) -> Result<TensorDict>;
}

/// What a field of a [`tensorclass!`](crate::tensorclass!) may be: a [`Tensor`], a [`TensorDict`], a
/// [`Json`] value, another tensorclass, or an `Option` of one of these. What is read is a handle of its own over the same
/// memory.
pub trait FieldType: Sized {
    #[doc(hidden)]
    fn declare(name: &str) -> Result<FieldSpec<'static>>;
    #[doc(hidden)]
    #[track_caller]
    fn read(dict: &Dict, name: &str) -> Result<Self>;
    #[doc(hidden)]
    #[track_caller]
    fn put(self, dict: &mut Dict, name: &str) -> Result<()>;
}

impl FieldType for Tensor {
    fn declare(name: &str) -> Result<FieldSpec<'static>> {
        Ok(FieldSpec::tensor(name))
    }

    #[track_caller]
    fn read(dict: &Dict, name: &str) -> Result<Self> {
        dict.tensor(name)
    }

    #[track_caller]
    fn put(self, dict: &mut Dict, name: &str) -> Result<()> {
        dict.set(name, self)
    }
}

impl FieldType for TensorDict {
    fn declare(name: &str) -> Result<FieldSpec<'static>> {
        Ok(FieldSpec::dict(name))
    }

    #[track_caller]
    fn read(dict: &Dict, name: &str) -> Result<Self> {
        dict.dict(name)?.shallow_copy()
    }

    #[track_caller]
    fn put(self, dict: &mut Dict, name: &str) -> Result<()> {
        dict.set(name, self)
    }
}

/// A non-tensor value, as JSON text: a field of a [`tensorclass!`](crate::tensorclass!).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Json(
    /// The text.
    pub String,
);

impl FieldType for Json {
    fn declare(name: &str) -> Result<FieldSpec<'static>> {
        Ok(FieldSpec::value(name))
    }

    #[track_caller]
    fn read(dict: &Dict, name: &str) -> Result<Self> {
        dict.non_tensor_json(name).map(Self)
    }

    #[track_caller]
    fn put(self, dict: &mut Dict, name: &str) -> Result<()> {
        dict.set_json(name, &self.0)
    }
}

impl<T: FieldType> FieldType for Option<T> {
    fn declare(name: &str) -> Result<FieldSpec<'static>> {
        Ok(T::declare(name)?.optional())
    }

    #[track_caller]
    fn read(dict: &Dict, name: &str) -> Result<Self> {
        match dict.kind(name)? {
            None => Ok(None),
            Some(_) => T::read(dict, name).map(Some),
        }
    }

    #[track_caller]
    fn put(self, dict: &mut Dict, name: &str) -> Result<()> {
        match self {
            Some(value) => value.put(dict, name),
            None if dict.contains(name) => dict.remove(name),
            None => Ok(()),
        }
    }
}

/// A struct whose fields are the entries of a dictionary, checked by the library.
///
/// ```
/// use tensordict::{i, tensorclass, DType, Tensor};
///
/// tensorclass! {
///     /// Images with what is known of them.
///     pub struct MyData {
///         image: Tensor as F32 [3, -1, -1], // behind the batch size; -1 is any size
///         mask: Tensor,
///         label: Option<Tensor>,
///     }
/// }
///
/// let images = Tensor::zeros([100, 3, 8, 8], DType::F32)?;
/// let masks = Tensor::zeros([100, 1, 8, 8], DType::Bool)?;
/// let mut data = MyData::new([100], images, masks, None)?;
/// assert_eq!(data.at(i![10..20])?.image()?.shape(), [10, 3, 8, 8]); // a MyData
/// assert_eq!(data.reshape([10, 10])?.batch_size(), [10, 10]);
/// data.set_field("label", Some(Tensor::zeros([100], DType::I64)?))?;
/// assert!(data.label()?.is_some());
/// assert!(data.set("picture", Tensor::scalar(1i64)?).is_err()); // no such field
/// println!("{data}");
/// # Ok::<(), tensordict::Error>(())
/// ```
///
/// The struct dereferences to [`Dict`](crate::Dict), so all that asks or changes is there; what gives
/// another dictionary is there too, and `with` makes a tensorclass of any of them. Methods of one's own go
/// into an `impl` block.
#[macro_export]
macro_rules! tensorclass {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $type:ty $(as $dtype:ident [$($size:expr),* $(,)?])?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            dict: $crate::TensorDict,
        }

        #[allow(dead_code)]
        impl $name {
            /// A tensorclass of its fields.
            #[track_caller]
            pub fn new(batch_size: impl $crate::Sizes, $($field: $type),*) -> $crate::Result<Self> {
                #[allow(unused_mut)]
                let mut dict = $crate::TensorDict::new(batch_size)?;
                $($crate::FieldType::put($field, &mut dict, stringify!($field))?;)*
                <Self as $crate::Tensorclass>::from_tensordict(dict)
            }

            /// A tensorclass over a dictionary that has these fields and no others.
            #[track_caller]
            pub fn from_tensordict(dict: $crate::TensorDict) -> $crate::Result<Self> {
                <Self as $crate::Tensorclass>::from_tensordict(dict)
            }

            /// The dictionary, plain again.
            #[track_caller]
            pub fn into_tensordict(self) -> $crate::Result<$crate::TensorDict> {
                <Self as $crate::Tensorclass>::into_tensordict(self)
            }

            $(
                $(#[$field_meta])*
                #[track_caller]
                pub fn $field(&self) -> $crate::Result<$type> {
                    <$type as $crate::FieldType>::read(&self.dict, stringify!($field))
                }
            )*

            /// Stores a field; `None` empties an optional one.
            #[track_caller]
            pub fn set_field(
                &mut self,
                field: &str,
                value: impl $crate::FieldType,
            ) -> $crate::Result<()> {
                value.put(&mut self.dict, field)
            }

            /// What an operation on dictionaries makes of it.
            #[track_caller]
            pub fn with(
                &self,
                f: impl FnOnce(&$crate::Dict) -> $crate::Result<$crate::TensorDict>,
            ) -> $crate::Result<Self> {
                let dict = f(&self.dict)?;
                match dict.tensorclass_type() {
                    // A change of dtype is not undone by what was declared.
                    Some(made) if made.name() == stringify!($name) => Ok(Self { dict }),
                    _ => Self::from_tensordict(dict),
                }
            }

            /// A part.
            #[track_caller]
            pub fn at<'a>(&self, index: impl $crate::Indices<'a>) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::Dict::at(&self.dict, index)? })
            }

            /// The same entries under another batch size, sharing memory.
            #[track_caller]
            pub fn view(&self, sizes: impl $crate::Sizes) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::Dict::view(&self.dict, sizes)? })
            }

            /// As `view`, but copies where a view is not possible.
            #[track_caller]
            pub fn reshape(&self, sizes: impl $crate::Sizes) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::Dict::reshape(&self.dict, sizes)? })
            }

            /// Reorders the first batch dimensions.
            #[track_caller]
            pub fn permute(&self, order: impl $crate::Sizes) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::Dict::permute(&self.dict, order)? })
            }

            /// The parts along a batch dimension.
            #[track_caller]
            pub fn unbind(&self, dim: i64) -> $crate::Result<Vec<Self>> {
                let parts = $crate::Dict::unbind(&self.dict, dim)?;
                Ok(parts.into_iter().map(|dict| Self { dict }).collect())
            }

            /// A copy with memory of its own.
            #[track_caller]
            pub fn deep_clone(&self) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::Dict::deep_clone(&self.dict)? })
            }

            /// Joins tensorclasses along a new batch dimension.
            #[track_caller]
            pub fn stack<'a>(
                tensorclasses: impl IntoIterator<Item = &'a Self>,
                dim: i64,
            ) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::TensorDict::stack(tensorclasses, dim)? })
            }

            /// Joins tensorclasses along a batch dimension they have.
            #[track_caller]
            pub fn cat<'a>(
                tensorclasses: impl IntoIterator<Item = &'a Self>,
                dim: i64,
            ) -> $crate::Result<Self> {
                Ok(Self { dict: $crate::TensorDict::cat(tensorclasses, dim)? })
            }
        }

        impl $crate::Tensorclass for $name {
            fn tensorclass_type() -> $crate::Result<&'static $crate::TensorclassType> {
                static TYPE: ::std::sync::OnceLock<$crate::TensorclassType> =
                    ::std::sync::OnceLock::new();
                if let Some(made) = TYPE.get() {
                    return Ok(made);
                }
                let fields = [$(
                    <$type as $crate::FieldType>::declare(stringify!($field))?
                        $(.dtype($crate::DType::$dtype).sizes(Vec::<i64>::from([$($size),*])))?
                ),*];
                let made = $crate::TensorclassType::new(stringify!($name), fields)?;
                Ok(TYPE.get_or_init(|| made))
            }

            #[track_caller]
            fn from_tensordict(mut dict: $crate::TensorDict) -> $crate::Result<Self> {
                dict.set_tensorclass_type(Some(<Self as $crate::Tensorclass>::tensorclass_type()?))?;
                Ok(Self { dict })
            }

            #[track_caller]
            fn into_tensordict(mut self) -> $crate::Result<$crate::TensorDict> {
                self.dict.set_tensorclass_type(None)?;
                Ok(self.dict)
            }
        }

        impl $crate::FieldType for $name {
            fn declare(name: &str) -> $crate::Result<$crate::FieldSpec<'static>> {
                Ok($crate::FieldSpec::tensorclass(name, <Self as $crate::Tensorclass>::tensorclass_type()?))
            }

            fn read(dict: &$crate::Dict, name: &str) -> $crate::Result<Self> {
                Ok(Self { dict: <$crate::TensorDict as $crate::FieldType>::read(dict, name)? })
            }

            fn put(self, dict: &mut $crate::Dict, name: &str) -> $crate::Result<()> {
                $crate::FieldType::put(self.dict, dict, name)
            }
        }

        impl ::std::ops::Deref for $name {
            type Target = $crate::Dict;

            fn deref(&self) -> &$crate::Dict {
                &self.dict
            }
        }

        impl ::std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut $crate::Dict {
                &mut self.dict
            }
        }

        impl AsRef<$crate::Dict> for $name {
            fn as_ref(&self) -> &$crate::Dict {
                &self.dict
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.dict, f)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.dict, f)
            }
        }
    };
}
