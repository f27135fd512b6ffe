//! Shared memory, one buffer, messages, and locks for a while.

mod common;

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::Command;
use std::time::Duration;

use common::{golden, ints, sample, Scratch};
use tensordict::{
    ConsolidateOptions, Device, ErrorKind, LoadOptions, MessageOptions, Tensor, TensorDict,
};

#[test]
fn shared_memory_is_locked_flagged_and_opened_by_name() {
    let mut td = sample();
    assert!(!td.is_shared().unwrap());
    assert_eq!(td.shared_name().unwrap_err().kind(), ErrorKind::InvalidArgument);
    let before = td.tensor("a").unwrap();
    td.share_memory().unwrap();
    assert!(td.is_shared().unwrap() && td.is_locked() && td.is_consolidated());
    assert!(td.unsqueeze(0).unwrap().is_shared().unwrap());
    assert!(td.at(..).unwrap().is_shared().unwrap());
    assert!(!td.deep_clone().unwrap().is_shared().unwrap());

    let mut other = TensorDict::open_shared(&td.shared_name().unwrap()).unwrap();
    assert!(other.equal(&td).unwrap() && other.is_shared().unwrap() && other.is_locked());
    other.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype())).unwrap();
    assert_eq!(ints(&td, "a"), [0; 6]);
    assert_eq!(before.to_vec::<i64>().unwrap(), [0; 6]); // the handle has followed
    other.unlock().unwrap();
    assert!(!other.is_shared().unwrap());
}

/// Runs in a process of its own, started by the test below.
#[test]
fn child() {
    let Ok(name) = std::env::var("TENSORDICT_TEST_SHARED") else { return };
    let mut td = TensorDict::open_shared(&name).unwrap();
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    td.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype())).unwrap();
}

#[test]
fn another_process_writes() {
    let mut td = sample();
    td.share_memory().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env("TENSORDICT_TEST_SHARED", td.shared_name().unwrap())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    assert_eq!(ints(&td, "a"), [0; 6]);
}

#[test]
fn names_that_lead_nowhere() {
    for name in ["", "td1-1-2", "x\0y"] {
        let error = TensorDict::open_shared(name).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
    let name = {
        let mut td = sample();
        td.share_memory().unwrap();
        td.shared_name().unwrap()
    };
    assert_eq!(TensorDict::open_shared(&name).err().unwrap().kind(), ErrorKind::Io);
}

#[test]
fn one_buffer_in_memory() {
    let mut td = sample();
    let packed = td.consolidate().unwrap();
    assert!(packed.is_consolidated() && packed.is_locked() && packed.equal(&td).unwrap());
    assert!(!td.is_consolidated() && !packed.deep_clone().unwrap().is_consolidated());
    assert!(packed.consolidate().unwrap().is_consolidated());
    let first = packed.tensor("a").unwrap().data_ptr().unwrap() as usize;
    let second = packed.tensor(("deep", "b")).unwrap().data_ptr().unwrap() as usize;
    assert_eq!(second - first, 48);
    let options = ConsolidateOptions::new().device(Device::cpu());
    assert_eq!(td.consolidate_with(options).unwrap().device(), Some(Device::cpu()));
    let pinned = td.consolidate_with(ConsolidateOptions::new().pin_memory(true));
    assert!(pinned.is_ok() || pinned.err().unwrap().kind() == ErrorKind::Device);
    td.consolidate_inplace(ConsolidateOptions::new()).unwrap();
    assert!(td.is_consolidated());
    td.unlock().unwrap();
    assert!(!td.is_consolidated());
}

#[test]
fn one_file() {
    let scratch = Scratch::new();
    let td = TensorDict::load_consolidated(golden("consolidated")).unwrap();
    assert_eq!(td.batch_size(), [4]);
    let mapped = td.consolidate_to(scratch.path("file")).unwrap();
    assert!(mapped.is_consolidated() && mapped.equal(&td).unwrap());
    let (ours, theirs) = (scratch.path("file"), golden("consolidated"));
    assert_eq!(std::fs::read(ours).unwrap(), std::fs::read(theirs).unwrap());
    let options = LoadOptions::new().max_entries(1);
    let error = TensorDict::load_consolidated_with(scratch.path("file"), options).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Format);
}

