#include "core/loader/loader_state.h"

#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

namespace td {

namespace {

struct Field {
  const char* name;
  std::int64_t LoaderMark::*member;
};

constexpr Field places[] = {{"epoch", &LoaderMark::epoch},
                            {"batch", &LoaderMark::batch},
                            {"source_rows", &LoaderMark::source_rows}};
constexpr Field settings[] = {{"rows", &LoaderMark::rows},
                              {"rank", &LoaderMark::rank},
                              {"world_size", &LoaderMark::world_size},
                              {"drop_last", &LoaderMark::drop_last},
                              {"order", &LoaderMark::order},
                              {"draws", &LoaderMark::draws},
                              {"flat", &LoaderMark::flat},
                              {"slice_len", &LoaderMark::slice_len},
                              {"slice_step", &LoaderMark::slice_step},
                              {"short_slices", &LoaderMark::short_slices}};

std::int64_t number_in(const TensorDict& td, const char* name) {
  const std::string_view path[] = {name};
  const at::Tensor value = td.get(path);
  if (value.scalar_type() != at::kLong) {
    fail(Code::dtype, "\"", name, "\" of a loader's state must be int64, found ",
         dtype_name(value.scalar_type()));
  }
  if (value.numel() != 1) {
    fail(Code::shape, "\"", name, "\" of a loader's state must be one number, found shape ",
         show_sizes(value.sizes()));
  }
  return value.item<std::int64_t>();
}

void put(TensorDict& td, const char* name, std::int64_t value) {
  const std::string_view path[] = {name};
  td.set(path, at::scalar_tensor(value, at::kLong));
}

}  // namespace

LoaderMark::LoaderMark(const LoaderOptions& options)
    : seed(options.seed),
      rows(options.rows),
      rank(options.rank),
      world_size(options.world_size),
      drop_last(options.drop_last),
      order(options.weights.defined()  ? 3
            : options.with_replacement ? 2
            : options.shuffle          ? 1
                                       : 0),
      draws(options.draws),
      flat(options.flat),
      slice_len(options.slices.length),
      slice_step(options.slices.step),
      short_slices(options.slices.short_ones) {}

TensorDict LoaderMark::to_dict() const {
  TensorDict td;
  for (const Field& field : places) put(td, field.name, this->*field.member);
  put(td, "seed", static_cast<std::int64_t>(seed));
  for (const Field& field : settings) put(td, field.name, this->*field.member);
  return td;
}

LoaderMark LoaderMark::from_dict(const TensorDict& td) {
  LoaderMark mark;
  for (const Field& field : places) mark.*field.member = number_in(td, field.name);
  mark.seed = static_cast<std::uint64_t>(number_in(td, "seed"));
  for (const Field& field : settings) mark.*field.member = number_in(td, field.name);
  constexpr std::int64_t last_epoch = std::int64_t{1} << 62;  // leaves room to count further
  if (mark.epoch < 0 || mark.epoch > last_epoch || mark.batch < 0 || mark.source_rows < -1) {
    fail(Code::invalid_argument, "a loader's state names epoch ", mark.epoch, ", batch ",
         mark.batch, " of ", mark.source_rows, " rows");
  }
  return mark;
}

void LoaderMark::require_fit(const LoaderMark& own) const {
  for (const Field& field : settings) {
    if (this->*field.member == own.*field.member) continue;
    fail(Code::invalid_argument, "the state is of a loader with ", field.name, " ",
         this->*field.member, "; this one has ", own.*field.member);
  }
}

}  // namespace td
