//! Tables of Arrow, with a producer and a reader of the test's own.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

use tensordict::{
    ArrowArray, ArrowArrayStream, ArrowNulls, ArrowSchema, ErrorKind, FromArrowOptions, Tensor,
    TensorDict, ToArrowOptions,
};

// The structs as the specification gives them.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: unsafe extern "C" fn(*mut Stream, *mut ArrowSchema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Stream, *mut ArrowArray) -> c_int,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

fn dict() -> TensorDict {
    let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let done = Tensor::from_slice(&[true, false], [2]).unwrap();
    let mut td = TensorDict::from_pairs([2], [("x", x)]).unwrap();
    td.set(("n", "done"), done).unwrap();
    td
}

#[test]
fn a_dictionary_is_a_record_batch_without_a_copy() {
    let td = dict();
    let x = td.tensor("x").unwrap();
    let (mut schema, mut array) = td.to_arrow(&ToArrowOptions::new()).unwrap();
    assert_eq!((array.len(), array.is_empty()), (2, false));
    // SAFETY: the structs are those of Arrow, and outlive the look at them.
    unsafe {
        let seen = &*ptr::addr_of!(schema).cast::<Schema>();
        let lists = &**seen.children;
        assert_eq!((seen.n_children, CStr::from_ptr(lists.name).to_str().unwrap()), (2, "x"));
        assert_eq!(CStr::from_ptr(lists.format).to_str().unwrap(), "+w:2");
        let values = &**(**(*ptr::addr_of!(array).cast::<Array>()).children).children;
        assert_eq!(*values.buffers.add(1), x.data_ptr().unwrap() as *const c_void);
    }
    // SAFETY: the library made both.
    let again =
        unsafe { TensorDict::from_arrow(&mut schema, &mut array, &FromArrowOptions::new()) }
            .unwrap();
    assert!(schema.is_released() && array.is_released());
    assert!(again.equal(&td).unwrap());
    assert_eq!(again.tensor("x").unwrap().data_ptr().unwrap(), x.data_ptr().unwrap());
    // SAFETY: both are empty by now, which is refused.
    let none = unsafe { TensorDict::from_arrow(&mut schema, &mut array, &FromArrowOptions::new()) };
    assert_eq!(none.err().unwrap().kind(), ErrorKind::Format);
}

#[test]
fn what_nobody_takes_is_released() {
    let td = dict();
    let x = td.tensor("x").unwrap();
    let lent = td.to_arrow(&ToArrowOptions::new().separator(".").complex_pairs()).unwrap();
    drop(td);
    assert!(!x.is_uniquely_owned());
    std::thread::spawn(move || drop(lent)).join().unwrap();
    assert!(x.is_uniquely_owned());
    let none = TensorDict::new(()).unwrap().to_arrow(&ToArrowOptions::new());
    assert_eq!(none.err().unwrap().kind(), ErrorKind::Shape);
}

static VALUES: [f32; 3] = [1.0, 2.0, 3.0];
static VALID: [u8; 1] = [0b101];

// What one column and the struct around it keep; leaked, so that release has nothing to do.
fn leak<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

unsafe extern "C" fn release_schema(own: *mut Schema) {
    // SAFETY: the struct is the one to be released.
    unsafe { (*own).release = None };
}

unsafe extern "C" fn release_array(own: *mut Array) {
    // SAFETY: the struct is the one to be released.
    unsafe { (*own).release = None };
}

fn schema(format: &'static CStr, name: &'static CStr, child: Option<Schema>) -> Schema {
    Schema {
        format: format.as_ptr(),
        name: name.as_ptr(),
        metadata: ptr::null(),
        flags: 2,
        n_children: child.is_some().into(),
        children: child.map_or(ptr::null_mut(), |child| leak(leak(child))),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: ptr::null_mut(),
    }
}

fn array(length: i64, buffers: Vec<*const c_void>, child: Option<Array>) -> Array {
    let buffers = buffers.leak();
    Array {
        length,
        null_count: -1,
        offset: 0,
        n_buffers: buffers.len() as i64,
        n_children: child.is_some().into(),
        buffers: buffers.as_mut_ptr(),
        children: child.map_or(ptr::null_mut(), |child| leak(leak(child))),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: ptr::null_mut(),
    }
}

