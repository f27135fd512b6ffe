//! Tensorclasses: dictionaries with declared fields.

use std::ffi::CString;

use tensordict_sys as sys;

use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, read_text, sound, text, Error, Result};
use crate::handle::Handle;
use crate::library;
use crate::sizes::Sizes;
use crate::tensor::Tensor;

/// What a field of a tensorclass holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// A tensor.
    Tensor,
    /// A dictionary of any content.
    Dict,
    /// A non-tensor value.
    Value,
    /// A tensorclass of another type.
    Tensorclass,
    /// A kind that this version of the crate does not know.
    Unknown(i32),
}

impl FieldKind {
    fn raw(self) -> sys::td_field_kind {
        match self {
            Self::Tensor => sys::TD_FIELD_TENSOR,
            Self::Dict => sys::TD_FIELD_DICT,
            Self::Value => sys::TD_FIELD_NON_TENSOR,
            Self::Tensorclass => sys::TD_FIELD_TENSORCLASS,
            Self::Unknown(kind) => kind,
        }
    }

    fn from_raw(kind: sys::td_field_kind) -> Self {
        match kind {
            sys::TD_FIELD_TENSOR => Self::Tensor,
            sys::TD_FIELD_DICT => Self::Dict,
            sys::TD_FIELD_NON_TENSOR => Self::Value,
            sys::TD_FIELD_TENSORCLASS => Self::Tensorclass,
            other => Self::Unknown(other),
        }
    }
}

/// What is declared of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// The key of the entry.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Of a tensor; `None` for any.
    pub dtype: Option<DType>,
    /// Behind the batch size, -1 for any size; `None` for any.
    pub sizes: Option<Vec<i64>>,
    /// Whether it may be empty.
    pub optional: bool,
    /// Whether it has a default.
    pub has_default: bool,
}

/// The declaration of a field, for [`TensorclassType::new`].
#[derive(Clone)]
pub struct FieldSpec<'a> {
    info: FieldInfo,
    tensor: Option<&'a Tensor>,
    json: Option<String>,
    tensorclass: Option<&'a TensorclassType>,
}

impl<'a> FieldSpec<'a> {
    fn new(name: &str, kind: FieldKind) -> Self {
        let name = name.to_owned();
        let info =
            FieldInfo { name, kind, dtype: None, sizes: None, optional: false, has_default: false };
        Self { info, tensor: None, json: None, tensorclass: None }
    }

    /// A tensor of any dtype, with any sizes behind the batch size.
    pub fn tensor(name: &str) -> Self {
        Self::new(name, FieldKind::Tensor)
    }

    /// A dictionary of any content.
    pub fn dict(name: &str) -> Self {
        Self::new(name, FieldKind::Dict)
    }

    /// A non-tensor value.
    pub fn value(name: &str) -> Self {
        Self::new(name, FieldKind::Value)
    }

    /// A tensorclass of another type.
    pub fn tensorclass(name: &str, tensorclass: &'a TensorclassType) -> Self {
        Self { tensorclass: Some(tensorclass), ..Self::new(name, FieldKind::Tensorclass) }
    }

    /// Only tensors of this dtype.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.info.dtype = Some(dtype);
        self
    }

    /// Only tensors with these sizes behind the batch size; -1 is any size.
    pub fn sizes(mut self, sizes: impl Sizes) -> Self {
        self.info.sizes = Some(sizes.sizes());
        self
    }

    /// The field may be empty.
    pub fn optional(mut self) -> Self {
        self.info.optional = true;
        self
    }

    /// What stands there for each element of the batch when nothing is said.
    pub fn default_tensor(mut self, tensor: &'a Tensor) -> Self {
        self.tensor = Some(tensor);
        self
    }

    /// The value that stands there when nothing is said, as JSON text.
    pub fn default_json(mut self, json: &str) -> Self {
        self.json = Some(json.to_owned());
        self
    }
}

/// How the tensorclasses of a type behave.
#[derive(Clone, Copy, Default)]
pub struct TensorclassOptions<'a> {
    flags: sys::td_tensorclass_flags,
    base: Option<&'a TensorclassType>,
}

impl<'a> TensorclassOptions<'a> {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tensors of another dtype are converted; else they are refused.
    pub fn autocast(self, autocast: bool) -> Self {
        self.flag(sys::TD_TENSORCLASS_AUTOCAST, autocast)
    }

