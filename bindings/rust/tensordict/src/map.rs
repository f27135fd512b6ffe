//! A closure over the pieces of a dictionary, on several threads.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use tensordict_sys as sys;

use crate::callback::{run, settle, Failure};
use crate::dict::{Dict, TensorDict};
use crate::error::{check, Error, Result};
use crate::handle::Handle;

/// How a dictionary is cut, and who works on the pieces. By default there are as many workers as CPUs,
/// and as many pieces as workers.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapOptions {
    raw: Plain,
}

// The fields that are plain numbers: pointers would keep the options on one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    cut: sys::td_map_cut,
    dim: i64,
    amount: i64,
    num_workers: i32,
    worker_threads: i32,
    seed: u64,
    shuffle: i32,
    ahead: usize,
}

impl MapOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Along which dimension it is cut; the first one unless said otherwise.
        dim(dim: i64) => raw.dim;
        /// How many threads work; 1 is the calling thread alone, 0 one for each CPU.
        num_workers(workers: i32) => raw.num_workers;
        /// How many threads of libtorch an operation of one worker may use; 1 unless said otherwise.
        worker_threads(threads: i32) => raw.worker_threads;
        /// What [`Piece::seed`] and the order of [`shuffle`](Self::shuffle) follow from.
        seed(seed: u64) => raw.seed;
        /// How many pieces workers may be ahead of [`Dict::map_iter`]; twice their number unless said
        /// otherwise.
        ahead(pieces: usize) => raw.ahead;
    }

    /// Pieces of a size; the last one is what is left.
    pub fn chunk_size(mut self, size: i64) -> Self {
        self.raw.cut = sys::TD_MAP_CUT_SIZE;
        self.raw.amount = size;
        self
    }

    /// A number of pieces of equal size; the last one is what is left.
    pub fn num_chunks(mut self, count: i64) -> Self {
        self.raw.cut = sys::TD_MAP_CUT_COUNT;
        self.raw.amount = count;
        self
    }

    /// One element at a time, without the dimension.
    pub fn elements(mut self) -> Self {
        self.raw.cut = sys::TD_MAP_CUT_ELEMENTS;
        self
    }

    /// Elements in another order, for [`Dict::map_iter`].
    pub fn shuffle(mut self) -> Self {
        self.raw.shuffle = 1;
        self
    }

    fn to_raw(self) -> sys::td_map_options {
        let Plain { cut, dim, amount, num_workers, worker_threads, seed, shuffle, ahead } =
            self.raw;
        sys::td_map_options {
            cut,
            dim,
            amount,
            num_workers,
            worker_threads,
            seed,
            shuffle,
            ahead,
            ..Default::default()
        }
    }
}

/// Which piece a closure works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// From 0.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// Its first element along the dimension, in the order of the pieces.
    pub first: i64,
    /// How many elements it has.
    pub length: i64,
    /// Which worker it is, from 0.
    pub worker: i32,
    /// A seed of its own, the same with any number of workers.
    pub seed: u64,
}

