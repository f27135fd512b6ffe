//! Modules: networks trained in Python, closures, and sequences of them, over dictionaries.

use std::cell::RefCell;
use std::ffi::{c_void, CString};
use std::fmt;
use std::path::Path;

use tensordict_sys as sys;

use crate::callback::{run, Failure};
use crate::device::Device;
use crate::dict::{Dict, TensorDict};
use crate::dtype::DType;
use crate::error::{check, read_text, sound, Error, Result};
use crate::handle::Handle;
use crate::iter::Keys;
use crate::key::{Key, KeyPath};
use crate::library;
use crate::memmap::Folder;
use crate::select::RawKeys;

/// What makes a dictionary of outputs from a dictionary of inputs. Closures do.
pub trait Module {
    /// Gets a dictionary of its own that holds the inputs, over the same tensors, and gives one that
    /// holds the outputs; this may be the one that it got.
    fn forward(&self, td: TensorDict) -> Result<TensorDict>;
}

impl<F: Fn(TensorDict) -> Result<TensorDict>> Module for F {
    fn forward(&self, td: TensorDict) -> Result<TensorDict> {
        self(td)
    }
}

/// Which value of a distribution is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interaction {
    /// As the module was made.
    #[default]
    Default,
    /// Its mode.
    Mode,
    /// Its median.
    Median,
    /// Its mean.
    Mean,
    /// A sample.
    Random,
    /// The mean of continuous, the mode of discrete ones.
    Deterministic,
}

impl Interaction {
    pub(crate) fn raw(self) -> sys::td_interaction_type {
        match self {
            Self::Default => sys::TD_INTERACTION_DEFAULT,
            Self::Mode => sys::TD_INTERACTION_MODE,
            Self::Median => sys::TD_INTERACTION_MEDIAN,
            Self::Mean => sys::TD_INTERACTION_MEAN,
            Self::Random => sys::TD_INTERACTION_RANDOM,
            Self::Deterministic => sys::TD_INTERACTION_DETERMINISTIC,
        }
    }
}

/// How an archive is loaded. By default on the CPU, as it was stored.
#[derive(Clone, Debug, Default)]
pub struct LoadModuleOptions {
    flags: sys::td_module_load_flags,
    device: Option<Device>,
    dtype: Option<DType>,
    in_keys: Option<Vec<KeyPath>>,
    out_keys: Option<Vec<KeyPath>>,
    sha256: Option<String>,
}

impl LoadModuleOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parameters become constants: for policies that no longer change.
    pub fn freeze(mut self) -> Self {
        self.flags |= sys::TD_MODULE_LOAD_FREEZE;
        self
    }

    /// Frozen, and rewritten by libtorch for inference.
    pub fn optimize(mut self) -> Self {
        self.flags |= sys::TD_MODULE_LOAD_OPTIMIZE;
        self
    }

    /// Computes as after `train()` in Python: batch normalisation updates its running statistics among the parameters,
    /// dropout draws. The archive was exported with `train=True`.
    pub fn train(mut self) -> Self {
        self.flags |= sys::TD_MODULE_LOAD_TRAIN;
        self
    }

    /// Where the parameters go.
    pub fn device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    /// What floating-point parameters and buffers become.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// The inputs, instead of those that the archive names.
    pub fn in_keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.in_keys = Some(keys.into_iter().map(KeyPath::new).collect());
        self
    }

    /// The outputs, instead of those that the archive names; `"_"` drops one.
    pub fn out_keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.out_keys = Some(keys.into_iter().map(KeyPath::new).collect());
        self
    }

    /// The checksum of the file, in hexadecimal digits: another file is refused.
    pub fn sha256(mut self, digits: impl Into<String>) -> Self {
        self.sha256 = Some(digits.into());
        self
    }
}

/// How a module is called. By default with its own parameters; outputs come in a dictionary of the
/// input's batch size.
#[derive(Default)]
pub struct ModuleCall<'a> {
    flags: sys::td_module_call_flags,
    plain: bool,
    interaction: Interaction,
    params: Option<&'a Dict>,
    out: Option<&'a mut Dict>,
}

impl<'a> ModuleCall<'a> {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Other parameters, for this call alone. With a batch dimension the module runs once for each set.
    pub fn params(mut self, params: &'a Dict) -> Self {
        self.params = Some(params);
        self
    }

    /// With a batch of parameters: the input has that dimension too.
    pub fn map_input(mut self) -> Self {
        self.flags |= sys::TD_MODULE_CALL_MAP_INPUT;
        self
    }

    /// Does not run modules whose outputs are all there.
    pub fn skip_existing(mut self) -> Self {
        self.flags |= sys::TD_MODULE_CALL_SKIP_EXISTING;
        self
    }

