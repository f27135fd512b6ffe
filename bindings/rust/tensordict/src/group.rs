//! Process groups: dictionaries between ranks in several processes.

use std::ffi::CString;
use std::time::Duration;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::{check, sound, Result};
use crate::future::Future;
use crate::handle::Handle;
use crate::library;
use crate::module::c_text;

/// Where ranks meet, and which one this is.
#[derive(Clone, Debug, Default)]
pub struct GroupOptions {
    url: Option<String>,
    name: Option<String>,
    device: Option<String>,
    rank: i32,
    size: i32,
    timeout: Duration,
}

impl GroupOptions {
    /// MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE of the environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// `tcp://HOST:PORT`, `file:///PATH` or `env://`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// This process, of so many.
    pub fn rank(mut self, rank: i32, size: i32) -> Self {
        (self.rank, self.size) = (rank, size);
        self
    }

    /// Groups of several names may meet at one url.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The interface of the network, such as `eth0`.
    pub fn device(mut self, device: impl Into<String>) -> Self {
        self.device = Some(device.into());
        self
    }

    /// The limit for opening, and for calls that give none; five minutes unless said otherwise.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// How one call is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCall {
    raw: sys::td_group_call_options,
}

impl GroupCall {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The tag of the first message; each tensor takes the next one.
        init_tag(tag: i32) => raw.init_tag;
        /// Reductions: the largest buffer, in bytes, in which tensors of a dtype travel together, as with Python's
        /// `bucket_bytes`. All ranks choose the same.
        bucket_bytes(bytes: u64) => raw.bucket_bytes;
        /// How many threads copy into one buffer.
        num_threads(threads: i32) => raw.num_threads;
        /// The longest message that is accepted; 2^30 bytes unless said otherwise.
        max_bytes(bytes: u64) => raw.max_bytes;
    }

    /// [`Group::send`] and [`Group::recv`]: one message for all tensors.
    pub fn consolidated(mut self) -> Self {
        self.raw.flags |= sys::TD_GROUP_CONSOLIDATED;
        self
    }

    /// [`Group::all_reduce`]: one buffer for each dtype. All ranks must choose it; Python cannot.
    pub fn fused(mut self) -> Self {
        self.raw.flags |= sys::TD_GROUP_FUSED;
        self
    }

    /// The limit, instead of that of the group.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.raw.timeout_ms = millis(timeout);
        self
    }
}

// At least one: 0 would be the default.
fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(u32::from(!time.is_zero()))
}

/// How values of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOp {
    /// The sum.
    Sum,
    /// The sum, divided by the number of ranks.
    Average,
    /// The product.
    Product,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl GroupOp {
    fn raw(self) -> sys::td_group_op {
        match self {
            GroupOp::Sum => sys::TD_GROUP_OP_SUM,
            GroupOp::Average => sys::TD_GROUP_OP_AVERAGE,
            GroupOp::Product => sys::TD_GROUP_OP_PRODUCT,
            GroupOp::Min => sys::TD_GROUP_OP_MIN,
            GroupOp::Max => sys::TD_GROUP_OP_MAX,
        }
    }
}

/// One of several processes that exchange dictionaries; others may be Python's torch.distributed. Threads
/// may share it. Dropped, it closes its connections.
///
/// ```
/// use tensordict::{Group, GroupCall, GroupOp, GroupOptions, Tensor, TensorDict};
///
/// let group = Group::open(&GroupOptions::new().url("tcp://127.0.0.1:0").rank(0, 1));
/// # let group = match group { Err(e) if e.kind() == tensordict::ErrorKind::Unsupported => return Ok(()), g => g };
/// let group = group?;
/// let mut td = TensorDict::new([2])?;
/// td.set("x", Tensor::from_slice(&[1i64, 2], [2])?)?;
/// group.all_reduce(&mut td, GroupOp::Sum, GroupCall::new())?;
/// assert_eq!(td.tensor("x")?.to_vec::<i64>()?, [1, 2]);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Group {
    handle: Handle<sys::td_group>,
}

