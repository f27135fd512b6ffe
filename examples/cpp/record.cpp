// Tensors of libtorch go to files, and the recording is opened again. Run in a scratch folder.
#include "tensordict/td_torch.hpp"

#include <iostream>

int main() {
  // [record]
  const at::Tensor states = at::arange(12, at::kFloat).view({6, 2});
  const td_torch::Dict steps(states.sizes().slice(0, 1));  // batch size [6]
  td_tensor *state = td_torch::to_handle(states);
  td_torch::check(td_set(steps.handle(), TD_KEY("ball", "state"), state));
  td_tensor_free(state);  // the dictionary keeps the tensor
  td_tensordict *saved = nullptr;
  td_torch::check(td_memmap(steps.handle(), "recording", nullptr, &saved));
  td_free(saved);
  // [/record]

  // [open]
  td_tensordict *loaded = nullptr;
  td_torch::check(td_memmap_load("recording", nullptr, &loaded));
  const td_torch::Dict recording(loaded);  // it frees the handle
  td_torch::check(td_get(recording.handle(), TD_KEY("ball", "state"), &state));
  const at::Tensor read = td_torch::from_handle(state);  // the memory of the file, no copy
  td_tensor_free(state);
  // [/open]
  std::cout << recording << "\n"
            << "the last state: " << read[5][0].item<float>() << ", " << read[5][1].item<float>()
            << "\n"
            << "equal to what was recorded: " << (at::equal(read, states) ? "yes" : "no") << "\n";
}
