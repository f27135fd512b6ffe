//! Folders: written, mapped, loaded, refused.

mod common;

use common::{counting, golden, ints, sample, Scratch};
use tensordict::{
    DType, Device, EntryKind, ErrorKind, LoadOptions, MemmapOptions, Tensor, TensorDict, Value,
};

#[test]
fn a_folder_gives_back_what_was_saved() {
    let scratch = Scratch::new();
    let dir = scratch.path("rollout");
    let td = sample();
    let disk = td.memmap(&dir).unwrap();
    assert!(disk.is_locked() && disk.is_memmap() && !td.is_locked() && !td.is_memmap());
    assert_eq!((disk.device(), disk.saved_path()), (Some(Device::cpu()), Some(dir.clone())));
    assert!(disk.equal(&td).unwrap());
    let loaded = TensorDict::load_memmap(&dir).unwrap();
    assert!(loaded.equal(&td).unwrap() && !loaded.is_locked());
    assert_eq!(loaded.saved_path(), Some(dir));
}

#[test]
fn paths_and_keys_need_not_be_ascii() {
    let scratch = Scratch::new();
    let dir = scratch.path("Ordner für 手");
    let mut td = TensorDict::new([2]).unwrap();
    td.set(("größe", "шаг"), Tensor::from_slice(&[1u8, 2], [2]).unwrap()).unwrap();
    td.memmap(&dir).unwrap();
    let loaded = TensorDict::load_memmap(&dir).unwrap();
    assert_eq!(loaded.tensor(("größe", "шаг")).unwrap().to_vec::<u8>().unwrap(), [1, 2]);
}

#[test]
fn writes_reach_the_files() {
    let scratch = Scratch::new();
    let mut disk = sample().memmap(scratch.path("td")).unwrap();
    disk.fill_at(0, &Tensor::scalar(7i64).unwrap()).unwrap();
    disk.flush().unwrap();
    let loaded = TensorDict::load_memmap(scratch.path("td")).unwrap();
    assert_eq!(ints(&loaded, "a"), [7, 7, 7, 3, 4, 5]);

    let options = LoadOptions::new().private_mapping(true);
    let mut private = TensorDict::load_memmap_with(scratch.path("td"), options).unwrap();
    private.fill_at(0, &Tensor::scalar(8i64).unwrap()).unwrap();
    assert_eq!(ints(&private, "a")[0], 8);
    assert_eq!(ints(&loaded, "a")[0], 7);
}

#[test]
fn a_mapped_tensor_gives_no_safe_slice() {
    let scratch = Scratch::new();
    sample().memmap(scratch.path("td")).unwrap();
    let mut td = TensorDict::load_memmap(scratch.path("td")).unwrap();
    let mut a = td.tensor("a").unwrap();
    td.remove("a").unwrap();
    assert!(a.is_memmap() && !a.is_uniquely_owned());
    assert!(a.at(0).unwrap().is_memmap() && !a.deep_clone().unwrap().is_memmap());
    assert_eq!(a.as_mut_slice::<i64>().unwrap_err().kind(), ErrorKind::InvalidArgument);
    // SAFETY: nobody writes meanwhile.
    assert_eq!(unsafe { a.as_slice::<i64>() }.unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn an_answer_that_changes_nothing_stays_mapped() {
    let scratch = Scratch::new();
    let mut td = sample();
    td.set(("deep", "deeper", "x"), counting(&[2, 3])).unwrap();
    let mut disk = td.memmap(scratch.path("td")).unwrap();
    let answers = [
        disk.at(..).unwrap(),
        disk.view([2, 3]).unwrap(),
        disk.reshape([2, 3]).unwrap(),
        disk.permute([0, 1]).unwrap(),
        disk.squeeze(0).unwrap(),
        disk.to(Device::cpu()).unwrap(),
    ];
    disk.fill_at(0, &Tensor::scalar(7i64).unwrap()).unwrap();
    for answer in answers {
        assert!(!answer.is_same(&disk) && answer.equal(&disk).unwrap());
        assert!(answer.is_memmap() && answer.is_locked());
        assert_eq!((answer.batch_size(), answer.device()), (vec![2, 3], Some(Device::cpu())));
        let (inner, nested) = (answer.dict("deep").unwrap(), disk.dict("deep").unwrap());
        assert!(inner.is_memmap() && !inner.is_same(&nested));
        let (x, own) = (answer.tensor("a").unwrap(), disk.tensor("a").unwrap());
        assert!(x.is_memmap());
        assert_eq!(x.data_ptr().unwrap(), own.data_ptr().unwrap());
        // Its lock is its own: another thread may take it off.
        let unlocked = std::thread::spawn(move || {
            let mut answer = answer;
            answer.unlock().unwrap();
            answer.is_memmap()
        });
        assert!(!unlocked.join().unwrap());
        assert!(disk.is_memmap() && disk.is_locked() && nested.is_locked());
    }
}

#[test]
fn a_dictionary_is_mapped_in_place() {
    let scratch = Scratch::new();
    let mut td = sample();
    td.memmap_inplace(scratch.path("td")).unwrap();
    assert!(td.is_memmap() && td.is_locked());
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(td.saved_path(), Some(scratch.path("td")));
}

#[test]
fn room_is_made_for_more() {
    let scratch = Scratch::new();
    let one = sample().at(0).unwrap();
    let room = one.expand([1000, 3]).unwrap().memmap_like(scratch.path("room")).unwrap();
    assert_eq!(
        (room.batch_size(), room.tensor("a").unwrap().shape()),
        (vec![1000, 3], vec![1000, 3])
    );
    assert_eq!(ints(&room.at(999).unwrap(), "a"), [0, 0, 0]);
}

#[test]
fn memory_without_a_name_will_do() {
    let options = MemmapOptions::new();
    let td = sample().memmap_with(None, options).unwrap();
    assert!(td.is_memmap() && td.saved_path().is_none());
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    assert!(sample().memmap_like_with(None, options).unwrap().is_memmap());
    let mut own = sample();
    own.memmap_inplace_with(None, options).unwrap();
    assert!(own.is_memmap());
}

#[test]
fn options_are_heard() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let threads = MemmapOptions::new().num_threads(2);
    let disk = sample().memmap_with(Some(&dir), threads).unwrap();
    assert!(disk.equal(sample()).unwrap());
    let careful = MemmapOptions::new().fail_if_exists(true);
    assert_eq!(sample().memmap_with(Some(&dir), careful).unwrap_err().kind(), ErrorKind::Io);
    let copy = MemmapOptions::new().copy_existing(true);
    let copied = disk.memmap_with(Some(&scratch.path("copy")), copy).unwrap();
    assert_eq!(copied.saved_path(), Some(scratch.path("copy")));
    assert!(scratch.path("copy/a.memmap").exists());

    let td = TensorDict::from_pairs((), [("50%", Tensor::scalar(1u8).unwrap())]).unwrap();
    let verbatim = MemmapOptions::new().verbatim_names(true);
    td.memmap_with(Some(&scratch.path("verbatim")), verbatim).unwrap();
    assert!(scratch.path("verbatim/50%.memmap").exists());
    let options = LoadOptions::new().verbatim_names(true);
    let read = TensorDict::load_memmap_with(scratch.path("verbatim"), options).unwrap();
    assert_eq!(read.tensor("50%").unwrap().item::<u8>().unwrap(), 1);
}

#[test]
fn loading_has_limits() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let mut td = sample();
    td.set(("deep", "deeper", "x"), counting(&[2, 3])).unwrap();
    td.memmap(&dir).unwrap();
    let load = |options| TensorDict::load_memmap_with(&dir, options);
    assert_eq!(load(LoadOptions::new().max_entries(2)).unwrap_err().kind(), ErrorKind::Format);
    assert_eq!(load(LoadOptions::new().max_depth(1)).unwrap_err().kind(), ErrorKind::Format);
    assert!(load(LoadOptions::new().max_entries(10).max_depth(2).num_threads(2)).is_ok());
    let meta = load(LoadOptions::new().device(Device::meta())).unwrap();
    assert_eq!(meta.tensor("a").unwrap().device(), Device::meta());
    assert_eq!(meta.tensor("a").unwrap().shape(), [2, 3]);
}

