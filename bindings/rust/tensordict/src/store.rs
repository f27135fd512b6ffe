//! Dictionaries in a Redis server, shared with others.

use std::ffi::CString;
use std::time::Duration;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, read_list, read_text, Error, Result};
use crate::handle::Handle;
use crate::index::{Indices, RawIndex};
use crate::iter::Keys;
use crate::key::{Key, RawKey};
use crate::library;
use crate::sizes::Sizes;
use crate::tensor::Tensor;
use crate::values::nul_terminated;

/// Where a [`TensorDictStore`] lies.
#[derive(Clone, Default)]
pub struct StoreOptions {
    raw: sys::td_store_options,
    texts: [Option<String>; 10],
}

const HOST: usize = 0;
const UNIX_SOCKET: usize = 1;
const USERNAME: usize = 2;
const PASSWORD: usize = 3;
const PREFIX: usize = 4;
const ID: usize = 5;
const TLS_CA: usize = 6;
const TLS_CERT: usize = 7;
const TLS_KEY: usize = 8;
const TLS_SERVER_NAME: usize = 9;

impl StoreOptions {
    /// The server at localhost:6379.
    pub fn new() -> Self {
        Self::default()
    }

    fn text(mut self, which: usize, text: impl Into<String>) -> Self {
        self.texts[which] = Some(text.into());
        self
    }

    /// The server at this host.
    pub fn host(self, host: impl Into<String>) -> Self {
        self.text(HOST, host)
    }

    setters! {
        /// 6379 unless said otherwise.
        port(port: u16) => raw.port;
        /// The number of the server's database.
        db(db: u16) => raw.db;
        /// The most bytes of the answers to one call.
        max_bytes(bytes: u64) => raw.max_bytes;
    }

    /// The server behind a socket of the file system.
    pub fn unix_socket(self, path: impl Into<String>) -> Self {
        self.text(UNIX_SOCKET, path)
    }

    /// Who the password is of.
    pub fn username(self, name: impl Into<String>) -> Self {
        self.text(USERNAME, name)
    }

    /// The password, which no message shows.
    pub fn password(self, password: impl Into<String>) -> Self {
        self.text(PASSWORD, password)
    }

