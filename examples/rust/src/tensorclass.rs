//! Typed tensorclasses: a struct whose fields are entries of a dictionary, with methods of one's own.

use tensordict::{tensorclass, DType, Result, Tensor};

// [struct]
tensorclass! {
    /// Images with what is known of them.
    pub struct MyData {
        image: Tensor as F32 [3, -1, -1], // behind the batch size; -1 is any size
        mask: Tensor as Bool [1, -1, -1],
        label: Option<Tensor>,
    }
}

impl MyData {
    fn mask_image(&self) -> Result<Tensor> {
        let (image, mask) = (self.image()?, self.mask()?.to_vec::<bool>()?);
        let plane = mask.len() / image.shape()[0] as usize;
        let kept: Vec<f32> = image
            .to_vec::<f32>()?
            .chunks(plane)
            .enumerate()
            .flat_map(|(i, pixels)| {
                let row = &mask[i / 3 * plane..][..plane];
                pixels
                    .iter()
                    .zip(row)
                    .filter(|(_, keep)| **keep)
                    .map(|(pixel, _)| *pixel)
                    .collect::<Vec<_>>()
            })
            .collect();
        let columns = kept.len() as i64 / image.shape()[0];
        Tensor::from_vec(kept, [image.shape()[0], columns])
    }

    fn select_label(&self, wanted: i64) -> Result<Self> {
        let labels = self.label()?.expect("labels").to_vec::<i64>()?;
        let chosen: Vec<bool> = labels.iter().map(|label| *label == wanted).collect();
        self.at(&Tensor::from_slice(&chosen, [chosen.len()])?)
    }
}
// [/struct]

fn main() -> Result<()> {
    let images: Vec<f32> = (0..100 * 3 * 4 * 4).map(|x| x as f32).collect();
    let masks: Vec<bool> = (0..100 * 4 * 4).map(|x| x % 2 == 0).collect();
    let labels: Vec<i64> = (0..100).map(|x| x % 10).collect();

    // [use]
    let data = MyData::new(
        [100],
        Tensor::from_vec(images, [100, 3, 4, 4])?,
        Tensor::from_vec(masks, [100, 1, 4, 4])?,
        Some(Tensor::from_vec(labels, [100])?),
    )?;
    println!("{}", data.select_label(1)?);
    println!("masked: {:?}", data.mask_image()?.shape());
    println!("reshaped: {:?}", data.reshape([10, 10])?.batch_size());

    let mut pair = MyData::stack([&data.at(0)?, &data.at(1)?], 0)?;
    pair.set_field("label", None::<Tensor>)?;
    // [/use]
    let with = if pair.label()?.is_some() { "with" } else { "without" };
    println!("stacked: {:?}, {with} labels", pair.batch_size());
    if pair.set("image", Tensor::zeros([2, 4, 4, 4], DType::F32)?).is_err() {
        println!("an image of other sizes is refused");
    }
    Ok(())
}