impl Dict {
    /// A dictionary of what a closure makes of each piece, in order; `None` when it makes nothing of
    /// any. Pieces share memory with this dictionary: values written in place are written here.
    ///
    /// An `Err` of the closure comes back as it is, and so does a panic: that of the first piece in
    /// order that fails.
    ///
    /// ```
    /// use tensordict::{DType, MapOptions, Result, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([4], [("x", Tensor::from_slice(&[1i64, 2, 3, 4], [4])?)])?;
    /// let floats = td.map(MapOptions::new().chunk_size(2), |part| -> Result<_> {
    ///     Ok(Some(part.to(DType::F32)?))
    /// })?;
    /// assert_eq!(floats.unwrap().tensor("x")?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn map<E: From<Error> + Send>(
        &self,
        options: MapOptions,
        f: impl Fn(TensorDict) -> Result<Option<TensorDict>, E> + Sync,
    ) -> Result<Option<TensorDict>, E> {
        self.map_with(options, |_, _| Ok(()), |_, part| f(part))
    }

    /// As [`map`](Self::map), with a closure that knows which piece it gets, and one that is told on
    /// this thread how far the work has come: see [`ProgressBar`](crate::ProgressBar).
    #[track_caller]
    pub fn map_with<E: From<Error> + Send>(
        &self,
        options: MapOptions,
        progress: impl FnMut(usize, usize) -> Result<(), E>,
        f: impl Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Sync,
    ) -> Result<Option<TensorDict>, E> {
        self.work(&mut options.to_raw(), progress, f)
    }

    /// As [`map`](Self::map), with the results written in place into the entries of a dictionary, one
    /// behind the other.
    #[track_caller]
    pub fn map_into<E: From<Error> + Send>(
        &self,
        options: MapOptions,
        out: &mut Dict,
        f: impl Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Sync,
    ) -> Result<(), E> {
        let mut raw = options.to_raw();
        raw.out = out.raw_mut();
        self.work(&mut raw, |_, _| Ok(()), f).map(drop)
    }

    /// What a closure makes of each piece, one by one and in order, while workers go ahead. Pieces of
    /// which it makes nothing are passed over. Dropping the iterator waits for the pieces that have
    /// been begun.
    ///
    /// ```
    /// use tensordict::{MapOptions, Result, Tensor, TensorDict};
    ///
    /// let td = TensorDict::from_pairs([3], [("x", Tensor::from_slice(&[1i64, 2, 3], [3])?)])?;
    /// let mut sum = 0;
    /// for part in td.map_iter(MapOptions::new().elements(), |_, part| -> Result<_> { Ok(Some(part)) })? {
    ///     sum += part?.tensor("x")?.item::<i64>()?;
    /// }
    /// assert_eq!(sum, 6);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn map_iter<E, F>(&self, options: MapOptions, f: F) -> Result<MapIter<E>>
    where
        E: From<Error> + Send + 'static,
        F: Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Send + Sync + 'static,
    {
        let work: Box<dyn Shared<E>> = Box::new(Work { f, failures: Failures::new() });
        // A thin pointer for C; at a fixed address for as long as the iterator lives.
        let work = Box::new(work);
        let user: *const Box<dyn Shared<E>> = &*work;
        let mut token = std::ptr::null_mut();
        // SAFETY: the handles are alive; `user` outlives the iterator, as the order of fields says, and
        // also when it is forgotten.
        let handle = unsafe {
            let callback: sys::td_map_fn = Some(work_shared::<E>);
            let options = options.to_raw();
            check(sys::td_map_iter_create(
                self.raw(),
                &options,
                callback,
                user.cast_mut().cast(),
                &mut token,
            ))?;
            Handle::new(token)
        };
        Ok(MapIter { handle, work, ended: false, failure: PhantomData })
    }

    #[track_caller]
    fn work<P, F, E>(
        &self,
        options: &mut sys::td_map_options,
        progress: P,
        f: F,
    ) -> Result<Option<TensorDict>, E>
    where
        P: FnMut(usize, usize) -> Result<(), E>,
        F: Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Sync,
        E: From<Error> + Send,
    {
        let work = Work { f, failures: Failures::new() };
        let mut told = Told { progress, failure: None };
        let told_user: *mut Told<P, E> = &mut told;
        options.progress = Some(tell::<P, E>);
        options.progress_user = told_user.cast();
        let user: *const Work<F, E> = &work;
        let callback: sys::td_map_fn = Some(work_here::<F, E>);
        // SAFETY: the handles are alive, and the callbacks are called during this call only. `work` is
        // shared by the threads that work, `told` is used by this one.
        let answer = TensorDict::receive_some(|result| unsafe {
            sys::td_map(self.raw(), options, callback, user.cast_mut().cast(), result)
        });
        if let Some(failure) = told.failure {
            return Err(failure.into_error());
        }
        settle(work.failures.take(), answer)
    }
}

/// What [`Dict::map_iter`] gives.
pub struct MapIter<E> {
    // Goes first, and waits for the closures that run.
    handle: Handle<sys::td_map_iter>,
    work: Box<Box<dyn Shared<E>>>,
    ended: bool,
    failure: PhantomData<E>,
}

impl<E: From<Error>> Iterator for MapIter<E> {
    type Item = Result<TensorDict, E>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        // SAFETY: the handle is alive and ours alone.
        let answer = TensorDict::receive_some(|result| unsafe {
            sys::td_map_iter_next(self.handle.get_mut(), result, std::ptr::null_mut())
        });
        self.ended = !matches!(answer, Ok(Some(_)));
        match answer {
            Ok(part) => part.map(Ok),
            Err(error) => Some(settle(self.work.failure(), Err(error))),
        }
    }
}

impl<E: From<Error>> std::iter::FusedIterator for MapIter<E> {}

struct Work<F, E> {
    f: F,
    failures: Failures<E>,
}

