//! The steps of group_rank.c in Rust: group_rank RANK URL

use std::process::ExitCode;
use std::time::Duration;

use tensordict::{
    Dict, ErrorKind, Group, GroupCall, GroupOp, GroupOptions, Result, Tensor, TensorDict,
};

/// As `values()` of groups.py, with numbers from `first` on.
fn values(first: i64) -> TensorDict {
    let made = || -> Result<TensorDict> {
        let mut td = TensorDict::new([2])?;
        let quarters = (first..first + 6).map(|i| i as f32 / 4.0).collect();
        td.set("b", Tensor::from_vec(quarters, [2, 3])?)?;
        td.set("a", Tensor::from_slice(&[first, -first], [2])?)?;
        td.set(("n", "u"), Tensor::from_slice(&[first as u8, 0, 255, 7], [2, 2])?)?;
        td.set(("n", "m", "t"), Tensor::from_slice(&[first % 2 == 1, true], [2])?)?;
        td.set("none", Tensor::from_slice::<f64>(&[], [2, 0])?)?;
        Ok(td)
    };
    made().unwrap()
}

fn with_text(first: i64) -> TensorDict {
    let mut td = values(first);
    td.set_json("text", "\"made by a rank\"").unwrap();
    td
}

fn lazy(first: i64, second: i64) -> TensorDict {
    let stack = TensorDict::lazy_stack([values(first), values(second)], 0).unwrap();
    TensorDict::from_pairs((), [("z", stack)]).unwrap()
}

fn numbers(value: i64) -> TensorDict {
    let mut td = TensorDict::new(()).unwrap();
    td.set("x", Tensor::from_slice(&[value as f32, -value as f32], [2]).unwrap()).unwrap();
    td.set(("n", "i"), Tensor::scalar(10 * value).unwrap()).unwrap();
    td
}

#[track_caller]
fn same(got: impl AsRef<Dict>, want: TensorDict) {
    assert!(got.as_ref().equal(&want).unwrap(), "other values than expected in\n{}", got.as_ref());
}

fn leaf_by_leaf(group: &Group, other: i32) -> Result<()> {
    let call = GroupCall::new();
    let mut td = values(0);
    group.recv(&mut td, other, call)?;
    same(td, values(1));
    group.send(&values(2), other, call)?;
    let coming = group.irecv(values(0), other, call.init_tag(50))?;
    group.isend(&values(3), other, call.init_tag(70))?.into_result()?;
    same(coming.into_result()?, values(4));
    let mut td = lazy(0, 0);
    group.recv(&mut td, other, call)?;
    same(td, lazy(11, 12));
    group.send(&lazy(13, 14), other, call)?;
    let mut td = values(0);
    group.recv(&mut td, other, call.consolidated())?;
    same(td, values(5));
    group.send(&values(6), other, call.consolidated())
}

fn with_structure(group: &Group, rank: i32, other: i32) -> Result<()> {
    let call = GroupCall::new();
    let zero = rank == 0;
    same(group.from_remote_init(other, call)?, with_text(7));
    group.init_remote(&with_text(8), other, call)?;
    same(group.broadcast(None, other, call)?, with_text(9));
    same(group.broadcast(Some(&with_text(8)), rank, call)?, with_text(8));
    let all = group.all_gather(&with_text(i64::from(10 + rank)), call)?;
    same(&all[rank as usize], with_text(i64::from(10 + rank)));
    same(&all[other as usize], values(i64::from(10 + other)));
    same(group.scatter(&[], other, call)?, if zero { values(20) } else { with_text(21) });
    let part = group.scatter(&[&values(30), &with_text(31)], rank, call)?;
    same(part, if zero { values(30) } else { with_text(31) });
    Ok(())
}

fn made_one(group: &Group, rank: i32, other: i32) -> Result<()> {
    let call = GroupCall::new();
    let mut td = numbers(2);
    group.all_reduce(&mut td, GroupOp::Sum, call)?;
    same(td, numbers(5));
    let mut td = numbers(2);
    group.all_reduce(&mut td, GroupOp::Product, call)?;
    assert_eq!(td.tensor("x")?.to_vec::<f32>()?, [6.0, 6.0]);
    for (dst, result) in [(rank, 5), (other, 2)] {
        let mut td = numbers(2);
        group.reduce(&mut td, dst, GroupOp::Sum, call)?;
        same(td, numbers(result));
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, number, url] = &arguments[..] else { return ExitCode::from(2) };
    let rank: i32 = number.parse().unwrap();
    let (other, call) = (1 - rank, GroupCall::new());
    let options = GroupOptions::new().url(url).rank(rank, 2).timeout(Duration::from_secs(600));
    let mut group = match Group::open(&options) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return ExitCode::from(77),
        group => group.unwrap(),
    };
    leaf_by_leaf(&group, other).unwrap();
    with_structure(&group, rank, other).unwrap();
    made_one(&group, rank, other).unwrap();
    let part = group.split(&[0, 1], None).unwrap().expect("this rank is in it");
    part.send(&values(15), other, call).unwrap();
    part.broadcast(Some(&values(16)), rank, call).unwrap();
    drop(part);
    group.barrier(call).unwrap();
    // A rank that is killed.
    assert_eq!(group.recv_message(Some(other), call).unwrap_err().kind(), ErrorKind::Io);
    drop(group);
    assert_eq!(tensordict::live_handles(), 0);
    ExitCode::SUCCESS
}
