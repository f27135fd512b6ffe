//! Dictionaries: the owner, the borrowed form, and nested ones.

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use tensordict_sys as sys;

use crate::device::Device;
use crate::entry::IntoEntry;
use crate::error::{check, Result};
use crate::handle::Handle;
use crate::key::Key;
use crate::library;
use crate::sizes::Sizes;

/// A dictionary of tensors, nested dictionaries and other data, whose leading sizes agree.
///
/// What it can do is found on [`Dict`], to which it dereferences as `String` does to `str`. In safe
/// code it is the only owner of the dictionary behind it, so it may be sent to another thread;
/// tensors may be shared between dictionaries, see [`Tensor`](crate::Tensor).
///
/// ```
/// use tensordict::{i, DType, Result, Tensor, TensorDict};
///
/// let mut td = TensorDict::new([3, 4])?;
/// td.set("obs", Tensor::from_vec(vec![0.5f32; 3 * 4 * 2], [3, 4, 2])?)?;
/// td.set(("agents", "reward"), Tensor::zeros([3, 4, 1], DType::F32)?)?;
/// assert_eq!(td.at(i![0, 1..])?.batch_size(), [3]);
/// assert_eq!(td.dict("agents")?.tensor("reward")?.shape(), [3, 4, 1]);
/// # Ok::<(), tensordict::Error>(())
/// ```
///
/// It is not `Sync`:
///
/// ```compile_fail,E0277
/// fn shared_by_threads<T: Sync>() {}
/// shared_by_threads::<tensordict::TensorDict>();
/// ```
pub struct TensorDict {
    handle: Handle<sys::td_tensordict>,
}

/// A borrowed dictionary: what a [`TensorDict`], a [`DictRef`] and a [`DictMut`] dereference to.
///
/// It has no size and cannot be owned, so no exchange through a `&mut` can take a nested dictionary
/// out of the one it is part of.
#[repr(transparent)]
pub struct Dict {
    token: sys::td_tensordict,
}

// A reference to a Dict is the handle itself, which is no address: that is sound for a type without
// bytes and without alignment, as nothing is ever read through it.
const _: () = assert!(std::mem::size_of::<Dict>() == 0 && std::mem::align_of::<Dict>() == 1);

// SAFETY: the library lets any handle be used on any thread, one thread at a time.
unsafe impl Send for Dict {}

impl TensorDict {
    /// An empty dictionary, whose entries may live on any device.
    #[track_caller]
    pub fn new(batch_size: impl Sizes) -> Result<Self> {
        Self::create(batch_size.sizes(), None)
    }

    /// An empty dictionary that moves to a device what is set.
    #[track_caller]
    pub fn with_device(batch_size: impl Sizes, device: Device) -> Result<Self> {
        Self::create(batch_size.sizes(), Some(device))
    }

    /// A dictionary of pairs.
    ///
    /// ```
    /// use tensordict::{Tensor, TensorDict};
    ///
    /// let pairs = [("a", Tensor::scalar(1i64)?), ("b", Tensor::scalar(2i64)?)];
    /// let td = TensorDict::from_pairs((), pairs)?;
    /// assert_eq!(td.tensor("b")?.item::<i64>()?, 2);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn from_pairs<K: Key, V: IntoEntry>(
        batch_size: impl Sizes,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self> {
        let mut td = Self::new(batch_size)?;
        for (key, value) in pairs {
            td.set(key, value)?;
        }
        Ok(td)
    }

    #[track_caller]
    fn create(sizes: Vec<i64>, device: Option<Device>) -> Result<Self> {
        library::ready()?;
        let (kind, index) = Device::raw_or_none(device);
        // SAFETY: the list of sizes is as long as it is said to be.
        Self::receive(|result| unsafe {
            sys::td_create(sizes.as_ptr(), sizes.len(), kind, index, result)
        })
    }

    /// Receives a dictionary from a call of the library.
    #[track_caller]
    pub(crate) fn receive(
        call: impl FnOnce(*mut *mut sys::td_tensordict) -> sys::td_status,
    ) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(unsafe { Self::from_raw(token) })
    }

    /// As [`receive`](Self::receive), from a call that may succeed without one.
    #[track_caller]
    pub(crate) fn receive_some(
        call: impl FnOnce(*mut *mut sys::td_tensordict) -> sys::td_status,
    ) -> Result<Option<Self>> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok((!token.is_null()).then(|| unsafe { Self::from_raw(token) }))
    }

    /// Gives up the ownership.
    pub(crate) fn into_raw(self) -> *mut sys::td_tensordict {
        std::mem::ManuallyDrop::new(self).handle.get_mut()
    }

    /// # Safety
    /// As for [`Handle::new`].
    pub(crate) unsafe fn from_raw(token: *mut sys::td_tensordict) -> Self {
        // SAFETY: as promised by the caller.
        Self { handle: unsafe { Handle::new(token) } }
    }
}