    /// Tensorclasses are locked.
    pub fn frozen(self, frozen: bool) -> Self {
        self.flag(sys::TD_TENSORCLASS_FROZEN, frozen)
    }

    /// A type whose fields come first.
    pub fn base(mut self, base: &'a TensorclassType) -> Self {
        self.base = Some(base);
        self
    }

    fn flag(mut self, flag: sys::td_tensorclass_flags, on: bool) -> Self {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
        self
    }
}

/// A name, and what is declared of each field. [`tensorclass!`](crate::tensorclass!) makes one of a
/// struct; this is what to use when the fields are known at run time only.
///
/// ```
/// use tensordict::{DType, ErrorKind, FieldSpec, TensorclassType, Tensor};
///
/// let pose = TensorclassType::new("Pose", [
///     FieldSpec::tensor("position").dtype(DType::F32).sizes([3]),
///     FieldSpec::tensor("weight").optional(),
/// ])?;
/// let mut td = pose.make([2])?; // zeros
/// assert_eq!(td.tensor("position")?.shape(), [2, 3]);
/// let wrong = Tensor::zeros([2, 4], DType::F32)?;
/// assert_eq!(td.set("position", wrong).unwrap_err().kind(), ErrorKind::Shape);
/// assert_eq!(td.at(0)?.tensorclass_type().unwrap().name(), "Pose");
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct TensorclassType {
    handle: Handle<sys::td_tensorclass>,
}

// SAFETY: a tensorclass never changes, and the library reads it on any thread.
unsafe impl Sync for TensorclassType {}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(sys::TD_ERR_KEY_INVALID, format!("the text {text:?} holds a NUL")))
}

impl TensorclassType {
    /// A type of some fields.
    #[track_caller]
    pub fn new<'a>(name: &str, fields: impl IntoIterator<Item = FieldSpec<'a>>) -> Result<Self> {
        Self::with_options(name, fields, TensorclassOptions::new())
    }

    /// A type of some fields, as its options say.
    #[track_caller]
    pub fn with_options<'a>(
        name: &str,
        fields: impl IntoIterator<Item = FieldSpec<'a>>,
        options: TensorclassOptions<'_>,
    ) -> Result<Self> {
        library::ready()?;
        let fields: Vec<FieldSpec<'a>> = fields.into_iter().collect();
        let name = c_text(name)?;
        let mut texts = Vec::new();
        for field in &fields {
            let json = field.json.as_deref().map(c_text).transpose()?;
            texts.push((c_text(&field.info.name)?, json));
        }
        let raw: Vec<sys::td_field> =
            fields.iter().zip(&texts).map(|(field, texts)| field.raw(texts)).collect();
        let options = sys::td_tensorclass_options {
            flags: options.flags,
            base: options.base.map_or(std::ptr::null(), |base| base.handle.get()),
            ..Default::default()
        };
        // SAFETY: all texts and lists live until the call returns, and are as long as they are said to be.
        Ok(Self::receive(|result| unsafe {
            sys::td_tensorclass_create(name.as_ptr(), raw.as_ptr(), raw.len(), &options, result)
        })?
        .expect("a call that succeeds gives a type"))
    }

    #[track_caller]
    fn receive(
        call: impl FnOnce(*mut *mut sys::td_tensorclass) -> sys::td_status,
    ) -> Result<Option<Self>> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok((!token.is_null()).then(|| Self { handle: unsafe { Handle::new(token) } }))
    }

    /// Its name.
    pub fn name(&self) -> String {
        // SAFETY: the handle is alive, and the text is as long as it is said to be.
        sound(read_text(|text, cap, length| unsafe {
            sys::td_tensorclass_name(self.handle.get(), text, cap, length)
        }))
    }

    /// What was declared of each field.
    pub fn fields(&self) -> Vec<FieldInfo> {
        // SAFETY: the handle is alive.
        let count = unsafe { sys::td_tensorclass_len(self.handle.get()) };
        let field = |position| {
            let mut raw = sys::td_field::default();
            // SAFETY: the handle is alive; what was written points at memory that lives as long.
            unsafe {
                sound(check(sys::td_tensorclass_field(self.handle.get(), position, &mut raw)));
                FieldInfo::read(&raw)
            }
        };
        (0..count).map(field).collect()
    }

    /// A new tensorclass: defaults, zeros where dtype and sizes are declared in full, empty dictionaries.
    #[track_caller]
    pub fn make(&self, batch_size: impl Sizes) -> Result<TensorDict> {
        self.create(batch_size.sizes(), None)
    }

    /// As [`make`](Self::make), on a device.
    #[track_caller]
    pub fn make_on(&self, batch_size: impl Sizes, device: Device) -> Result<TensorDict> {
        self.create(batch_size.sizes(), Some(device))
    }

    #[track_caller]
    fn create(&self, sizes: Vec<i64>, device: Option<Device>) -> Result<TensorDict> {
        let (kind, index) = Device::raw_or_none(device);
        // SAFETY: the handle is alive, and the list of sizes is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            let handle = self.handle.get();
            sys::td_tensorclass_instantiate(
                handle,
                sizes.as_ptr(),
                sizes.len(),
                kind,
                index,
                result,
            )
        })
    }
}

