//! Rows of plain memory into a dictionary, for a hot loop.

use std::marker::PhantomData;

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::dtype::{DType, Element};
use crate::error::{check, sound, Error, Result};
use crate::handle::Handle;
use crate::key::{Key, RawKey};
use crate::names::RawNames;

/// Where a writer begins, and how far it may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriterOptions {
    raw: sys::td_writer_options,
}

impl WriterOptions {
    /// From the first row to the last.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Where writing begins.
        first_row(row: i64) => raw.first_row;
        /// How many rows may be written; 0 means up to the last.
        capacity(rows: i64) => raw.capacity;
    }
}

/// A tensor of a [`Writer`], found once by [`Writer::bind`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    writer: usize,
    number: i32,
    dtype: DType,
    row_bytes: usize,
}

impl Field {
    /// The element type of the tensor.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many bytes one row takes.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }
}

/// An entry of a growing [`Writer`] with a text for each row, found once by [`Writer::bind_text`].
#[derive(Clone, Copy, Debug)]
pub struct TextField {
    writer: usize,
    number: i32,
}

/// Writes rows into the tensors of a dictionary, which it needs for itself. A row is one element of
/// the batch; with several batch dimensions rows follow in row-major order. Putting values and moving
/// on allocates nothing.
///
/// ```
/// use tensordict::{DType, Tensor, TensorDict, Writer};
///
/// let mut td = TensorDict::new([3])?;
/// td.set("x", Tensor::zeros([3, 2], DType::F32)?)?;
/// let mut writer = Writer::open(&mut td)?;
/// let x = writer.bind("x")?;
/// for row in 0..3 {
///     writer.put(x, &[row as f32, 1.0])?;
///     writer.next_row()?;
/// }
/// writer.close()?;
/// assert_eq!(td.tensor("x")?.to_vec::<f32>()?, [0.0, 1.0, 1.0, 1.0, 2.0, 1.0]);
/// # Ok::<(), tensordict::Error>(())
/// ```
pub struct Writer<'a> {
    handle: Handle<sys::td_writer>,
    dict: TensorDict,
    outer: PhantomData<&'a mut Dict>,
}

impl<'a> Writer<'a> {
    /// A writer over all rows. The dictionary holds the tensors already, on the CPU.
    #[track_caller]
    pub fn open(dict: &'a mut Dict) -> Result<Self> {
        Self::open_with(dict, WriterOptions::new())
    }

    /// A writer over some rows.
    #[track_caller]
    pub fn open_with(dict: &'a mut Dict, options: WriterOptions) -> Result<Self> {
        // The second handle ends before the borrow does.
        Self::over(dict.share()?, options)
    }