    /// Which value distributions give.
    pub fn interaction(mut self, interaction: Interaction) -> Self {
        self.interaction = interaction;
        self
    }

    /// Outputs come in a dictionary without batch size.
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Outputs go into this dictionary; the result is one over the same tensors.
    pub fn out(mut self, out: &'a mut Dict) -> Self {
        self.out = Some(out);
        self
    }

    fn into_raw(self) -> sys::td_module_call_options {
        sys::td_module_call_options {
            flags: self.flags,
            output: if self.plain {
                sys::TD_MODULE_OUTPUT_PLAIN
            } else {
                sys::TD_MODULE_OUTPUT_LIKE_INPUT
            },
            interaction: self.interaction.raw(),
            params: self.params.map_or(std::ptr::null(), Dict::raw),
            out: self.out.map_or(std::ptr::null_mut(), Dict::raw_mut),
            ..Default::default()
        }
    }
}

/// A module of the library: a network that was trained in Python, a closure, a distribution, or several in
/// a row. It reads its [`in_keys`](Self::in_keys) and writes its [`out_keys`](Self::out_keys).
///
/// ```
/// use tensordict::{Result, Tensor, TensorDict, TensorDictModule};
///
/// let double = TensorDictModule::new(["x"], ["y"], |mut td: TensorDict| -> Result<TensorDict> {
///     let x = td.tensor("x")?;
///     td.set("y", x)?;
///     Ok(td)
/// })?;
/// let mut td = TensorDict::from_pairs([2], [("x", Tensor::from_slice(&[1i64, 2], [2])?)])?;
/// double.call_inplace(&mut td)?;
/// assert_eq!(td.tensor("y")?.to_vec::<i64>()?, [1, 2]);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct TensorDictModule {
    handle: Handle<sys::td_module>,
}

// SAFETY: calls of a module may run at the same time, and parameters are swapped as a whole; closures are
// Sync.
unsafe impl Sync for TensorDictModule {}