impl TensorDict {
    /// The same content with an owner of its own. The elements of a lazy stack belong to it: what is
    /// picked of them becomes new dictionaries over the same tensors.
    #[track_caller]
    pub(crate) fn alone(self) -> Result<Self> {
        let mut only = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_is_uniquely_owned(self.raw(), &mut only) })?;
        if only != 0 {
            return Ok(self);
        }
        let mut copy = self.shallow_copy()?;
        if self.is_locked() {
            copy.lock()?;
        }
        Ok(copy)
    }
}

impl Deref for TensorDict {
    type Target = Dict;

    fn deref(&self) -> &Dict {
        // SAFETY: the handle is not NULL and lives as long as `self`; nothing is read through it.
        unsafe { &*self.handle.get().cast() }
    }
}

impl DerefMut for TensorDict {
    fn deref_mut(&mut self) -> &mut Dict {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.handle.get_mut().cast() }
    }
}

impl AsRef<Dict> for TensorDict {
    fn as_ref(&self) -> &Dict {
        self
    }
}

impl AsRef<Dict> for Dict {
    fn as_ref(&self) -> &Dict {
        self
    }
}

impl Borrow<Dict> for TensorDict {
    fn borrow(&self) -> &Dict {
        self
    }
}

/// A nested dictionary, as long as the outer one is borrowed.
///
/// ```compile_fail,E0502
/// # use tensordict::TensorDict;
/// let mut td = TensorDict::new([2]).unwrap();
/// td.set("nested", TensorDict::new([2]).unwrap()).unwrap();
/// let nested = td.dict("nested").unwrap();
/// td.remove("nested").unwrap(); // `td` is still borrowed
/// assert!(nested.is_empty());
/// ```
pub struct DictRef<'a> {
    owner: TensorDict,
    outer: PhantomData<&'a Dict>,
}

/// A nested dictionary that can be changed, as long as the outer one is borrowed for that.
///
/// ```compile_fail,E0499
/// # use tensordict::TensorDict;
/// # fn change(mut td: TensorDict) -> tensordict::Result<()> {
/// let first = td.dict_mut("nested")?;
/// let second = td.dict_mut("nested")?; // a second way in
/// drop(first);
/// # Ok(())
/// # }
/// ```
pub struct DictMut<'a> {
    owner: TensorDict,
    outer: PhantomData<&'a mut Dict>,
}

impl DictRef<'_> {
    /// The owner must be a second handle on a dictionary that lies inside one that is borrowed.
    pub(crate) fn new(owner: TensorDict) -> Self {
        Self { owner, outer: PhantomData }
    }
}

impl DictMut<'_> {
    /// The owner must be a second handle on a dictionary that lies inside one that is borrowed.
    pub(crate) fn new(owner: TensorDict) -> Self {
        Self { owner, outer: PhantomData }
    }
}

impl Deref for DictRef<'_> {
    type Target = Dict;

    fn deref(&self) -> &Dict {
        &self.owner
    }
}

impl Deref for DictMut<'_> {
    type Target = Dict;

    fn deref(&self) -> &Dict {
        &self.owner
    }
}

impl DerefMut for DictMut<'_> {
    fn deref_mut(&mut self) -> &mut Dict {
        &mut self.owner
    }
}

impl AsRef<Dict> for DictRef<'_> {
    fn as_ref(&self) -> &Dict {
        self
    }
}

impl AsRef<Dict> for DictMut<'_> {
    fn as_ref(&self) -> &Dict {
        self
    }
}

impl Dict {
    pub(crate) fn raw(&self) -> *const sys::td_tensordict {
        &self.token
    }

    pub(crate) fn raw_mut(&mut self) -> *mut sys::td_tensordict {
        &mut self.token
    }

    /// Receives a dictionary from a call that may answer with this very one.
    ///
    /// Two owners of one dictionary could be sent to two threads, so that case becomes a new
    /// dictionary over the same memory.
    #[track_caller]
    pub(crate) fn derive(
        &self,
        call: impl FnOnce(*mut *mut sys::td_tensordict) -> sys::td_status,
    ) -> Result<TensorDict> {
        let answer = TensorDict::receive(call)?;
        if self.is_same(&answer) {
            self.twin()
        } else {
            answer.alone()
        }
    }

    /// A new dictionary over the same memory, as locked, as mapped and as shared as this one.
    #[track_caller]
    fn twin(&self) -> Result<TensorDict> {
        if self.is_memmap() || self.is_shared().unwrap_or(false) {
            // A copy is neither mapped nor shared, parts are. So a new dimension comes and goes: each step makes new
            // dictionaries at every level.
            return self.unsqueeze(0)?.squeeze(0);
        }
        let mut copy = self.shallow_copy()?;
        if self.is_locked() {
            copy.lock()?;
        }
        Ok(copy)
    }
}
