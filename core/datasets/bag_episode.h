// core/datasets/bag_episode.h: the messages of one bag as rows: which message each row takes of each topic.
#pragma once

#include "core/bags/bag.h"
#include "core/bags/topic_decoder.h"
#include "core/datasets/source.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace td::datasets {

// Rows of an entry, from several episodes.
struct BagEntry {
  OwnedKey key;
  std::vector<at::Tensor> tensors;
  std::vector<Plain> values;
};

class BagEpisode {
 public:
  BagEpisode(const std::vector<std::string>& files, const DatasetOptions& options);

  // Which topic's messages are rows: that with the most of them.
  std::string busiest() const;  // empty: none is read
  // Counts the rows. `clock` may be empty with a rate.
  void count_rows(const std::string& clock);

  std::int64_t rows() const noexcept { return rows_; }
  const std::string& where() const noexcept { return where_; }
  const std::string& library() const noexcept { return bags_[0]->library; }
  // Appends rows [from, from + count) to the entries; the first episode makes them.
  void read(std::int64_t from, std::int64_t count, std::vector<BagEntry>& entries) const;
  // What is in the bag, and what is left out.
  void describe(TensorDict& to) const;

 private:
  struct Message {
    bags::Place place;
    std::uint32_t file, topic;  // its number in the file
  };
  struct Topic {
    std::string name, type;
    OwnedKey key;
    std::vector<Message> messages;
    std::unique_ptr<bags::TopicDecoder> decoder;
    std::string left_out;  // why
    bool is_read() const noexcept { return decoder != nullptr; }
  };
  struct Job {
    Message message;
    std::size_t topic;
    std::int64_t row, count;  // the rows that it fills
  };

  void add_messages();
  void make_decoders(const DatasetOptions& options);
  std::string conflict_of(const Topic& topic) const;
  std::int64_t time_of(std::int64_t row) const;
  void settle() const;
  void run(std::vector<Job>& jobs,
           const std::function<void(const Job&, std::string_view)>& use) const;
  void add_jobs(std::size_t topic, std::int64_t from, std::int64_t count,
                std::vector<Job>& jobs) const;
  void require_room(const Topic& topic, std::int64_t count) const;

  std::string where_;
  double rate_;
  std::uint64_t most_;
  std::vector<std::unique_ptr<bags::Bag>> bags_;
  std::vector<Topic> topics_;  // ordered by their names
  std::size_t clock_ = 0;
  std::int64_t first_ = 0;  // the message of the clock, or the time, of row 0
  std::int64_t rows_ = 0;
  mutable std::mutex mutex_;
  mutable bool settled_ = false;
};

}  // namespace td::datasets
