// Transfers between two ranks of this library: messages, which say first how long they are.
#include "core/consolidated/packing.h"
#include "core/distributed/agreement.h"
#include "core/distributed/leaves.h"
#include "core/distributed/link.h"
#include "core/distributed/transfer.h"
#include "core/tensor/buffer.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

using namespace distributed;

namespace {

constexpr int head_tag = 1 << 30;
constexpr int leaves_tag =
    1 << 29;  // the head of leaves that are sent between ranks of this library
constexpr int body_tag = head_tag | 1 << 29;

// The head of a message. It includes a short body, which saves a second transfer. The receiver
// clears its buffer first: a sender that announces too much delivers zeros.
struct Head {
  char magic[8];
  std::uint64_t text;
  std::uint64_t data;
  std::uint32_t body;  // tag of the body: unique, so that no other message is received in its place
  std::uint32_t zero;
};
constexpr char message_magic[8] = {'T', 'D', 'G', 'M', 'S', 'G', '2', '\n'};
constexpr char leaves_magic[8] = {'T', 'D', 'G', 'L', 'E', 'A', 'F', '\n'};
constexpr std::size_t first_bytes = std::size_t{1} << 15;

bool is_short(std::uint64_t bytes) { return bytes <= first_bytes - sizeof(Head); }

// Room for a head, `data` bytes, which the caller writes, and a text.
at::Tensor message_row(Link& to, const char (&magic)[8], std::size_t data,
                       const std::string& text) {
  Head head{{}, text.size(), data, to.next_body() & static_cast<unsigned>(last_tag), 0};
  std::memcpy(head.magic, magic, sizeof magic);
  at::Tensor row = Buffer::row(sizeof head + data + text.size());
  char* const begin = static_cast<char*>(row.data_ptr());
  std::memcpy(begin, &head, sizeof head);
  std::memcpy(begin + sizeof head + data, text.data(), text.size());
  return row;
}

std::vector<PostedPtr> post_message(Link& to, const at::Tensor& row, int dst, int tag) {
  Head head;
  std::memcpy(&head, row.data_ptr(), sizeof head);
  const std::size_t bytes = row.nbytes() - sizeof head;
  const auto first = static_cast<std::int64_t>(is_short(bytes) ? row.nbytes() : sizeof head);
  std::vector<PostedPtr> posts;
  posts.push_back(to.send(row.narrow(0, 0, first), dst, tag));
  if (!is_short(bytes)) {
    posts.push_back(to.send(row.narrow(0, first, static_cast<std::int64_t>(bytes)), dst,
                            body_tag | static_cast<int>(head.body)));
  }
  return posts;
}

struct Message {
  int sender = 0;
  at::Tensor body;  // data, then text
  std::size_t data = 0;
  std::string_view text() const {
    return {static_cast<const char*>(body.data_ptr()) + data, body.nbytes() - data};
  }
};

// Waits for the head, which has been posted, and then for the rest.
Message take_message(Link& from, std::vector<PostedPtr>& first, int src, int tag,
                     const char (&magic)[8], std::uint64_t max_bytes, const Patience& patience) {
  const std::vector<PostedPtr> came =
      from.arrived(std::move(first), {{src, tag}}, patience, from_rank(src));
  Message message;
  message.sender = src < 0 ? came[0]->source() : src;
  Head head;
  std::memcpy(&head, came[0]->tensor.data_ptr(), sizeof head);
  if (std::memcmp(head.magic, magic, sizeof magic) != 0 || head.zero != 0 ||
      head.body > static_cast<unsigned>(last_tag)) {
    fail(Code::format, "what rank ", message.sender,
         " sent is not a message: it begins differently");
  }
  if (head.text > max_bytes || head.data > max_bytes - head.text ||
      head.text > packing::max_text_bytes) {
    fail(Code::capacity, "the message of rank ", message.sender, " has ", head.text, " and ",
         head.data, " bytes, at most ", max_bytes, " are allowed");
  }
  message.data = static_cast<std::size_t>(head.data);
  const auto whole = static_cast<std::size_t>(head.text + head.data);
  if (is_short(whole)) {
    message.body =
        bytes_of(static_cast<const char*>(came[0]->tensor.data_ptr()) + sizeof head, whole);
  } else {
    const int second = body_tag | static_cast<int>(head.body);
    std::vector<PostedPtr> posts;
    posts.push_back(from.recv(whole, message.sender, second));
    message.body = from.arrived(std::move(posts), {{message.sender, second}}, patience,
                                from_rank(message.sender))[0]
                       ->tensor;
  }
  return message;
}

// Where each leaf begins in a message, and where the last one ends.
std::vector<std::size_t> places_of(const std::vector<Leaf>& leaves) {
  constexpr std::size_t aligned = 64;
  std::vector<std::size_t> places = {0};
  for (const Leaf& leaf : leaves) {
    places.push_back((places.back() + leaf.tensor.nbytes() + aligned - 1) / aligned * aligned);
  }
  return places;
}

std::string leaves_text(const std::vector<Leaf>& leaves) { return list_of("the transfer", leaves); }

}  // namespace

