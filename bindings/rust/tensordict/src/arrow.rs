//! Tables of Arrow in this process, by the C data interface: no library of Arrow is needed.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, Result};
use crate::library;
use crate::memmap::Folder;

type Release<T> = Option<unsafe extern "C" fn(*mut T)>;

/// The schema of a table of Arrow: `struct ArrowSchema`, and arrow-rs's `FFI_ArrowSchema` by pointer.
/// Dropped, it calls its `release`, unless somebody took it over.
#[repr(C)]
#[derive(Debug)]
#[allow(dead_code)] // the fields are for those who get the pointer
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Release<ArrowSchema>,
    private_data: *mut c_void,
}

/// The values of a table of Arrow: `struct ArrowArray`, and arrow-rs's `FFI_ArrowArray` by pointer.
/// Dropped, it calls its `release`, unless somebody took it over.
#[repr(C)]
#[derive(Debug)]
#[allow(dead_code)] // the fields are for those who get the pointer
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Release<ArrowArray>,
    private_data: *mut c_void,
}

/// A stream of record batches: `struct ArrowArrayStream`, and arrow-rs's `FFI_ArrowArrayStream` by
/// pointer. Dropped, it calls its `release`, unless somebody took it over.
#[repr(C)]
#[derive(Debug)]
#[allow(dead_code)] // the fields are for those who get the pointer
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Release<ArrowArrayStream>,
    private_data: *mut c_void,
}

