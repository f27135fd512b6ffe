//! Tensorclasses, and structs whose fields are entries.

mod common;

use common::{counting, ints};
use tensordict::{
    i, tensorclass, DType, Device, ErrorKind, FieldKind, FieldSpec, Json, Tensor, TensorDict,
    Tensorclass, TensorclassOptions, TensorclassType,
};

tensorclass! {
    /// What the examples use.
    pub struct MyData {
        /// Pictures.
        image: Tensor as F32 [3, -1, -1],
        mask: Tensor,
        label: Option<Tensor>,
    }
}

impl MyData {
    fn mask_image(&self) -> tensordict::Result<Vec<f32>> {
        let (image, mask) = (self.image()?.to_vec::<f32>()?, self.mask()?.to_vec::<bool>()?);
        Ok(image.into_iter().zip(mask).filter(|(_, keep)| *keep).map(|(value, _)| value).collect())
    }

    fn select_label(&self, label: i64) -> tensordict::Result<Self> {
        let labels = self.label()?.expect("labels").to_vec::<i64>()?;
        let chosen: Vec<bool> = labels.iter().map(|one| *one == label).collect();
        self.at(&Tensor::from_slice(&chosen, [chosen.len()])?)
    }
}

tensorclass! {
    struct Pair {
        left: MyData,
        right: Option<MyData>,
        more: TensorDict,
        note: Option<Json>,
    }
}

fn data(n: usize) -> MyData {
    let images = (0..n * 12).map(|x| x as f32).collect::<Vec<_>>();
    let masks = (0..n * 12).map(|x| x % 4 == 0).collect::<Vec<_>>();
    let labels = (0..n as i64).map(|x| x % 3).collect::<Vec<_>>();
    MyData::new(
        [n],
        Tensor::from_vec(images, [n, 3, 2, 2]).unwrap(),
        Tensor::from_vec(masks, [n, 3, 2, 2]).unwrap(),
        Some(Tensor::from_vec(labels, [n]).unwrap()),
    )
    .unwrap()
}

#[test]
fn parts_of_a_tensorclass_are_of_its_type() {
    let data = data(6);
    let chosen = data.select_label(1).unwrap();
    assert_eq!(chosen.batch_size(), [2]);
    assert_eq!(chosen.label().unwrap().unwrap().to_vec::<i64>().unwrap(), [1, 1]);
    assert_eq!(data.at(i![0]).unwrap().mask_image().unwrap(), [0.0, 4.0, 8.0]);
    assert_eq!(data.reshape([2, 3]).unwrap().image().unwrap().shape(), [2, 3, 3, 2, 2]);
    let grid = data.view([3, 2]).unwrap().permute([1, 0]).unwrap();
    assert_eq!(grid.batch_size(), [2, 3]);
    assert_eq!(grid.with(|td| td.unsqueeze(0)).unwrap().batch_size(), [1, 2, 3]);
    assert_eq!(grid.tensorclass_type().unwrap().name(), "MyData");
    let wide = grid.with(|td| td.to(DType::F64)).unwrap();
    assert_eq!(wide.image().unwrap().dtype(), DType::F64);
    assert_eq!(grid.with(|_| TensorDict::new([2])).unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn tensorclasses_are_joined_and_taken_apart() {
    let data = data(4);
    let parts = data.unbind(0).unwrap();
    assert!(MyData::stack(&parts, 0).unwrap().equal(&data).unwrap());
    assert_eq!(MyData::cat([&data, &data], 0).unwrap().batch_size(), [8]);
    let copy = data.deep_clone().unwrap();
    copy.image().unwrap().copy_from(&Tensor::scalar(0f32).unwrap()).unwrap();
    assert!(!copy.equal(&data).unwrap());
}

#[test]
fn a_tensorclass_prints_under_its_name() {
    let mut data = data(2);
    data.set_field("label", None::<Tensor>).unwrap();
    let text = "\
MyData(batch_size=[2], fields={
    image: f32[3,2,2],
    mask: bool[3,2,2],
    label: None})";
    assert_eq!(data.to_string(), text);
    assert_eq!(format!("{data:?}"), text);
}

