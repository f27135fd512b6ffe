// tensordict/td_group.h
#include "choices.h"
#include "future_handle.h"
#include "give.h"
#include "guard.h"
#include "tensordict/td_group.h"

#include "core/distributed/group.h"

namespace capi {

template <>
struct Traits<td_group> : OwnedTraits<td::Group, Kind::group> {
  static constexpr const char* name = "group";
};

}  // namespace capi

namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

td::GroupOptions group_options_in(const td_group_options* options) {
  const td_group_options given = capi::options_in(options, td_group_options TD_GROUP_OPTIONS_INIT);
  td::GroupOptions result;
  if (given.url != nullptr) result.url = given.url;
  result.name = text_or_empty(given.name);
  result.device = text_or_empty(given.device);
  result.backend = text_or_empty(given.backend);
  result.rank = given.rank;
  result.size = given.world_size;
  result.timeout_ms = given.timeout_ms;
  return result;
}

td::GroupCall call_in(const td_group_call_options* options, td_group_flags known = 0) {
  const td_group_call_options given =
      capi::options_in(options, td_group_call_options TD_GROUP_CALL_OPTIONS_INIT,
                       offsetof(td_group_call_options, bucket_bytes));
  check_flags(given.flags, known);
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  td::GroupCall result;
  result.init_tag = given.init_tag;
  result.consolidated = (given.flags & TD_GROUP_CONSOLIDATED) != 0;
  result.fused = (given.flags & TD_GROUP_FUSED) != 0;
  result.bucket_bytes = static_cast<std::size_t>(given.bucket_bytes);
  if (result.fused && result.bucket_bytes != 0) {
    td::fail(td::Code::invalid_argument, "bucket_bytes is ", given.bucket_bytes,
             ": TD_GROUP_FUSED makes one buffer of all bytes");
  }
  result.num_threads = given.num_threads;
  result.timeout_ms = given.timeout_ms;
  if (given.max_depth != 0) result.limits.max_depth = given.max_depth;
  if (given.max_entries != 0) result.limits.max_entries = given.max_entries;
  if (given.max_bytes != 0) result.limits.max_bytes = given.max_bytes;
  return result;
}

td::distributed::Op op_in(td_group_op op) {
  return capi::choice_in<td::distributed::Op>(op, TD_GROUP_OP_SUM, TD_GROUP_OP_MAX, "op");
}

}  // namespace

td_status td_group_open(const td_group_options* options, td_group** result) noexcept {
  return give(__func__, result, [&] { return td::Group::open(group_options_in(options)); });
}

td_status td_group_split(td_group* group, const int32_t* ranks, size_t ranks_len, const char* name,
                         td_group** result) noexcept {
  return guard(__func__, [&] {
    Out<td_group> out(result);
    not_null(ranks, "ranks");
    auto made = in(group)->split(std::vector<int>(ranks, ranks + ranks_len), text_or_empty(name));
    if (made) out.put(std::move(made));
  });
}

void td_group_free(td_group* group) noexcept { capi::free_handle(group); }

td_status td_group_rank(const td_group* group, int32_t* rank, int32_t* size) noexcept {
  return guard(__func__, [&] {
    not_null(rank, "rank");
    not_null(size, "size");
    *rank = in(group)->rank();
    *size = in(group)->size();
  });
}

td_status td_group_barrier(td_group* group, const td_group_call_options* options) noexcept {
  return guard(__func__, [&] { in(group)->barrier(call_in(options)); });
}

td_status td_group_send(td_group* group, const td_tensordict* td, int32_t dst,
                        const td_group_call_options* options) noexcept {
  return guard(__func__,
               [&] { in(group)->send(*in(td), dst, call_in(options, TD_GROUP_CONSOLIDATED)); });
}

td_status td_group_recv(td_group* group, td_tensordict* into, int32_t src,
                        const td_group_call_options* options) noexcept {
  return guard(__func__,
               [&] { in(group)->recv(*in(into), src, call_in(options, TD_GROUP_CONSOLIDATED)); });
}

td_status td_group_isend(td_group* group, const td_tensordict* td, int32_t dst,
                         const td_group_call_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->isend(*in(td), dst, call_in(options, TD_GROUP_CONSOLIDATED),
                            capi::like_this_thread());
  });
}