// SAFETY: every call with a shared handle may be made on several threads at once, but td_group_split(),
// which takes the group alone.
unsafe impl Sync for Group {}

impl Group {
    /// Waits until all ranks have come.
    #[track_caller]
    pub fn open(options: &GroupOptions) -> Result<Group> {
        library::ready()?;
        let text = |text: &Option<String>| text.as_deref().map(c_text).transpose();
        let texts = (text(&options.url)?, text(&options.name)?, text(&options.device)?);
        let pointer =
            |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr());
        let raw = sys::td_group_options {
            timeout_ms: millis(options.timeout),
            rank: options.rank,
            world_size: options.size,
            url: pointer(&texts.0),
            name: pointer(&texts.1),
            device: pointer(&texts.2),
            ..Default::default()
        };
        let mut token = std::ptr::null_mut();
        // SAFETY: the texts live for the call, which gives us the handle when it succeeds.
        unsafe {
            check(sys::td_group_open(&raw, &mut token))?;
            Ok(Group { handle: Handle::new(token) })
        }
    }

    /// A group of some of the ranks, in this order; `None` on a rank that is not among them. All ranks call it.
    #[track_caller]
    pub fn split(&mut self, ranks: &[i32], name: Option<&str>) -> Result<Option<Group>> {
        let name = name.map(c_text).transpose()?;
        let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let mut token = std::ptr::null_mut();
        // SAFETY: the handle is alive; list and name live for the call.
        check(unsafe {
            sys::td_group_split(self.raw(), ranks.as_ptr(), ranks.len(), name, &mut token)
        })?;
        // SAFETY: the call succeeded and gave the handle to us, if there is one.
        Ok((!token.is_null()).then(|| Group { handle: unsafe { Handle::new(token) } }))
    }

    /// The rank of this process.
    pub fn rank(&self) -> i32 {
        self.place().0
    }

    /// The number of ranks.
    pub fn size(&self) -> i32 {
        self.place().1
    }

    fn place(&self) -> (i32, i32) {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is alive, and a call that succeeds writes both numbers.
        sound(check(unsafe { sys::td_group_rank(self.handle.get(), &mut rank, &mut size) }));
        (rank, size)
    }

    // The library takes it as one that changes; it locks what must be.
    fn raw(&self) -> *mut sys::td_group {
        self.handle.get().cast_mut()
    }

    /// Waits until all ranks have called it.
    #[track_caller]
    pub fn barrier(&self, call: GroupCall) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::td_group_barrier(self.raw(), &call.raw) })
    }

    /// Sends the tensors to a rank that [receives](Self::recv) them.
    #[track_caller]
    pub fn send(&self, td: &Dict, dst: i32, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_send(self.raw(), td.raw(), dst, &call.raw) })
    }

    /// Receives tensors into a dictionary of the same keys, shapes and dtypes. Trusts the sizes of the other
    /// rank: gloo ends the process if more comes.
    #[track_caller]
    pub fn recv(&self, into: &mut Dict, src: i32, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_recv(self.raw(), into.raw_mut(), src, &call.raw) })
    }

    #[track_caller]
    fn begin<T>(
        call: impl FnOnce(*mut *mut sys::td_future) -> sys::td_status,
    ) -> Result<Future<T>> {
        let mut token = std::ptr::null_mut();
        check(call(&mut token))?;
        // SAFETY: the call succeeded and gave the future to us.
        Ok(unsafe { Future::from_raw(token) })
    }

    /// As [`send`](Self::send), in the background.
    #[track_caller]
    pub fn isend(&self, td: &Dict, dst: i32, call: GroupCall) -> Result<Future<()>> {
        // SAFETY: the handles are alive; the future keeps the tensors.
        Self::begin(|result| unsafe {
            sys::td_group_isend(self.raw(), td.raw(), dst, &call.raw, result)
        })
    }

    /// As [`recv`](Self::recv), in the background: the future gives the dictionary back.
    #[track_caller]
    pub fn irecv(&self, mut into: TensorDict, src: i32, call: GroupCall) -> Result<Future> {
        // SAFETY: the handles are alive; the future keeps the dictionary, which nobody else has.
        Self::begin(|result| unsafe {
            sys::td_group_irecv(self.raw(), into.raw_mut(), src, &call.raw, result)
        })
    }

    /// Sends a dictionary with its structure, to a rank that calls [`recv_message`](Self::recv_message). The best
    /// form between programs of this library.
    #[track_caller]
    pub fn send_message(&self, td: &Dict, dst: i32, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_send_message(self.raw(), td.raw(), dst, &call.raw) })
    }

    /// Receives a message of a rank, or of any: the dictionary, and who sent it.
    #[track_caller]
    pub fn recv_message(&self, src: Option<i32>, call: GroupCall) -> Result<(TensorDict, i32)> {
        let (mut source, src) = (0, src.unwrap_or(-1));
        // SAFETY: the handle is alive.
        let td = TensorDict::receive(|result| unsafe {
            sys::td_group_recv_message(self.raw(), src, &call.raw, &mut source, result)
        })?;
        Ok((td, source))
    }

    /// As [`send_message`](Self::send_message), in the background.
    #[track_caller]
    pub fn isend_message(&self, td: &Dict, dst: i32, call: GroupCall) -> Result<Future<()>> {
        // SAFETY: the handles are alive; what is sent was copied.
        Self::begin(|result| unsafe {
            sys::td_group_isend_message(self.raw(), td.raw(), dst, &call.raw, result)
        })
    }

    /// As [`recv_message`](Self::recv_message), in the background.
    #[track_caller]
    pub fn irecv_message(&self, src: Option<i32>, call: GroupCall) -> Result<Future> {
        // SAFETY: the handle is alive.
        Self::begin(|result| unsafe {
            sys::td_group_irecv_message(self.raw(), src.unwrap_or(-1), &call.raw, result)
        })
    }

    /// Sends a dictionary with its structure as Python's `init_remote` does.
    #[track_caller]
    pub fn init_remote(&self, td: &Dict, dst: i32, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_init_remote(self.raw(), td.raw(), dst, &call.raw) })
    }

    /// Receives what [`init_remote`](Self::init_remote) sends, here or in Python.
    #[track_caller]
    pub fn from_remote_init(&self, src: i32, call: GroupCall) -> Result<TensorDict> {
        // SAFETY: the handle is alive.
        TensorDict::receive(|result| unsafe {
            sys::td_group_from_remote_init(self.raw(), src, &call.raw, result)
        })
    }

    /// Gives a dictionary of one rank to all; other ranks give `None`.
    #[track_caller]
    pub fn broadcast(&self, td: Option<&Dict>, src: i32, call: GroupCall) -> Result<TensorDict> {
        let td = td.map_or(std::ptr::null(), |td| td.raw());
        // SAFETY: the handles are alive.
        let td = TensorDict::receive(|result| unsafe {
            sys::td_group_broadcast(self.raw(), td, src, &call.raw, result)
        })?;
        td.alone()
    }

    /// As [`broadcast`](Self::broadcast), in the background: the future gives the dictionary, at `src` the one that was
    /// given. It is copied before.
    #[track_caller]
    pub fn ibroadcast(&self, td: Option<TensorDict>, src: i32, call: GroupCall) -> Result<Future> {
        let raw = td.as_ref().map_or(std::ptr::null(), |td| td.raw());
        // SAFETY: the handles are alive; the future keeps the dictionary, which nobody else has.
        Self::begin(|result| unsafe {
            sys::td_group_ibroadcast(self.raw(), raw, src, &call.raw, result)
        })
    }

    /// Makes the values of all ranks one, at one rank.
    #[track_caller]
    pub fn reduce(&self, td: &mut Dict, dst: i32, op: GroupOp, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_reduce(self.raw(), td.raw_mut(), dst, op.raw(), &call.raw) })
    }

    /// As [`reduce`](Self::reduce), in the background: the future gives the dictionary back.
    #[track_caller]
    pub fn ireduce(
        &self,
        mut td: TensorDict,
        dst: i32,
        op: GroupOp,
        call: GroupCall,
    ) -> Result<Future> {
        // SAFETY: the handles are alive; the future keeps the dictionary, which nobody else has.
        Self::begin(|result| unsafe {
            sys::td_group_ireduce(self.raw(), td.raw_mut(), dst, op.raw(), &call.raw, result)
        })
    }

    /// Makes the values of all ranks one, at all ranks.
    #[track_caller]
    pub fn all_reduce(&self, td: &mut Dict, op: GroupOp, call: GroupCall) -> Result<()> {
        // SAFETY: the handles are alive.
        check(unsafe { sys::td_group_all_reduce(self.raw(), td.raw_mut(), op.raw(), &call.raw) })
    }

    /// As [`all_reduce`](Self::all_reduce), in the background: the future gives the dictionary back. Several may be
    /// on their way; they take their turn in the order of the calls.
    #[track_caller]
    pub fn iall_reduce(&self, mut td: TensorDict, op: GroupOp, call: GroupCall) -> Result<Future> {
        // SAFETY: the handles are alive; the future keeps the dictionary, which nobody else has.
        Self::begin(|result| unsafe {
            sys::td_group_iall_reduce(self.raw(), td.raw_mut(), op.raw(), &call.raw, result)
        })
    }

    /// Gives the dictionaries of all ranks to all.
    #[track_caller]
    pub fn all_gather(&self, td: &Dict, call: GroupCall) -> Result<Vec<TensorDict>> {
        let mut tokens = vec![std::ptr::null_mut(); usize::try_from(self.size()).unwrap_or(0)];
        let mut count = 0;
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        check(unsafe {
            let (list, room) = (tokens.as_mut_ptr(), tokens.len());
            sys::td_group_all_gather(self.raw(), td.raw(), &call.raw, list, room, &mut count)
        })?;
        // SAFETY: the call succeeded and gave every handle to us.
        Ok(tokens.into_iter().map(|token| unsafe { TensorDict::from_raw(token) }).collect())
    }

    /// Gives each rank one of the dictionaries of one rank; other ranks give none.
    #[track_caller]
    pub fn scatter(&self, parts: &[&Dict], src: i32, call: GroupCall) -> Result<TensorDict> {
        let list: Vec<_> = parts.iter().map(|part| part.raw()).collect();
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        TensorDict::receive(|result| unsafe {
            sys::td_group_scatter(self.raw(), list.as_ptr(), list.len(), src, &call.raw, result)
        })
    }

    /// As [`scatter`](Self::scatter), in the background. The dictionaries are copied before.
    #[track_caller]
    pub fn iscatter(&self, parts: &[&Dict], src: i32, call: GroupCall) -> Result<Future> {
        let list: Vec<_> = parts.iter().map(|part| part.raw()).collect();
        // SAFETY: the handles are alive and the list is as long as it is said to be.
        Self::begin(|result| unsafe {
            let (data, count) = (list.as_ptr(), list.len());
            sys::td_group_iscatter(self.raw(), data, count, src, &call.raw, result)
        })
    }

    /// The stack of the dictionaries of all ranks, at one rank; `None` at others.
    #[track_caller]
    pub fn gather_and_stack(
        &self,
        td: &Dict,
        dst: i32,
        call: GroupCall,
    ) -> Result<Option<TensorDict>> {
        // SAFETY: the handles are alive.
        TensorDict::receive_some(|result| unsafe {
            sys::td_group_gather_and_stack(self.raw(), td.raw(), dst, &call.raw, result)
        })
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group(rank {} of {})", self.rank(), self.size())
    }
}
