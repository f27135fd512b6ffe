#include "core/tensor/writes.h"

#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/memory_ranges.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <unordered_map>

namespace td {

namespace {

// Whether autograd would miss a write: to such a view, or to a view that this library made.
bool unknown_view(const at::Tensor& target) {
  if (fast::is_unrecorded_view(*target.unsafeGetTensorImpl())) return true;
  if (!target.is_view()) return false;
  return fast::is_unrecorded_view(*target._base().unsafeGetTensorImpl()) || stands_apart(target);
}

const at::TensorBase& base_of(const at::TensorBase& tensor) {
  return tensor.is_view() ? tensor._base() : tensor;
}

[[noreturn]] void fail_unknown(Path where) {
  fail(Code::torch, show_path(where),
       " is a view that was made while no gradients were recorded, or together with others: a "
       "gradient written through it would be lost. Make the view again, or clone it");
}

// Throws unless the write can be recorded.
void require_recordable(Path where, const at::Tensor& target, bool source_recorded) {
  const bool recorded = target.requires_grad();
  if (recorded && !unknown_view(target)) renew_history(target);
  if (recorded && (target.is_leaf() || base_of(target).is_leaf())) {
    fail(Code::torch, show_path(where),
         " requires a gradient itself: it cannot be written in place while gradients are "
         "recorded");
  }
  const c10::TensorImpl& memory = *base_of(target).unsafeGetTensorImpl();
  if ((recorded || source_recorded || fast::is_view_of_recorded(memory)) && unknown_view(target))
    fail_unknown(where);
}

void require_values(Path where, const at::Tensor& target, const at::Tensor& source) {
  if (source.key_set() == target.key_set()) return;  // the usual case: alike in all that follows
  if (source.is_meta() && !target.is_meta()) {
    fail(Code::device, "the value for ", show_path(where),
         " is on device \"meta\" and has no values to write");
  }
  if (source.layout() != target.layout() || source.is_quantized() != target.is_quantized()) {
    fail(Code::unsupported, "the value for ", show_path(where),
         " and its target differ in layout: dense and sparse, or quantized");
  }
}

[[noreturn]] void fail_repeated(Path where, const char* of_part) {
  fail(Code::torch, "several elements of ", of_part, show_path(where),
       " share one place in memory: clone it before writing");
}

bool same_place(const at::Tensor& a, const at::Tensor& b) {
  return a.is_same(b) || (a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
                          a.strides() == b.strides() && range_of(a).begin == range_of(b).begin);
}

}  // namespace

bool stands_apart(const at::Tensor& tensor) {
  if (!tensor.is_view()) return false;
  const auto* meta = torch::autograd::impl::get_view_autograd_meta(tensor);
  return meta != nullptr && meta->has_bw_view() &&
         meta->get_creation_meta() != torch::autograd::CreationMeta::DEFAULT;
}

void renew_history(const at::Tensor& target) {
  if (target.is_view()) (void)target.grad_fn();
}

void require_distinct(Path where, const at::Tensor& tensor) {
  if (tensor.layout() == c10::kStrided && at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
    fail_repeated(where, "");
}

Writes::Writes(Hold hold)
    : owns_(hold == Hold::owns),
      recording_(c10::GradMode::is_enabled()),
      fast_(fast::can_skip_dispatcher()) {}

void Writes::require_mutable(Path where, const at::Tensor& target) const {
  if (target.is_inference() && !c10::InferenceMode::is_enabled()) {
    fail(Code::torch, show_path(where),
         " is an inference tensor, which only inference mode can write: clone it");
  }
}

void Writes::require_writable(Path where, const at::Tensor& target, const at::Tensor& b,
                              const at::Tensor& c) const {
  require_mutable(where, target);
  if (!recording_) return;
  require_recordable(where, target,
                     (b.defined() && b.requires_grad()) || (c.defined() && c.requires_grad()));
}

void Writes::set(Path where, const at::Tensor& target, const at::Tensor& source,
                 const IndexPlan* part) {
  if (part != nullptr && set_block(where, target, source, *part)) return;
  if (part == nullptr && target.is_same(source)) {
    if (target.layout() != c10::kStrided || at::has_internal_overlap(target) == at::MemOverlap::Yes)
      return;
    add(target, source, {}, nullptr, /*in_step=*/true);
    writes_.back().idle = true;
    return;
  }
  require_writable(where, target, source, {});
  require_values(where, target, source);
  if (part == nullptr) {
    require_distinct(where, target);
  } else if (!part->gathers() && source.dim() != 0 && fast::plain(target) &&
             part->view().repeats(target)) {
    fail_repeated(where, "the part of ");  // a single number may fill it, as in libtorch
  }
  add(target, source, {}, part, /*in_step=*/part == nullptr);
}

bool Writes::set_block(Path where, const at::Tensor& target, const at::Tensor& source,
                       const IndexPlan& part) {
  if (!fast_ || !part.fills_block(target, source)) return false;
  require_mutable(where, target);
  add(target, source, {}, &part, /*in_step=*/false);
  writes_.back().is_block = true;
  return true;
}

void Writes::compute(Path where, const at::Tensor& target, const at::Tensor& b,
                     const at::Tensor& c) {
  require_writable(where, target, b, c);
  const bool strided = target.layout() == c10::kStrided;
  const at::MemOverlap overlap = strided ? at::has_internal_overlap(target) : at::MemOverlap::No;
  if (overlap == at::MemOverlap::Yes) fail_repeated(where, "");
  for (const at::Tensor* operand : {&b, &c}) {
    if (!operand->defined()) continue;
    if (operand->is_meta() && !target.is_meta()) require_values(where, target, *operand);
    // As in libtorch: partial overlap has no defined result, except for scalars.
    if (operand->dim() != 0 && !operand->is_same(target))
      at::assert_no_partial_overlap(target, *operand);
  }
  // If elements may share memory, an operand that is the target would change during the write.
  add(target, b, c, nullptr, /*in_step=*/overlap == at::MemOverlap::No);
}

void Writes::fill(Path where, const at::Tensor& target, const at::Tensor& mask,
                  const at::Tensor& value) {
  require_writable(where, target, value, {});
  if (value.defined() && value.is_meta()) require_values(where, target, value);
  add(target, mask, value, nullptr, /*in_step=*/false);
}

void Writes::own() {
  if (owns_) return;
  owns_ = true;
  for (Write& write : writes_) {
    for (Held* held : {&write.target, &write.sources[0], &write.sources[1]})
      *held = Held::owned(at::Tensor(**held));
  }
}

void Writes::require_possible() const {
  if (!recording_) return;
  c10::SmallVector<const c10::TensorImpl*, 4> recorded;  // bases
  for (const Write& write : writes_) {
    for (const Held& source : write.sources) {
      if (source->defined() && source->requires_grad())
        recorded.push_back(base_of(*write.target).unsafeGetTensorImpl());
    }
  }
  for (const Write& write : writes_) {
    if (stands_apart(*write.target) &&
        std::find(recorded.begin(), recorded.end(), base_of(*write.target).unsafeGetTensorImpl()) !=
            recorded.end())
      fail_unknown(std::string_view("a tensor"));
  }
}

void Writes::prepare() {
  if (prepared_) return;
  require_possible();
  prepared_ = true;
  if (may_share()) separate();
}

// A cheap test of whole storages: most writes share no memory with their sources.
bool Writes::may_share() const {
  MemoryRange read;
  c10::SmallVector<MemoryRange, 24> sources;
  const auto note = [&](const at::Tensor& tensor) {
    const MemoryRange range = storage_range(tensor);
    read.cover(range);
    sources.push_back(range);
  };
  for (const Write& write : writes_) {
    for (const Held& source : write.sources) {
      if (source->defined()) note(*source);
    }
  }
  MemoryRanges sorted;
  const auto meets_source = [&](const MemoryRange& target) {
    if (sources.size() <= 16)  // comparing all takes less than sorting
      return std::any_of(sources.begin(), sources.end(),
                         [&](const MemoryRange& source) { return target.meets(source); });
    if (sorted.empty()) {
      for (const MemoryRange& source : sources) sorted.add(source);
      sorted.sort();
    }
    return sorted.meet(target);
  };
  return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
    const MemoryRange target = storage_range(*write.target);
    return target.meets(read) && meets_source(target);
  });
}