impl FieldSpec<'_> {
    fn raw(&self, texts: &(CString, Option<CString>)) -> sys::td_field {
        let sizes = self.info.sizes.as_deref();
        let mut flags = 0;
        if self.info.optional {
            flags |= sys::TD_FIELD_OPTIONAL;
        }
        if sizes.is_some() {
            flags |= sys::TD_FIELD_HAS_FEATURE;
        }
        sys::td_field {
            name: texts.0.as_ptr(),
            kind: self.info.kind.raw(),
            dtype: self.info.dtype.map_or(sys::TD_DTYPE_OTHER, DType::raw),
            flags,
            feature_dims: sizes.map_or(0, |sizes| u32::try_from(sizes.len()).unwrap_or(u32::MAX)),
            feature: sizes.map_or(std::ptr::null(), <[i64]>::as_ptr),
            default_tensor: self.tensor.map_or(std::ptr::null(), Tensor::raw),
            default_json: texts.1.as_ref().map_or(std::ptr::null(), |json| json.as_ptr()),
            tensorclass: self
                .tensorclass
                .map_or(std::ptr::null(), |tensorclass| tensorclass.handle.get()),
            ..Default::default()
        }
    }
}

impl FieldInfo {
    /// # Safety
    /// What the raw field points at is alive.
    unsafe fn read(raw: &sys::td_field) -> Self {
        let has_sizes = raw.flags & sys::TD_FIELD_HAS_FEATURE != 0;
        let dims = if has_sizes { raw.feature_dims as usize } else { 0 };
        // SAFETY: as promised by the caller.
        let (name, sizes) = unsafe {
            (text(raw.name), (0..dims).map(|i| *raw.feature.add(i)).collect::<Vec<i64>>())
        };
        let dtype = (raw.dtype != sys::TD_DTYPE_OTHER).then(|| DType::from_raw(raw.dtype));
        Self {
            name,
            kind: FieldKind::from_raw(raw.kind),
            dtype,
            sizes: has_sizes.then_some(sizes),
            optional: raw.flags & sys::TD_FIELD_OPTIONAL != 0,
            has_default: raw.flags & sys::TD_FIELD_HAS_DEFAULT != 0,
        }
    }
}

impl std::fmt::Debug for TensorclassType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorclassType").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Dict {
    /// The type of a tensorclass; `None` for a plain dictionary.
    pub fn tensorclass_type(&self) -> Option<TensorclassType> {
        // SAFETY: the handle is alive.
        sound(TensorclassType::receive(|result| unsafe {
            sys::td_tensorclass_of(self.raw(), result)
        }))
    }

    /// Makes a tensorclass of the dictionary: it is looked at, missing fields that have a default get it. From
    /// then on what is set is checked. `None` makes a plain dictionary of it again.
    #[track_caller]
    pub fn set_tensorclass_type(&mut self, tensorclass: Option<&TensorclassType>) -> Result<()> {
        let tensorclass =
            tensorclass.map_or(std::ptr::null(), |tensorclass| tensorclass.handle.get());
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_set_tensorclass(self.raw_mut(), tensorclass) })
    }

    /// Fails when the dictionary is not what a type says; `None` for the type that it has.
    #[track_caller]
    pub fn check_tensorclass(&self, tensorclass: Option<&TensorclassType>) -> Result<()> {
        let tensorclass =
            tensorclass.map_or(std::ptr::null(), |tensorclass| tensorclass.handle.get());
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_tensorclass_check(tensorclass, self.raw()) })
    }
}
