//! What safe code could break memory with, if the crate let it.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{mpsc, Arc, Mutex};

use common::{counting, ints, sample, Scratch};
use tensordict::{
    args, clear_log, set_log, AppendOptions, ApplyEntry, ApplyOptions, ErrorKind, LoadOptions,
    MemmapLength, NestedTensor, Result, Tensor, TensorDict, Writer, WriterOptions,
};

/// Something that the library has to say.
fn complain() {
    let matrix = TensorDict::from_pairs([2], [("x", counting(&[2, 3]))]).unwrap();
    assert_eq!(matrix.call("mm", args![&matrix]).unwrap_err().kind(), ErrorKind::Torch);
}

/// Says whether it was dropped before it was used.
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

// One test, because there is one log.
#[test]
fn a_logger_lives_until_its_last_line_is_written() {
    // It goes while it runs, by its own doing.
    let alive = Arc::new(AtomicBool::new(true));
    let (own, lines) = (Alive(Arc::clone(&alive)), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&lines);
    set_log(move |_, _| {
        clear_log();
        assert!(own.0.load(Ordering::SeqCst), "the closure was freed under itself");
        count.fetch_add(1, Ordering::SeqCst);
    });
    complain();
    complain();
    assert_eq!(lines.load(Ordering::SeqCst), 1);
    assert!(!alive.load(Ordering::SeqCst));

    // It goes while it runs on another thread.
    let alive = Arc::new(AtomicBool::new(true));
    let own = Alive(Arc::clone(&alive));
    let (began, begun) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let kept = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&kept);
    set_log(move |_, _| {
        began.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        seen.store(own.0.load(Ordering::SeqCst), Ordering::SeqCst);
    });
    let worker = std::thread::spawn(complain);
    begun.recv().unwrap();
    clear_log();
    assert!(alive.load(Ordering::SeqCst));
    go_on.send(()).unwrap();
    worker.join().unwrap();
    assert!(kept.load(Ordering::SeqCst) && !alive.load(Ordering::SeqCst));
}

#[test]
fn memory_that_others_have_mapped_is_not_lent() {
    let scratch = Scratch::new();
    let file = scratch.path("td.bin");
    let td = TensorDict::from_pairs([2], [("x", counting(&[2]))]).unwrap();
    td.consolidate_to(&file).unwrap();
    let through = || {
        let options = LoadOptions::new().write_through(true);
        TensorDict::load_consolidated_with(&file, options).unwrap().tensor("x").unwrap()
    };
    let refused = |mut tensor: Tensor| {
        assert!(!tensor.is_uniquely_owned());
        let error = tensor.as_mut_slice::<i64>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    };
    let (one, mut two) = (through(), through());
    two.copy_from_slice(&[7i64, 8]).unwrap();
    assert_eq!(one.to_vec::<i64>().unwrap(), [7, 8]);
    refused(one);
    refused(two);
    assert!(through().is_memmap());

    let mut shared = TensorDict::from_pairs([2], [("x", counting(&[2]))]).unwrap();
    shared.share_memory().unwrap();
    let opened = TensorDict::open_shared(&shared.shared_name().unwrap()).unwrap();
    refused(opened.tensor("x").unwrap());
    drop(opened);
    let last = shared.tensor("x").unwrap();
    drop(shared);
    refused(last);

    let mapped = td.memmap(scratch.path("td")).unwrap();
    refused(mapped.tensor("x").unwrap());
    let mut copy = mapped.tensor("x").unwrap().deep_clone().unwrap();
    copy.as_mut_slice::<i64>().unwrap()[0] = 9;
}

#[test]
fn a_file_that_is_mapped_stays_as_long_as_it_is() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    // Two pages, so that a file that was cut would lack the second one.
    let rows = 1024i64;
    TensorDict::from_pairs([rows], [("x", counting(&[rows]))]).unwrap().memmap(&dir).unwrap();
    // What was cut away stays in the file, and is not a row that a writer left.
    let length = |rows, kept| {
        let found = TensorDict::memmap_length(&dir).unwrap();
        assert_eq!(found, MemmapLength { rows, stored: rows, spare: 8 * (kept - rows) });
    };
    let reader = TensorDict::load_memmap(&dir).unwrap();
    TensorDict::memmap_truncate(&dir, 2, AppendOptions::new()).unwrap();
    assert_eq!(ints(&reader, "x")[1023], 1023);
    length(2, rows);
    assert_eq!(ints(&TensorDict::load_memmap(&dir).unwrap(), "x"), [0, 1]);

    // Nor does who adds to it cut it.
    let row = TensorDict::from_pairs([1], [("x", counting(&[1]))]).unwrap();
    row.memmap_append(&dir, AppendOptions::new()).unwrap();
    let mut writer = Writer::growing(&dir, None, AppendOptions::new()).unwrap();
    let x = writer.bind("x").unwrap();
    writer.put(x, &[5i64]).unwrap();
    writer.next_row().unwrap();
    writer.close().unwrap();
    assert_eq!(ints(&reader, "x")[..5], [0, 1, 0, 5, 4]);
    assert_eq!(ints(&TensorDict::load_memmap(&dir).unwrap(), "x"), [0, 1, 0, 5]);
    length(4, rows);

    // A private mapping is one, too.
    let private = LoadOptions::new().private_mapping(true);
    let private = TensorDict::load_memmap_with(&dir, private).unwrap();
    drop(reader);
    TensorDict::memmap_truncate(&dir, 3, AppendOptions::new()).unwrap();
    length(3, rows);
    drop(private);
    TensorDict::memmap_truncate(&dir, 3, AppendOptions::new()).unwrap();
    length(3, 3);
}

