#include "core/datasets/repair.h"

#include "core/bags/bag.h"
#include "core/base/quote.h"
#include "core/datasets/minari_meta.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/datasets/verify_problems.h"
#include "core/datasets/view.h"
#include "core/io/file_io.h"

#include <ATen/ATen.h>

namespace td {

namespace datasets {

namespace {

// A set with the sums of Minari's rewards as they are.
class Recounted final : public Source {
 public:
  explicit Recounted(std::shared_ptr<const Source> set) : set_(std::move(set)) {
    kind = set_->kind;
    version = set_->version;
    episodes = set_->episodes;
  }

  std::string where() const override { return set_->where(); }
  std::vector<std::int64_t> lengths() const override { return set_->lengths(); }
  std::int64_t length(std::int64_t episode) const override { return set_->length(episode); }
  TensorDict read(const std::vector<Steps>& steps) const override { return set_->read(steps); }
  TensorDict metadata() const override { return set_->metadata(); }
  std::vector<HeldVideo> held_videos(std::int64_t episode, const TensorDict& rows) const override {
    return set_->held_videos(episode, rows);
  }

  TensorDict metadata(std::int64_t episode) const override {
    TensorDict about = set_->metadata(episode);
    if (kind != DatasetKind::minari || about.kind_of({"rewards_sum"}) == EntryKind::none)
      return about;
    for (const auto& one : reward_sums(set_->read({{episode, 0, set_->length(episode)}})))
      about.set_non_tensor({one.first}, Plain::of_real(one.second));
    return about;
  }

 private:
  std::shared_ptr<const Source> set_;
};

class Repair {
 public:
  Repair(std::string path, const std::string& out, const RepairOptions& options,
         const RepairFn& told)
      : path_(std::move(path)),
        out_(files::absolute(out)),
        options_(options),
        told_(told),
        no_problem_([](const DatasetProblem&) {}),
        problems_(path_, no_problem_) {}

  Repaired run() {
    DatasetKind kind = kind_of_dataset(path_);
    const bool refuses = kind == DatasetKind::detect;
    if (refuses) kind = kind_if_mended();
    const bool mends = kind != DatasetKind::detect && kind != DatasetKind::torchrl;
    if (!mends) {
      fail(Code::unsupported, quote(path_), " is ",
           kind == DatasetKind::detect ? "no data set of a known kind"
                                       : std::string("a set of ") + name_of(kind),
           "; sets of Minari, LeRobot, robomimic and D4RL, and bags in MCAP are repaired");
    }
    if (kind == DatasetKind::ros) return bag();
    if (refuses) {
      tell_refusal();
    } else {
      verify_dataset(path_, [&](const DatasetProblem& one) {
        if (!one.is_note || one.can_be_mended) tell(RepairStep::found, one);
      });
    }
    if (result_.found == 0) return result_;
    open(kind);
    const std::vector<std::int64_t> kept = readable();
    if (kept.empty()) fail(Code::format, quote(path_), ": no episode of it can be read");
    result_.episodes = static_cast<std::int64_t>(kept.size());
    for (const std::int64_t episode : kept) result_.steps += set_->source()->length(episode);
    if (!options_.dry) write(kind, kept);
    return result_;
  }

 private:
  // Of a file that HDF5 does not open as it is.
  DatasetKind kind_if_mended() const {
    DatasetOptions options;
    options.mended = MendFn([](const std::string&, const std::string&, bool) {});
    try {
      return kind_of(path_, options);
    } catch (const Error& failure) {
      if (failure.code() == Code::out_of_memory) throw;
      return DatasetKind::detect;
    }
  }
  void tell_refusal() {
    try {
      open_source(path_, {});
    } catch (const Error& failure) {
      tell(RepairStep::found, {"", problems_.without_path(failure.what()), -1, -1, false, false});
    }
  }

  void tell(RepairStep::What what, const DatasetProblem& problem) {
    if (what == RepairStep::found) ++result_.found;
    if (what == RepairStep::lost) ++result_.lost;
    if (what == RepairStep::left) ++result_.left;
    told_({what, problem});
  }
  void tell_mended(const std::string& text) {
    tell(RepairStep::mended, {"", text, -1, -1, true, false});
  }
  void tell_lost(const std::string& text, std::int64_t episode = -1) {
    tell(RepairStep::lost, {"", text, episode, -1, false, false});
  }
  void tell_problems(RepairStep::What what, const std::string& path) {
    verify_dataset(path, [&](const DatasetProblem& one) {
      if (!one.is_note) tell(what, one);
    });
  }