impl TensorDictModule {
    #[track_caller]
    pub(crate) fn receive(
        call: impl FnOnce(*mut *mut sys::td_module) -> sys::td_status,
    ) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the handle to us.
        Ok(Self { handle: unsafe { Handle::new(token) } })
    }

    pub(crate) fn raw(&self) -> *const sys::td_module {
        self.handle.get()
    }

    /// Loads a TorchScript archive, as `torch.jit.save` writes it. Such an archive is code: load only
    /// those that you trust.
    #[track_caller]
    pub fn load(file: impl AsRef<Path>, options: &LoadModuleOptions) -> Result<Self> {
        library::ready()?;
        let file = Folder::new(Some(file.as_ref()))?;
        let (device_type, device_index) = Device::raw_or_none(options.device);
        let in_keys = options.in_keys.as_ref().map(RawKeys::new).transpose()?;
        let out_keys = options.out_keys.as_ref().map(RawKeys::new).transpose()?;
        let list = |keys: &Option<RawKeys>| match keys {
            Some(keys) => (keys.list(), keys.len()),
            None => (std::ptr::null(), 0),
        };
        let sha256 = options.sha256.as_deref().map(c_text).transpose()?;
        let raw = sys::td_module_load_options {
            flags: options.flags,
            device_type,
            device_index,
            dtype: options.dtype.map_or(sys::TD_DTYPE_OTHER, DType::raw),
            in_keys: list(&in_keys).0,
            in_keys_len: list(&in_keys).1,
            out_keys: list(&out_keys).0,
            out_keys_len: list(&out_keys).1,
            sha256: sha256.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            ..Default::default()
        };
        // SAFETY: texts and keys live as long as the call.
        Self::receive(|result| unsafe { sys::td_module_load(file.text(), &raw, result) })
    }

    /// Makes a module of a closure, or of anything else that is a [`Module`]. It gets the inputs, or without
    /// keys the whole dictionary; of its answer the outputs are taken, or without keys all that is new.
    ///
    /// An error of the closure comes back from the call, and so does a panic.
    #[track_caller]
    pub fn new<I: Key, O: Key>(
        in_keys: impl IntoIterator<Item = I>,
        out_keys: impl IntoIterator<Item = O>,
        module: impl Module + Send + Sync + 'static,
    ) -> Result<Self> {
        library::ready()?;
        let (in_keys, out_keys) = (RawKeys::new(in_keys)?, RawKeys::new(out_keys)?);
        let options = sys::td_module_function_options {
            in_keys: in_keys.list(),
            in_keys_len: in_keys.len(),
            out_keys: out_keys.list(),
            out_keys_len: out_keys.len(),
            ..Default::default()
        };
        let module: Box<Box<dyn Module + Send + Sync>> = Box::new(Box::new(module));
        // SAFETY: the library calls `release` once, whatever becomes of the call.
        Self::receive(|result| unsafe {
            sys::td_module_from_function(
                &options,
                Some(forward),
                Box::into_raw(module).cast(),
                Some(release),
                result,
            )
        })
    }

    /// Runs modules one after the other.
    #[track_caller]
    pub fn sequence(modules: &[&TensorDictModule]) -> Result<Self> {
        Self::sequence_with(modules, 0)
    }

    /// As [`sequence`](Self::sequence), but a module that lacks an input is skipped; in a lazy stack for
    /// each element alone.
    #[track_caller]
    pub fn partial_sequence(modules: &[&TensorDictModule]) -> Result<Self> {
        Self::sequence_with(modules, sys::TD_MODULE_SEQUENCE_PARTIAL_TOLERANT)
    }

    #[track_caller]
    fn sequence_with(modules: &[&TensorDictModule], flags: u32) -> Result<Self> {
        library::ready()?;
        let list: Vec<_> = modules.iter().map(|one| one.raw()).collect();
        let options = sys::td_module_sequence_options { flags, ..Default::default() };
        // SAFETY: the handles are alive.
        Self::receive(|result| unsafe {
            sys::td_module_sequence(list.as_ptr(), list.len(), &options, result)
        })
    }

    /// Of a sequence the modules that can run with these inputs and matter for these outputs; `None` for
    /// those of the sequence.
    #[track_caller]
    pub fn select_subsequence<K: Key>(
        &self,
        in_keys: Option<&[K]>,
        out_keys: Option<&[K]>,
    ) -> Result<Self> {
        let in_keys = in_keys.map(RawKeys::new).transpose()?;
        let out_keys = out_keys.map(RawKeys::new).transpose()?;
        let list = |keys: &Option<RawKeys>| {
            keys.as_ref().map_or((std::ptr::null(), 0), |keys| (keys.list(), keys.len()))
        };
        let ((ins, ins_len), (outs, outs_len)) = (list(&in_keys), list(&out_keys));
        // SAFETY: the handle and the keys are alive.
        Self::receive(|result| unsafe {
            sys::td_module_select_subsequence(self.raw(), ins, ins_len, outs, outs_len, result)
        })
    }

    /// The same module, of which only these outputs are written.
    #[track_caller]
    pub fn select_out_keys<K: Key>(&self, keys: impl IntoIterator<Item = K>) -> Result<Self> {
        let keys = RawKeys::new(keys)?;
        // SAFETY: the handle and the keys are alive.
        Self::receive(|result| unsafe {
            sys::td_module_select_out_keys(self.raw(), keys.list(), keys.len(), result)
        })
    }

    /// Writes a module that was loaded, with its parameters as they are now.
    #[track_caller]
    pub fn save(&self, file: impl AsRef<Path>) -> Result<()> {
        let file = Folder::new(Some(file.as_ref()))?;
        // SAFETY: the handle and the text are alive.
        check(unsafe { sys::td_module_save(self.raw(), file.text()) })
    }

    /// The keys that it reads.
    pub fn in_keys(&self) -> Vec<KeyPath> {
        // SAFETY: the handle is alive.
        keys_of(|result| unsafe { sys::td_module_in_keys(self.raw(), result) })
    }

    /// The keys that it writes.
    pub fn out_keys(&self) -> Vec<KeyPath> {
        // SAFETY: the handle is alive.
        keys_of(|result| unsafe { sys::td_module_out_keys(self.raw(), result) })
    }

    /// The outputs for a dictionary, in one of its batch size.
    #[track_caller]
    pub fn call(&self, td: &Dict) -> Result<TensorDict> {
        self.call_with(td, ModuleCall::new())
    }

    /// As [`call`](Self::call), with other parameters, another output, or another value of distributions.
    #[track_caller]
    pub fn call_with(&self, td: &Dict, call: ModuleCall<'_>) -> Result<TensorDict> {
        let into = call.out.is_some();
        let options = call.into_raw();
        // SAFETY: the handles are alive.
        let made = parked(TensorDict::receive(|result| unsafe {
            sys::td_module_call(td.raw(), self.raw(), &options, result)
        }))?;
        // Two owners of one dictionary could be sent to two threads.
        if into {
            made.shallow_copy()
        } else {
            Ok(made)
        }
    }

    /// Sets the outputs in the dictionary itself.
    #[track_caller]
    pub fn call_inplace(&self, td: &mut Dict) -> Result<()> {
        self.call_inplace_with(td, ModuleCall::new())
    }

    /// As [`call_inplace`](Self::call_inplace), with other parameters or another value of distributions.
    #[track_caller]
    pub fn call_inplace_with(&self, td: &mut Dict, call: ModuleCall<'_>) -> Result<()> {
        let options = call.into_raw();
        // SAFETY: the handles are alive.
        parked(check(unsafe { sys::td_module_call_inplace(td.raw_mut(), self.raw(), &options) }))
    }

    /// Its parameters and buffers, nested by sub-modules: the tensors themselves, so what is written to them
    /// the next call uses.
    #[track_caller]
    pub fn params(&self) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe { sys::td_module_params(self.raw(), result) })
    }

    /// Takes other tensors as its parameters and buffers: all of them, or none.
    #[track_caller]
    pub fn set_params(&self, params: &Dict) -> Result<()> {
        // SAFETY: the handles are alive; the library lets other threads call the module meanwhile.
        check(unsafe {
            sys::td_module_set_params(self.raw().cast_mut(), std::ptr::null(), params.raw())
        })
    }

    /// As [`set_params`](Self::set_params), of one sub-module.
    #[track_caller]
    pub fn set_params_of(&self, part: impl Key, params: &Dict) -> Result<()> {
        let part = RawKeys::new([part])?;
        // SAFETY: as above.
        check(unsafe {
            sys::td_module_set_params(self.raw().cast_mut(), part.list(), params.raw())
        })
    }

    /// The log-probability of values that a dictionary holds; of a sequence all but the last module run
    /// first.
    #[track_caller]
    pub fn log_prob(&self, td: &Dict) -> Result<TensorDict> {
        self.log_prob_with(td, ModuleCall::new())
    }

    /// As [`log_prob`](Self::log_prob), with other parameters for this call.
    #[track_caller]
    pub fn log_prob_with(&self, td: &Dict, call: ModuleCall<'_>) -> Result<TensorDict> {
        let options = call.into_raw();
        // SAFETY: the handles are alive.
        parked(TensorDict::receive(|result| unsafe {
            sys::td_module_log_prob(td.raw(), self.raw(), &options, result)
        }))
    }
}

