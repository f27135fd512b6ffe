// What a call cannot do without, by hand: its memory, its copies, its objects, its kernels, and nothing else. A ratio
// beside it tells how much of the time is left to win.
#include "fixture.h"

#include "core/tensor/torch_compat.h"
#include "core/tree/tensordict.h"

#include <c10/core/GradMode.h>

#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

namespace bench {

namespace {

// What a call that may compute sets in libtorch, and puts back: no gradients, and who hears warnings.
struct Deaf final : td::compat::WarningSink {
  void warn(const std::string&) override {}
};
Deaf deaf;
struct State {
  const c10::AutoGradMode grad{false};
  const td::compat::WarningGuard warnings{&deaf};
};

// A dictionary at its least: it shares names and values, and has a batch size and a place of its own. The counts are those of
// libtorch's pointers, since threads may share what they point to; std::shared_ptr counts more cheaply as long as a program
// has one thread.
template <class T>
struct Counted : c10::intrusive_ptr_target {
  explicit Counted(const std::vector<T>& from) : items(from) {}
  std::vector<T> items;
};
struct Dict;
using DictPtr = c10::intrusive_ptr<Dict>;
struct Dict : c10::intrusive_ptr_target {
  c10::intrusive_ptr<Counted<std::string>> names;
  c10::intrusive_ptr<Counted<at::Tensor>> values;
  std::array<std::int64_t, 5> batch{64};
  std::int64_t offset = 0;
  DictPtr nested;
};
struct Handle {
  DictPtr dict;
};

DictPtr dict_of(const Dict& source, DictPtr nested) {
  auto made = c10::make_intrusive<Dict>();
  made->names = source.names;
  made->values = source.values;
  made->offset = source.offset + 7;
  made->nested = std::move(nested);
  return made;
}

std::unique_ptr<Handle> view_of(const Dict& source) {
  const State state;
  return std::make_unique<Handle>(Handle{dict_of(source, dict_of(*source.nested, {}))});
}

DictPtr source_of(const Leaves& leaves) {
  auto nested = c10::make_intrusive<Dict>();
  nested->names = c10::make_intrusive<Counted<std::string>>(leaves.names);
  nested->values = c10::make_intrusive<Counted<at::Tensor>>(leaves.tensors);
  return dict_of(*nested, nested);
}

// A tensor over a piece of a storage, without the dispatcher.
at::Tensor tensor_over(const c10::Storage& storage, at::IntArrayRef sizes, std::int64_t offset) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      caffe2::TypeMeta::Make<float>());
  made.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  made.unsafeGetTensorImpl()->set_storage_offset(offset);
  return made;
}

// The leaves in one buffer, and the tensors of a result over another.
at::Tensor gathered(const Leaves& leaves) {
  const auto count = static_cast<std::int64_t>(leaves.tensors.size());
  at::Tensor block = at::empty({count, 64, 8});
  char* to = static_cast<char*>(block.data_ptr());
  for (const at::Tensor& leaf : leaves.tensors) {
    std::memcpy(to, leaf.data_ptr(), 2048);
    to += 2048;
  }
  return block;
}
std::vector<at::Tensor> split(const at::Tensor& block) {
  std::vector<at::Tensor> made;
  made.reserve(static_cast<std::size_t>(block.size(0)));
  for (std::int64_t i = 0; i < block.size(0); ++i)
    made.push_back(tensor_over(block.storage(), {64, 8}, 512 * i));
  return made;
}

at::Tensor scatter(at::Tensor block, const Leaves& leaves) {
  const char* from = static_cast<const char*>(block.data_ptr());
  for (const at::Tensor& leaf : leaves.tensors) {
    std::memcpy(leaf.data_ptr(), from, 2048);
    leaf.unsafeGetTensorImpl()->bump_version();
    from += 2048;
  }
  return block;
}

// Calls `make`, which gives an object, and frees what it made.
template <class Make>
Body each(Make make) {
  return [make](benchmark::State& state) mutable {
    for (auto _ : state) {
      auto made = make();
      benchmark::DoNotOptimize(made);
    }
  };
}

void views(int n, Shared leaves) {
  const DictPtr source = source_of(*leaves);
  figure("index by int, beside its floor", n, 0, indexes(leaves),
         each([source] { return view_of(*source); }));
  figure("index by int, 2 leaves read, beside its floor", n, 0, indexes_and_reads(leaves),
         [source, leaves](benchmark::State& state) {
           const std::array<at::Tensor, 2> read{leaves->tensors.front(), leaves->tensors.back()};
           for (auto _ : state) {
             const auto view = view_of(*source);
             for (const at::Tensor& leaf : read) {
               const auto handle =
                   std::make_unique<at::Tensor>(tensor_over(leaf.storage(), {8}, 7 * 8));
               benchmark::DoNotOptimize(handle.get());
             }
             benchmark::DoNotOptimize(view.get());
           }
         });
  figure("unbind, beside its floor", n, 0, unbinds(leaves), each([source] {
           std::vector<std::unique_ptr<Handle>> parts(64);
           for (auto& part : parts) part = view_of(*source);
           return parts;
         }));
}

// What the C interface adds to a call of the core.
void interface(int n, Shared leaves) {
  td::TensorDict core(td::Sizes{64});
  for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
    const std::string_view path[] = {"nested", leaves->names[i]};
    const bool nested = i >= leaves->tensors.size() / 2;
    core.set(td::Path(nested ? path : path + 1, nested ? 2 : 1), leaves->tensors[i]);
  }
  const td::IndexItem at = td::IndexItem::at(7);
  figure("ABI on index by int", n, 1.3, indexes(leaves),
         each([core, at] { return core.index(at); }));
  figure("ABI on index by int, beside its floor", n, 0, indexes(leaves), each([core, at] {
           const State state;
           return std::make_unique<td::TensorDict>(core.index(at));
         }));
}

