//! The cases of `tests/conformance`, which every language runs; the README there describes the form.

use std::path::Path;

use tensordict::{DType, IndexList, KeysOptions, Result, Tensor, TensorDict};

fn numbers(text: &str) -> Vec<i64> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// The names of a path; `''` has no letters.
fn path(text: &str) -> Vec<&str> {
    text.split('/').map(|name| if name == "''" { "" } else { name }).collect()
}

fn shown(name: &str) -> &str {
    if name.is_empty() {
        "''"
    } else {
        name
    }
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

fn counting(dtype: &str, sizes: &[i64]) -> Result<Tensor> {
    let known = [DType::U8, DType::I64, DType::F32, DType::F64, DType::Bool];
    let dtype = known.into_iter().find(|d| d.to_string() == format!("torch.{dtype}")).unwrap();
    let count: i64 = sizes.iter().product();
    Tensor::from_vec((0..count).collect::<Vec<i64>>(), sizes)?.to(dtype)
}

fn values(td: &TensorDict, key: &str) -> Result<String> {
    Ok(joined(&td.tensor(path(key))?.to(DType::I64)?.to_vec::<i64>()?))
}

fn keys(td: &TensorDict) -> String {
    let keys = td.keys_with(KeysOptions::new().nested(true));
    let text =
        |names: &[String]| names.iter().map(|name| shown(name)).collect::<Vec<_>>().join("/");
    keys.map(|key| text(key.names())).collect::<Vec<_>>().join(" ")
}

/// A command that changes something, or looks something up.
fn act(td: &mut TensorDict, aside: &mut Vec<TensorDict>, word: &str, rest: &str) -> Result<()> {
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    match word {
        "dict" => *td = TensorDict::new(numbers(rest))?,
        "tensor" => {
            let (dtype, sizes) = more.split_once(' ').unwrap_or((more, ""));
            td.set(path(first), counting(dtype, &numbers(sizes))?)?;
        }
        "nested" => td.set(path(first), TensorDict::new(numbers(more))?)?,
        "remove" => td.remove(path(first))?,
        "lock" => td.lock()?,
        "unlock" => td.unlock()?,
        "resize" => td.set_batch_size(numbers(rest))?,
        "view" => *td = td.view(numbers(rest))?,
        "index" => *td = td.at(rest.parse::<IndexList>()?)?,
        "get" => drop(td.tensor(path(first))?),
        "aside" => aside.push(std::mem::replace(td, TensorDict::new(())?)),
        "lazy" => *td = TensorDict::lazy_stack(std::mem::take(aside), numbers(rest)[0])?,
        "through" => {
            let (name, more) = more.split_once(' ').unwrap();
            let (dtype, sizes) = more.split_once(' ').unwrap_or((more, ""));
            let tensor = counting(dtype, &numbers(sizes))?;
            td.sub_tensordict(first.parse::<IndexList>()?)?.set(path(name), tensor)?;
        }
        "clamp" => *td = td.clamp(numbers(rest)[0], numbers(rest)[1])?,
        _ => panic!("no such command: {word}"),
    }
    Ok(())
}

#[test]
fn the_cases_of_all_languages() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance/cases.txt");
    let mut aside = Vec::new();
    let (mut td, mut status) = (TensorDict::new(()).unwrap(), "TD_OK".to_owned());
    let (mut name, mut printed, mut cases) = (String::new(), Vec::new(), 0);
    for (number, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
        let place = format!("{name}, line {}", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(expected) = line.strip_prefix('|') {
            assert_eq!(printed.pop().as_deref(), Some(expected), "{place}");
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "status" {
            assert_eq!(std::mem::replace(&mut status, "TD_OK".to_owned()), rest, "{place}");
            continue;
        }
        assert_eq!(status, "TD_OK", "before {place}");
        match word {
            "case" => (name, cases, aside) = (rest.to_owned(), cases + 1, Vec::new()),
            "batch" => assert_eq!(joined(&td.batch_size()), rest, "{place}"),
            "keys" => assert_eq!(keys(&td), rest, "{place}"),
            "values" => {
                let (key, expected) = rest.split_once(' ').unwrap_or((rest, ""));
                assert_eq!(values(&td, key).unwrap(), expected, "{place}");
            }
            "prints" => printed = td.to_string().lines().rev().map(str::to_owned).collect(),
            "end" => assert!(printed.is_empty(), "{place}"),
            _ => {
                if let Err(error) = act(&mut td, &mut aside, word, rest) {
                    status = error.name();
                }
            }
        }
    }
    assert_eq!(status, "TD_OK");
    assert!(cases > 40);
}