impl ArrowSchema {
    /// One that holds nothing, for others to fill.
    pub const fn empty() -> Self {
        Self {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    /// Whether there is nothing to release: it is empty, or somebody took it over.
    pub const fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl ArrowArray {
    /// One that holds nothing, for others to fill.
    pub const fn empty() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    /// How many rows there are.
    pub const fn len(&self) -> i64 {
        self.length
    }

    /// Whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether there is nothing to release: it is empty, or somebody took it over.
    pub const fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl ArrowArrayStream {
    /// One that holds nothing, for others to fill.
    pub const fn empty() -> Self {
        Self {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    /// Whether there is nothing to release: it is empty, or somebody took it over.
    pub const fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

macro_rules! released_when_dropped {
    ($($kind:ty)*) => {$(
        impl Drop for $kind {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the producer's own function, called once: it sets `release` to null.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: Arrow lets any thread read and release it.
        unsafe impl Send for $kind {}
    )*};
}
released_when_dropped! { ArrowSchema ArrowArray ArrowArrayStream }

/// What becomes of numbers that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowNulls {
    /// They are refused.
    #[default]
    Refuse,
    /// NaN in columns of floating point; others are refused.
    Nan,
    /// A bool tensor "name.valid" beside a column "name" says which values are there.
    Mask,
}

/// How a table of Arrow is taken over.
#[derive(Clone, Default)]
pub struct FromArrowOptions {
    raw: sys::td_from_arrow_options,
    separator: Option<String>,
}

impl FromArrowOptions {
    /// Without a copy, names of columns as they are, no missing numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of numbers that are missing.
    pub fn nulls(mut self, nulls: ArrowNulls) -> Self {
        self.raw.nulls = match nulls {
            ArrowNulls::Refuse => sys::TD_ARROW_NULLS_REFUSE,
            ArrowNulls::Nan => sys::TD_ARROW_NULLS_NAN,
            ArrowNulls::Mask => sys::TD_ARROW_NULLS_MASK,
        };
        self
    }

    /// Tensors of their own, which may be written.
    pub fn copy(mut self) -> Self {
        self.raw.flags |= sys::TD_FROM_ARROW_COPY;
        self
    }

    /// Splits names of columns into nested keys.
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
        self
    }

    /// The deepest nesting and the most columns accepted; 0 means the library's own limit.
    pub fn limits(mut self, max_depth: u32, max_entries: u32) -> Self {
        (self.raw.max_depth, self.raw.max_entries) = (max_depth, max_entries);
        self
    }

    fn with<R>(&self, f: impl FnOnce(&sys::td_from_arrow_options) -> Result<R>) -> Result<R> {
        library::ready()?;
        let separator = Folder::new(self.separator.as_deref().map(Path::new))?;
        f(&sys::td_from_arrow_options { separator: separator.text(), ..self.raw })
    }
}

/// How a dictionary is lent as a table of Arrow.
#[derive(Clone, Default)]
pub struct ToArrowOptions {
    raw: sys::td_to_arrow_options,
    separator: Option<String>,
}

impl ToArrowOptions {
    /// Nested dictionaries are structs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Complex numbers become lists of two; otherwise they are refused.
    pub fn complex_pairs(mut self) -> Self {
        self.raw.flags |= sys::TD_TO_ARROW_COMPLEX_PAIRS;
        self
    }

    /// Joins the names of nested dictionaries into names of columns.
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
        self
    }

    fn with<R>(&self, f: impl FnOnce(&sys::td_to_arrow_options) -> Result<R>) -> Result<R> {
        let separator = Folder::new(self.separator.as_deref().map(Path::new))?;
        f(&sys::td_to_arrow_options { separator: separator.text(), ..self.raw })
    }
}

impl TensorDict {
    /// Takes over a record batch of Arrow, without a copy where the memory permits.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1.0f32, 2.0], [2])?)])?;
    /// let (mut schema, mut array) = td.to_arrow(&Default::default())?;
    /// // SAFETY: the library has just made both, and nobody else uses them.
    /// let again = unsafe { TensorDict::from_arrow(&mut schema, &mut array, &Default::default())? };
    /// assert_eq!(again.tensor("x")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// assert!(schema.is_released() && array.is_released());
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    ///
    /// Both structs are used up when this succeeds, and unchanged otherwise. Of arrow-rs, cast the
    /// pointers: `ptr::addr_of_mut!(ffi_array).cast()`.
    ///
    /// # Safety
    /// Both are structs of one producer that keeps to Arrow's C data interface; nobody else uses
    /// them during the call. Arrow's memory is immutable: unless
    /// [`copy`](FromArrowOptions::copy) was asked for, nobody writes into these tensors.
    #[track_caller]
    pub unsafe fn from_arrow(
        schema: *mut ArrowSchema,
        array: *mut ArrowArray,
        options: &FromArrowOptions,
    ) -> Result<Self> {
        options.with(|raw| {
            // SAFETY: as promised by the caller; the options live for the call.
            Self::receive(|result| unsafe {
                sys::td_from_arrow(schema.cast(), array.cast(), raw, result)
            })
        })
    }

    /// Reads all record batches of a stream of Arrow, one after the other.
    ///
    /// # Safety
    /// As for [`from_arrow`](Self::from_arrow); the stream is used up, whatever this returns.
    #[track_caller]
    pub unsafe fn from_arrow_stream(
        stream: *mut ArrowArrayStream,
        options: &FromArrowOptions,
    ) -> Result<Self> {
        options.with(|raw| {
            // SAFETY: as promised by the caller; the options live for the call.
            Self::receive(|result| unsafe { sys::td_from_arrow_stream(stream.cast(), raw, result) })
        })
    }
}

impl Dict {
    /// Lends the dictionary as a record batch of Arrow, a row for each element of the first batch
    /// dimension, without a copy where tensors are row-major on the CPU. To hand it to arrow-rs, move
    /// it out: `FFI_ArrowArray::from_raw(ptr::addr_of_mut!(array).cast())`.
    #[track_caller]
    pub fn to_arrow(&self, options: &ToArrowOptions) -> Result<(ArrowSchema, ArrowArray)> {
        let (mut schema, mut array) = (ArrowSchema::empty(), ArrowArray::empty());
        // SAFETY: the handle is alive, and the structs have the layout that Arrow gives them.
        options.with(|raw| unsafe {
            check(sys::td_to_arrow(
                self.raw(),
                raw,
                ptr::addr_of_mut!(schema).cast(),
                ptr::addr_of_mut!(array).cast(),
            ))
        })?;
        Ok((schema, array))
    }

    /// Lends the dictionary as a stream of record batches of `rows` rows each, the last with what is
    /// left, as [`to_arrow`](Self::to_arrow) lends the whole. To hand it to arrow-rs, move it out:
    /// `FFI_ArrowArrayStream::from_raw(ptr::addr_of_mut!(stream).cast())`.
    #[track_caller]
    pub fn to_arrow_stream(
        &self,
        rows: usize,
        options: &ToArrowOptions,
    ) -> Result<ArrowArrayStream> {
        let mut stream = ArrowArrayStream::empty();
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        // SAFETY: the handle is alive, and the struct has the layout that Arrow gives it.
        options.with(|raw| unsafe {
            check(sys::td_to_arrow_stream(self.raw(), rows, raw, ptr::addr_of_mut!(stream).cast()))
        })?;
        Ok(stream)
    }
}