// Between ranks of this library: the names and shapes come with the values, so that they cannot be mixed up.
Group::Begun Group::begin_send_named(const TensorDict& td, int dst, const GroupCall& call) {
  Link& to = link_to(dst);
  const std::vector<Leaf> leaves = leaves_of(td.node(), Order::sorted);
  check_tags(call, call.consolidated ? 1 : leaves.size());
  const std::vector<std::size_t> places = places_of(leaves);
  const at::Tensor row = message_row(to, leaves_magic, places.back(), leaves_text(leaves));
  char* const begin = static_cast<char*>(row.data_ptr()) + sizeof(Head);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const at::Tensor values = plain_values(leaves[i].tensor);
    if (values.nbytes() != 0) {
      std::memcpy(begin + places[i], values.data_ptr(), values.nbytes());
    }
  }
  auto posts = std::make_shared<std::vector<PostedPtr>>(
      post_message(to, row, dst, leaves_tag | call.init_tag));
  return [link = link_, td, dst, posts](const Patience& patience) {
    link->finish(std::move(*posts), {}, patience, to_rank(dst));
    return td;
  };
}

Group::Begun Group::begin_recv_named(const TensorDict& into, int src, const GroupCall& call) {
  Link& from = link_from(src);
  const std::vector<Leaf> leaves = leaves_of(into.node(), Order::sorted);
  check_tags(call, call.consolidated ? 1 : leaves.size());
  const int tag = leaves_tag | call.init_tag;
  auto first = std::make_shared<std::vector<PostedPtr>>();
  first->push_back(from.recv(first_bytes, src, tag, Link::Room::cleared));
  return [link = link_, into, src, tag, first, leaves,
          limit = call.limits.max_bytes](const Patience& patience) {
    const std::vector<std::size_t> places = places_of(leaves);
    const std::string own = leaves_text(leaves);
    // What does not fit is taken, too, so that its sender goes on.
    const Message message =
        take_message(*link, *first, src, tag, leaves_magic,
                     std::max<std::uint64_t>(limit, places.back() + own.size()), patience);
    if (message.text() != own) {
      fail_at_first_difference(message.text(), own, src, link->rank());
    }
    if (message.data != places.back()) {
      fail(Code::format, "rank ", src, " sent ", message.data, " bytes instead of ", places.back());
    }
    std::vector<at::Tensor> values;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      values.push_back(view_like(message.body, places[i], leaves[i].tensor));
    }
    write_leaves(into.node(), Order::sorted, values);
    return into;
  };
}

Group::Begun Group::begin_send_message(const TensorDict& td, int dst, const GroupCall& call) {
  Link& to = link_to(dst);
  limit_of(call);
  check_tags(call, 1);
  const packing::Plan plan(td.node(), packing::Twice::once);
  const at::Tensor row = message_row(to, message_magic, plan.bytes(), plan.text());
  plan.copy_to(static_cast<char*>(row.data_ptr()) + sizeof(Head), call.num_threads);
  auto posts = std::make_shared<std::vector<PostedPtr>>(
      post_message(to, row, dst, head_tag | call.init_tag));
  return [link = link_, td, dst, posts](const Patience& patience) {
    link->finish(std::move(*posts), {}, patience, to_rank(dst));
    return td;
  };
}

Group::Begun Group::begin_recv_message(int src, const GroupCall& call, int* source) {
  Link& from = link_from(src, -1);
  limit_of(call);
  check_tags(call, 1);
  const int tag = head_tag | call.init_tag;
  auto first = std::make_shared<std::vector<PostedPtr>>();
  first->push_back(from.recv(first_bytes, src, tag, Link::Room::cleared));
  return [link = link_, src, tag, first, source, limits = call.limits](const Patience& patience) {
    const Message message =
        take_message(*link, *first, src, tag, message_magic, limits.max_bytes, patience);
    const packing::Parsed parsed(message.text(),
                                 "the message of rank " + std::to_string(message.sender),
                                 message.data, {limits.max_depth, limits.max_entries});
    TensorDict result(parsed.build(message.body.storage(), std::nullopt));
    if (source != nullptr) *source = message.sender;
    return result;
  };
}

}  // namespace td
