// foreign_call.h: calling functions of the client.
#pragma once

#include "arguments.h"

namespace capi {

// Lends a leaf to a td_apply_fn and takes what it returns; an undefined tensor when it returns none.
// Throws CallbackFailure when it fails, and Code::callback when it unwinds although it must not.
at::Tensor call_apply(td_apply_fn callback, void* user, td::Path path, const at::Tensor& leaf);

}  // namespace capi
