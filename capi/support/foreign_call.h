// foreign_call.h: calls functions of the client.
#pragma once

#include "arguments.h"
#include "error_slot.h"
#include "guard.h"

#include "core/apply/piecewise.h"
#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/memmap/verify.h"
#include "tensordict/td_apply.h"
#include "tensordict/td_map.h"
#include "tensordict/td_module.h"
#include "tensordict/td_verify.h"

#include <optional>
#include <utility>

namespace capi {

// Calls a function of the client. It throws CallbackFailure if the function returns a failure, Code::callback if an
// exception leaves it, and Code::unsupported if such functions call one another without end.
template <class Call>
void call_checked(Call&& call) {
  const td::RecursionGuard guard("functions of the caller call one another");
  expect_error();
  const td_status status = call_foreign(std::forward<Call>(call));
  if (status != TD_OK) throw CallbackFailure(status);
}

// Each function lends handles to its callback and takes ownership of the result.

// Returns an undefined tensor if the callback sets no result.
at::Tensor call_apply(td_apply_fn callback, void* user, td::Path path, const at::Tensor& leaf);

// Returns an empty value if the callback sets no result.
td::Value call_apply_entry(td_apply_entry_fn callback, void* user, td::Path path,
                           c10::ArrayRef<td::Value> sources);

// Wraps a predicate of the client; empty for NULL.
td::LeafFn leaf_in(td_leaf_fn callback, void* user);
td_entry_kind kind_out(td::EntryKind kind) noexcept;

std::optional<td::TensorDict> call_map(td_map_fn callback, void* user, const td::Piece& piece,
                                       const td::TensorDict& source);

// Returns nothing if the function wrote its outputs into `source`.
std::optional<td::TensorDict> call_module(td_module_fn callback, void* user,
                                          const td::TensorDict& source);

void call_progress(td_progress_fn callback, void* user, std::size_t done, std::size_t total);
void call_damage(td_damage_fn callback, void* user, const std::vector<td::Finding>& findings);

}  // namespace capi