/// The failure of the first piece in order; it is the one that the library tells of.
struct Failures<E>(Mutex<Option<(usize, Failure<E>)>>);

impl<E> Failures<E> {
    fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn park(&self, number: usize, failure: Failure<E>) {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if parked.as_ref().map_or(true, |(earlier, _)| number < *earlier) {
            *parked = Some((number, failure));
        }
    }

    fn take(&self) -> Option<Failure<E>> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parked.take().map(|(_, failure)| failure)
    }
}

/// A closure of any type that several threads may call, and its failures.
trait Shared<E>: Send + Sync {
    fn call(&self, piece: &sys::td_map_piece, source: TensorDict) -> Answer;
    fn failure(&self) -> Option<Failure<E>>;
}

type Answer = Result<Option<TensorDict>, sys::td_status>;

// SAFETY of sending E: the closure is Sync, failures are Send and lie behind a lock.
impl<F, E> Shared<E> for Work<F, E>
where
    F: Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Send + Sync,
    E: Send,
{
    fn call(&self, piece: &sys::td_map_piece, source: TensorDict) -> Answer {
        self.run(piece, source)
    }

    fn failure(&self) -> Option<Failure<E>> {
        self.failures.take()
    }
}

impl<F, E> Work<F, E>
where
    F: Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E>,
{
    fn run(&self, piece: &sys::td_map_piece, source: TensorDict) -> Answer {
        let about = Piece {
            number: piece.number,
            count: piece.count,
            first: piece.first,
            length: piece.length,
            worker: piece.worker,
            seed: piece.seed,
        };
        run(|| (self.f)(about, source)).map_err(|failure| {
            let status = failure.tell();
            self.failures.park(piece.number, failure);
            status
        })
    }
}

unsafe extern "C" fn work_here<F, E>(
    user: *mut c_void,
    piece: *const sys::td_map_piece,
    source: *mut sys::td_tensordict,
    result: *mut *mut sys::td_tensordict,
) -> sys::td_status
where
    F: Fn(Piece, TensorDict) -> Result<Option<TensorDict>, E> + Sync,
    E: Send,
{
    // SAFETY: `user` is the Work of the call that is under way; it is shared, and never changed but
    // behind its lock.
    let work = unsafe { &*user.cast_const().cast::<Work<F, E>>() };
    // SAFETY: as the library promises.
    unsafe { answer(source, result, |source| work.run(&*piece, source)) }
}

unsafe extern "C" fn work_shared<E>(
    user: *mut c_void,
    piece: *const sys::td_map_piece,
    source: *mut sys::td_tensordict,
    result: *mut *mut sys::td_tensordict,
) -> sys::td_status {
    // SAFETY: as above; the iterator keeps it alive.
    let work = unsafe { &*user.cast_const().cast::<Box<dyn Shared<E>>>() };
    // SAFETY: as the library promises.
    unsafe { answer(source, result, |source| work.call(&*piece, source)) }
}

/// # Safety
/// `source` is lent for this call, and `result` is where its result goes.
unsafe fn answer(
    source: *mut sys::td_tensordict,
    result: *mut *mut sys::td_tensordict,
    call: impl FnOnce(TensorDict) -> Answer,
) -> sys::td_status {
    // The borrowed handle dies with this call; the dictionary is the closure's own.
    // SAFETY: the handle is alive.
    let own = match TensorDict::receive(|own| unsafe { sys::td_dup(source, own) }) {
        Ok(own) => own,
        Err(error) => return error.status(),
    };
    match call(own) {
        Ok(made) => {
            let token = made.map_or(std::ptr::null_mut(), TensorDict::into_raw);
            // SAFETY: the library takes the handle that is stored here.
            unsafe { *result = token };
            sys::TD_OK
        }
        Err(status) => status,
    }
}

struct Told<P, E> {
    progress: P,
    failure: Option<Failure<E>>,
}

unsafe extern "C" fn tell<P, E>(user: *mut c_void, done: usize, total: usize) -> sys::td_status
where
    P: FnMut(usize, usize) -> Result<(), E>,
{
    // SAFETY: `user` is the Told of the call that is under way, on the thread that made it.
    let told = unsafe { &mut *user.cast::<Told<P, E>>() };
    match run(|| (told.progress)(done, total)) {
        Ok(()) => sys::TD_OK,
        Err(failure) => {
            let status = failure.tell();
            told.failure = Some(failure);
            status
        }
    }
}