fn text(bytes: &'static [u8]) -> &'static CStr {
    CStr::from_bytes_with_nul(bytes).unwrap()
}

fn table_schema() -> Schema {
    schema(text(b"+s\0"), text(b"\0"), Some(schema(text(b"f\0"), text(b"a.b\0"), None)))
}

fn table_array() -> Array {
    let buffers = vec![VALID.as_ptr().cast(), VALUES.as_ptr().cast()];
    array(3, vec![ptr::null()], Some(array(3, buffers, None)))
}

fn take(options: &FromArrowOptions) -> tensordict::Result<TensorDict> {
    let (mut schema, mut array) = (table_schema(), table_array());
    // SAFETY: the structs are those of Arrow, over memory that stays.
    unsafe {
        let result = TensorDict::from_arrow(
            ptr::addr_of_mut!(schema).cast(),
            ptr::addr_of_mut!(array).cast(),
            options,
        );
        assert_eq!(
            (array.release.is_none(), schema.release.is_none()),
            (result.is_ok(), result.is_ok())
        );
        result
    }
}

#[test]
fn missing_numbers_are_refused_or_nan_or_masked() {
    assert_eq!(take(&FromArrowOptions::new()).err().unwrap().kind(), ErrorKind::Unsupported);
    let nan = take(&FromArrowOptions::new().nulls(ArrowNulls::Nan).copy()).unwrap();
    let values = nan.tensor("a.b").unwrap().to_vec::<f32>().unwrap();
    assert_eq!((values[0], values[1].is_nan(), values[2]), (1.0, true, 3.0));
    let mask = FromArrowOptions::new().nulls(ArrowNulls::Mask).separator(".").limits(9, 9);
    let td = take(&mask).unwrap();
    let valid = td.tensor(("a", "b.valid")).unwrap();
    assert_eq!(valid.to_vec::<bool>().unwrap(), [true, false, true]);
}

unsafe extern "C" fn get_schema(_: *mut Stream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the receiver gives room for one.
    unsafe { out.cast::<Schema>().write(table_schema()) };
    0
}

unsafe extern "C" fn get_next(own: *mut Stream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the counter is the test's, and the receiver gives room for one.
    unsafe {
        let left = (*own).private_data.cast::<u32>();
        if *left == 0 {
            out.write(ArrowArray::empty());
        } else if *left == 9 {
            return 5;
        } else {
            out.cast::<Array>().write(table_array());
            *left -= 1;
        }
    }
    0
}

unsafe extern "C" fn release_stream(own: *mut Stream) {
    // SAFETY: the struct is the one to be released.
    unsafe { (*own).release = None };
}

#[test]
fn a_stream_is_read_to_its_end() {
    let read = |mut left: u32| {
        let mut stream = Stream {
            get_schema,
            get_next,
            get_last_error: None,
            release: Some(release_stream),
            private_data: ptr::addr_of_mut!(left).cast(),
        };
        let own: *mut ArrowArrayStream = ptr::addr_of_mut!(stream).cast();
        // SAFETY: the stream is one of Arrow's, over memory that stays.
        let td = unsafe {
            TensorDict::from_arrow_stream(own, &FromArrowOptions::new().nulls(ArrowNulls::Mask))
        };
        assert!(stream.release.is_none());
        td
    };
    let td = read(2).unwrap();
    let values = td.tensor("a.b").unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(read(9).err().unwrap().kind(), ErrorKind::Io);
    assert!(ArrowSchema::empty().is_released() && ArrowArrayStream::empty().is_released());
}

#[test]
fn a_dictionary_is_a_stream_of_record_batches() {
    let td = TensorDict::from_pairs(
        [5],
        [("x", Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0], [5]).unwrap())],
    )
    .unwrap();
    for rows in [1, 2, 5, usize::MAX] {
        let mut stream = td.to_arrow_stream(rows, &ToArrowOptions::new()).unwrap();
        assert!(!stream.is_released());
        // SAFETY: the library has just made it, and nobody else uses it.
        let again = unsafe { TensorDict::from_arrow_stream(&mut stream, &FromArrowOptions::new()) }
            .unwrap();
        assert!(stream.is_released());
        assert_eq!(again.tensor("x").unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
    let refused = td.to_arrow_stream(0, &ToArrowOptions::new());
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::InvalidArgument);
}
