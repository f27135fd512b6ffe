#include "core/datasets/save.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// Where the rows of a flat dictionary begin another episode.
std::vector<std::int64_t> borders(const TensorDict& td) {
  const std::int64_t rows = td.batch_size()[0];
  std::vector<std::int64_t> ends;
  const auto flags = [&](Path path) {
    if (td.kind_of(path) != EntryKind::tensor) return at::Tensor();
    const at::Tensor values = td.get(path);
    return values.numel() == rows ? values.reshape({rows}) : at::Tensor();
  };
  const at::Tensor episode = flags({"episode"}), done = flags({"next", "done"});
  at::Tensor last = at::zeros({rows}, at::kBool);
  if (rows > 1 && episode.defined()) {
    last.narrow(0, 0, rows - 1)
        .copy_(episode.narrow(0, 1, rows - 1).ne(episode.narrow(0, 0, rows - 1)));
  } else if (done.defined()) {
    last = done.to(at::kBool);
  }
  const at::Tensor positions = last.nonzero().reshape({-1}).contiguous();
  for (std::int64_t i = 0; i < positions.numel(); ++i)
    ends.push_back(positions.data_ptr<std::int64_t>()[i] + 1);
  if (rows > 0 && (ends.empty() || ends.back() != rows)) ends.push_back(rows);
  return ends;
}

std::vector<TensorDict> episodes_of(const TensorDict& td) {
  std::vector<TensorDict> episodes;
  if (td.batch_size().size() > 1) return td.unbind(0);
  if (td.batch_size().empty())
    fail(Code::shape, "a data set is written from a dictionary with a batch dimension of steps");
  std::int64_t begin = 0;
  for (const std::int64_t end : borders(td)) {
    episodes.push_back(td.index(IndexItem::range(begin, end)));
    begin = end;
  }
  return episodes;
}

void save_recording(const datasets::Recording& recording, DatasetKind kind, const std::string& path,
                    const DatasetSaveOptions& options) {
  if (path.empty()) fail(Code::io, "no data set can be written: the path is empty");
  switch (kind) {
    case DatasetKind::minari: return datasets::save_minari(recording, path, options);
    case DatasetKind::lerobot: return datasets::save_lerobot(recording, path, options);
    case DatasetKind::robomimic: return datasets::save_robomimic(recording, path, options);
    case DatasetKind::d4rl: return datasets::save_d4rl(recording, path, options);
    case DatasetKind::torchrl: return datasets::save_torchrl(recording, path, options);
    case DatasetKind::detect:
      fail(Code::invalid_argument,
           "a kind must be told: Minari, LeRobot, robomimic, D4RL or TorchRL");
    default: fail(Code::unsupported, "data sets of ", name_of(kind), " are not written");
  }
}

}  // namespace

void save_dataset(const TensorDict& td, const TensorDict* metadata, DatasetKind kind,
                  const std::string& path, const DatasetSaveOptions& options) {
  save_recording({episodes_of(td), metadata == nullptr ? TensorDict() : *metadata, {}}, kind, path,
                 options);
}

void convert_dataset(const Dataset& set, DatasetKind kind, const std::string& path,
                     const DatasetSaveOptions& options) {
  datasets::Recording recording{{}, set.metadata(), {}};
  for (std::int64_t i = 0; i < set.episodes(); ++i) {
    recording.episodes.push_back(set.episode(i));
    recording.about.push_back(set.metadata(i));
  }
  save_recording(recording, kind, path, options);
}

}  // namespace td
