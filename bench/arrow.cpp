// Columns lent to Arrow, beside a loop by hand that fills the same structs.
#include "fixture.h"

#include <tensordict/td_arrow.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace bench {

namespace {

constexpr std::int64_t column_rows = 1 << 20;

// 100 tensors take half a gigabyte, of which Arrow sees the memory.
struct Columns {
  explicit Columns(int columns) {
    ok(td_create(&column_rows, 1, TD_DEVICE_NONE, -1, &td));
    for (int i = 0; i < columns; ++i) {
      names.push_back("column_" + std::to_string(i));
      leaves.push_back(at::zeros({column_rows}, i % 4 == 0 ? at::kLong : at::kFloat));
      const char* name = names.back().c_str();
      td_tensor* leaf = wrap(leaves.back());
      ok(td_set(td, &name, 1, leaf));
      td_tensor_free(leaf);
    }
  }
  ~Columns() { td_free(td); }
  td_tensordict* td = nullptr;
  std::vector<std::string> names;
  std::vector<at::Tensor> leaves;
};

// What a column by hand keeps.
struct Kept {
  at::Tensor tensor;
  std::string name;
  const void* buffers[2];
};

void release_kept(ArrowArray* array) {
  delete static_cast<Kept*>(array->private_data);
  array->release = nullptr;
}

void release_name(ArrowSchema* schema) {
  delete static_cast<std::string*>(schema->private_data);
  schema->release = nullptr;
}

template <class Struct>
struct Children {
  std::vector<Struct> structs;
  std::vector<Struct*> pointers;
  const void* none = nullptr;
  explicit Children(std::size_t count) : structs(count) {
    for (Struct& one : structs) pointers.push_back(&one);
  }
};

template <class Struct>
void release_children(Struct* parent) {
  auto* kept = static_cast<Children<Struct>*>(parent->private_data);
  for (Struct* child : kept->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  delete kept;
  parent->release = nullptr;
}

void lend_by_hand(const Columns& from, ArrowSchema& schema, ArrowArray& array) {
  auto schemas = std::make_unique<Children<ArrowSchema>>(from.leaves.size());
  auto arrays = std::make_unique<Children<ArrowArray>>(from.leaves.size());
  const auto columns = static_cast<std::int64_t>(from.leaves.size());
  for (std::size_t i = 0; i < from.leaves.size(); ++i) {
    const at::Tensor& leaf = from.leaves[i];
    auto name = std::make_unique<std::string>(from.names[i]);
    auto kept = std::make_unique<Kept>(Kept{leaf, {}, {nullptr, leaf.data_ptr()}});
    schemas->structs[i] = {leaf.scalar_type() == at::kLong ? "l" : "f",
                           name->c_str(),
                           nullptr,
                           0,
                           0,
                           nullptr,
                           nullptr,
                           release_name,
                           name.get()};
    name.release();
    arrays->structs[i] = {leaf.numel(), 0,         0, 2, 0, kept->buffers, nullptr, nullptr,
                          release_kept, kept.get()};
    kept.release();
  }
  schema = {
      "+s",         "", nullptr, 0, columns, schemas->pointers.data(), nullptr, release_children,
      schemas.get()};
  schemas.release();
  array = {
      column_rows,      0,           0, 1, columns, &arrays->none, arrays->pointers.data(), nullptr,
      release_children, arrays.get()};
  arrays.release();
}

void lend(const Columns& from, benchmark::State& state) {
  for (auto _ : state) {
    ArrowSchema schema;
    ArrowArray array;
    ok(td_to_arrow(from.td, nullptr, &schema, &array));
    schema.release(&schema);
    array.release(&array);
  }
}

void lend_plain(const Columns& from, benchmark::State& state) {
  for (auto _ : state) {
    ArrowSchema schema;
    ArrowArray array;
    lend_by_hand(from, schema, array);
    schema.release(&schema);
    array.release(&array);
  }
}

void there_and_back(const Columns& from, benchmark::State& state) {
  for (auto _ : state) {
    ArrowSchema schema;
    ArrowArray array;
    td_tensordict* td = nullptr;
    ok(td_to_arrow(from.td, nullptr, &schema, &array));
    ok(td_from_arrow(&schema, &array, nullptr, &td));
    td_free(td);
  }
}

void there_and_back_plain(const Columns& from, benchmark::State& state) {
  for (auto _ : state) {
    ArrowSchema schema;
    auto owner = std::shared_ptr<ArrowArray>(new ArrowArray, [](ArrowArray* array) {
      array->release(array);
      delete array;
    });
    lend_by_hand(from, schema, *owner);
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (std::int64_t i = 0; i < owner->n_children; ++i) {
      const ArrowArray& child = *owner->children[i];
      tensors.emplace_back(
          schema.children[i]->name,
          at::from_blob(
              const_cast<void*>(child.buffers[1]), {child.length}, [owner](void*) {},
              *schema.children[i]->format == 'l' ? at::kLong : at::kFloat));
    }
    schema.release(&schema);
    benchmark::DoNotOptimize(tensors);
  }
}

}  // namespace

void register_arrow() {
  for (const int columns : {10, 100}) {
    // Made by whoever is measured first.
    const auto data = std::make_shared<std::unique_ptr<Columns>>();
    const auto on = [data, columns](void (*body)(const Columns&, benchmark::State&)) {
      return [data, columns, body](benchmark::State& state) {
        if (!*data) *data = std::make_unique<Columns>(columns);
        body(**data, state);
      };
    };
    figure("arrow: lend columns", columns, 1.5, on(lend), on(lend_plain));
    figure("arrow: lend columns and take them back", columns, 1.5, on(there_and_back),
           on(there_and_back_plain));
  }
}

}  // namespace bench