  void open(DatasetKind kind) {
    DatasetOptions options;
    options.kind = kind;
    options.mended = MendFn([this](const std::string& file, const std::string& text, bool lost) {
      tell(lost ? RepairStep::lost : RepairStep::mended,
           {file, problems_.without_path(text), -1, -1, !lost, false});
    });
    set_ = std::make_unique<Dataset>(open_source(path_, options));
  }

  // Episodes that are whole, with their videos.
  std::vector<std::int64_t> readable() {
    std::vector<std::int64_t> kept;
    const Source& source = *set_->source();
    for (std::int64_t i = 0; i < source.episodes; ++i) {
      try {
        const TensorDict rows = source.read({{i, 0, source.length(i)}});
        source.metadata(i);
        source.held_videos(i, rows);
        kept.push_back(i);
      } catch (const Error& failure) {
        // An entry that has no place in a dictionary is that episode's alone.
        if (!Problems::blames(failure) && failure.code() != Code::unsupported) throw;
        tell_lost(problems_.without_path(failure.what()), i);
      }
    }
    return kept;
  }

  void write(DatasetKind kind, const std::vector<std::int64_t>& kept) {
    const std::string target = kind == DatasetKind::minari && out_ == path_ ? folder() : out_;
    if (out_ == path_ && result_.lost > 0 && !options_.may_lose) refuse_loss();
    DatasetView view;
    view.episodes = kept;
    view.same_name = true;
    const Dataset whole(std::make_unique<Recounted>(view_of({set_.get()}, view)->source()));
    DatasetSaveOptions options;
    options.durable = options_.durable;
    options.lossy = true;
    options.lerobot_v21 = kind == DatasetKind::lerobot && set_->version() != "v3.0";
    if (set_->version() == "v2.0") tell_mended("version 2.0 becomes 2.1");
    options.lost = [&](const std::string& what, bool is_counted) {
      // Those that a set counts itself are made anew; anything else was there, and would be gone.
      if (is_counted) return tell_mended("not kept: " + what);
      tell_lost("not kept: " + what);
      if (out_ == path_ && !options_.may_lose) refuse_loss();
    };
    convert_dataset(whole, kind, target, options);
    result_.is_written = true;
    tell_problems(RepairStep::left, target);
  }

  [[noreturn]] void refuse_loss() const {
    fail(Code::format, quote(path_),
         ": not all of it can be read, and what cannot would be gone; name another place for the "
         "new set, or force it");
  }

  // That of a set of Minari, of which a file was named, or the folder "data".
  std::string folder() const {
    std::string data =
        files::look(path_).found == files::Found::file ? files::parent_of(path_) : path_;
    return files::look(files::join(data, "data")).found == files::Found::folder
               ? data
               : files::parent_of(data);
  }

  Repaired bag() {
    if (!bags::is_mcap(path_)) {
      fail(Code::unsupported, quote(path_),
           " is no file of MCAP; of bags, those alone are repaired, one by one");
    }
    const bags::McapEnd end = bags::find_end(path_);
    tell_problems(RepairStep::found, path_);
    if (end.is_whole && result_.found == 0) return result_;
    if (end.is_whole) {
      fail(Code::unsupported, quote(path_),
           " is damaged, and has its end: only bags that end too early are repaired");
    }
    tell_mended(text_of("it gets an end behind byte ", end.kept));
    if (end.rescued != 0)
      tell_mended(text_of(end.rescued, " messages of a chunk that is cut are kept"));
    if (end.left != 0) tell_lost(text_of("the last ", end.left, " bytes hold no whole record"));
    result_.episodes = 1;
    if (options_.dry) return result_;
    bags::write_end(path_, out_, end, options_.durable);
    result_.is_written = true;
    tell_problems(RepairStep::left, out_);
    return result_;
  }

  std::string path_, out_;
  RepairOptions options_;
  const RepairFn& told_;
  ProblemFn no_problem_;
  Problems problems_;
  Repaired result_;
  std::unique_ptr<Dataset> set_;
};

}  // namespace

}  // namespace datasets

Repaired repair_dataset(const std::string& path, const std::string& out,
                        const RepairOptions& options, const RepairFn& told) {
  return datasets::Repair(files::absolute(path), out, options, told).run();
}

}  // namespace td
