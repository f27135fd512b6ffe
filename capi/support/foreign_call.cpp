#include "foreign_call.h"

#include "error_slot.h"
#include "guard.h"

#include <string>

namespace capi {

namespace {

// A handle that lives as long as the callback runs. Kept longer, it is a dead token.
class Lent {
 public:
  explicit Lent(const at::Tensor& tensor) { Out<td_tensor>(&handle_).put(at::Tensor(tensor)); }
  ~Lent() { free_handle(handle_); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  td_tensor* get() const noexcept { return handle_; }

 private:
  td_tensor* handle_ = nullptr;
};

// The handle that a callback left behind is taken, whatever it returned.
at::Tensor consume(td_tensor* handle) {
  if (handle == nullptr) return at::Tensor();
  at::Tensor tensor = *in(handle);
  free_handle(handle);
  return tensor;
}

}  // namespace

at::Tensor call_apply(td_apply_fn callback, void* user, td::Path path, const at::Tensor& leaf) {
  c10::SmallVector<std::string, 4> copies;  // a view has no NUL behind it
  c10::SmallVector<const char*, 4> names;
  for (const std::string_view name : path) copies.emplace_back(name);
  for (const std::string& copy : copies) names.push_back(copy.c_str());
  const Lent source(leaf);
  td_tensor* result = nullptr;
  expect_error();
  const td_status status = call_foreign(
      [&] { return callback(user, names.data(), names.size(), source.get(), &result); });
  at::Tensor tensor = consume(result);
  if (status != TD_OK) throw CallbackFailure{status};
  return tensor;
}

}  // namespace capi
