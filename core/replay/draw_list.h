// core/replay/draw_list.h: draws each of n numbers once, then all again in another order.
#pragma once

#include "core/replay/replay_sampler.h"
#include "core/tree/tensordict.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

// A list of the numbers that are left, as TorchRL's SamplerWithoutReplacement keeps it in a folder. A new one is made
// when it is used up, or when there are more or fewer numbers.
class DrawList {
 public:
  DrawList(bool shuffle, bool drop_last) : shuffle_(shuffle), drop_last_(drop_last) {}

  // take() goes on from the last commit() after this.
  void begin_draw() { next_ = now_; }

  // Appends the next numbers below n without those that are left out; fewer than `count` if the list ends. Throws
  // Code::shape if a full batch is asked for and fewer are left. `what`: "rows".
  void take(std::int64_t n, std::int64_t count, const char* what, RandomNumbers& random,
            std::vector<std::int64_t>& numbers,
            const std::function<bool(std::int64_t)>& is_left_out = nullptr);
  void commit() noexcept;

  std::int64_t rows() const noexcept { return now_.rows; }  // n of the list; 0: none yet
  bool is_drawn() const noexcept { return changed_; }       // since it was read

  // `forgotten`: the list is not valid for the rows of now.
  void save(const std::string& folder, bool in_new, bool forgotten) const;
  // Throws Code::format for a list of more than `most` numbers. True: it is in the middle of its order.
  bool load(const std::string& folder, std::int64_t most);

 private:
  // The numbers of one turn. Those of a new one are computed when they are drawn: a buffer that grows begins one with
  // each row.
  class Order {
   public:
    explicit Order(std::vector<std::int64_t> numbers)
        : numbers_(std::move(numbers)), size_(static_cast<std::int64_t>(numbers_.size())) {}
    Order(std::int64_t size, std::optional<Permutation> shuffled)
        : size_(size), shuffled_(std::move(shuffled)) {}

    std::int64_t size() const noexcept { return size_; }
    std::int64_t operator[](std::int64_t i) const noexcept {
      if (shuffled_) return (*shuffled_)(i);
      return numbers_.empty() ? i : numbers_[static_cast<std::size_t>(i)];
    }

   private:
    std::vector<std::int64_t> numbers_;  // as they were read
    std::int64_t size_;
    std::optional<Permutation> shuffled_;
  };
  struct State {
    std::shared_ptr<const Order> list;  // remaining from `at` on
    std::int64_t at = 0;
    std::int64_t rows = 0;
    bool ran_out = false;
  };

  void begin(std::int64_t n, std::int64_t batch, RandomNumbers& random);

  bool shuffle_, drop_last_;
  bool null_list_ = false;  // as it was read
  bool changed_ = false;
  State now_, next_;
  TensorDict stored_;  // as read, with unknown entries
};

}  // namespace td
