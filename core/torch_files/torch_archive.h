// core/torch_files/torch_archive.h: the zip archive of torch.save: its pickle and its storages.
#pragma once

#include "core/flat/flat_tree.h"
#include "core/formats/zip_file.h"
#include "core/pickle/pickled.h"

#include <ATen/ATen.h>

#include <unordered_map>

namespace td::pickled {

class Archive {
 public:
  Archive(const FileBytes& file, const FileOptions& options);

  const Pickle& pickle() const noexcept { return pickle_; }
  const std::string& where() const noexcept { return file_.where(); }

  // Returns the same tensor each time.
  const at::Tensor& tensor(std::int64_t number);

 private:
  struct Held {
    c10::Storage storage;
    c10::ScalarType dtype;  // dtype by which the bytes were swapped
  };

  void count_expanded(const TensorPlace& place, std::size_t storage_bytes);
  const c10::Storage& storage_of(const Object& object, c10::ScalarType dtype);
  void check_length(const Object& object, const std::string& name, std::size_t bytes) const;

  const FileBytes& file_;
  zip_file::Reader zip_;
  std::string folder_;
  bool swapped_ = false;
  std::size_t expanded_bytes_ = 0;
  Pickle pickle_;
  std::unordered_map<std::string, Held> storages_;
  std::unordered_map<std::int64_t, at::Tensor> tensors_;
};

}  // namespace td::pickled
