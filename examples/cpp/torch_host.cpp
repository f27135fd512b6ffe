// A C++ host that uses libtorch itself: its tensors go into a dictionary and come back, without a copy.
#include "tensordict/td_torch.hpp"

#include <iostream>

int main() {
  const at::Tensor frames = at::arange(24, at::kFloat).view({4, 6});

  td_tensordict *td = nullptr;
  const std::int64_t batch[] = {4};
  td_torch::check(td_create(batch, 1, TD_DEVICE_NONE, -1, &td));
  td_tensor *handle = td_torch::to_handle(frames);
  const char *path[] = {"camera", "frames"};
  td_torch::check(td_set(td, path, 2, handle));
  td_tensor_free(handle);

  td_index_item last{};
  last.kind = TD_INDEX_INT;
  last.start = -1;
  td_tensordict *row = nullptr;
  td_torch::check(td_index(td, &last, 1, &row));
  td_torch::check(td_get(row, path, 2, &handle));
  at::Tensor frame = td_torch::from_handle(handle);
  frame.mul_(10);  // the host's own tensor changes: it is the same memory

  std::cout << "sum of the last frame: " << frames[3].sum().item<float>() << "\n"
            << "same memory: " << (frame.data_ptr() == frames[3].data_ptr() ? "yes" : "no") << "\n";

  frame.reset();  // it keeps a handle open
  td_tensor_free(handle);
  td_free(row);
  td_free(td);
  return td_debug_live_handles() == 0 ? 0 : 1;
}
