//! Arrays of structs as dictionaries, and back.

use std::ffi::c_void;
use std::mem::{size_of, size_of_val};

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, Result};
use crate::key::{Key, KeyPath, RawKey};
use crate::library;
use crate::sizes::Sizes;

/// Where the members of a struct lie, and which entries they are.
///
/// ```
/// use tensordict::{DType, Layout, TensorDict};
///
/// #[repr(C)]
/// #[derive(Clone, Copy)]
/// struct Point {
///     at: [f32; 2],
///     id: u32,
/// }
///
/// let layout = Layout::of::<Point>()
///     .member("at", DType::F32, [2], 0)
///     .member(("meta", "id"), DType::I32, (), 8);
/// let points = [Point { at: [1.0, 2.0], id: 7 }, Point { at: [3.0, 4.0], id: 8 }];
/// // SAFETY: the members are as the struct has them.
/// let td = unsafe { TensorDict::from_structs(&points, [2], &layout)? };
/// assert_eq!(td.tensor("at")?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(td.tensor(("meta", "id"))?.to_vec::<i32>()?, [7, 8]);
/// # Ok::<(), tensordict::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    item_bytes: usize,
    members: Vec<(KeyPath, DType, Vec<i64>, usize)>,
}

impl Layout {
    /// Of structs that follow each other at this distance.
    pub fn new(item_bytes: usize) -> Self {
        Self { item_bytes, members: Vec::new() }
    }

    /// Of the structs of a slice of `T`.
    pub fn of<T>() -> Self {
        Self::new(size_of::<T>())
    }

    /// One more member: sizes `()` for a number, and how many bytes from the begin it lies.
    pub fn member(mut self, key: impl Key, dtype: DType, sizes: impl Sizes, offset: usize) -> Self {
        self.members.push((KeyPath::new(key), dtype, sizes.sizes(), offset));
        self
    }

    pub(crate) fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    #[track_caller]
    pub(crate) fn raw(&self) -> Result<RawLayout> {
        let keys = self.members.iter().map(|member| RawKey::new(&member.0));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let members =
            self.members.iter().zip(&keys).map(|((_, dtype, sizes, offset), key)| sys::td_member {
                path: key.path(),
                path_len: key.len(),
                sizes: sizes.as_ptr(),
                dims: sizes.len(),
                offset: *offset,
                dtype: dtype.raw(),
                reserved: 0,
            });
        Ok(RawLayout { members: members.collect(), _keys: keys })
    }
}

/// As the library takes it. The sizes are borrowed from the layout.
pub(crate) struct RawLayout {
    pub(crate) members: Vec<sys::td_member>,
    _keys: Vec<RawKey>,
}

impl TensorDict {
    /// Copies structs given as bytes: a tensor of its own for each member.
    #[track_caller]
    pub fn from_struct_bytes(
        bytes: &[u8],
        batch_size: impl Sizes,
        layout: &Layout,
    ) -> Result<Self> {
        // SAFETY: a slice of bytes has no padding.
        unsafe { Self::from_structs_of(bytes.as_ptr().cast(), bytes.len(), batch_size, layout) }
    }

    /// Copies structs: a tensor of its own for each member.
    ///
    /// # Safety
    /// The members of the layout cover no padding of `T`.
    #[track_caller]
    pub unsafe fn from_structs<T: Copy>(
        structs: &[T],
        batch_size: impl Sizes,
        layout: &Layout,
    ) -> Result<Self> {
        let bytes = size_of_val(structs);
        // SAFETY: the memory is as large as said; the rest is promised by the caller.
        unsafe { Self::from_structs_of(structs.as_ptr().cast(), bytes, batch_size, layout) }
    }

    #[track_caller]
    unsafe fn from_structs_of(
        data: *const c_void,
        bytes: usize,
        batch_size: impl Sizes,
        layout: &Layout,
    ) -> Result<Self> {
        library::ready()?;
        let (raw, sizes) = (layout.raw()?, batch_size.sizes());
        // SAFETY: the lists are as long as they are said to be, as is the memory.
        Self::receive(|result| unsafe {
            let (members, count) = (raw.members.as_ptr(), raw.members.len());
            let (at, dims, step) = (sizes.as_ptr(), sizes.len(), layout.item_bytes);
            sys::td_from_structs(data, bytes, at, dims, step, members, count, result)
        })
    }

    /// Moves structs into a dictionary: its tensors lie over the structs themselves.
    ///
    /// # Safety
    /// The members of the layout cover no padding of `T`.
    #[track_caller]
    pub unsafe fn view_structs<T: Copy + Send + 'static>(
        structs: Vec<T>,
        batch_size: impl Sizes,
        layout: &Layout,
    ) -> Result<Self> {
        library::ready()?;
        let (raw, sizes) = (layout.raw()?, batch_size.sizes());
        let bytes = size_of_val(structs.as_slice());
        let mut structs = Box::new(structs);
        let data: *mut c_void = structs.as_mut_ptr().cast();
        let owner: *mut c_void = Box::into_raw(structs).cast();
        // SAFETY: the lists are as long as they are said to be; the vector lives until `drop_structs`.
        Self::receive(|result| unsafe {
            let (members, count) = (raw.members.as_ptr(), raw.members.len());
            let (at, dims, step) = (sizes.as_ptr(), sizes.len(), layout.item_bytes);
            let release = Some(drop_structs::<T> as unsafe extern "C" fn(*mut c_void));
            sys::td_view_structs(
                data, bytes, at, dims, step, members, count, release, owner, result,
            )
        })
    }
}

unsafe extern "C" fn drop_structs<T>(owner: *mut c_void) {
    // SAFETY: `owner` is the box of `view_structs`, and this is its only release. Nothing that is Copy
    // can panic when it is dropped.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<T>>()) });
}

impl Dict {
    /// Writes entries into structs given as bytes. Bytes between the members stay as they are.
    #[track_caller]
    pub fn to_struct_bytes(&self, bytes: &mut [u8], layout: &Layout) -> Result<()> {
        // SAFETY: any byte is a byte.
        unsafe { self.to_structs(bytes, layout) }
    }

    /// Writes entries into structs. Bytes between the members, and other members, stay as they are.
    ///
    /// # Safety
    /// The members of the layout are members of `T`, and what the dictionary holds are values of them.
    #[track_caller]
    pub unsafe fn to_structs<T: Copy>(&self, structs: &mut [T], layout: &Layout) -> Result<()> {
        let raw = layout.raw()?;
        let bytes = size_of_val(structs);
        // SAFETY: the handle is alive, lists and memory are as long as they are said to be.
        check(unsafe {
            let (members, count) = (raw.members.as_ptr(), raw.members.len());
            let data = structs.as_mut_ptr().cast();
            sys::td_to_structs(self.raw(), data, bytes, layout.item_bytes, members, count)
        })
    }
}
