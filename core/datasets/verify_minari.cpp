// Minari's data sets: metadata.json, and values in the spaces that it tells.
#include "core/base/quote.h"
#include "core/datasets/minari_meta.h"
#include "core/datasets/set_folder.h"
#include "core/datasets/verify_members.h"
#include "core/datasets/verify_space.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td::datasets {

namespace {

constexpr const char* versions[] = {"0.4.0", "0.4.1", "0.4.2", "0.4.3", "0.5.0",
                                    "0.5.1", "0.5.2", "0.5.3", "0.5.4"};

class MinariChecker final : public Checker {
 public:
  using Checker::Checker;

  void look() override {
    find_folder();
    if (file_.empty()) return;  // version 0.4: attributes
    const Plain all = SetFolder(folder_).json("metadata.json");
    if (!all.is(Plain::object)) return problems_.add({file_}, "is no JSON object");
    note_words(problems_, file_, all, "");
    for (const char* name : {"total_episodes", "total_steps"})
      member(problems_, file_, all, name, Plain::integer);
    for (const char* name : {"data_format", "dataset_id", "minari_version"})
      member(problems_, file_, all, name, Plain::text);
    const Plain* environment = member(problems_, file_, all, "env_spec", Plain::text, false);
    const Plain spec = environment == nullptr ? Plain() : inner(*environment, "env_spec");
    for (const char* name : {"id", "entry_point", "additional_wrappers"}) {
      if (spec.is(Plain::object) && spec.find(name) == nullptr)
        problems_.add({file_}, "env_spec has no ", quote(name), ", which Gymnasium needs");
    }
    observations_ = space(all, "observation_space", environment == nullptr);
    actions_ = space(all, "action_space", environment == nullptr);
    for (const char* name : {"author", "author_email"})
      member(problems_, file_, all, name, Plain::list, false);
    const Plain* format = all.find("data_format", Plain::text);
    in_tables_ = format != nullptr && format->characters() != "hdf5";
    check_version(all);
    check_name(all);
  }

  void episode(const Source& source, std::int64_t number, const TensorDict& rows) override {
    const Spot at{file_of(source, number), number};
    const std::int64_t count = rows.batch_size()[0];
    for (const auto& path : wanted()) {
      if (rows.kind_of(path) == EntryKind::none)
        problems_.add(at, "it has no ",
                      path.back() == "reward"       ? "rewards"
                      : path.back() == "terminated" ? "terminations"
                      : path.back() == "truncated"  ? "truncations"
                      : path.back() == "action"     ? "actions"
                                                    : "observations");
    }
    if (observations_.is(Plain::object) && rows.kind_of({"observation"}) != EntryKind::none) {
      check_space(problems_, at, rows, {"observation"}, observations_, 0);
      const TensorDict last = rows.index(IndexItem::range(count - 1, count)).get_dict({"next"});
      if (last.kind_of({"observation"}) != EntryKind::none)
        check_space(problems_, at, last, {"observation"}, observations_, count);
    }
    if (actions_.is(Plain::object) && rows.kind_of({"action"}) != EntryKind::none)
      check_space(problems_, at, rows, {"action"}, actions_, 0);
    const TensorDict about = source.metadata(number);
    check_number(at, about, number);
    check_rewards(at, about, rows);
  }

  std::string file_of(const Source&, std::int64_t number) const override {
    const std::string above =
        file_.substr(0, file_.size() - std::min<std::size_t>(file_.size(), 13));
    return file_.empty() ? "" : above + (in_tables_ ? std::to_string(number) : "main_data.hdf5");
  }

  bool may_differ() const override { return file_.empty(); }

 private:
  static std::vector<std::vector<std::string_view>> wanted() {
    return {{"observation"},
            {"action"},
            {"next", "reward"},
            {"next", "terminated"},
            {"next", "truncated"}};
  }

  void find_folder() {
    folder_ = problems_.path();
    const auto has = [&](const std::string& name) {
      return files::look(files::join(folder_, name)).found == files::Found::file;
    };
    if (files::look(folder_).found == files::Found::file) folder_ = files::parent_of(folder_);
    if (has("metadata.json")) {
      file_ = "metadata.json";
    } else if (has("data/metadata.json")) {
      folder_ = files::join(folder_, "data");
      file_ = "data/metadata.json";
    }
  }

  Plain inner(const Plain& text, const char* name) const {
    const Plain value = inner_json(problems_, file_, text, name);
    if (value.is(Plain::object)) note_words(problems_, file_, value, name);
    return value;
  }

  Plain space(const Plain& all, const char* name, bool mandatory) const {
    const Plain* text = member(problems_, file_, all, name, Plain::text, mandatory);
    if (text == nullptr) return {};
    const Plain value = inner(*text, name);
    if (!value.is(Plain::object)) return {};
    check_form(problems_, file_, value, name);
    return value;
  }

  void check_version(const Plain& all) const {
    const Plain* version = all.find("minari_version", Plain::text);
    if (version == nullptr) return;
    const std::string_view text = version->characters();
    const auto is = [&](const char* one) { return text == one; };
    if (std::none_of(std::begin(versions), std::end(versions), is))
      problems_.add({file_}, "\"minari_version\" is ", quote(text),
                    "; Minari opens 0.4.0 to 0.5.4");
  }

  // Minari lists a set that is in the folder of its name.
  void check_name(const Plain& all) const {
    const Plain* id = all.find("dataset_id", Plain::text);
    if (id == nullptr) return;
    const std::string_view text = id->characters();
    const std::size_t version = text.rfind("-v");
    const std::string_view digits =
        version == std::string_view::npos ? std::string_view() : text.substr(version + 2);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
      problems_.add({file_}, "\"dataset_id\" is ", quote(text),
                    "; it ends with a version, as in \"name-v0\"");
      return;
    }
    const std::string above = files::parent_of(folder_), wanted = "/" + std::string(text);
    if (file_ == "data/metadata.json" && !files::ends_with(above, wanted))
      problems_.note({file_}, "\"dataset_id\" is ", quote(text),
                     ", and the folder has another name: Minari does not list it");
  }

  void check_number(const Spot& at, const TensorDict& about, std::int64_t number) const {
    const Plain id = metadata_member(about, "id");
    if (id.is(Plain::integer) && id.integral() != number)
      problems_.add(at, "its \"id\" is ", id.integral());
  }

  void check_rewards(const Spot& at, const TensorDict& about, const TensorDict& rows) const {
    for (const auto& one : reward_sums(rows)) {
      const Plain value = metadata_member(about, one.first);
      if (!value.is_number()) continue;
      const double room = 1e-4 * std::max(1.0, std::abs(one.second));
      if (!(std::abs(value.number() - one.second) <= room))
        problems_.add(at, quote(one.first), " is ", value.number(), ", and that of the rewards is ",
                      one.second);
    }
  }

  std::string folder_, file_;
  Plain observations_, actions_;
  bool in_tables_ = false;
};

}  // namespace

std::unique_ptr<Checker> minari_checker(Problems& problems) {
  return std::make_unique<MinariChecker>(problems);
}

}  // namespace td::datasets
