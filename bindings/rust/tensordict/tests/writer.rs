//! Rows written one by one.

mod common;

use common::{ints, Scratch};
use tensordict::{DType, ErrorKind, Tensor, TensorDict, Writer, WriterOptions};

fn template() -> TensorDict {
    let mut td = TensorDict::new(()).unwrap();
    td.set("step", Tensor::scalar(0i64).unwrap()).unwrap();
    td.set(("next", "reward"), Tensor::zeros([1], DType::F32).unwrap()).unwrap();
    td.set("done", Tensor::scalar(false).unwrap()).unwrap();
    td
}

#[test]
fn rows_reach_the_folder() {
    let scratch = Scratch::new();
    let mut td = template().expand([2, 3]).unwrap().memmap_like(scratch.path("td")).unwrap();
    let mut writer = Writer::open(&mut td).unwrap();
    let step = writer.bind("step").unwrap();
    let reward = writer.bind(("next", "reward")).unwrap();
    let done = writer.bind("done").unwrap();
    assert_eq!((step.row_bytes(), step.dtype()), (8, DType::I64));
    assert_eq!((reward.row_bytes(), done.row_bytes()), (4, 1));
    for row in 0..6i64 {
        writer.put(step, &[row]).unwrap();
        writer.put(reward, &[row as f32 / 2.0]).unwrap();
        writer.put(done, &[row == 5]).unwrap();
        writer.next_row().unwrap();
    }
    assert_eq!(writer.rows(), 6);
    assert_eq!(writer.put(step, &[6i64]).unwrap_err().kind(), ErrorKind::Capacity);
    assert_eq!(writer.next_row().unwrap_err().kind(), ErrorKind::Capacity);
    writer.flush().unwrap();
    writer.close().unwrap();

    let loaded = TensorDict::load_memmap(scratch.path("td")).unwrap();
    assert_eq!(ints(&loaded, "step"), [0, 1, 2, 3, 4, 5]);
    let reward = loaded.tensor(("next", "reward")).unwrap();
    assert_eq!(reward.to_vec::<f32>().unwrap(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    let done = loaded.tensor("done").unwrap();
    assert_eq!(done.to_vec::<bool>().unwrap(), [false, false, false, false, false, true]);
}

#[test]
fn a_writer_begins_and_ends_where_asked() {
    let td = TensorDict::from_pairs([5], [("x", Tensor::zeros([5], DType::I64).unwrap())]).unwrap();
    let mut writer = Writer::owning(td, WriterOptions::new().first_row(1).capacity(2)).unwrap();
    let x = writer.bind("x").unwrap();
    for value in [10i64, 20] {
        writer.put_bytes(x, &value.to_ne_bytes()).unwrap();
        writer.next_row().unwrap();
    }
    assert_eq!(writer.next_row().unwrap_err().kind(), ErrorKind::Capacity);
    assert_eq!(ints(&writer.into_dict().unwrap(), "x"), [0, 10, 20, 0, 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let zeros = Tensor::zeros([5, 2], DType::F32).unwrap();
    let mut td = TensorDict::from_pairs([5], [("x", zeros)]).unwrap();
    td.set("nested", TensorDict::new([5]).unwrap()).unwrap();
    let mut writer = Writer::open(&mut td).unwrap();
    assert_eq!(writer.bind("none").unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(writer.bind("nested").unwrap_err().kind(), ErrorKind::WrongEntry);
    let x = writer.bind("x").unwrap();
    let error = writer.put(x, &[1.0f64, 2.0]).unwrap_err();
    assert_eq!(error.message(), "the field is of torch.float32, not of torch.float64");
    assert_eq!(writer.put(x, &[1.0f32]).unwrap_err().kind(), ErrorKind::Shape);
    drop(writer);

    let far = Writer::open_with(&mut td, WriterOptions::new().first_row(6));
    assert_eq!(far.err().unwrap().kind(), ErrorKind::Index);
    let mut scalar = TensorDict::new(()).unwrap();
    assert_eq!(Writer::open(&mut scalar).err().unwrap().kind(), ErrorKind::Shape);
}
