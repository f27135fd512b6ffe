//! The one owner of a handle of the library.

use std::ptr::NonNull;

use tensordict_sys as sys;

/// What a handle points at, and how it is given back.
pub(crate) trait Token {
    /// # Safety
    /// `token` came from the library and is not used again.
    unsafe fn give_back(token: *mut Self);
}

macro_rules! token {
    ($($name:ident: $free:ident),*) => {$(
        impl Token for sys::$name {
            unsafe fn give_back(token: *mut Self) {
                // SAFETY: as promised by the caller.
                unsafe { sys::$free(token) }
            }
        }
    )*};
}
token!(
    td_tensor: td_tensor_free,
    td_tensordict: td_free,
    td_keys: td_keys_free,
    td_map_iter: td_map_iter_free,
    td_future: td_future_free,
    td_module: td_module_free,
    td_optimizer: td_optimizer_free,
    td_loader: td_loader_free,
    td_generator: td_generator_free,
    td_replay: td_replay_free,
    td_hdf5: td_hdf5_free,
    td_dataset: td_dataset_free,
    td_dataset_writer: td_dataset_writer_free,
    td_store: td_store_free,
    td_group: td_group_free,
    td_writer: td_writer_free,
    td_tensorclass: td_tensorclass_free
);

/// A handle that is given back when dropped. The pointer is a token: nothing lies behind it.
pub(crate) struct Handle<T: Token>(NonNull<T>);

impl<T: Token> Handle<T> {
    /// # Safety
    /// `token` was received from a call that succeeded and has no other owner.
    pub(crate) unsafe fn new(token: *mut T) -> Self {
        Self(NonNull::new(token).expect("a call that succeeds gives a handle"))
    }

    #[inline]
    pub(crate) fn get(&self) -> *const T {
        self.0.as_ptr()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Token> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: this was the only owner.
        unsafe { T::give_back(self.0.as_ptr()) }
    }
}

// SAFETY: the library lets any handle be used and freed on any thread, one thread at a time.
unsafe impl<T: Token> Send for Handle<T> {}