#[test]
fn what_is_no_folder_of_ours_is_refused() {
    let scratch = Scratch::new();
    let missing = TensorDict::load_memmap(scratch.path("missing")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert!(missing.message().contains("missing"), "{missing}");
    std::fs::create_dir(scratch.path("broken")).unwrap();
    std::fs::write(scratch.path("broken/meta.json"), "{").unwrap();
    let broken = TensorDict::load_memmap(scratch.path("broken")).unwrap_err();
    assert_eq!(broken.kind(), ErrorKind::Format);
    assert_eq!(sample().memmap("a\0b").unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn values_of_python_are_read() {
    let td = TensorDict::load_memmap(golden("nontensor")).unwrap();
    let json = |key| td.non_tensor_json(key).unwrap();
    assert_eq!((json("str"), json("int")), ("\"hello wörld\"".to_owned(), "-7".to_owned()));
    assert_eq!((json("bool"), json("none")), ("true".to_owned(), "null".to_owned()));
    assert_eq!(json("list").replace(' ', ""), r#"[1,"two",3.0]"#);

    let td = TensorDict::load_memmap(golden("dtypes")).unwrap();
    let small = td.tensor("int16").unwrap().at(0).unwrap();
    assert_eq!(small.to_vec::<i16>().unwrap(), [4682, 17519, 27944]);
    let half = td.tensor("float16").unwrap().at(0).unwrap().to(DType::F64).unwrap();
    assert_eq!(half.to_vec::<f64>().unwrap(), [1.3232421875, 0.037109375, -0.284912109375]);
    let brain = td.tensor("bfloat16").unwrap().at(0).unwrap().to(DType::F64).unwrap();
    assert_eq!(brain.to_vec::<f64>().unwrap(), [0.43359375, -1.734375, -1.3359375]);
    let truth = td.tensor("bool").unwrap().at(1).unwrap();
    assert_eq!(truth.to_vec::<bool>().unwrap(), [true, false, true]);
}

#[test]
fn folders_of_python_are_read() {
    let digits = TensorDict::load_memmap(golden("digits")).unwrap();
    assert_eq!(digits.batch_size(), [1797]);
    let (image, label) = (digits.tensor("image").unwrap(), digits.tensor("label").unwrap());
    assert_eq!((image.dtype(), image.shape()), (DType::U8, vec![1797, 8, 8]));
    assert_eq!(label.at(..10).unwrap().to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(digits.kind("source").unwrap(), Some(EntryKind::NonTensor));
    let text = digits.non_tensor_json("source").unwrap();
    assert!(text.starts_with('"') && text.ends_with('"'), "{text}");
    assert!(matches!(digits.get("source").unwrap(), Value::NonTensor(data) if data == text));
    let kinds: Vec<_> =
        digits.items().map(|item| matches!(item, Ok((_, Value::NonTensor(_))))).collect();
    assert_eq!(kinds.iter().filter(|data| **data).count(), 1);
}