#[test]
fn closures_get_dictionaries_of_their_own() {
    let td = sample();
    let options = || ApplyOptions::new().call_on_nested(true);
    for options in [options(), options().batch_size([2])] {
        let mut kept = None;
        td.apply_entries(&[], options, |key, mut entries| -> Result<_> {
            if *key == "deep" {
                kept = entries.pop();
                return Ok(None);
            }
            Ok(entries.pop())
        })
        .unwrap();
        let Some(ApplyEntry::Dict(mut kept)) = kept else { panic!("a dictionary") };
        assert!(!kept.is_same(td.dict("deep").unwrap()));
        kept.remove("b").unwrap();
        assert!(td.contains(("deep", "b")));
    }
}

#[test]
fn a_nested_tensor_belongs_to_one_dictionary() {
    let parts = [counting(&[2]), counting(&[1])];
    let nested_tensor = NestedTensor::from_tensors(&parts).unwrap();
    let (mut one, mut two) = (TensorDict::new([2]).unwrap(), TensorDict::new([2]).unwrap());
    one.set("r", &nested_tensor).unwrap();
    two.set("r", one.nested_tensor("r").unwrap()).unwrap();
    one.lock().unwrap();
    two.lock().unwrap();
    one.unlock().unwrap(); // nobody else holds what is in it
    two.unlock().unwrap();
    assert!(one.equal(&two).unwrap());
}

#[test]
fn a_field_writes_into_its_own_writer() {
    let td = || {
        let mut td = TensorDict::from_pairs([2], [("a", counting(&[2]))]).unwrap();
        td.set("b", counting(&[2])).unwrap();
        td
    };
    let mut one = Writer::owning(td(), WriterOptions::new()).unwrap();
    let mut two = Writer::owning(td(), WriterOptions::new()).unwrap();
    let (b, _) = (one.bind("b").unwrap(), two.bind("a").unwrap());
    assert_eq!(two.put(b, &[9i64]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(two.put_bytes(b, &[0; 8]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    one.put(b, &[9i64]).unwrap();
    assert_eq!(ints(&two.into_dict().unwrap(), "a"), [0, 1]);
    assert_eq!(ints(&one.into_dict().unwrap(), "b"), [9, 1]);
}

#[test]
fn entries_that_cannot_be_read_are_errors() {
    let element = |n: i64| {
        let mut td = TensorDict::from_pairs((), [("x", counting(&[n]))]).unwrap();
        td.set("y", Tensor::scalar(n).unwrap()).unwrap();
        td
    };
    let lazy = TensorDict::lazy_stack([element(1), element(2)], 0).unwrap();
    let leaves: Vec<_> = lazy.leaves().collect();
    assert_eq!(leaves[0].as_ref().unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(leaves[1].as_ref().unwrap().1.to_vec::<i64>().unwrap(), [1, 2]);
    let items: Vec<_> = lazy.items().map(|item| item.is_ok()).collect();
    assert_eq!(items, [false, true]);
    assert_eq!(lazy.to_map().unwrap_err().kind(), ErrorKind::Shape);
    assert!(format!("{lazy}").contains("x:"), "{lazy}");
    assert_eq!((lazy.nbytes(), lazy.keys().len()), (40, 2));
}

#[test]
fn a_mask_of_any_bytes_picks_what_libtorch_does() {
    let td = TensorDict::from_pairs([3], [("x", counting(&[3]))]).unwrap();
    let mask = Tensor::from_bytes(&[2, 0, 255], tensordict::DType::Bool, [3]).unwrap();
    assert_eq!(ints(&td.at(&mask).unwrap(), "x"), [0, 2]);
}
