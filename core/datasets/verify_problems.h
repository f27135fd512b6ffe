// core/datasets/verify_problems.h: the list of what is wrong with a data set, and who looks for it.
#pragma once

#include "core/datasets/source.h"
#include "core/datasets/verify.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <set>
#include <string>

namespace td::datasets {

struct Spot {
  std::string file;
  std::int64_t episode = -1, row = -1;
};

class Problems {
 public:
  // `path` is that of the set, absolute.
  Problems(std::string path, const ProblemFn& found) : path_(std::move(path)), found_(found) {}

  const std::string& path() const noexcept { return path_; }
  // Whether the set is to blame for a failure.
  static bool blames(const Error& failure) noexcept;
  // A message without the path of the set.
  std::string without_path(const std::string& text) const;

  template <class... Parts>
  void add(const Spot& at, const Parts&... parts) {
    tell(at, text_of(parts...), false);
  }
  template <class... Parts>
  void note(const Spot& at, const Parts&... parts) {
    tell(at, text_of(parts...), true);
  }
  // A note that is gone when the set is written anew.
  template <class... Parts>
  void note_mendable(const Spot& at, const Parts&... parts) {
    tell(at, text_of(parts...), true, true);
  }
  // One for all rows in which a flag is true: bool [rows], counted from `first` on.
  template <class... Parts>
  void add_rows(Spot at, const at::Tensor& flags, std::int64_t first, const Parts&... parts) {
    const std::int64_t more = find_row(flags, first, at.row) - 1;
    if (more < 0) return;
    tell(at, text_of(parts...) + others(more), false);
  }

  // Whether a step ends well. A failure that the set is to blame for is a problem; others are thrown, such as a library that is
  // missing.
  template <class Step>
  bool attempt(const Spot& at, const Step& step) {
    try {
      step();
      return true;
    } catch (const Error& failure) {
      if (!blames(failure)) throw;
      tell(at, without_path(failure.what()), false);
      return false;
    }
  }

 private:
  void tell(const Spot& at, const std::string& text, bool is_note, bool can_be_mended = false);
  // How many flags are set, and the first of them.
  static std::int64_t find_row(const at::Tensor& flags, std::int64_t first, std::int64_t& row);
  static std::string others(std::int64_t more);

  std::string path_;
  const ProblemFn& found_;
  std::set<std::string> told_;
};

// Looks for what is wrong with sets of one kind.
class Checker {
 public:
  explicit Checker(Problems& problems) : problems_(problems) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  virtual void look() {}                // at the files, before the set is opened
  virtual void begin(const Source&) {}  // it opens
  virtual void episode(const Source&, std::int64_t, const TensorDict&) {}  // the rows of one
  virtual void end(const Source&) {}
  // Where the values of an episode are, below the set; empty: in the file that is the set.
  virtual std::string file_of(const Source&, std::int64_t) const { return ""; }
  // Whether episodes may have entries of their own.
  virtual bool may_differ() const { return false; }

 protected:
  Problems& problems_;
};

std::unique_ptr<Checker> minari_checker(Problems& problems);
std::unique_ptr<Checker> lerobot_checker(Problems& problems);
std::unique_ptr<Checker> robomimic_checker(Problems& problems);
std::unique_ptr<Checker> d4rl_checker(Problems& problems);
std::unique_ptr<Checker> ros_checker(Problems& problems);

// An entry of an episode as bool [rows]; undefined if it has not one value for each row.
at::Tensor flags_of(const TensorDict& rows, Path path);
// Two entries and the row behind: `next` must be what the next row has. The names are for messages.
void check_shifted(Problems& problems, const Spot& at, const TensorDict& rows, const OwnedKey& key,
                   const char* shown, const char* shown_next);

}  // namespace td::datasets