void copies(int n, Shared leaves) {
  figure("clone, beside its floor", n, 0, clones(leaves),
         each([leaves] { return split(gathered(*leaves)); }));
  auto row = std::make_shared<Row>(*leaves);
  figure("write a row, beside its floor", n, 0, writes_row(leaves, row),
         [leaves, row](benchmark::State& state) {
           for (auto _ : state) {
             for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
               const at::Tensor& leaf = leaves->tensors[i];
               std::memcpy(static_cast<char*>(leaf.data_ptr()) + 9 * 32, row->tensors[i].data_ptr(),
                           32);
               leaf.unsafeGetTensorImpl()->bump_version();
             }
           }
         });
}

void computes(int n, Shared leaves) {
  figure("td_call add, beside its floor", n, 0, calls_add(leaves), each([leaves] {
           const State state;
           return split(at::add(gathered(*leaves), gathered(*leaves)));
         }));
  if (n != 10) return;
  figure("add a number, beside its floor", n, 0, adds(leaves), each([leaves] {
           const State state;
           return split(at::add(gathered(*leaves), 1));
         }));
  const at::Tensor factor = at::ones({1, 64, 1});
  figure("multiply by a tensor, beside its floor", n, 0, multiplies(leaves), each([leaves, factor] {
           const State state;
           return split(at::mul(gathered(*leaves), factor));
         }));
  figure("clamp, beside its floor", n, 0, clamps(leaves), each([leaves] {
           const State state;
           return split(at::clamp(gathered(*leaves), 0.25, 0.75));
         }));
  figure("add a number, in place, beside its floor", n, 0, adds_in_place(leaves), each([leaves] {
           const State state;
           return scatter(gathered(*leaves).add_(1), *leaves);
         }));
  const auto end = std::make_shared<Leaves>(n);
  figure("lerp, in place, beside its floor", n, 0, lerps_in_place(leaves, end), each([leaves, end] {
           const State state;
           return scatter(gathered(*leaves).lerp_(gathered(*end), 0.005), *leaves);
         }));
}

void join(int n) {
  std::vector<Shared> parts;
  for (int k = 0; k < 8; ++k) parts.push_back(std::make_shared<Leaves>(n));
  // Memory for the results, and one copy of each byte.
  const Body floor = each([parts] {
    std::vector<at::Tensor> results;
    for (std::size_t i = 0; i < parts.front()->tensors.size(); ++i) {
      results.push_back(at::empty({8 * 64, 8}));
      char* to = static_cast<char*>(results.back().data_ptr());
      for (const Shared& part : parts) {
        std::memcpy(to, part->tensors[i].data_ptr(), 2048);
        to += 2048;
      }
    }
    return results;
  });
  figure("cat 8, beside its copies alone", n, 0, joins(parts, td_cat), floor);
  figure("stack 8, beside its copies alone", n, 0, joins(parts, td_stack), floor);
}

// Names come as C has them, and a handle is made for the tensor. The dictionary is one that nothing else computes with: it
// gets one tensor under all names.
void entries(int n) {
  const auto leaves = std::make_shared<Leaves>(n);
  using Map = std::unordered_map<std::string, at::Tensor>;
  auto maps = std::make_shared<std::unordered_map<std::string, Map>>();
  const std::size_t half = leaves->tensors.size() / 2;
  for (std::size_t i = 0; i < leaves->tensors.size(); ++i)
    (*maps)[i < half ? "flat" : "nested"][leaves->names[i]] = leaves->tensors[i];
  Map* const map = &maps->at("flat");
  td_tensor* value = wrap(leaves->tensors[0]);
  const at::Tensor tensor = leaves->tensors[0];
  const auto texts = [leaves](std::size_t levels) {
    return [names = InTurn(*leaves, levels)]() mutable { return names.next().c_str(); };
  };
  figure("get, beside a map that gives a handle", n, 0, gets(leaves, 1),
         each([maps, map, text = texts(1)]() mutable {
           return std::make_unique<at::Tensor>(map->find(text())->second);
         }));
  figure("get, two levels, beside maps that give a handle", n, 0, gets(leaves, 2),
         each([maps, text = texts(2)]() mutable {
           const char* first = "nested";
           benchmark::DoNotOptimize(first);
           return std::make_unique<at::Tensor>(maps->find(first)->second.find(text())->second);
         }));
  figure("set, beside a map that takes a C string", n, 0, sets(leaves, 1, value),
         [maps, map, texts, tensor](benchmark::State& state) {
           auto text = texts(1);
           for (auto _ : state) (*map)[text()] = tensor;
         });
  figure("set, two levels, beside maps that take C strings", n, 0, sets(leaves, 2, value),
         [maps, texts, tensor](benchmark::State& state) {
           const char* first = "nested";
           auto text = texts(2);
           for (auto _ : state) {
             benchmark::DoNotOptimize(first);
             (*maps)[first][text()] = tensor;
           }
         });
  figure("set a new key and remove it, beside a map", n, 0, sets_and_removes(leaves, value),
         [maps, map, tensor](benchmark::State& state) {
           const char* text = "new";
           for (auto _ : state) {
             benchmark::DoNotOptimize(text);
             (*map)[text] = tensor;
             map->erase(text);
           }
         });
}

}  // namespace

void register_floors() {
  for (const int n : {10, 100}) {
    auto leaves = std::make_shared<Leaves>(n);
    views(n, leaves);
    interface(n, leaves);
    copies(n, leaves);
    computes(n, leaves);
    join(n);
    entries(n);
  }
}

}  // namespace bench
