// Typed tensorclasses: named fields over a dictionary, with methods of one's own.
#include "tensordict/td_tensorclass.hpp"

#include <iostream>

// [struct]
struct MyData : td_torch::Tensorclass<MyData> {
  TD_TENSORCLASS(MyData, (image, td_torch::Of<at::kFloat, 3, -1, -1>),
                 (mask, td_torch::Of<at::kBool, 1, -1, -1>), (label, std::optional<at::Tensor>))

  at::Tensor mask_image() const {
    std::vector<std::int64_t> sizes = batch_size();
    sizes.push_back(-1);
    return image().masked_select(mask().expand_as(image())).view(sizes);
  }
  MyData select_label(std::int64_t wanted) const { return (*this)[label()->eq(wanted)]; }
};
// [/struct]

int main() {
  const at::Tensor images = at::arange(100 * 3 * 4 * 4, at::kFloat).view({100, 3, 4, 4});
  const at::Tensor mask =
      at::arange(16, at::kLong).remainder(2).eq(0).view({1, 4, 4}).expand({100, 1, 4, 4});
  const at::Tensor labels = at::arange(100, at::kLong).remainder(10);

  // [use]
  const MyData data({100}, images, mask, labels);
  std::cout << data.select_label(1) << "\n"
            << "masked: " << data.mask_image().sizes() << "\n"
            << "reshaped: " << at::IntArrayRef(data.reshape({10, 10}).batch_size()) << "\n";

  const MyData pair = MyData::stack({data[0], data[1]});
  pair.set_label(std::nullopt);
  // [/use]
  std::cout << "stacked: " << at::IntArrayRef(pair.batch_size()) << ", "
            << (pair.label() ? "with" : "without") << " labels\n";
  try {
    pair.set_image(labels);
  } catch (const std::exception &) {
    std::cout << "an image of other sizes is refused\n";
  }
}
