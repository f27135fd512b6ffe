//! Dictionaries: entries, keys, nested ones, locks, copies, text.

mod common;

use common::{counting, ints, sample};
use tensordict::{
    DType, Device, Dict, EntryKind, ErrorKind, KeyPath, KeysOptions, PrintOptions, PrintPart,
    Tensor, TensorDict, Value,
};

#[test]
fn entries_are_set_found_and_removed() {
    let mut td = sample();
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(td.kind("a").unwrap(), Some(EntryKind::Tensor));
    assert_eq!(td.kind("deep").unwrap(), Some(EntryKind::Dict));
    assert_eq!(td.kind("none").unwrap(), None);
    assert!(td.contains(("deep", "b")) && !td.contains(("a", "b")) && !td.contains(""));
    assert_eq!(td.get("a").unwrap().into_tensor().unwrap().shape(), [2, 3]);
    assert!(matches!(td.get("deep").unwrap(), Value::Dict(deep) if deep.contains("c")));
    td.remove(("deep", "b")).unwrap();
    assert!(!td.contains(("deep", "b")) && td.contains("deep"));
}

#[test]
fn keys_come_in_many_forms() {
    let mut td = TensorDict::new(()).unwrap();
    let one = Tensor::scalar(1i64).unwrap();
    td.set(("p", String::from("q"), "r"), &one).unwrap();
    let names = vec!["p".to_owned(), "q".to_owned(), "r".to_owned()];
    assert!(td.contains(["p", "q", "r"]) && td.contains(&names[..]) && td.contains(&names));
    let path = KeyPath::new(&names);
    assert!(td.contains(&path));
    assert_eq!(path, ("p", "q", "r"));
    assert_eq!(
        (path.to_string(), format!("{path:?}")),
        ("p.q.r".into(), r#"("p", "q", "r")"#.into())
    );
    assert_eq!(format!("{:?}", KeyPath::new("solo")), r#""solo""#);
    assert_eq!(path.names(), names);
}

#[test]
fn names_need_not_be_ascii() {
    let mut td = TensorDict::new([2]).unwrap();
    td.set(("größe", "шаг", "手"), counting(&[2])).unwrap();
    assert_eq!(ints(&td, ("größe", "шаг", "手")), [0, 1]);
    assert_eq!(td.leaves().next().unwrap().unwrap().0, ("größe", "шаг", "手"));
    assert_eq!(td.tensor("größ").unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn names_that_cannot_be_are_refused() {
    let mut td = sample();
    let none: [&str; 0] = [];
    assert_eq!(td.set(none, counting(&[2, 3])).unwrap_err().kind(), ErrorKind::KeyInvalid);
    let error = td.set("with\0nul", counting(&[2, 3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyInvalid);
    assert_eq!(error.message(), r#"the name "with\0nul" holds a NUL"#);
}

#[test]
fn what_is_set_must_fit() {
    let mut td = sample();
    assert_eq!(td.set("x", counting(&[3, 2])).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.set(("a", "b"), counting(&[2, 3])).unwrap_err().kind(), ErrorKind::KeyExists);
    assert_eq!(td.tensor("deep").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.dict("a").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.non_tensor_json("a").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.remove("none").unwrap_err().kind(), ErrorKind::Key);
    let error = td.get("none").unwrap_err();
    assert_eq!((error.kind(), error.function()), (ErrorKind::Key, "td_get"));
}

#[test]
fn values_are_written_in_place() {
    let mut td = sample();
    let before = td.tensor("a").unwrap();
    td.set_inplace("a", &Tensor::scalar(7i32).unwrap()).unwrap();
    assert_eq!(before.to_vec::<i64>().unwrap(), [7; 6]);
    let one = Tensor::scalar(1i64).unwrap();
    assert_eq!(td.set_inplace("none", &one).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(td.set_inplace("a", &counting(&[4])).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn nested_dictionaries_are_the_ones_inside() {
    let mut td = sample();
    td.dict_mut("deep").unwrap().set("new", counting(&[2, 3])).unwrap();
    assert!(td.contains(("deep", "new")));
    let deep = td.dict("deep").unwrap();
    assert_eq!((deep.batch_size(), deep.is_locked()), (vec![2, 3], false));
    assert_eq!(ints(&deep, "new"), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_nested_dictionary_cannot_be_taken_out_by_exchange() {
    let mut td = sample();
    let mut other = TensorDict::new(()).unwrap();
    let mut deep = td.dict_mut("deep").unwrap();
    let (inner, outer): (&mut Dict, &mut Dict) = (&mut deep, &mut other);
    std::mem::swap(inner, outer);
    assert!(deep.contains("b") && !other.contains("b"));
}

#[test]
fn dictionaries_are_moved_in_or_copied() {
    let mut td = TensorDict::new([2]).unwrap();
    let inner = TensorDict::from_pairs([2], [("x", counting(&[2]))]).unwrap();
    td.set("copied", &inner).unwrap();
    td.dict_mut("copied").unwrap().set("y", counting(&[2])).unwrap();
    assert!(!inner.contains("y"));
    td.set("borrowed", &*inner).unwrap();
    td.set("moved", inner).unwrap();
    assert_eq!(ints(&td, ("moved", "x")), [0, 1]);
    assert_eq!(td.keys().collect::<Vec<_>>(), ["copied", "borrowed", "moved"]);
    let wrong = TensorDict::new([3]).unwrap();
    let stored = td.set("wrong", wrong);
    assert!(stored.map_or_else(|e| e.kind() == ErrorKind::Shape, |()| td.contains("wrong")));
}

#[test]
fn a_dictionary_cannot_lie_inside_itself() {
    let mut td = TensorDict::new([2]).unwrap();
    // SAFETY: both handles stay on this thread.
    let twin = unsafe { td.shallow_clone() }.unwrap();
    assert_eq!(td.set(("a", "b"), twin).unwrap_err().kind(), ErrorKind::Cycle);
}

#[test]
fn keys_are_listed_as_asked() {
    let mut td = sample();
    td.set("0", counting(&[2, 3])).unwrap();
    let listed = |options| td.keys_with(options).map(|key| key.to_string()).collect::<Vec<_>>();
    let options = KeysOptions::new();
    assert_eq!(listed(options), ["a", "deep", "0"]);
    assert_eq!(listed(options.sorted(true)), ["0", "a", "deep"]);
    assert_eq!(listed(options.leaves_only(true)), ["a", "0"]);
    assert_eq!(listed(options.nested(true)), ["a", "deep", "deep.b", "deep.c", "0"]);
    assert_eq!(td.keys().len(), 3);
    let mut keys = td.keys();
    keys.next();
    assert_eq!(keys.size_hint(), (2, Some(2)));
}

#[test]
fn entries_are_walked_while_the_dictionary_changes() {
    let mut td = sample();
    for key in td.keys() {
        td.remove(&key).unwrap();
    }
    assert!(td.is_empty());

    let td = sample();
    let mut seen = Vec::new();
    for entry in &td {
        let (key, value) = entry.unwrap();
        seen.push((key.to_string(), matches!(value, Value::Dict(_))));
    }
    assert_eq!(seen, [("a".to_owned(), false), ("deep".to_owned(), true)]);
    let shapes: Vec<_> = td
        .leaves()
        .map(|entry| entry.map(|(key, leaf)| (key.to_string(), leaf.shape())).unwrap())
        .collect();
    let expected = [("a", vec![2, 3]), ("deep.b", vec![2, 3, 2]), ("deep.c", vec![2, 3])]
        .map(|(k, s)| (k.into(), s));
    assert_eq!(shapes, expected);
    assert_eq!((&*td).into_iter().len(), 2);
}

#[test]
fn a_lock_forbids_structure_not_values() {
    let mut td = sample();
    td.lock().unwrap();
    assert!(td.is_locked() && td.dict("deep").unwrap().is_locked());
    assert_eq!(td.set("x", counting(&[2, 3])).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(td.remove("a").unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(td.dict_mut("deep").unwrap().unlock().unwrap_err().kind(), ErrorKind::Locked);
    td.set_inplace("a", &Tensor::scalar(1i64).unwrap()).unwrap();
    td.unlock().unwrap();
    td.remove("a").unwrap();
    assert!(!td.is_locked() && !td.contains("a"));
}

#[test]
fn the_batch_size_can_change() {
    let mut td = sample();
    td.set_batch_size([2]).unwrap();
    assert_eq!(td.batch_size(), [2]);
    assert_eq!(td.set_batch_size([2, 4]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.batch_size(), [2]);
    td.set_batch_size(()).unwrap();
    assert_eq!(td.batch_size(), []);
    assert_eq!(TensorDict::new([-1]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn copies_are_as_deep_as_asked() {
    let mut td = sample();
    td.lock().unwrap();
    let (mut shallow, deep) = (td.shallow_copy().unwrap(), td.deep_clone().unwrap());
    assert!(!shallow.is_locked() && !deep.is_locked());
    assert!(td.equal(&shallow).unwrap() && td.equal(&deep).unwrap());
    shallow.set_inplace("a", &Tensor::scalar(9i64).unwrap()).unwrap();
    shallow.dict_mut("deep").unwrap().remove("c").unwrap();
    assert_eq!(ints(&td, "a"), [9; 6]);
    assert!(td.contains(("deep", "c")));
    assert_eq!(ints(&deep, "a"), [0, 1, 2, 3, 4, 5]);
    assert!(!td.equal(&deep).unwrap());
}

#[test]
fn questions_about_the_whole_have_answers() {
    let td = sample();
    assert_eq!(td.nbytes(), 6 * 8 + 12 * 8 + 6 * 4);
    assert!(!td.is_empty() && !td.is_memmap());
    assert!(TensorDict::from_pairs([2], [("n", TensorDict::new([2]).unwrap())])
        .unwrap()
        .is_empty());
    assert_eq!(td.saved_path(), None);
}

#[test]
fn devices_and_dtypes_change_for_all() {
    let td = sample();
    assert_eq!(td.device(), None);
    let mut here = TensorDict::with_device([2], Device::cpu()).unwrap();
    assert_eq!(here.device(), Some(Device::cpu()));
    here.clear_device().unwrap();
    assert_eq!(here.device(), None);

    let floats = td.to(DType::F32).unwrap();
    assert_eq!(floats.tensor("a").unwrap().to_vec::<f32>().unwrap()[5], 5.0);
    let both = td.to((Device::cpu(), DType::I32)).unwrap();
    assert_eq!(
        (both.device(), both.tensor("a").unwrap().dtype()),
        (Some(Device::cpu()), DType::I32)
    );
    assert_eq!(td.to_non_blocking(Device::cpu()).unwrap().device(), Some(Device::cpu()));
    assert_eq!(td.to(Device::meta()).unwrap().tensor("a").unwrap().device(), Device::meta());
    if !Device::cuda_available() {
        assert!(td.to(Device::cuda(0)).is_err());
    }
}

#[test]
fn an_answer_is_never_a_second_owner() {
    let mut td = sample().to(Device::cpu()).unwrap();
    td.lock().unwrap();
    let answers = [
        td.at(tensordict::Ellipsis).unwrap(),
        td.at(tensordict::i![]).unwrap(),
        td.to(Device::cpu()).unwrap(),
        td.view([2, 3]).unwrap(),
        td.reshape([2, 3]).unwrap(),
        td.permute([0, 1]).unwrap(),
        td.transpose(0, 0).unwrap(),
        td.squeeze(0).unwrap(),
        td.squeeze_all().unwrap(),
        td.expand([2, 3]).unwrap(),
        td.contiguous().unwrap(),
        td.to(DType::I64).unwrap(),
    ];
    for mut answer in answers {
        answer.unlock().unwrap();
        answer.remove("a").unwrap();
        answer.dict_mut("deep").unwrap().remove("b").unwrap();
    }
    assert!(td.is_locked() && td.contains("a") && td.contains(("deep", "b")));
}

#[test]
fn text_is_that_of_python() {
    let td = TensorDict::from_pairs([2], [("n", TensorDict::new([2]).unwrap())]).unwrap();
    let text = "TensorDict(batch_size=[2], fields={n: {}})";
    assert_eq!(td.to_string(), text);
    assert_eq!(format!("{td:?}"), text);
    assert_eq!(format!("{:?}", td.get("n").unwrap()).matches("TensorDict(").count(), 1);
    let detailed = PrintOptions::new().compact(false).brief(true);
    let text = "TensorDict(\n    fields={\n        n: TensorDict(\n            fields={\n            },\n            \
                batch_size=torch.Size([2]))},\n    batch_size=torch.Size([2]))";
    assert_eq!(td.to_text(&detailed).unwrap(), text);
    let unsorted = PrintOptions::new().sorted(false).hide(PrintPart::BatchSize);
    assert_eq!(td.to_text(&unsorted).unwrap(), "TensorDict(fields={n: {}})");
    let both = unsorted.show(PrintPart::BatchSize);
    assert_eq!(td.to_text(&both).unwrap_err().kind(), ErrorKind::InvalidArgument);
}
