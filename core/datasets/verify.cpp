#include "core/datasets/verify.h"

#include "core/base/quote.h"
#include "core/datasets/row_forms.h"
#include "core/datasets/verify_problems.h"
#include "core/io/file_io.h"
#include "core/replay/replay_files.h"

#include <ATen/ATen.h>

namespace td {

namespace datasets {

void Problems::tell(const Spot& at, const std::string& text, bool is_note, bool can_be_mended) {
  // What several looks find, is said once.
  if (!told_.insert(text_of(at.episode, ' ', at.row, ' ', text)).second) return;
  found_({at.file, text, at.episode, at.row, is_note, can_be_mended});
}

bool Problems::blames(const Error& failure) noexcept {
  switch (failure.code()) {
    case Code::io:
    case Code::format:
    case Code::key_not_found:
    case Code::key_exists:
    case Code::key_invalid:
    case Code::wrong_entry:
    case Code::shape:
    case Code::dtype:
    case Code::index:
    case Code::version: return true;
    default: return false;
  }
}

std::string Problems::without_path(const std::string& text) const {
  const std::string quoted = quote(path_), begin = quoted.substr(0, quoted.size() - 1);
  if (text.compare(0, quoted.size() + 2, quoted + ": ") == 0) return text.substr(quoted.size() + 2);
  std::string shorter = text;
  for (std::size_t at = 0; (at = shorter.find(begin + "/", at)) != std::string::npos; ++at)
    shorter.replace(at, begin.size() + 1, "\"");
  return shorter;
}

std::int64_t Problems::find_row(const at::Tensor& flags, std::int64_t first, std::int64_t& row) {
  const at::Tensor places = flags.reshape({-1}).nonzero();
  if (places.size(0) == 0) return 0;
  row = first + places[0].item<std::int64_t>();
  return places.size(0);
}

std::string Problems::others(std::int64_t more) {
  if (more == 0) return "";
  return text_of("; ", more, more == 1 ? " row more" : " rows more");
}

at::Tensor flags_of(const TensorDict& rows, Path path) {
  if (rows.kind_of(path) != EntryKind::tensor) return {};
  const at::Tensor found = rows.get(path);
  const std::int64_t count = rows.batch_size()[0];
  return found.numel() == count ? found.reshape({count}).to(at::kBool) : at::Tensor();
}

void check_shifted(Problems& problems, const Spot& at, const TensorDict& rows, const OwnedKey& key,
                   const char* shown, const char* shown_next) {
  const std::int64_t count = rows.batch_size()[0];
  OwnedKey next{"next"};
  next.insert(next.end(), key.begin(), key.end());
  const at::Tensor *here = rows.stored(views_of(key)), *behind = rows.stored(views_of(next));
  if (here == nullptr || behind == nullptr || count < 2 || here->sizes() != behind->sizes()) return;
  const at::Tensor one = here->narrow(0, 1, count - 1), other = behind->narrow(0, 0, count - 1);
  at::Tensor differs = one.ne(other);
  if (one.is_floating_point())
    differs = differs.logical_and(one.eq(one).logical_or(other.eq(other)));
  problems.add_rows(at, differs.reshape({count - 1, -1}).any(1), 0, shown_next,
                    " is not what the next row of ", shown, " has");
}

namespace {

// Buffers are looked at as any other set.
std::unique_ptr<Checker> checker_of(DatasetKind kind, Problems& problems) {
  switch (kind) {
    case DatasetKind::minari: return minari_checker(problems);
    case DatasetKind::lerobot: return lerobot_checker(problems);
    case DatasetKind::robomimic: return robomimic_checker(problems);
    case DatasetKind::d4rl: return d4rl_checker(problems);
    case DatasetKind::ros: return ros_checker(problems);
    default: return std::make_unique<Checker>(problems);
  }
}

// The libraries join episodes, which must be alike.
void compare_forms(Problems& problems, const Spot& at, const RowForms& first,
                   const RowForms& here) {
  for (const auto& one : first) {
    const auto found = here.find(one.first);
    if (found == here.end()) {
      problems.add(at, show_path(views_of(one.first)),
                   " is missing, and the episodes before have it");
    } else if (found->second != one.second) {
      problems.add(at, show_path(views_of(one.first)), " has rows of ", found->second,
                   ", and in the episodes before of ", one.second);
    }
  }
  for (const auto& one : here) {
    if (first.count(one.first) == 0)
      problems.add(at, show_path(views_of(one.first)), " is not in the episodes before");
  }
}

void verify_values(const Source& source, Checker& checker, Problems& problems) {
  RowForms first;
  for (std::int64_t i = 0; i < source.episodes; ++i) {
    problems.attempt({checker.file_of(source, i), i}, [&] {
      TensorDict rows;
      try {
        rows = source.read({{i, 0, source.length(i)}});
      } catch (const Error& failure) {
        // An entry that has no place in a dictionary is that episode's alone.
        if (i == 0 || failure.code() != Code::unsupported) throw;
        return problems.add({checker.file_of(source, i), i}, problems.without_path(failure.what()));
      }
      if (rows.batch_size()[0] == 0) return;
      RowForms here = row_forms(rows);
      if (!checker.may_differ()) {
        first.empty() ? void(first = std::move(here))
                      : compare_forms(problems, {checker.file_of(source, i), i}, first, here);
      }
      checker.episode(source, i, rows);
    });
  }
  problems.attempt({}, [&] { source.lengths(); });  // what they sum up to
}

}  // namespace

}  // namespace datasets

DatasetKind kind_of_dataset(const std::string& path) {
  const std::string name = files::absolute(path);
  const files::Look look = files::look(name);
  if (look.found == files::Found::nothing) files::fail_io("cannot open", name, ENOENT);
  DatasetKind kind = DatasetKind::detect;
  try {
    kind = datasets::kind_of(name, {});
  } catch (const Error& failure) {
    if (failure.code() == Code::out_of_memory) throw;
    return DatasetKind::detect;
  }
  const bool is_dict = kind == DatasetKind::torchrl && !replay_folder::is_one(name) &&
                       files::look(files::join(name, "meta.json")).found == files::Found::file;
  return is_dict ? DatasetKind::detect : kind;
}

void verify_dataset(const std::string& path, const ProblemFn& found) {
  const std::string name = files::absolute(path);
  const DatasetKind kind = kind_of_dataset(name);
  if (kind == DatasetKind::detect)
    fail(Code::format, quote(name), " is no data set of a known kind");
  datasets::Problems problems(name, found);
  const std::unique_ptr<datasets::Checker> checker = datasets::checker_of(kind, problems);
  problems.attempt({}, [&] { checker->look(); });
  DatasetOptions options;
  options.kind = kind;
  std::unique_ptr<datasets::Source> source;
  if (!problems.attempt({}, [&] { source = datasets::open_source(name, options); })) return;
  problems.attempt({}, [&] { checker->begin(*source); });
  datasets::verify_values(*source, *checker, problems);
  problems.attempt({}, [&] { checker->end(*source); });
}

}  // namespace td