#[test]
fn messages_in_memory() {
    let td = sample();
    let mut bytes = Vec::new();
    td.send(&mut bytes).unwrap();
    td.send(&mut bytes).unwrap();
    let mut rest = bytes.as_slice();
    let got = TensorDict::recv(&mut rest).unwrap();
    assert!(got.equal(&td).unwrap());
    assert_eq!(rest.len(), bytes.len() / 2);

    let mut target = td.deep_clone().unwrap();
    target.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype())).unwrap();
    target.lock().unwrap();
    target.recv_into(&mut rest, MessageOptions::new()).unwrap();
    assert!(target.equal(&td).unwrap());

    let few = MessageOptions::new().max_bytes(64);
    let error = TensorDict::recv_with(&mut bytes.as_slice(), few).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Capacity);
    for limits in [MessageOptions::new().max_entries(1), MessageOptions::new().max_depth(0)] {
        let answer = TensorDict::recv_with(&mut bytes.as_slice(), limits);
        assert!(answer.is_ok() || answer.err().unwrap().kind() == ErrorKind::Format);
    }
    let error = TensorDict::recv(&mut &bytes[..40]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
}

/// Ends that fail, and one that panics.
struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("the line is dead"))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("no reader")
    }
}

#[test]
fn failures_of_the_callers_end() {
    let error = sample().send(&mut Broken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("the line is dead"));
    let panic = catch_unwind(AssertUnwindSafe(|| TensorDict::recv(&mut Broken))).err().unwrap();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"no reader"));
}

#[test]
fn messages_over_a_socket() {
    let (one, other) = UnixStream::pair().unwrap();
    let limit = MessageOptions::new().timeout(Duration::from_secs(200));
    let td = TensorDict::from_pairs(
        [2],
        [("x", Tensor::from_vec((0..400_000i64).collect(), [2, 200_000]).unwrap())],
    )
    .unwrap();
    let echo = std::thread::spawn(move || {
        let got = TensorDict::recv_fd(&other, limit).unwrap();
        got.send_fd(&other, limit).unwrap();
    });
    td.send_fd(&one, limit).unwrap();
    let mut target = td.deep_clone().unwrap();
    target.apply_inplace(|t| Tensor::zeros(t.shape(), t.dtype())).unwrap();
    target.recv_fd_into(&one, limit).unwrap();
    assert!(target.equal(&td).unwrap());
    echo.join().unwrap();
    // The partner has gone.
    assert_eq!(td.send_fd(&one, limit).unwrap_err().kind(), ErrorKind::Io);
    let short = MessageOptions::new().timeout(Duration::from_millis(10));
    let (quiet, _other) = UnixStream::pair().unwrap();
    assert_eq!(TensorDict::recv_fd(&quiet, short).err().unwrap().kind(), ErrorKind::Io);
}

#[test]
fn locks_for_a_while() {
    let mut td = sample();
    {
        let mut fixed = td.locked().unwrap();
        assert!(fixed.is_locked());
        assert_eq!(fixed.remove("a").unwrap_err().kind(), ErrorKind::Locked);
        let mut free = fixed.unlocked().unwrap();
        free.remove("a").unwrap();
        drop(free);
        assert!(fixed.is_locked());
    }
    assert!(!td.is_locked());
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _fixed = td.locked().unwrap();
        panic!("on the way");
    }));
    assert!(panic.is_err() && !td.is_locked());
    td.lock().unwrap();
    drop(td.locked().unwrap()); // it was locked before
    assert!(td.is_locked());
    drop(td.unlocked().unwrap());
    assert!(td.is_locked());
}
