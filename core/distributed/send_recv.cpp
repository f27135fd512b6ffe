// Transfers between two ranks in Python's format: leaf by leaf, and with structure.
#include "core/consolidated/packing.h"
#include "core/distributed/c10d_message.h"
#include "core/distributed/group.h"
#include "core/distributed/leaves.h"
#include "core/distributed/link.h"
#include "core/distributed/transfer.h"
#include "core/tensor/buffer.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

using namespace distributed;

namespace distributed {

void check_tags(const GroupCall& call, std::size_t leaves) {
  if (call.init_tag < 0 || call.init_tag > last_tag ||
      leaves > static_cast<std::size_t>(last_tag - call.init_tag) + 1) {
    fail(Code::invalid_argument, "init_tag is ", call.init_tag, " for ", leaves,
         " messages; tags go from 0 to ", last_tag);
  }
}

std::string from_rank(int rank) {
  return rank < 0 ? "receiving from any rank" : "receiving from rank " + std::to_string(rank);
}

std::string to_rank(int rank) { return "sending to rank " + std::to_string(rank); }

at::Tensor bytes_of(const void* data, std::size_t bytes) {
  at::Tensor row = Buffer::row(bytes);
  std::memcpy(row.data_ptr(), data, bytes);
  return row;
}

at::Tensor view_like(const at::Tensor& bytes, std::size_t start, const at::Tensor& like) {
  return Buffer::view(bytes.storage(), start, like.sizes(), like.scalar_type());
}

}  // namespace distributed

Link& Group::link_to(int dst) const {
  Link& result = link();
  require_rank(dst, "dst");
  if (dst == rank()) fail(Code::invalid_argument, "rank ", dst, " cannot send to itself");
  return result;
}

Link& Group::link_from(int src, int first) const {
  Link& result = link();
  require_rank(src, "src", first);
  if (src == rank()) fail(Code::invalid_argument, "rank ", src, " cannot receive from itself");
  return result;
}

Group::Begun Group::begin_send(const TensorDict& td, int dst, const GroupCall& call) {
  Link& to = link_to(dst);
  limit_of(call);
  if (to.backend().all_are_ours()) return begin_send_named(td, dst, call);
  std::vector<at::Tensor> values;
  if (call.consolidated) {
    check_tags(call, 1);
    const packing::Plan plan(td.node(), packing::Twice::copied);
    values.push_back(Buffer::row(plan.bytes()));
    plan.copy_to(static_cast<char*>(values[0].data_ptr()), call.num_threads);
  } else {
    const std::vector<Leaf> leaves = leaves_of(td.node(), Order::sorted);
    check_tags(call, leaves.size());
    for (const Leaf& leaf : leaves) values.push_back(plain_values(leaf.tensor));
  }
  std::vector<PostedPtr> posts;
  int tag = call.init_tag;
  try {
    for (const at::Tensor& value : values) posts.push_back(to.send(value, dst, tag++));
  } catch (...) {
    to.keep(posts, {}, 0);
    throw;
  }
  auto shared = std::make_shared<std::vector<PostedPtr>>(std::move(posts));
  return [link = link_, td, dst, shared](const Patience& patience) {
    link->finish(std::move(*shared), {}, patience, to_rank(dst));
    return td;
  };
}

Group::Begun Group::begin_recv(const TensorDict& into, int src, const GroupCall& call) {
  Link& from = link_from(src);
  limit_of(call);
  if (from.backend().all_are_ours()) return begin_recv_named(into, src, call);
  const std::vector<Leaf> leaves = leaves_of(into.node(), Order::sorted);
  std::vector<std::size_t> starts;  // of each leaf in the message
  std::vector<std::size_t> sizes;
  if (call.consolidated) {
    // The bytes follow the order of the keys in the dictionary.
    const packing::Plan plan(into.node(), packing::Twice::copied);
    std::unordered_map<const c10::TensorImpl*, std::size_t> place;
    for (const packing::Place& it : plan.places()) {
      place[it.tensor.unsafeGetTensorImpl()] = it.start;
    }
    for (const Leaf& leaf : leaves) {
      const auto found = place.find(leaf.tensor.unsafeGetTensorImpl());
      if (found == place.end()) {
        fail(Code::unsupported, "\"", leaf.path, "\" cannot be received consolidated");
      }
      starts.push_back(found->second);
    }
    sizes.push_back(plan.bytes());
  } else {
    for (const Leaf& leaf : leaves) sizes.push_back(leaf.tensor.nbytes());
  }
  check_tags(call, sizes.size());
  std::vector<PostedPtr> posts;
  Link::Keys keys;
  int tag = call.init_tag;
  try {
    for (const std::size_t bytes : sizes) {
      posts.push_back(from.recv(bytes, src, tag));
      keys.emplace_back(src, tag++);
    }
  } catch (...) {
    from.keep(posts, keys, 0);
    throw;
  }
  auto shared = std::make_shared<std::vector<PostedPtr>>(std::move(posts));
  return [link = link_, into, src, shared, keys, starts, leaves](const Patience& patience) {
    const std::vector<PostedPtr> came =
        link->arrived(std::move(*shared), keys, patience, from_rank(src));
    std::vector<at::Tensor> values;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const PostedPtr& posted = starts.empty() ? came[i] : came[0];
      values.push_back(view_like(posted->tensor, starts.empty() ? 0 : starts[i], leaves[i].tensor));
    }
    write_leaves(into.node(), Order::sorted, values);
    return into;
  };
}

void Group::init_remote(const TensorDict& td, int dst, const GroupCall& call) {
  Link& to = link_to(dst);
  const Patience patience = limit_of(call);
  const Packed packed = pack(td, Way::remote, call.num_threads);
  const auto length = static_cast<std::int64_t>(packed.pickle.size());
  std::vector<PostedPtr> posts;
  posts.push_back(to.send(bytes_of(&length, sizeof length), dst, 0));
  posts.push_back(to.send(bytes_of(packed.pickle.data(), packed.pickle.size()), dst, 0));
  posts.push_back(to.send(packed.bytes, dst, 0));
  to.finish(std::move(posts), {}, patience, to_rank(dst));
}

TensorDict Group::from_remote_init(int src, const GroupCall& call) {
  Link& from = link_from(src);
  const Patience patience = limit_of(call);
  bool first = true;
  const auto next = [&](std::size_t bytes) {
    std::vector<PostedPtr> posts;
    posts.push_back(from.recv(bytes, src, 0));
    std::vector<PostedPtr> came =
        from.arrived(std::move(posts), {{src, 0}}, patience, from_rank(src));
    first = false;
    return came[0]->tensor;
  };
  try {
    std::int64_t length = 0;
    std::memcpy(&length, next(sizeof length).data_ptr(), sizeof length);
    const at::Tensor pickle = next(checked_size(length, call.limits, "a pickle"));
    const Unpacked unpacked(text_in(pickle, static_cast<std::size_t>(length)), call.limits);
    return unpacked.build(next(unpacked.bytes()).storage());
  } catch (const Error& error) {
    // All three transfers use one tag: a late one would be taken for the next.
    if (!first)
      from.close(std::string("the group is closed since from_remote_init failed: ") + error.what());
    throw;
  }
}

}  // namespace td
