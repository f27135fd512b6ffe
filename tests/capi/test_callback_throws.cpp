// A callback must not unwind, but one that does must not end the process: what it throws is caught
// at the border and becomes a status.
#include <stdexcept>
#include <string>

#include "td_test.h"

namespace {

struct Foreign {};

enum class Thrown { standard, number, text, foreign, allocation };

td_status throwing(void *user, const char *const *, size_t, const td_tensor *, td_tensor **) {
  switch (*static_cast<Thrown *>(user)) {
    case Thrown::standard: throw std::runtime_error("thrown by a callback");
    case Thrown::number: throw 7;
    case Thrown::text: throw "text";
    case Thrown::foreign: throw Foreign();
    case Thrown::allocation: throw std::bad_alloc();
  }
  return TD_OK;
}

td_tensordict *dictionary() {
  const int64_t size = 2;
  const float values[2] = {1, 2};
  const char *const key = "a";
  td_tensordict *td = nullptr;
  td_tensor *tensor = nullptr;
  TD_DO(td_create(&size, 1, TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensor_from_data(values, sizeof values, &size, 1, TD_DTYPE_FLOAT32, &tensor));
  TD_DO(td_set(td, &key, 1, tensor));
  td_tensor_free(tensor);
  return td;
}

td_status thrown(Thrown what, bool inplace) {
  td_tensordict *td = dictionary();
  td_tensordict *result = static_cast<td_tensordict *>(TD_POISON);
  const td_status status = inplace ? td_apply_inplace(td, nullptr, throwing, &what)
                                   : td_apply(td, nullptr, throwing, &what, &result);
  TD_CHECK(inplace || result == nullptr);
  TD_CHECK(std::string(td_last_error_message()) != "");
  td_free(td);
  return status;
}

}  // namespace

TD_TEST(exceptions_of_callbacks_become_a_status) {
  for (const Thrown what : {Thrown::standard, Thrown::number, Thrown::text, Thrown::foreign}) {
    for (const bool inplace : {false, true}) {
      const td_status status = thrown(what, inplace);
      TD_CHECK(status == TD_ERR_CALLBACK || status == TD_ERR_INTERNAL);
    }
  }
  thrown(Thrown::standard, false);
  TD_CHECK_TEXT(td_last_error_message(), "thrown by a callback");
  TD_CHECK(thrown(Thrown::allocation, false) != TD_OK);
}
