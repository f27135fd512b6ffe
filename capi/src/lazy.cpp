// tensordict/td_lazy.h
#include "arguments.h"
#include "give.h"
#include "guard.h"
#include "key_snapshot.h"

#include "core/tree/lazy_ops.h"

namespace {

std::vector<td::NodePtr> nodes_in(const td_tensordict* const* sources, size_t n) {
  std::vector<td::NodePtr> nodes;
  if (n == 0) return nodes;
  for (const td::TensorDict& source : capi::dicts_in(sources, n)) nodes.push_back(source.node());
  return nodes;
}

td_padding_options padding_in(const td_padding_options* options) {
  return capi::options_in(options, td_padding_options TD_PADDING_OPTIONS_INIT);
}

td::PaddingOptions nested_tensor(const td_padding_options& given) {
  return {given.value, given.left != 0, given.pad == 2};
}

}  // namespace

td_status td_kind(const td_tensordict* td, td_dict_kind* result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = TD_DICT_DENSE;
    *result = static_cast<td_dict_kind>(td::row_of(*in(td)->node()).number);
  });
}

td_status td_is_uniquely_owned(const td_tensordict* td, int32_t* result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = 0;
    *result = td::is_sole(*in(td)->node()) ? 1 : 0;
  });
}

td_status td_lazy_stack(const td_tensordict* const* sources, size_t sources_len, int64_t dim,
                        td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::TensorDict(td::lazy_stack(nodes_in(sources, sources_len), dim)); });
}

td_status td_lazy_insert(td_tensordict* td, int64_t position,
                         const td_tensordict* source) noexcept {
  return guard(__func__, [&] { td::lazy_insert(in(td)->node(), position, in(source)->node()); });
}

td_status td_lazy_extend(td_tensordict* td, const td_tensordict* const* sources,
                         size_t sources_len) noexcept {
  return guard(__func__, [&] { td::lazy_extend(in(td)->node(), nodes_in(sources, sources_len)); });
}

td_status td_lazy_info(const td_tensordict* td, int64_t* stack_dim, size_t* elements) noexcept {
  return guard_plain(__func__, [&] {
    not_null(stack_dim, "stack_dim");
    not_null(elements, "elements");
    const td::LazyNode& lazy = td::stack_of(*in(td)->node());
    *stack_dim = lazy.stack_dim();
    *elements = lazy.elements().size();
  });
}

td_status td_lazy_exclusive_keys(const td_tensordict* td, td_keys** result) noexcept {
  return give_plain(__func__, result, [&] {
    return std::make_unique<capi::KeySnapshot>(td::exclusive_keys(td::stack_of(*in(td)->node())));
  });
}

td_status td_lazy_get_padded(const td_tensordict* td, const char* const* path, size_t path_len,
                             const td_padding_options* options, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::lazy_get_padded(in(td)->node(), PathIn(path, path_len),
                               nested_tensor(padding_in(options)));
  });
}

td_status td_lazy_get_jagged(const td_tensordict* td, const char* const* path, size_t path_len,
                             td_tensor** values, td_tensor** offsets) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(values, offsets);
    Out<td_tensor> values_out(values);
    Out<td_tensor> offsets_out(offsets);
    td::JaggedValues read = td::lazy_get_jagged(in(td)->node(), PathIn(path, path_len));
    values_out.put(std::move(read.values));
    offsets_out.put(std::move(read.offsets));
  });
}

td_status td_to_lazy_stack(const td_tensordict* td, int64_t dim, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::TensorDict(td::to_lazy(in(td)->node(), dim)); });
}

td_status td_densify(const td_tensordict* td, const td_padding_options* options,
                     td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_padding_options given = padding_in(options);
    const td::NodePtr node = in(td)->node();
    return td::TensorDict(given.pad != 0 ? td::to_padded(node, nested_tensor(given))
                                         : td::all_dense(node));
  });
}
