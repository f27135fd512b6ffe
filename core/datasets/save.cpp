#include "core/datasets/save.h"

#include "core/base/quote.h"
#include "core/datasets/lerobot.h"
#include "core/datasets/source.h"

#include <ATen/ATen.h>

#include <cmath>

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

std::unique_ptr<datasets::SetWriter> writer_of(DatasetKind kind, const datasets::SetPlan& plan) {
  if (plan.path.empty()) fail(Code::io, "no data set can be written: the path is empty");
  if (plan.options.video != VideoChoice::none && kind != DatasetKind::lerobot)
    fail(Code::invalid_argument, "videos are written of LeRobot alone, and not of ", name_of(kind));
  const double fps = plan.options.fps;
  if (fps != 0 && !(fps > 0 && std::isfinite(fps)))
    fail(Code::invalid_argument, "fps is ", fps, ", which is no number of steps in a second");
  if (fps != 0 && kind != DatasetKind::lerobot)
    fail(Code::invalid_argument, "fps is of LeRobot alone, and not of ", name_of(kind));
  switch (kind) {
    case DatasetKind::minari: return datasets::write_minari(plan);
    case DatasetKind::lerobot: return datasets::write_lerobot(plan);
    case DatasetKind::robomimic: return datasets::write_robomimic(plan);
    case DatasetKind::d4rl: return datasets::write_d4rl(plan);
    case DatasetKind::torchrl: return datasets::write_torchrl(plan);
    case DatasetKind::detect:
      fail(Code::invalid_argument,
           "a kind must be told: Minari, LeRobot, robomimic, D4RL or TorchRL");
    default: fail(Code::unsupported, "data sets of ", name_of(kind), " are not written");
  }
}

void require_whole(const DatasetSaveOptions& options) {
  if (options.resume)
    fail(Code::invalid_argument, "only a writer of episodes goes on with a set that is there");
}

}  // namespace

void save_dataset(const TensorDict& td, const TensorDict* metadata, DatasetKind kind,
                  const std::string& path, const DatasetSaveOptions& options) {
  require_whole(options);
  const std::vector<TensorDict> episodes = episodes_of(td);
  const auto writer =
      writer_of(kind, {path, metadata == nullptr ? TensorDict() : *metadata, options});
  for (const TensorDict& episode : episodes) writer->add(episode, TensorDict());
  writer->finish();
}

namespace {

// Videos of a set that was opened without them. The planner of LeRobot names them itself.
void require_videos(const Dataset& set, DatasetKind kind, const DatasetSaveOptions& options) {
  const DatasetKind from = set.kind();
  if (from != DatasetKind::lerobot || kind == from) return;
  const Plain videos = datasets::metadata_member(set.metadata(), "videos");
  if (!videos.is(Plain::list)) return;
  const TensorDict row = set.rows(0, std::min<std::int64_t>(1, set.steps()));
  datasets::Draft draft(options);
  for (const Plain& video : videos.items()) {
    const datasets::OwnedKey key = datasets::key_of_column(video.characters());
    if (row.kind_of(datasets::views_of(key)) != EntryKind::none) continue;
    draft.lose("the video " + quote(video.characters()) +
               ", which was not read: open the set with its videos");
  }
  draft.require_all(kind);
}

}  // namespace

void convert_dataset(const Dataset& set, DatasetKind kind, const std::string& path,
                     const DatasetSaveOptions& options) {
  require_whole(options);
  require_videos(set, kind, options);
  const auto writer = writer_of(kind, {path, set.metadata(), options});
  for (std::int64_t i = 0; i < set.episodes(); ++i) {
    const TensorDict rows = set.episode(i);
    if (kind == DatasetKind::lerobot) writer->take_videos(set.source()->held_videos(i, rows));
    writer->add(rows, set.metadata(i));
  }
  writer->finish();
}

DatasetWriter::DatasetWriter(std::unique_ptr<datasets::SetWriter> writer)
    : writer_(std::move(writer)), episodes_(writer_->episodes()) {}

DatasetWriter::~DatasetWriter() = default;

std::unique_ptr<DatasetWriter> DatasetWriter::open(const std::string& path,
                                                   const TensorDict* metadata, DatasetKind kind,
                                                   const DatasetSaveOptions& options) {
  // The caller may change his dictionary meanwhile.
  datasets::SetPlan plan{path, metadata == nullptr ? TensorDict() : metadata->clone(), options,
                         /*each=*/true};
  const auto open = [&] {
    return std::unique_ptr<DatasetWriter>(new DatasetWriter(writer_of(kind, plan)));
  };
  if (!options.resume) return open();
  try {
    return open();
  } catch (const Error&) {
    return open();  // HDF5 does not tell a disk that failed once from a damaged file
  }
}

void DatasetWriter::add(const TensorDict& rows, const TensorDict* about) {
  if (!writer_) fail(Code::invalid_argument, "the writer of a data set is closed");
  writer_->add(rows, about == nullptr ? TensorDict() : *about);
  episodes_ = writer_->episodes();
}

std::int64_t DatasetWriter::episodes() const { return episodes_; }

void DatasetWriter::close() {
  if (!writer_) return;
  const auto writer = std::move(writer_);
  writer->finish();
}

}  // namespace td
