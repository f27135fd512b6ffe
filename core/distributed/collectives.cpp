// Collective calls on whole dictionaries: structure and values, in Python's format.
#include "core/consolidated/packing.h"
#include "core/distributed/c10d_message.h"
#include "core/distributed/link.h"
#include "core/distributed/transfer.h"
#include "core/shape/join.h"
#include "core/tensor/buffer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

using namespace distributed;

namespace {

at::Tensor padded(const char* data, std::size_t bytes, std::size_t to) {
  at::Tensor result = Buffer::row(to);
  char* const begin = static_cast<char*>(result.data_ptr());
  if (bytes != 0) std::memcpy(begin, data, bytes);
  if (to > bytes) std::memset(begin + bytes, 0, to - bytes);
  return result;
}

at::Tensor padded(const std::string& text, std::size_t to) {
  return padded(text.data(), text.size(), to);
}

at::Tensor padded(const at::Tensor& bytes, std::size_t to) {
  if (bytes.nbytes() == to) return bytes;
  return padded(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes(), to);
}

at::Tensor number(std::int64_t value) { return at::full({1}, value, at::kLong); }

std::int64_t value_of(const at::Tensor& number) { return *number.data_ptr<std::int64_t>(); }

// The sizes announced by each rank, and their maximum.
struct Sizes64 {
  std::vector<std::size_t> each;
  std::size_t most = 0;
};
Sizes64 all_sizes(Backend& backend, std::int64_t own, const ReceiveOptions& limits,
                  const char* what) {
  Sizes64 sizes;
  for (const at::Tensor& one : backend.all_gather(number(own))) {
    sizes.each.push_back(checked_size(value_of(one), limits, what));
    sizes.most = std::max(sizes.most, sizes.each.back());
  }
  return sizes;
}

}  // namespace

Group::Begun Group::begin_broadcast(const TensorDict* td, int src, const GroupCall& call,
                                    Rows rows) {
  require_rank(src, "src");
  limit_of(call);
  if (src == rank() && td == nullptr) {
    fail(Code::invalid_argument, "rank ", src, " broadcasts, and gave no dictionary");
  }
  struct State {
    Packed packed;
    std::optional<TensorDict> result;
  };
  auto state = std::make_shared<State>();
  const bool sends = src == rank();
  if (sends) state->packed = pack(*td, Way::broadcast, call.num_threads, rows);
  const std::shared_ptr<Task> task =
      link().enqueue([state, sends, src, limits = call.limits](Backend& backend) {
        at::Tensor length = number(static_cast<std::int64_t>(state->packed.pickle.size()));
        backend.broadcast(length, src);
        const std::size_t bytes = sends ? state->packed.pickle.size()
                                        : checked_size(value_of(length), limits, "a pickle");
        const at::Tensor pickle = padded(state->packed.pickle, bytes);
        backend.broadcast(pickle, src);
        if (sends) return backend.broadcast(state->packed.bytes, src);
        const Unpacked unpacked = in_step(text_in(pickle, bytes), limits);
        const at::Tensor data = Buffer::row(unpacked.bytes());
        backend.broadcast(data, src);
        state->result = unpacked.build(data.storage());
      });
  return [task, state, own = sends ? std::optional(*td) : std::nullopt](const Patience& patience) {
    task->wait(patience, "the broadcast");
    return own ? *own : *state->result;
  };
}

std::vector<TensorDict> Group::all_gather(const TensorDict& td, const GroupCall& call) {
  const Patience patience = limit_of(call);
  struct State {
    Packed packed;
    std::vector<TensorDict> results;
  };
  auto state = std::make_shared<State>();
  state->packed = pack(td, Way::gather, call.num_threads);
  link()
      .enqueue([state, limits = call.limits](Backend& backend) {
        const Packed& own = state->packed;
        const Sizes64 lengths =
            all_sizes(backend, static_cast<std::int64_t>(own.pickle.size()), limits, "a pickle");
        const std::vector<at::Tensor> pickles =
            backend.all_gather(padded(own.pickle, lengths.most));
        std::vector<Unpacked> unpacked;
        std::size_t most = 0;
        for (std::size_t i = 0; i < pickles.size(); ++i) {
          unpacked.push_back(in_step(text_in(pickles[i], lengths.each[i]), limits));
          most = std::max(most, unpacked.back().bytes());
        }
        const std::vector<at::Tensor> rows = backend.all_gather(padded(own.bytes, most));
        for (std::size_t i = 0; i < rows.size(); ++i) {
          state->results.push_back(unpacked[i].build(padded(rows[i], rows[i].nbytes()).storage()));
        }
      })
      ->wait(patience, "all_gather");
  return std::move(state->results);
}

