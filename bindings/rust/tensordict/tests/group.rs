//! Process groups: the wire is tested in C; here the way into the language. Each rank is a thread.

use std::time::Duration;

use tensordict::{ErrorKind, Group, GroupCall, GroupOp, GroupOptions, Tensor, TensorDict};

fn dict(first: i64) -> TensorDict {
    let a = Tensor::from_vec(vec![first, first + 1], [2]).unwrap();
    TensorDict::from_pairs([2], [("a", a)]).unwrap()
}

fn values(td: &TensorDict) -> Vec<i64> {
    td.tensor("a").unwrap().to_vec().unwrap()
}

/// Runs a body on two ranks; not at all in a build without groups.
fn on_two_ranks(name: &str, body: impl Fn(Group) + Sync) {
    let file = std::env::temp_dir().join(format!("td-rust-group-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let options = |rank| {
        let url = format!("file://{}", file.display());
        GroupOptions::new().url(url).rank(rank, 2).timeout(Duration::from_secs(60))
    };
    let run = |rank| match Group::open(&options(rank)) {
        Err(error) if error.kind() == ErrorKind::Unsupported => (),
        group => body(group.unwrap()),
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(1));
        run(0);
    });
    let _ = std::fs::remove_file(&file);
}

#[test]
fn from_rank_to_rank() {
    on_two_ranks("pairs", |group| {
        let (rank, call) = (group.rank(), GroupCall::new());
        assert_eq!(format!("{group:?}"), format!("Group(rank {rank} of 2)"));
        if rank == 0 {
            group.send(&dict(5), 1, call.init_tag(3)).unwrap();
            group.send_message(&dict(6), 1, call).unwrap();
            group.init_remote(&dict(7), 1, call).unwrap();
            group.isend(&dict(8), 1, call.consolidated()).unwrap().into_result().unwrap();
            group.isend_message(&dict(9), 1, call).unwrap().into_result().unwrap();
        } else {
            let mut into = dict(0);
            group.recv(&mut into, 0, call.init_tag(3)).unwrap();
            assert_eq!(values(&into), [5, 6]);
            let (td, source) = group.recv_message(None, call.max_bytes(1 << 20)).unwrap();
            assert_eq!((values(&td), source), (vec![6, 7], 0));
            assert_eq!(values(&group.from_remote_init(0, call).unwrap()), [7, 8]);
            let into = group.irecv(into, 0, call.consolidated()).unwrap().into_result().unwrap();
            assert_eq!(values(&into), [8, 9]);
            let td = group.irecv_message(Some(0), call).unwrap().into_result().unwrap();
            assert_eq!(values(&td), [9, 10]);
        }
        group.barrier(call).unwrap();
    });
}

#[test]
fn all_ranks_together() {
    on_two_ranks("all", |mut group| {
        let (rank, call) = (group.rank(), GroupCall::new().num_threads(2));
        let own = dict(i64::from(rank));
        let td = group.broadcast((rank == 0).then_some(&*dict(3)), 0, call).unwrap();
        assert_eq!(values(&td), [3, 4]);
        let mut td = dict(i64::from(rank));
        group.all_reduce(&mut td, GroupOp::Sum, call.fused()).unwrap();
        assert_eq!(values(&td), [1, 3]);
        let mut bucketed = dict(i64::from(rank));
        group.all_reduce(&mut bucketed, GroupOp::Sum, call.bucket_bytes(8)).unwrap();
        assert_eq!(values(&bucketed), [1, 3]);
        group.reduce(&mut td, 0, GroupOp::Product, call).unwrap();
        assert_eq!(values(&td), if rank == 0 { [1, 9] } else { [1, 3] });
        let refused = group.all_reduce(&mut td, GroupOp::Average, call).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DType);
        let all = group.all_gather(&own, call).unwrap();
        assert_eq!(all.iter().map(values).collect::<Vec<_>>(), [[0, 1], [1, 2]]);
        let (one, two) = (dict(10), dict(20));
        let parts: &[&tensordict::Dict] = if rank == 1 { &[&one, &two] } else { &[] };
        let part = group.scatter(parts, 1, call).unwrap();
        assert_eq!(values(&part), if rank == 0 { [10, 11] } else { [20, 21] });
        let stack = group.gather_and_stack(&own, 1, call).unwrap();
        assert_eq!(stack.map(|td| values(&td)), (rank == 1).then(|| vec![0, 1, 1, 2]));
        let single = group.split(&[1], None).unwrap();
        assert_eq!(single.map(|group| group.size()), (rank == 1).then_some(1));
        group.barrier(call).unwrap();
    });
}