impl Module for TensorDictModule {
    fn forward(&self, td: TensorDict) -> Result<TensorDict> {
        self.call(&td)
    }
}

impl fmt::Display for TensorDictModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the handle is alive.
        let text = sound(read_text(|text, room, length| unsafe {
            sys::td_module_to_string(self.raw(), text, room, length)
        }));
        f.write_str(&text)
    }
}

impl fmt::Debug for TensorDictModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn keys_of(ask: impl FnOnce(*mut *mut sys::td_keys) -> sys::td_status) -> Vec<KeyPath> {
    let mut list = std::ptr::null_mut();
    sound(check(ask(&mut list)));
    // SAFETY: a call that succeeds gives us the list.
    Keys::new(unsafe { Handle::new(list) }).collect()
}

#[track_caller]
pub(crate) fn c_text(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(sys::TD_ERR_INVALID_ARGUMENT, format!("{text:?} holds a NUL")))
}

thread_local! {
    // What the closure of the call that is under way on this thread failed with.
    static FAILED: RefCell<Option<Failure<Error>>> = const { RefCell::new(None) };
}

/// The failure of a closure comes before the status.
pub(crate) fn parked<T>(answer: Result<T>) -> Result<T> {
    let failure = FAILED.with(|failed| failed.borrow_mut().take());
    match (answer, failure) {
        (Err(_), Some(failure)) => Err(failure.into_error()),
        (answer, _) => answer,
    }
}

unsafe extern "C" fn forward(
    user: *mut c_void,
    source: *mut sys::td_tensordict,
    result: *mut *mut sys::td_tensordict,
) -> sys::td_status {
    // SAFETY: `user` is the module, which lives until it is released.
    let module = unsafe { &*user.cast_const().cast::<Box<dyn Module + Send + Sync>>() };
    // The borrowed handle dies with this call; the dictionary is the closure's own.
    // SAFETY: the handle is alive.
    let own = match TensorDict::receive(|own| unsafe { sys::td_dup(source, own) }) {
        Ok(own) => own,
        Err(error) => return error.status(),
    };
    match run(|| module.forward(own)) {
        Ok(made) => {
            // SAFETY: the library takes the handle that is stored here.
            unsafe { *result = made.into_raw() };
            sys::TD_OK
        }
        Err(failure) => {
            let status = failure.tell();
            FAILED.with(|failed| *failed.borrow_mut() = Some(failure));
            status
        }
    }
}

unsafe extern "C" fn release(user: *mut c_void) {
    // SAFETY: it came from Box::into_raw() and is released once.
    drop(unsafe { Box::from_raw(user.cast::<Box<dyn Module + Send + Sync>>()) });
}