    #[track_caller]
    fn over(mut dict: TensorDict, options: WriterOptions) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        // SAFETY: the handle is alive and ours alone, and a call that succeeds gives us the writer.
        let handle = unsafe {
            check(sys::td_writer_open(dict.raw_mut(), &options.raw, &mut token))?;
            Handle::new(token)
        };
        Ok(Self { handle, dict, outer: PhantomData })
    }

    /// Finds a tensor, once, before the loop.
    #[track_caller]
    pub fn bind(&mut self, key: impl Key) -> Result<Field> {
        let dtype = self.dict.tensor(&key)?.dtype();
        let key = RawKey::new(&key)?;
        let (mut number, mut row_bytes) = (-1, 0);
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        unsafe {
            let writer = self.handle.get_mut();
            check(sys::td_writer_bind(writer, key.path(), key.len(), &mut number))?;
            check(sys::td_writer_row_bytes(writer, number, &mut row_bytes))?;
        }
        Ok(Field { writer: self.identity(), number, dtype, row_bytes })
    }

    /// Copies one field of the current row.
    #[inline]
    #[track_caller]
    pub fn put<T: Element>(&mut self, field: Field, values: &[T]) -> Result<()> {
        if field.dtype != T::DTYPE {
            return Err(other_dtype(field.dtype, T::DTYPE));
        }
        // SAFETY: an element has no padding, so all its bytes may be read.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast(), std::mem::size_of_val(values))
        };
        self.put_bytes(field, bytes)
    }

    /// Copies one field of the current row from the bytes of its values; for every dtype.
    #[inline]
    #[track_caller]
    pub fn put_bytes(&mut self, field: Field, bytes: &[u8]) -> Result<()> {
        if field.writer != self.identity() {
            return Err(other_writer());
        }
        let writer = self.handle.get_mut();
        // SAFETY: the handle is alive and ours alone, and the memory is as large as it is said to be.
        check(unsafe {
            sys::td_writer_put(writer, field.number, bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// Finds an entry with a text for each row, once, before the loop. Only a folder that grows has such.
    #[track_caller]
    pub fn bind_text(&mut self, key: impl Key) -> Result<TextField> {
        let key = RawKey::new(&key)?;
        let mut number = -1;
        let writer = self.handle.get_mut();
        // SAFETY: the handle is alive and ours alone, and the key is as long as it says.
        check(unsafe { sys::td_writer_bind(writer, key.path(), key.len(), &mut number) })?;
        Ok(TextField { writer: self.identity(), number })
    }

    /// Copies the text of the current row; a row without one has an empty text.
    #[track_caller]
    pub fn put_text(&mut self, field: TextField, text: &str) -> Result<()> {
        if field.writer != self.identity() {
            return Err(other_writer());
        }
        let text = RawNames::new([Some(text)])?;
        let writer = self.handle.get_mut();
        // SAFETY: the handle is alive and ours alone, and the text ends with a NUL.
        check(unsafe { sys::td_writer_put_text(writer, field.number, text.raw[0]) })
    }

    /// Moves on. Fields that were not put keep what was there.
    #[inline]
    #[track_caller]
    pub fn next_row(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_writer_next(self.handle.get_mut()) })
    }

    /// What tells this writer from all others: no handle is given out twice.
    #[inline]
    fn identity(&self) -> usize {
        self.handle.get() as usize
    }

    pub(crate) fn handle(&self) -> &Handle<sys::td_writer> {
        &self.handle
    }

    /// How many rows were completed.
    pub fn rows(&self) -> i64 {
        let mut rows = 0;
        // SAFETY: the handle is alive.
        sound(check(unsafe { sys::td_writer_rows(self.handle.get(), &mut rows) }));
        rows
    }

    /// Waits until what was put is on the disk. A growing writer publishes its rows.
    #[track_caller]
    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_writer_flush(self.handle.get_mut()) })
    }

    /// Flushes and ends. A writer that is dropped instead does not wait for the disk.
    #[track_caller]
    pub fn close(mut self) -> Result<()> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_writer_close(self.handle.get_mut()) })
    }
}

#[cold]
#[track_caller]
fn other_dtype(field: DType, values: DType) -> Error {
    Error::new(sys::TD_ERR_DTYPE, format!("the field is of {field}, not of {values}"))
}

#[cold]
#[track_caller]
fn other_writer() -> Error {
    let message = "the field belongs to another writer: bind it here";
    Error::new(sys::TD_ERR_INVALID_ARGUMENT, message)
}

impl Writer<'static> {
    /// A writer that owns its dictionary, to be kept in a structure.
    #[track_caller]
    pub fn owning(dict: TensorDict, options: WriterOptions) -> Result<Self> {
        Self::over(dict, options)
    }

    /// Takes a writer that the library has opened over a folder; `dict` tells of its tensors.
    pub(crate) fn from_parts(handle: Handle<sys::td_writer>, dict: TensorDict) -> Self {
        Self { handle, dict, outer: PhantomData }
    }

    /// Flushes, ends, and gives the dictionary back: that of a folder which has grown, loaded from there.
    ///
    /// ```
    /// use tensordict::{DType, Tensor, TensorDict, Writer, WriterOptions};
    ///
    /// let td = TensorDict::from_pairs([2], [("x", Tensor::zeros([2], DType::I64)?)])?;
    /// let mut writer = Writer::owning(td, WriterOptions::new().first_row(1))?;
    /// let x = writer.bind("x")?;
    /// writer.put(x, &[7i64])?;
    /// assert_eq!(writer.into_dict()?.tensor("x")?.to_vec::<i64>()?, [0, 7]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn into_dict(mut self) -> Result<TensorDict> {
        // SAFETY: the handle is alive and ours alone.
        check(unsafe { sys::td_writer_close(self.handle.get_mut()) })?;
        match self.folder() {
            Some(dir) => TensorDict::load_memmap(dir),
            None => Ok(self.dict),
        }
    }
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Writer({} rows)", self.rows())
    }
}
