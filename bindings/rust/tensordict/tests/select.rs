//! A part of the keys, flattened and nested keys, several dictionaries in one.

mod common;

use common::{counting, ints, sample};
use tensordict::{
    keys, EntryKind, Error, ErrorKind, KeyPath, KeySet, KeysOptions, Result, SplitKeysOptions,
    Tensor, TensorDict,
};

fn all_keys(td: &tensordict::Dict) -> Vec<String> {
    td.keys_with(KeysOptions::new().nested(true)).map(|key| key.to_string()).collect()
}

#[test]
fn keys_are_selected_and_excluded() {
    let mut td = sample();
    assert_eq!(all_keys(&td.select(keys![("deep", "c"), "a"]).unwrap()), ["deep", "deep.c", "a"]);
    assert_eq!(td.select(["zz"]).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(all_keys(&td.select_present(["zz", "a"]).unwrap()), ["a"]);
    assert_eq!(all_keys(&td.exclude(keys!["a", ("deep", "b"), "zz"]).unwrap()), ["deep", "deep.c"]);
    td.exclude_inplace(keys![("deep", "b")]).unwrap();
    assert_eq!(all_keys(&td), ["a", "deep", "deep.c"]);
    td.select_inplace(["a"]).unwrap();
    assert_eq!(all_keys(&td), ["a"]);
    td.lock().unwrap();
    assert_eq!(td.exclude_inplace(["a"]).unwrap_err().kind(), ErrorKind::Locked);
}

#[test]
fn keys_are_split() {
    let mut td = sample();
    let sets = [KeySet::new(["a"]), KeySet::renamed([(("deep", "b"), "b")])];
    let parts = td.split_keys(&sets, SplitKeysOptions::new()).unwrap();
    assert_eq!(
        parts.iter().map(|part| all_keys(part)).collect::<Vec<_>>(),
        [vec!["a"], vec!["b"], vec!["deep", "deep.c"]]
    );
    let missing = [KeySet::new(["zz"])];
    assert_eq!(
        td.split_keys(&missing, SplitKeysOptions::new()).unwrap_err().kind(),
        ErrorKind::Key
    );
    let lenient =
        SplitKeysOptions::new().ignore_missing(true).keep_structure(true).keep_emptied(true);
    assert_eq!(all_keys(&td.split_keys(&missing, lenient).unwrap()[0]), ["deep"]);
    let deep = td.separate(keys![("deep", "b"), ("deep", "c")]).unwrap();
    assert_eq!(all_keys(&deep), ["deep", "deep.b", "deep.c"]);
    assert_eq!(all_keys(&td), ["a"]);
}

#[test]
fn keys_are_flattened_and_nested_again() {
    let mut td = sample();
    let flat = td.flatten_keys("/").unwrap();
    assert_eq!(flat.keys().collect::<Vec<_>>(), ["a", "deep/b", "deep/c"]);
    assert!(flat.unflatten_keys("/").unwrap().equal(&td).unwrap());
    td.flatten_keys_inplace(".").unwrap();
    assert_eq!(all_keys(&td), ["a", "deep.b", "deep.c"]);
    assert!(td.contains("deep.b"));
    td.unflatten_keys_inplace(".").unwrap();
    assert!(td.contains(("deep", "b")));
    assert_eq!(td.flatten_keys("").unwrap_err().kind(), ErrorKind::InvalidArgument);
    let whole = td.flatten_keys_until(".", |key| -> Result<bool> { Ok(*key == "deep") }).unwrap();
    assert!(whole.contains(("deep", "b")));
    let refused = |_: &KeyPath| -> Result<bool, MyError> { Err(MyError::Mine) };
    assert!(matches!(td.flatten_keys_until(".", refused), Err(MyError::Mine)));
}

#[derive(Debug)]
enum MyError {
    Mine,
    #[allow(dead_code)]
    Theirs(Error),
}

impl From<Error> for MyError {
    fn from(error: Error) -> Self {
        Self::Theirs(error)
    }
}

#[test]
fn keys_come_in_several_orders() {
    let td = sample();
    let nested = KeysOptions::new().nested(true);
    let keys = |options| td.keys_with(options).map(|key| key.to_string()).collect::<Vec<_>>();
    assert_eq!(keys(nested.contents_first(true)), ["a", "deep.b", "deep.c", "deep"]);
    assert_eq!(keys(nested.leaves_only(true).include_non_tensor(true)), ["a", "deep.b", "deep.c"]);
    let leaves = td.keys_where(nested.leaves_only(true), |_, kind| -> Result<bool> {
        Ok(kind == EntryKind::Dict)
    });
    assert_eq!(leaves.unwrap().collect::<Vec<_>>(), ["a", "deep"]);
}

#[test]
fn dictionaries_are_merged() {
    let one = sample();
    let mut two = TensorDict::from_pairs([2, 3], [("a", counting(&[2, 3]))]).unwrap();
    two.set(("deep", "new"), counting(&[2, 3])).unwrap();
    let merged = TensorDict::merge(&[&one, &two]).unwrap();
    assert!(merged.contains(("deep", "b")) && merged.contains(("deep", "new")));
    let summed = TensorDict::merge_with(&[&one, &two], |_, tensors| {
        let sum: Vec<i64> = tensors[0]
            .to_vec::<i64>()?
            .into_iter()
            .zip(tensors[1].to_vec::<i64>()?)
            .map(|(a, b)| a + b)
            .collect();
        Tensor::from_vec(sum, [2, 3])
    })
    .unwrap();
    assert_eq!(ints(&summed, "a"), [0, 2, 4, 6, 8, 10]);
    let failed = TensorDict::merge_with(&[&one, &two], |_, _| Err::<Tensor, _>(MyError::Mine));
    assert!(matches!(failed, Err(MyError::Mine)));
}

#[test]
fn what_is_empty_or_no_tensor_is_left_out() {
    let mut td = sample();
    td.create_nested("nothing").unwrap();
    assert_eq!(all_keys(&td.skeleton().unwrap()), ["deep", "nothing"]);
    assert!(td.empty_like().unwrap().keys().next().is_none());
    assert_eq!(td.empty_like().unwrap().batch_size(), [2, 3]);
    td.remove_empty().unwrap();
    assert!(!td.contains("nothing"));
    assert!(td.filter_non_tensor().unwrap().equal(&td).unwrap());
}

#[test]
fn one_value_for_many_keys() {
    let td = TensorDict::from_keys(keys!["a", ("n", "b")], &Tensor::scalar(0i64).unwrap()).unwrap();
    assert_eq!(td.tensor(("n", "b")).unwrap().item::<i64>().unwrap(), 0);
    assert!(td.batch_size().is_empty());
}