void Writes::separate() {
  MemoryRanges targets;
  for (const Write& write : writes_)
    targets.add(write.idle ? MemoryRange() : range_of(*write.target));
  targets.sort();
  std::unordered_map<const c10::TensorImpl*, at::Tensor>
      copies;  // one value may be read many times
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    Write& write = writes_[i];
    for (Held& source : write.sources) {
      if (!source->defined()) continue;
      // libtorch cannot read such a view after a write to other parts of its memory.
      const bool goes_stale =
          recording_ && stands_apart(*source) && !source->is_same(*write.target);
      if (!goes_stale && !targets.meet(range_of(*source))) continue;
      const bool read_first = write.in_step && same_place(*source, *write.target);
      if (!goes_stale && read_first && !write.idle && !targets.meet_others(i)) continue;
      if (write.idle) require_writable(std::string_view("a tensor"), *write.target, *source, {});
      at::Tensor& copy = copies[source->unsafeGetTensorImpl()];
      if (!copy.defined()) copy = source->clone();
      source = Held::owned(at::Tensor(copy));
    }
  }
}

void Writes::run() {
  run([&](const Write& write) {
    if (write.is_block) {
      write.part->write_block(*write.target, *write.sources[0]);
    } else if (write.part != nullptr) {
      write.part->write(*write.target, *write.sources[0], fast_);
    } else if (!write.target->is_same(*write.sources[0])) {
      assign(*write.target, *write.sources[0], fast_);
    }
  });
}

void write_values(const at::Tensor& target, const at::Tensor& source) {
  if (!broadcasts(source.sizes(), target.sizes())) {
    fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into shape ",
         show_sizes(target.sizes()));
  }
  Writes write;
  write.set(std::string_view("the tensor"), target, source);
  write.run();
}

}  // namespace td