    /// What all keys begin with, "tensordict" unless said otherwise.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.text(PREFIX, prefix)
    }

    /// Which dictionary; a new one gets a random id unless it is said.
    pub fn id(self, id: impl Into<String>) -> Self {
        self.text(ID, id)
    }

    /// The most time to connect, and to answer.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.raw.timeout_ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX).max(1);
        self
    }

    /// Over TLS 1.2 or newer; the server's certificate is checked.
    pub fn tls(mut self) -> Self {
        self.raw.tls = 1;
        self
    }

    /// Over TLS; the server's certificate comes from one in this PEM file rather than from those that the system
    /// trusts.
    pub fn tls_ca(self, path: impl Into<String>) -> Self {
        self.tls().text(TLS_CA, path)
    }

    /// Over TLS; this client has a certificate, too: PEM files of it and of its key.
    pub fn tls_cert(self, cert: impl Into<String>, key: impl Into<String>) -> Self {
        self.tls().text(TLS_CERT, cert).text(TLS_KEY, key)
    }

    /// Over TLS; whose certificate the server must have, if not its host's.
    pub fn tls_server_name(self, name: impl Into<String>) -> Self {
        self.tls().text(TLS_SERVER_NAME, name)
    }

    // Calls with the options as the library takes them.
    #[track_caller]
    fn call(
        &self,
        call: impl FnOnce(*const sys::td_store_options, *mut *mut sys::td_store) -> sys::td_status,
    ) -> Result<TensorDictStore> {
        library::ready()?;
        let mut kept = Vec::new();
        for text in &self.texts {
            kept.push(match text.as_deref().map(CString::new) {
                None => None,
                Some(Ok(text)) => Some(text),
                Some(Err(_)) => {
                    let message = "a text of the options holds a NUL";
                    return Err(Error::new(sys::TD_ERR_INVALID_ARGUMENT, message));
                }
            });
        }
        let text =
            |which: usize| kept[which].as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        let mut raw = self.raw;
        raw.host = text(HOST);
        raw.unix_socket = text(UNIX_SOCKET);
        raw.username = text(USERNAME);
        raw.password = text(PASSWORD);
        raw.prefix = text(PREFIX);
        raw.id = text(ID);
        raw.tls_ca = text(TLS_CA);
        raw.tls_cert = text(TLS_CERT);
        raw.tls_key = text(TLS_KEY);
        raw.tls_server_name = text(TLS_SERVER_NAME);
        let mut token = std::ptr::null_mut();
        check(call(&raw, &mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(TensorDictStore { handle: unsafe { Handle::new(token) } })
    }
}

/// A connection to one dictionary in a server that speaks Redis' protocol. It lies there as Python's `TensorDictStore`
/// keeps it. What is got is a copy; what is set is there for everybody at once. Threads may share it.
///
/// ```no_run
/// use tensordict::{i, StoreOptions, Tensor, TensorDict, TensorDictStore};
///
/// let td = TensorDict::from_pairs([3], [("x", Tensor::from_slice(&[1i64, 2, 3], [3])?)])?;
/// let store = TensorDictStore::from(&td, &StoreOptions::new().id("scores"))?;
/// store.set_at("x", i![1], &Tensor::scalar(7i64)?)?;
/// let other = TensorDictStore::open(&StoreOptions::new().id("scores"))?;
/// assert_eq!(other.get("x")?.to_vec::<i64>()?, [1, 7, 3]);
/// other.delete()?;
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct TensorDictStore {
    handle: Handle<sys::td_store>,
}

// SAFETY: the library lets several threads call at once.
unsafe impl Sync for TensorDictStore {}

impl TensorDictStore {
    // The library takes it as one that changes; calls of several threads take turns there.
    fn raw(&self) -> *mut sys::td_store {
        self.handle.get().cast_mut()
    }

    /// A dictionary that is there, by its id.
    #[track_caller]
    pub fn open(options: &StoreOptions) -> Result<Self> {
        // SAFETY: the options live for the call.
        options.call(|raw, result| unsafe { sys::td_store_open(raw, result) })
    }

    /// A new one without entries.
    #[track_caller]
    pub fn new(batch_size: impl Sizes, options: &StoreOptions) -> Result<Self> {
        let sizes = batch_size.sizes();
        let sizes: &[i64] = sizes.as_ref();
        // SAFETY: sizes and options live for the call.
        options.call(|raw, result| unsafe {
            sys::td_store_create(sizes.as_ptr(), sizes.len(), raw, result)
        })
    }

    /// A copy of a dictionary.
    #[track_caller]
    pub fn from(td: &Dict, options: &StoreOptions) -> Result<Self> {
        // SAFETY: the handle is alive, and the options live for the call.
        options.call(|raw, result| unsafe { sys::td_store_from(td.raw(), raw, result) })
    }

    /// Zeros, which the server makes itself; the text is that of [`Dict::schema`].
    #[track_caller]
    pub fn from_schema(schema: &str, options: &StoreOptions) -> Result<Self> {
        let text = nul_terminated(schema)?;
        // SAFETY: text and options live for the call.
        options.call(|raw, result| unsafe {
            sys::td_store_from_schema(text.as_ptr().cast(), raw, result)
        })
    }

    /// Removes the dictionary from the server.
    #[track_caller]
    pub fn delete(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_store_delete(self.raw()) })
    }

    /// The id by which others open it.
    #[track_caller]
    pub fn id(&self) -> Result<String> {
        // SAFETY: the handle is alive, and the room is as large as said.
        read_text(|text, cap, length| unsafe { sys::td_store_id(self.raw(), text, cap, length) })
    }

    /// The batch size.
    #[track_caller]
    pub fn batch_size(&self) -> Result<Vec<i64>> {
        // SAFETY: the handle is alive, and the room is as large as said.
        read_list(0, |sizes, room, dims| unsafe {
            sys::td_store_batch_size(self.raw(), sizes, room, dims)
        })
    }

    /// The keys of all tensors and non-tensor values.
    #[track_caller]
    pub fn keys(&self) -> Result<Keys> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the handle is alive, and a call that succeeds gives us the list.
        unsafe {
            check(sys::td_store_keys(self.raw(), &mut list))?;
            Ok(Keys::new(Handle::new(list)))
        }
    }

    /// A copy of a tensor.
    #[track_caller]
    pub fn get(&self, key: impl Key) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        Tensor::receive(|result| unsafe {
            sys::td_store_get(self.raw(), key.path(), key.len(), result)
        })
    }

    /// A non-tensor value as JSON text.
    #[track_caller]
    pub fn non_tensor_json(&self, key: impl Key) -> Result<String> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive; key and room are as long as they are said to be.
        read_text(|text, cap, length| unsafe {
            sys::td_store_get_non_tensor_json(self.raw(), key.path(), key.len(), text, cap, length)
        })
    }

    /// A copy of a nested dictionary.
    #[track_caller]
    pub fn get_dict(&self, key: impl Key) -> Result<TensorDict> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        TensorDict::receive(|result| unsafe {
            sys::td_store_get_dict(self.raw(), key.path(), key.len(), result)
        })
    }

    /// A copy of the whole.
    #[track_caller]
    pub fn load(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_store_load(self.raw(), result) })
    }

    /// Stores a tensor.
    #[track_caller]
    pub fn set(&self, key: impl Key, source: &Tensor) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_store_set(self.raw(), key.path(), key.len(), source.raw()) })
    }

    /// Stores a non-tensor value, given as JSON text.
    #[track_caller]
    pub fn set_json(&self, key: impl Key, json: &str) -> Result<()> {
        let key = RawKey::new(&key)?;
        let json = nul_terminated(json)?;
        // SAFETY: the handle is alive; key and text are as long as they say.
        check(unsafe {
            sys::td_store_set_non_tensor_json(
                self.raw(),
                key.path(),
                key.len(),
                json.as_ptr().cast(),
            )
        })
    }

    /// Stores all entries of a dictionary below a key, in one request.
    #[track_caller]
    pub fn set_dict(&self, key: impl Key, source: &Dict) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_store_set_dict(self.raw(), key.path(), key.len(), source.raw()) })
    }

    /// Stores all entries of a dictionary, in one request.
    #[track_caller]
    pub fn update(&self, source: &Dict) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_store_update(self.raw(), source.raw()) })
    }

    /// Writes values into a tensor that is there, broadcast and converted.
    #[track_caller]
    pub fn set_inplace(&self, key: impl Key, source: &Tensor) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handles are alive, and the key is as long as it says.
        check(unsafe { sys::td_store_set_inplace(self.raw(), key.path(), key.len(), source.raw()) })
    }

    /// The part of a tensor that an index picks; only its rows are sent.
    #[track_caller]
    pub fn get_at<'a>(&self, key: impl Key, index: impl Indices<'a>) -> Result<Tensor> {
        let key = RawKey::new(&key)?;
        let index = RawIndex::new(index);
        let (items, len) = (index.items(), index.len());
        // SAFETY: the handle is alive; key and index are as long as they say.
        Tensor::receive(|result| unsafe {
            sys::td_store_get_at(self.raw(), key.path(), key.len(), items, len, result)
        })
    }

    /// Writes values into the part of a tensor that an index picks, broadcast and converted.
    #[track_caller]
    pub fn set_at<'a>(
        &self,
        key: impl Key,
        index: impl Indices<'a>,
        source: &Tensor,
    ) -> Result<()> {
        let key = RawKey::new(&key)?;
        let index = RawIndex::new(index);
        let (items, len) = (index.items(), index.len());
        // SAFETY: the handles are alive; key and index are as long as they say.
        check(unsafe {
            sys::td_store_set_at(self.raw(), key.path(), key.len(), items, len, source.raw())
        })
    }

    /// A copy of the part that an index picks; only its rows are sent.
    #[track_caller]
    pub fn at<'a>(&self, index: impl Indices<'a>) -> Result<TensorDict> {
        let index = RawIndex::new(index);
        // SAFETY: the handle is alive, and the list of items is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_store_index(self.raw(), index.items(), index.len(), result)
        })
    }

    /// Removes an entry, or a nested dictionary.
    #[track_caller]
    pub fn remove(&self, key: impl Key) -> Result<()> {
        let key = RawKey::new(&key)?;
        // SAFETY: the handle is alive, and the key is as long as it says.
        check(unsafe { sys::td_store_remove(self.raw(), key.path(), key.len()) })
    }

    /// Through this handle no entry is set or removed any more; values are still written in place.
    #[track_caller]
    pub fn lock(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_store_lock(self.raw()) })
    }

    /// Undoes [`lock`](Self::lock).
    #[track_caller]
    pub fn unlock(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_store_unlock(self.raw()) })
    }

    /// Whether this handle is locked.
    #[track_caller]
    pub fn is_locked(&self) -> Result<bool> {
        let mut locked = 0;
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_store_is_locked(self.raw(), &mut locked) })?;
        Ok(locked == 1)
    }
}
