//! Folders that become longer.

mod common;

use common::{ints, Scratch};
use tensordict::{
    AppendOptions, DType, ErrorKind, MemmapLength, Shard, Tensor, TensorDict, Writer, WriterOptions,
};

fn like() -> TensorDict {
    let mut td = TensorDict::new([1]).unwrap();
    td.set("step", Tensor::zeros([1], DType::I64).unwrap()).unwrap();
    td.set(("next", "reward"), Tensor::zeros([1, 2], DType::F32).unwrap()).unwrap();
    td
}

fn rows(first: i64, n: i64) -> TensorDict {
    let steps: Vec<i64> = (first..first + n).collect();
    let rewards: Vec<f32> = steps.iter().flat_map(|&step| [step as f32, 0.5]).collect();
    let mut td = TensorDict::new([n]).unwrap();
    td.set("step", Tensor::from_vec(steps, [n]).unwrap()).unwrap();
    td.set(("next", "reward"), Tensor::from_vec(rewards, [n, 2]).unwrap()).unwrap();
    td
}

fn write(writer: &mut Writer, first: i64, n: i64) {
    let step = writer.bind("step").unwrap();
    let reward = writer.bind(("next", "reward")).unwrap();
    assert_eq!((step.row_bytes(), reward.row_bytes()), (8, 8));
    for row in first..first + n {
        writer.put(step, &[row]).unwrap();
        writer.put(reward, &[row as f32, 0.5]).unwrap();
        writer.next_row().unwrap();
    }
}

#[test]
fn a_folder_grows() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let options = AppendOptions::new().background(false).publish_rows(-1).buffer_bytes(50);
    let mut writer = Writer::growing(&dir, Some(&like()), options).unwrap();
    assert_eq!(writer.folder(), Some(dir.clone()));
    write(&mut writer, 0, 10);
    assert_eq!(TensorDict::load_memmap(&dir).unwrap().batch_size(), [0]);
    writer.flush().unwrap();
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&rows(0, 10)).unwrap());
    let second = Writer::growing(&dir, None, options).err().unwrap();
    assert_eq!(second.kind(), ErrorKind::Busy);
    write(&mut writer, 10, 3);
    assert_eq!(writer.rows(), 13);
    writer.close().unwrap();

    let options =
        AppendOptions::new().background(false).durable(true).publish_rows(2).publish_bytes(1000);
    let mut writer = Writer::growing(&dir, None, options).unwrap();
    write(&mut writer, 13, 3);
    let length = TensorDict::memmap_length(&dir).unwrap();
    assert_eq!(length.rows, 15);
    assert!(writer.into_dict().unwrap().equal(&rows(0, 16)).unwrap());
}

#[test]
fn a_thread_writes() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let options = AppendOptions::new().background(false).publish_rows(2).meta_ms(-1);
    let mut writer = Writer::growing(&dir, Some(&like()), options).unwrap();
    write(&mut writer, 0, 6);
    assert!(dir.join(".%rows").exists()); // counted: the meta.json files still say 2
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&rows(0, 6)).unwrap());
    writer.close().unwrap();
    assert!(!dir.join(".%rows").exists());

    let mut writer =
        Writer::growing(&dir, None, options.background(true).buffer_bytes(64)).unwrap();
    write(&mut writer, 6, 100);
    writer.flush().unwrap();
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&rows(0, 106)).unwrap());
    write(&mut writer, 106, 3);
    drop(writer); // publishes
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&rows(0, 109)).unwrap());
    let error = Writer::growing(&dir, None, options.meta_ms(-2)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn dictionaries_are_appended_and_taken_away() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    rows(0, 3).memmap(&dir).unwrap();
    rows(3, 4).memmap_append(&dir, AppendOptions::new()).unwrap();
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&rows(0, 7)).unwrap());
    let other = TensorDict::from_pairs([1], [("x", Tensor::zeros([1], DType::I64).unwrap())]);
    let error = other.unwrap().memmap_append(&dir, AppendOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    TensorDict::memmap_truncate(&dir, 5, AppendOptions::new()).unwrap();
    let length = TensorDict::memmap_length(&dir).unwrap();
    assert_eq!(length, MemmapLength { rows: 5, stored: 5, spare: 0 });
    assert_eq!(ints(&TensorDict::load_memmap(&dir).unwrap(), "step"), [0, 1, 2, 3, 4]);
    let error = TensorDict::memmap_truncate(&dir, 6, AppendOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    assert_eq!(TensorDict::memmap_length(scratch.path("no")).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn shards_are_one_stack() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let options = AppendOptions::new().shard(Shard::New);
    let mut one = Writer::growing(&dir, Some(&like()), options).unwrap();
    let mut two = Writer::growing(&dir, Some(&like()), options).unwrap();
    assert_eq!(two.folder(), Some(dir.join("1")));
    write(&mut one, 0, 2);
    write(&mut two, 2, 3);
    one.close().unwrap();
    two.close().unwrap();
    let stack = TensorDict::load_memmap(&dir).unwrap();
    assert_eq!(stack.batch_size(), [2, -1]);
    let dense = TensorDict::cat(&stack.unbind(0).unwrap(), 0).unwrap();
    assert!(dense.equal(&rows(0, 5)).unwrap());
    let again = Writer::growing(&dir, None, AppendOptions::new().shard(Shard::Any)).unwrap();
    assert_eq!(again.folder(), Some(dir.join("0")));
}

#[test]
fn a_writer_over_memory_has_no_folder() {
    let writer = Writer::owning(rows(0, 2), WriterOptions::new()).unwrap();
    assert_eq!(writer.folder(), None);
}

#[test]
fn texts_and_episodes() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let mut like = TensorDict::new([1]).unwrap();
    like.set(("next", "done"), Tensor::zeros([1], DType::Bool).unwrap()).unwrap();
    like.set_texts("task", ["not used"]).unwrap();
    let mut writer = Writer::growing(&dir, Some(&like), AppendOptions::new()).unwrap();
    let (done, task) = (writer.bind(("next", "done")).unwrap(), writer.bind_text("task").unwrap());
    for row in 0..5 {
        writer.put(done, &[row == 2]).unwrap();
        if row != 1 {
            writer.put_text(task, &format!("\"{row}\" é")).unwrap();
        }
        writer.next_row().unwrap();
    }
    assert_eq!(writer.put_text(task, "a\0b").unwrap_err().kind(), ErrorKind::InvalidArgument);
    let other = writer.bind_text(("next", "done")).unwrap();
    assert_eq!(writer.put_text(other, "a").unwrap_err().kind(), ErrorKind::WrongEntry);
    writer.close().unwrap();
    let options = AppendOptions::new();
    let wrong = Writer::resuming(&dir, None, "done", options).err().unwrap();
    assert_eq!(wrong.kind(), ErrorKind::Key);
    let mut second = Writer::resuming(&dir, Some(&like), ("next", "done"), options).unwrap();
    assert_eq!(second.put_text(task, "a").unwrap_err().kind(), ErrorKind::InvalidArgument);
    second.next_row().unwrap();
    let td = second.into_dict().unwrap();
    assert_eq!(td.batch_size(), [4]);
    let texts: Vec<String> = (0..4).map(|row| td.row_text("task", row).unwrap()).collect();
    assert_eq!(texts, ["\"0\" é", "", "\"2\" é", ""]);
}