Group::Begun Group::begin_scatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call,
                                  Rows rows) {
  require_rank(src, "src");
  limit_of(call);
  const bool sends = src == rank();
  if (sends && parts.size() != static_cast<std::size_t>(size())) {
    fail(Code::invalid_argument, "rank ", src, " scatters ", parts.size(), " dictionaries to ",
         size(), " ranks");
  }
  struct State {
    std::vector<Packed> packed;
    std::optional<TensorDict> result;
  };
  auto state = std::make_shared<State>();
  if (sends) state->packed = pack_all(parts, call.num_threads, rows);
  const std::shared_ptr<Task> task =
      link().enqueue([state, sends, src, limits = call.limits](Backend& backend) {
        std::size_t longest = 0;
        std::size_t most = 0;
        for (const Packed& one : state->packed) {
          longest = std::max(longest, one.pickle.size());
          most = std::max(most, static_cast<std::size_t>(one.bytes.nbytes()));
        }
        at::Tensor length = number(static_cast<std::int64_t>(longest));
        backend.broadcast(length, src);
        if (!sends) longest = checked_size(value_of(length), limits, "a pickle");
        std::vector<at::Tensor> pickles;
        std::vector<at::Tensor> lengths;
        for (const Packed& one : state->packed) {
          pickles.push_back(padded(one.pickle, longest));
          lengths.push_back(number(static_cast<std::int64_t>(one.pickle.size())));
        }
        const at::Tensor pickle = Buffer::row(longest);
        backend.scatter(pickle, std::move(pickles), src);
        const at::Tensor own = number(0);
        backend.scatter(own, std::move(lengths), src);
        const std::int64_t bytes = value_of(own);
        if (bytes < 0 || static_cast<std::size_t>(bytes) > longest) {
          fail(Code::capacity, "a pickle of ", bytes, " bytes, of at most ", longest);
        }
        const Unpacked unpacked = in_step(text_in(pickle, static_cast<std::size_t>(bytes)), limits);
        std::vector<at::Tensor> values;
        for (const Packed& one : state->packed) values.push_back(padded(one.bytes, most));
        const at::Tensor data = Buffer::row(unpacked.most_bytes());
        backend.scatter(data, std::move(values), src);
        state->result = unpacked.build(data.storage());
      });
  return [task, state](const Patience& patience) {
    task->wait(patience, "scatter");
    return *state->result;
  };
}

std::optional<TensorDict> Group::gather_and_stack(const TensorDict& td, int dst,
                                                  const GroupCall& call) {
  require_rank(dst, "dst");
  const Patience patience = limit_of(call);
  const packing::Plan plan(td.node(), packing::Twice::copied);
  const std::string text = plan.text();
  struct State {
    at::Tensor own;
    std::vector<TensorDict> parts;
  };
  auto state = std::make_shared<State>();
  // Each rank contributes one row: tensor bytes, text, and the length of both.
  const std::uint64_t sizes[2] = {plan.bytes(), text.size()};
  state->own = Buffer::row(plan.bytes() + text.size() + sizeof sizes);
  char* const data = static_cast<char*>(state->own.data_ptr());
  plan.copy_to(data, call.num_threads);
  std::memcpy(data + plan.bytes(), text.data(), text.size());
  std::memcpy(data + plan.bytes() + text.size(), sizes, sizeof sizes);
  link()
      .enqueue([state, dst, limits = call.limits](Backend& backend) {
        const Sizes64 all = all_sizes(backend, static_cast<std::int64_t>(state->own.nbytes()),
                                      limits, "a dictionary");
        const std::vector<at::Tensor> rows = backend.gather(padded(state->own, all.most), dst);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const std::string where = "what rank " + std::to_string(i) + " sent";
          std::uint64_t got[2] = {0, 0};
          const std::size_t bytes = all.each[i];
          const at::Tensor whole = padded(rows[i], rows[i].nbytes());
          const char* const begin = static_cast<const char*>(whole.data_ptr());
          if (bytes >= sizeof got) std::memcpy(got, begin + bytes - sizeof got, sizeof got);
          if (bytes < sizeof got || got[0] > bytes - sizeof got ||
              got[1] != bytes - sizeof got - got[0]) {
            fail(Code::format, where,
                 " is not of this library: Python gathers pickles of objects, which "
                 "are not read");
          }
          const packing::Parsed parsed(
              std::string_view(begin + got[0], static_cast<std::size_t>(got[1])), where,
              static_cast<std::size_t>(got[0]), {limits.max_depth, limits.max_entries});
          state->parts.emplace_back(parsed.build(whole.storage(), std::nullopt));
        }
      })
      ->wait(patience, "gather_and_stack");
  if (dst != rank()) return std::nullopt;
  return td::stack(state->parts, 0);
}

}  // namespace td
