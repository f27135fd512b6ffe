#include "core/datasets/bag_episode.h"

#include "core/base/key.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace td::datasets {

namespace {

constexpr std::int64_t most_rows = 1'000'000'000;
constexpr std::size_t most_topics = 4096, most_fields = 100'000;

// "/robot/imu" as "robot", "imu".
OwnedKey key_of(std::string_view topic) {
  OwnedKey key;
  while (!topic.empty()) {
    const std::size_t end = std::min(topic.find('/'), topic.size());
    if (end > 0) key.emplace_back(topic.substr(0, end));
    topic.remove_prefix(std::min(end + 1, topic.size()));
  }
  return key;
}

Plain shown_text(std::string_view text) { return Plain::of_text(is_utf8(text) ? text : "?"); }

}  // namespace

BagEpisode::BagEpisode(const std::vector<std::string>& files, const DatasetOptions& options)
    : rate_(options.rate), most_(options.max_bytes) {
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    bags_.push_back(bags::open_bag(file, options.max_bytes));
    bytes += files::look(file).bytes;
  }
  where_ = bags_[0]->where;
  if (most_ == 0) most_ = 1100 * bytes + (std::uint64_t{64} << 20);
  add_messages();
  make_decoders(options);
}

void BagEpisode::add_messages() {
  std::map<std::string, Topic> topics;
  for (std::uint32_t file = 0; file < bags_.size(); ++file) {
    std::vector<bags::Topic>& found = bags_[file]->topics;
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      Topic& topic = topics[found[i].name];
      if (!topic.messages.empty() && !found[i].messages.empty() && topic.type != found[i].type) {
        fail(Code::format, bags_[file]->where, ": the topic ", quote(found[i].name),
             " is of the type ", quote(found[i].type), ", and of ", quote(topic.type),
             " elsewhere");
      }
      if (topic.messages.empty()) topic.type = found[i].type;
      topic.name = found[i].name;
      for (const bags::Place& place : found[i].messages) topic.messages.push_back({place, file, i});
      found[i].messages = {};
    }
  }
  if (topics.size() > most_topics)
    fail(Code::format, where_, ": it has ", topics.size(), " topics, more than ", most_topics);
  for (auto& topic : topics) {
    std::stable_sort(
        topic.second.messages.begin(), topic.second.messages.end(),
        [](const Message& one, const Message& other) { return one.place.time < other.place.time; });
    topics_.push_back(std::move(topic.second));
  }
}

// A topic whose entries would be in the way of others.
std::string BagEpisode::conflict_of(const Topic& topic) const {
  if (topic.key.empty() || !is_utf8(topic.name)) return "its name is no key";
  if (topic.key.size() == 1 && (topic.key[0] == "timestamp" || topic.key[0] == "episode"))
    return "each row has an entry of this name";
  for (const Topic& other : topics_) {
    if (!other.is_read() || other.key.size() > topic.key.size() ||
        !std::equal(other.key.begin(), other.key.end(), topic.key.begin()))
      continue;
    if (other.key.size() == topic.key.size() ||
        other.decoder->has_field(topic.key[other.key.size()]))
      return "its entries would be those of " + quote(other.name);
  }
  return {};
}

void BagEpisode::make_decoders(const DatasetOptions& options) {
  // The shorter ones first: others may be below them.
  std::vector<Topic*> order;
  for (Topic& topic : topics_) {
    topic.key = key_of(topic.name);
    order.push_back(&topic);
  }
  std::stable_sort(order.begin(), order.end(), [](const Topic* one, const Topic* other) {
    return one->key.size() < other->key.size();
  });
  std::size_t fields = 0;
  for (Topic* topic : order) {
    topic->left_out = topic->messages.empty() ? "it has no messages" : conflict_of(*topic);
    if (!topic->left_out.empty()) continue;
    const Message& first = topic->messages[0];
    const bags::Topic& found = bags_[first.file]->topics[first.topic];
    try {
      topic->decoder = std::make_unique<bags::TopicDecoder>(
          found, bags_[first.file]->where + ": topic " + quote(topic->name), options.decode, most_,
          options.max_entries);
    } catch (const Error& error) {
      if (error.code() != Code::unsupported && error.code() != Code::format) throw;
      topic->left_out = error.what();
      continue;
    }
    fields += topic->decoder->fields();
    if (fields > most_fields)
      fail(Code::format, where_, ": its topics have more than ", most_fields, " fields");
  }
}

std::string BagEpisode::busiest() const {
  const Topic* best = nullptr;
  for (const Topic& topic : topics_) {
    if (topic.is_read() && (best == nullptr || topic.messages.size() > best->messages.size()))
      best = &topic;
  }
  return best == nullptr ? std::string() : best->name;
}

