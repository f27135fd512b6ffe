#include "fixture.h"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace bench {

void ok(td_status status) {
  if (status == TD_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", td_last_error_function(), td_status_name(status),
               td_last_error_message());
  std::exit(1);
}

void require(bool truth) {
  if (!truth) std::abort();
}

std::string scratch(const std::string& name, const std::filesystem::path& where) {
  const auto folder = where.empty() ? std::filesystem::temp_directory_path() : where;
  return (folder / ("td_bench_" + name + "_" + std::to_string(getpid()))).string();
}

td_tensor* wrap(const at::Tensor& tensor) {
  td_tensor* handle = nullptr;
  ok(td_tensor_from_blob(tensor.data_ptr(), tensor.sizes().data(), nullptr, tensor.sizes().size(),
                         tensor.scalar_type() == at::kLong   ? TD_DTYPE_INT64
                         : tensor.scalar_type() == at::kBool ? TD_DTYPE_BOOL
                                                             : TD_DTYPE_FLOAT32,
                         TD_DEVICE_CPU, -1, nullptr, nullptr, &handle));
  return handle;
}

namespace {

td_tensordict* make(const std::vector<at::Tensor>& tensors, const std::vector<std::string>& names,
                    const std::vector<std::int64_t>& batch) {
  td_tensordict* td = nullptr;
  ok(td_create(batch.data(), batch.size(), TD_DEVICE_NONE, -1, &td));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    td_tensor* handle = wrap(tensors[i]);
    const char* path[] = {"nested", names[i].c_str()};
    const bool nested = i >= tensors.size() / 2;
    ok(td_set(td, nested ? path : path + 1, nested ? 2 : 1, handle));
    td_tensor_free(handle);
  }
  return td;
}

}  // namespace

InTurn::InTurn(const Leaves& leaves, std::size_t levels) {
  const auto half = leaves.names.begin() + static_cast<std::ptrdiff_t>(leaves.names.size() / 2);
  names_.assign(levels == 1 ? leaves.names.begin() : half, levels == 1 ? half : leaves.names.end());
}

Leaves::Leaves(int count, std::vector<std::int64_t> sizes, std::ptrdiff_t batch_dims) {
  for (int i = 0; i < count; ++i) {
    names.push_back("leaf_" + std::to_string(i));
    tensors.push_back(at::rand(sizes, at::kFloat));
  }
  td = make(tensors, names, {sizes.begin(), sizes.begin() + batch_dims});
}

Leaves::~Leaves() { td_free(td); }

Row::Row(const Leaves& leaves) {
  for (const at::Tensor& leaf : leaves.tensors) tensors.push_back(leaf.select(0, 3).clone());
  td = make(tensors, leaves.names, {});
}

void figure(const std::string& name, int leaves, double goal, Body ours, Body theirs) {
  char label[64];
  std::snprintf(label, sizeof label, "/%d/%g/", leaves, goal);
  benchmark::RegisterBenchmark((name + label + "ours").c_str(), std::move(ours))->UseRealTime();
  benchmark::RegisterBenchmark((name + label + "theirs").c_str(), std::move(theirs))->UseRealTime();
}

}  // namespace bench
