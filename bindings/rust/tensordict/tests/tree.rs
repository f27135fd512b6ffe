//! Dictionaries as maps, and back.

mod common;

use common::{ints, sample};
use tensordict::{ErrorKind, TensorDict, TensorMap, Tree};

#[test]
fn maps_there_and_back() {
    let mut td = sample();
    td.set_json("note", "\"text\"").unwrap();
    let map = td.to_map().unwrap();
    assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "deep", "note"]);
    assert!(matches!(&map["note"], Tree::NonTensor(json) if json == "\"text\""));
    let again = TensorDict::from_map([2, 3], map).unwrap();
    assert!(again.equal(&td).unwrap());
    assert_eq!(
        again.tensor("a").unwrap().data_ptr().unwrap(),
        td.tensor("a").unwrap().data_ptr().unwrap()
    );
    let inner = td.dict("deep").unwrap().to_map().unwrap();
    let outer = TensorMap::from([("empty".to_owned(), Tree::from(TensorMap::new()))]);
    assert!(TensorDict::from_map((), outer).unwrap().contains("empty"));
    let deep = TensorMap::from([("deep".to_owned(), Tree::from(inner))]);
    assert_eq!(ints(&TensorDict::from_map([2], deep).unwrap(), ("deep", "b")).len(), 12);
    let wrong = TensorMap::from([("a".to_owned(), Tree::from(td.tensor("a").unwrap()))]);
    assert_eq!(TensorDict::from_map([7], wrong).unwrap_err().kind(), ErrorKind::Shape);
}