#[test]
fn limits_and_cancels() {
    on_two_ranks("limits", |group| {
        let call = GroupCall::new().timeout(Duration::from_millis(100));
        let late = group.recv_message(Some(1 - group.rank()), call).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Io);
        let waiting = group.irecv_message(Some(1 - group.rank()), GroupCall::new()).unwrap();
        assert!(!waiting.is_done());
        waiting.cancel().unwrap();
        assert!(waiting.into_result().unwrap_err().to_string().contains("cancelled"));
        group.barrier(GroupCall::new()).unwrap();
    });
}

#[test]
fn all_ranks_in_the_background() {
    on_two_ranks("background", |group| {
        let (rank, call) = (group.rank(), GroupCall::new());
        let own = |first: i64| dict(first + i64::from(rank));
        let sent = group.isend_message(&own(7), 1 - rank, call).unwrap();
        let sums: Vec<_> = (0..4)
            .map(|i| group.iall_reduce(own(10 * i), GroupOp::Sum, call.fused()).unwrap())
            .collect();
        let all = group.ibroadcast((rank == 1).then(|| dict(3)), 1, call).unwrap();
        let largest = group.ireduce(own(5), 0, GroupOp::Max, call).unwrap();
        let (one, two) = (dict(10), dict(20));
        let parts: &[&tensordict::Dict] = if rank == 0 { &[&one, &two] } else { &[] };
        let part = group.iscatter(parts, 0, call).unwrap();
        drop((one, two));
        let mut last = own(0);
        group.all_reduce(&mut last, GroupOp::Product, call).unwrap();
        assert_eq!(values(&last), [0, 2]);
        let first = if rank == 0 { 10 } else { 20 };
        assert_eq!(values(&part.into_result().unwrap()), [first, first + 1]);
        let largest = values(&largest.into_result().unwrap());
        assert_eq!(largest, [6, 7]); // at rank 1 its own
        assert_eq!(values(&all.into_result().unwrap()), [3, 4]);
        for (i, sum) in (0i64..).zip(sums) {
            assert_eq!(values(&sum.into_result().unwrap()), [20 * i + 1, 20 * i + 3]);
        }
        let other = i64::from(1 - rank);
        assert_eq!(values(&group.recv_message(None, call).unwrap().0), [7 + other, 8 + other]);
        sent.into_result().unwrap();
        let refused = group.iall_reduce(own(0), GroupOp::Average, call).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DType);
        assert_eq!(group.ibroadcast(None, 2, call).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert!(group.ireduce(own(0), -1, GroupOp::Sum, call).is_err());
        assert!(group.iscatter(&[&last], rank, call).is_err());
        group.barrier(call).unwrap();
    });
}

#[test]
fn what_is_given_up_goes_on_without_its_rank() {
    on_two_ranks("given-up", |group| {
        let (rank, call) = (group.rank(), GroupCall::new());
        if rank == 0 {
            let soon = call.timeout(Duration::from_millis(100));
            let late = group.iall_reduce(dict(1), GroupOp::Sum, soon).unwrap();
            let told = group.iall_reduce(dict(2), GroupOp::Sum, call).unwrap();
            drop(group.ibroadcast(None, 1, call).unwrap());
            assert!(!told.is_done());
            told.cancel().unwrap();
            assert!(told.into_result().unwrap_err().to_string().contains("cancelled"));
            assert_eq!(late.into_result().unwrap_err().kind(), ErrorKind::Io);
            group.send_message(&dict(0), 1, call).unwrap();
        } else {
            group.recv_message(Some(0), call).unwrap();
            for first in 1..3 {
                let mut td = dict(first);
                group.all_reduce(&mut td, GroupOp::Sum, call).unwrap();
                assert_eq!(values(&td), [2 * first, 2 * first + 2]);
            }
            group.broadcast(Some(&dict(3)), 1, call).unwrap();
        }
        let sum = group.iall_reduce(dict(4), GroupOp::Sum, call).unwrap();
        assert_eq!(values(&sum.into_result().unwrap()), [8, 10]);
        group.barrier(call).unwrap();
        // One rank goes: what waits for it fails.
        if rank == 0 {
            let waiting = group.iall_reduce(dict(5), GroupOp::Sum, call).unwrap();
            group.send_message(&dict(0), 1, call).unwrap();
            assert_eq!(waiting.into_result().unwrap_err().kind(), ErrorKind::Io);
        } else {
            group.recv_message(Some(0), call).unwrap();
        }
    });
}