// Rows begin when each topic has had a message.
void BagEpisode::count_rows(const std::string& clock) {
  std::int64_t first = 0, last = 0;
  bool found = false, any = false;
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    const Topic& topic = topics_[i];
    if (!topic.is_read()) continue;
    first = std::max(first, topic.messages.front().place.time);
    last = std::max(last, topic.messages.back().place.time);
    any = true;
    if (topic.name != clock) continue;
    clock_ = i;
    found = true;
  }
  if (!any) return;
  if (rate_ > 0) {
    const long double rows = (last - first) * static_cast<long double>(rate_) / 1e9L;
    if (rows >= most_rows) {
      fail(Code::invalid_argument, where_, ": ", rate_, " rows each second would be more than ",
           most_rows, " rows");
    }
    first_ = first;
    rows_ = static_cast<std::int64_t>(rows) + 1;
    return;
  }
  if (!found) {
    fail(Code::key_not_found, where_, ": there are no messages of the topic ", quote(clock),
         ", which is the clock");
  }
  const std::vector<Message>& messages = topics_[clock_].messages;
  const auto start = std::partition_point(
      messages.begin(), messages.end(), [&](const Message& one) { return one.place.time < first; });
  first_ = start - messages.begin();
  rows_ = messages.end() - start;
}

std::int64_t BagEpisode::time_of(std::int64_t row) const {
  if (rate_ <= 0)
    return topics_[clock_].messages[static_cast<std::size_t>(first_ + row)].place.time;
  return first_ +
         static_cast<std::int64_t>(std::llround(row * 1e9L / static_cast<long double>(rate_)));
}

// In the order of the file, so that each chunk is unpacked once.
void BagEpisode::run(std::vector<Job>& jobs,
                     const std::function<void(const Job&, std::string_view)>& use) const {
  std::sort(jobs.begin(), jobs.end(), [](const Job& one, const Job& other) {
    const Message &a = one.message, &b = other.message;
    if (a.file != b.file) return a.file < b.file;
    if (a.place.chunk != b.place.chunk) return a.place.chunk < b.place.chunk;
    return a.place.at != b.place.at ? a.place.at < b.place.at : one.row < other.row;
  });
  bags::Unpacked unpacked;
  std::uint32_t file = 0;
  for (const Job& job : jobs) {
    if (job.message.file != file) unpacked = {};
    file = job.message.file;
    use(job, bags_[file]->message(job.message.topic, job.message.place, unpacked));
  }
}

void BagEpisode::settle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (settled_) return;
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    if (!topics_[i].is_read()) continue;
    const std::vector<Message>& messages = topics_[i].messages;
    const std::size_t wanted = topics_[i].decoder->needs_all() ? messages.size() : 1;
    for (std::size_t n = 0; n < wanted; ++n) jobs.push_back({messages[n], i, 0, 0});
  }
  run(jobs,
      [&](const Job& job, std::string_view message) { topics_[job.topic].decoder->look(message); });
  for (const Topic& topic : topics_) {
    if (topic.is_read()) topic.decoder->settle();
  }
  settled_ = true;
}

void BagEpisode::describe(TensorDict& to) const {
  PlainBuilder topics, left, files;
  topics.open();
  left.open();
  files.open();
  for (const Topic& topic : topics_) {
    PlainBuilder& list = topic.is_read() ? topics : left;
    list.open();
    list.name("topic");
    list.add(shown_text(topic.name));
    list.name("type");
    list.add(shown_text(topic.type));
    list.name("messages");
    list.add(Plain::of_integer(static_cast<std::int64_t>(topic.messages.size())));
    if (!topic.is_read()) {
      list.name("why");
      list.add(shown_text(topic.left_out));
    }
    list.close(true);
  }
  for (const auto& bag : bags_) {
    files.add(shown_text(bag->name));
    if (!bag->cut.empty()) to.set_non_tensor({"cut"}, Plain::of_text(bag->cut));
    if (bag->notes.is(Plain::object)) to.set_non_tensor({"metadata"}, bag->notes);
  }
  topics.close(false);
  left.close(false);
  files.close(false);
  to.set_non_tensor({"files"}, files.take());
  to.set_non_tensor({"topics"}, topics.take());
  to.set_non_tensor({"left_out"}, left.take());
  if (rate_ > 0) {
    to.set_non_tensor({"rate"}, Plain::of_real(rate_));
  } else if (!topics_.empty() && topics_[clock_].is_read()) {
    to.set_non_tensor({"clock"}, Plain::of_text(topics_[clock_].name));
    to.set_non_tensor({"skipped"}, Plain::of_integer(first_));
  }
}

}  // namespace td::datasets