td_status td_group_irecv(td_group* group, td_tensordict* into, int32_t src,
                         const td_group_call_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->irecv(*in(into), src, call_in(options, TD_GROUP_CONSOLIDATED),
                            capi::like_this_thread());
  });
}

td_status td_group_send_message(td_group* group, const td_tensordict* td, int32_t dst,
                                const td_group_call_options* options) noexcept {
  return guard(__func__, [&] { in(group)->send_message(*in(td), dst, call_in(options)); });
}

td_status td_group_recv_message(td_group* group, int32_t src, const td_group_call_options* options,
                                int32_t* source, td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return in(group)->recv_message(src, call_in(options), source); });
}

td_status td_group_isend_message(td_group* group, const td_tensordict* td, int32_t dst,
                                 const td_group_call_options* options,
                                 td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->isend_message(*in(td), dst, call_in(options), capi::like_this_thread());
  });
}

td_status td_group_irecv_message(td_group* group, int32_t src, const td_group_call_options* options,
                                 td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->irecv_message(src, call_in(options), capi::like_this_thread());
  });
}

td_status td_group_init_remote(td_group* group, const td_tensordict* td, int32_t dst,
                               const td_group_call_options* options) noexcept {
  return guard(__func__, [&] { in(group)->init_remote(*in(td), dst, call_in(options)); });
}

td_status td_group_from_remote_init(td_group* group, int32_t src,
                                    const td_group_call_options* options,
                                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(group)->from_remote_init(src, call_in(options)); });
}

td_status td_group_broadcast(td_group* group, const td_tensordict* td, int32_t src,
                             const td_group_call_options* options,
                             td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return in(group)->broadcast(OptionalDict(td).get(), src, call_in(options)); });
}

td_status td_group_reduce(td_group* group, td_tensordict* td, int32_t dst, td_group_op op,
                          const td_group_call_options* options) noexcept {
  return guard(__func__, [&] { in(group)->reduce(*in(td), dst, op_in(op), call_in(options)); });
}

td_status td_group_all_reduce(td_group* group, td_tensordict* td, td_group_op op,
                              const td_group_call_options* options) noexcept {
  return guard(__func__, [&] {
    in(group)->all_reduce(*in(td), op_in(op), call_in(options, TD_GROUP_FUSED));
  });
}

td_status td_group_ibroadcast(td_group* group, const td_tensordict* td, int32_t src,
                              const td_group_call_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->ibroadcast(OptionalDict(td).get(), src, call_in(options),
                                 capi::like_this_thread());
  });
}

td_status td_group_ireduce(td_group* group, td_tensordict* td, int32_t dst, td_group_op op,
                           const td_group_call_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->ireduce(*in(td), dst, op_in(op), call_in(options), capi::like_this_thread());
  });
}

td_status td_group_iall_reduce(td_group* group, td_tensordict* td, td_group_op op,
                               const td_group_call_options* options, td_future** result) noexcept {
  return give(__func__, result, [&] {
    return in(group)->iall_reduce(*in(td), op_in(op), call_in(options, TD_GROUP_FUSED),
                                  capi::like_this_thread());
  });
}

td_status td_group_all_gather(td_group* group, const td_tensordict* td,
                              const td_group_call_options* options, td_tensordict** results,
                              size_t results_cap, size_t* results_len) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, results_len);
    if (out.expect(static_cast<std::size_t>(in(group)->size()))) {
      out.put(in(group)->all_gather(*in(td), call_in(options)));
    }
  });
}

td_status td_group_scatter(td_group* group, const td_tensordict* const* sources, size_t sources_len,
                           int32_t src, const td_group_call_options* options,
                           td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const auto parts = capi::dicts_in(sources, sources_len);
    return in(group)->scatter(parts, src, call_in(options));
  });
}

td_status td_group_iscatter(td_group* group, const td_tensordict* const* sources,
                            size_t sources_len, int32_t src, const td_group_call_options* options,
                            td_future** result) noexcept {
  return give(__func__, result, [&] {
    const auto parts = capi::dicts_in(sources, sources_len);
    return in(group)->iscatter(parts, src, call_in(options), capi::like_this_thread());
  });
}

td_status td_group_gather_and_stack(td_group* group, const td_tensordict* td, int32_t dst,
                                    const td_group_call_options* options,
                                    td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    const auto stack = in(group)->gather_and_stack(*in(td), dst, call_in(options));
    if (stack) out.put(*stack);
  });
}