#[test]
fn fields_of_a_tensorclass_are_checked() {
    let mut data = data(2);
    assert_eq!(data.set("labels", counting(&[2])).unwrap_err().kind(), ErrorKind::KeyInvalid);
    assert_eq!(data.set("image", counting(&[2, 3, 1, 1])).unwrap_err().kind(), ErrorKind::DType);
    assert_eq!(
        data.set_field("mask", None::<Tensor>).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    data.set_field("label", None::<Tensor>).unwrap();
    assert!(data.label().unwrap().is_none());
    data.set_field("label", Some(counting(&[2]))).unwrap();
    assert_eq!(ints(&data, "label"), [0, 1]);
    let plain = data.into_tensordict().unwrap();
    assert!(plain.tensorclass_type().is_none());
    let again = MyData::from_tensordict(plain).unwrap();
    again.check_tensorclass(None).unwrap();
    let empty = MyData::from_tensordict(TensorDict::new([2]).unwrap());
    assert_eq!(empty.unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn tensorclasses_lie_in_each_other() {
    let mut pair = Pair::new([2], data(2), None, TensorDict::new([2]).unwrap(), None).unwrap();
    assert!(pair.right().unwrap().is_none());
    pair.set_field("right", Some(data(2))).unwrap();
    pair.set_field("note", Json("[1,\"two\"]".into())).unwrap();
    let first = pair.at(0).unwrap();
    assert_eq!(first.note().unwrap(), Some(Json("[1,\"two\"]".into())));
    pair.set_field("note", None::<Json>).unwrap();
    assert!(pair.note().unwrap().is_none());
    assert_eq!(first.right().unwrap().unwrap().image().unwrap().shape(), [3, 2, 2]);
    assert_eq!(first.left().unwrap().tensorclass_type().unwrap().name(), "MyData");
    assert!(first.more().unwrap().is_empty());
    pair.dict_mut("left").unwrap().set("label", counting(&[2])).unwrap();
    assert_eq!(ints(&pair, ("left", "label")), [0, 1]);
    let plain = TensorDict::new([2]).unwrap();
    assert_eq!(pair.set("left", plain).unwrap_err().kind(), ErrorKind::WrongEntry);
    let fields = Pair::tensorclass_type().unwrap().fields();
    assert_eq!(
        fields.iter().map(|f| f.kind).collect::<Vec<_>>(),
        [FieldKind::Tensorclass, FieldKind::Tensorclass, FieldKind::Dict, FieldKind::Value]
    );
}

#[test]
fn tensorclasses_are_made_at_run_time() {
    let start = Tensor::from_slice(&[1i32, 2], [2]).unwrap();
    let base =
        TensorclassType::new("Base", [FieldSpec::tensor("a").default_tensor(&start)]).unwrap();
    let options = TensorclassOptions::new().autocast(true).frozen(true).base(&base);
    let fields = [
        FieldSpec::tensor("b").dtype(DType::F64).sizes([2]),
        FieldSpec::value("c").default_json("[1, \"two\"]"),
        FieldSpec::dict("d"),
        FieldSpec::tensorclass("e", &base),
        FieldSpec::tensor("f").optional(),
    ];
    let tensorclass = TensorclassType::with_options("Thing", fields, options).unwrap();
    assert_eq!(format!("{tensorclass:?}"), "TensorclassType { name: \"Thing\", .. }");
    let infos = tensorclass.fields();
    assert_eq!(infos.iter().map(|f| f.name.as_str()).collect::<String>(), "abcdef");
    assert_eq!((infos[1].dtype, infos[1].sizes.as_deref()), (Some(DType::F64), Some(&[2][..])));
    assert!(infos[0].has_default && infos[2].has_default && !infos[1].has_default);
    assert!(infos[5].optional && infos[5].sizes.is_none());

    let made = tensorclass.make([3]).unwrap();
    assert!(made.is_locked());
    assert_eq!(made.tensor("a").unwrap().to_vec::<i32>().unwrap(), [1, 2, 1, 2, 1, 2]);
    assert_eq!(made.tensor(("e", "a")).unwrap().shape(), [3, 2]);
    assert_eq!(made.non_tensor_json("c").unwrap(), "[1,\"two\"]");
    assert_eq!(tensorclass.make_on((), Device::cpu()).unwrap().device(), Some(Device::cpu()));

    let mut td = TensorDict::new([1]).unwrap();
    td.set("b", counting(&[1, 2])).unwrap();
    td.set("d", TensorDict::new([1]).unwrap()).unwrap();
    td.set(("e", "a"), counting(&[1])).unwrap();
    assert_eq!(td.check_tensorclass(Some(&tensorclass)).unwrap_err().kind(), ErrorKind::Key);
    td.set_tensorclass_type(Some(&tensorclass)).unwrap();
    assert_eq!(td.tensor("b").unwrap().dtype(), DType::F64);
    assert_eq!(td.dict("e").unwrap().tensorclass_type().unwrap().name(), "Base");
}

#[test]
fn tensorclasses_that_cannot_be_are_refused() {
    let kind = |fields: Vec<FieldSpec<'_>>| TensorclassType::new("T", fields).unwrap_err().kind();
    assert_eq!(kind(vec![FieldSpec::tensor("a\0")]), ErrorKind::KeyInvalid);
    assert_eq!(kind(vec![FieldSpec::tensor("a"), FieldSpec::tensor("a")]), ErrorKind::KeyExists);
    assert_eq!(kind(vec![FieldSpec::dict("a").sizes([1])]), ErrorKind::InvalidArgument);
    assert_eq!(TensorclassType::new("", []).unwrap_err().kind(), ErrorKind::KeyInvalid);
}
