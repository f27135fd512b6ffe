// Changes: what is noted down is done as a whole, or nothing of it when memory is missing in any place.
#include "core/apply/apply.h"
#include "core/inspect/state_dict.h"
#include "core/keys/entries.h"
#include "core/shape/convert.h"
#include "core/shape/join.h"
#include "core/shape/shape.h"
#include "core/tree/changes.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/names.h"
#include "trees.h"

#include <cstdlib>
#include <map>
#include <new>
#include <random>

namespace {

thread_local long countdown = 0;  // the allocation that fails; 0: none

}  // namespace

void* operator new(std::size_t bytes) {
  if (countdown != 0 && --countdown == 0) throw std::bad_alloc();
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace td {
namespace {

using namespace test;

const DenseNode& dense(const TensorDict& td) { return *as_dense(td.node().get()); }

std::vector<std::string> names_in(const TensorDict& td) { return dense(td).entry_names(); }

using Strings = std::vector<std::string>;

TEST(Changes, NothingIsSeenBeforeTheCommit) {
  TensorDict td = sample();
  const at::Tensor a = td.get({"a"});
  Changes changes;
  changes.set(dense(td), "a", ramp({4, 3}));
  changes.set(dense(td), "new", ramp({4, 3}));
  changes.erase(dense(td), dense(td).schema()->find("n"));
  changes.set_names(*td.node(), {"x", std::nullopt});
  changes.prepare();
  EXPECT_EQ(names_in(td), (Strings{"a", "n"}));
  EXPECT_TRUE(td.get({"a"}).is_same(a));
  changes.commit();
  EXPECT_EQ(names_in(td), (Strings{"a", "new"}));
  EXPECT_EQ(td.get({"a"}).dim(), 2);
  EXPECT_EQ(names_of(*td.node())[0], "x");
}

TEST(Changes, WhatIsReplacedLivesAsLongAsTheChanges) {
  TensorDict td = sample();
  const WeakNodePtr inner(td.get_dict({"n"}).node());
  {
    Changes changes;
    changes.set(dense(td), "n", ramp({4, 3}));
    changes.run();
    EXPECT_FALSE(inner.expired());
  }
  EXPECT_TRUE(inner.expired());
}

TEST(Changes, AnErasedEntryThatIsSetIsTheLast) {
  TensorDict td = sample();
  Changes changes;
  changes.erase(dense(td), dense(td).schema()->find("a"));
  EXPECT_EQ(changes.find(dense(td), "a"), nullptr);
  changes.set(dense(td), "a", ramp({4, 3}));
  EXPECT_EQ(changes.find(dense(td), "a")->tensor().dim(), 2);
  changes.run();
  EXPECT_EQ(names_in(td), (Strings{"n", "a"}));
}

TEST(Changes, TheLastOfSeveralSetsCounts) {
  TensorDict td = dict({});
  Changes changes;
  for (int i = 0; i < 40; ++i) changes.set(dense(td), std::to_string(i % 20), at::full({}, i));
  EXPECT_EQ(numbers(changes.find(dense(td), "3")->tensor()), (std::vector<double>{23}));
  changes.run();
  EXPECT_EQ(dense(td).size(), 20);
  EXPECT_EQ(numbers(td.get({"3"})), (std::vector<double>{23}));
}

TEST(Changes, ASharedSchemaStaysWithTheOthers) {
  TensorDict td = sample();
  const TensorDict copy = td.clone(false);
  td.set({"new"}, ramp({4, 3}));
  td.remove({"a"});
  EXPECT_EQ(names_in(copy), (Strings{"a", "n"}));
  EXPECT_EQ(names_in(td), (Strings{"n", "new"}));
}

TEST(Changes, AnEntryIsRemovedFromOneDictionaryOnly) {
  TensorDict td = sample();
  TensorDict row = td.index(IndexItem::at(1));
  const TensorDict read = td.index(IndexItem::at(2)), copy = td.clone(false);
  row.remove({"a"});
  EXPECT_EQ(names_in(row), (Strings{"n"}));
  EXPECT_EQ(names_in(td), (Strings{"a", "n"}));
  td.remove({"a"});
  td.remove({"n"});
  EXPECT_EQ(dense(td).size(), 0);
  EXPECT_EQ(names_in(copy), (Strings{"a", "n"}));
  EXPECT_EQ(names_in(read), (Strings{"a", "n"}));
  EXPECT_EQ(numbers(read.get({"a"})), numbers(copy.get({"a"}).select(0, 2)));
  EXPECT_THROW(td.remove({"a"}), Error);
}

TEST(Changes, AnElementMayStandInAStackTwice) {
  const TensorDict one = dict({});
  TensorDict stack(NodePtr(lazy_stack({one.node(), one.node()}, 0)));
  stack.set({"a"}, ramp({2}));
  EXPECT_EQ(numbers(one.get({"a"})), (std::vector<double>{1}));
  stack.remove({"a"});
  EXPECT_EQ(dense(one).size(), 0);
}

TEST(Changes, WhatComesIntoALockedDictionaryIsLockedWithIt) {
  TensorDict td = sample(), inner = sample();
  td.lock();
  UpdateOptions options;
  options.ignore_lock = true;
  TensorDict source = dict({4, 3});
  source.set({"m"}, inner);
  update(td, source, options);
  EXPECT_TRUE(inner.is_locked());
  EXPECT_THROW(inner.unlock(), Error) << "the dictionary that holds it is locked";
  td.unlock();
  EXPECT_FALSE(inner.is_locked());
}

// Against a list of pairs, over the sizes at which a schema gets a table and leaves gaps.
TEST(Changes, ManyNamesAtOnce) {
  std::mt19937 random(7);
  for (const int most : {8, 20, 90, 300}) {
    TensorDict td = dict({});
    std::vector<std::pair<std::string, double>> wanted;
    const auto at = [&](const std::string& name) {
      return std::find_if(wanted.begin(), wanted.end(),
                          [&](const auto& one) { return one.first == name; });
    };
    for (int round = 0; round < 60; ++round) {
      Changes changes;
      std::map<std::string, double> sets;
      std::vector<std::string> added, erased;
      for (int k = 0; k < most / 4; ++k) {
        const std::string name = "name " + std::to_string(random() % most);
        if (sets.count(name) != 0 || std::count(erased.begin(), erased.end(), name) != 0) continue;
        if (random() % 2 == 0) {
          const std::size_t position = dense(td).schema()->find(name);
          if (position == Schema::npos) continue;
          changes.erase(dense(td), position);
          erased.push_back(name);
        } else {
          changes.set(dense(td), name, at::full({}, round));
          sets[name] = round;
          if (at(name) == wanted.end()) added.push_back(name);
        }
      }
      changes.run();
      for (auto& one : wanted) one.second = sets.count(one.first) ? sets[one.first] : one.second;
      for (const std::string& name : erased) {
        if (at(name) != wanted.end()) wanted.erase(at(name));
      }
      for (const std::string& name : added) wanted.emplace_back(name, sets[name]);
      ASSERT_EQ(dense(td).size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(dense(td).name(i), wanted[i].first);
        ASSERT_EQ(dense(td).schema()->find(wanted[i].first), i);
        ASSERT_EQ(numbers(dense(td).value(i).tensor())[0], wanted[i].second);
      }
    }
  }
}

// The batch size of a state shrinks that of the dictionary, but a lazy stack in it keeps its own.
TEST(Changes, AStateWithABatchSizeThatALazyStackDoesNotBeginWithIsRefused) {
  TensorDict td = dict({3});
  td.set({"a"}, TensorDict(NodePtr(lazy_stack({dict({3}).node()}, 1))));
  TensorDict other = dict({1});
  other.set({"b"}, at::ones({1}));
  LoadStateOptions options;
  options.strict = false;
  EXPECT_EQ(code_of([&] { load_state_dict(td, state_dict(other, {}), options); }), Code::shape);
  EXPECT_EQ(list(td.batch_size()), (Shape{3}));
}

TEST(Changes, ADeepTreeIsFreedWithoutMemory) {
  auto td = std::make_unique<TensorDict>(chain(100'000));
  countdown = 1;
  td.reset();
  const bool untouched = countdown == 1;
  countdown = 0;
  EXPECT_TRUE(untouched);
}

TEST(Changes, ExtendingALazyStackTakesTimeForWhatIsNew) {
  TensorDict stack(NodePtr(lazy_stack({dict({2}).node()}, 1)));
  const LazyNode& lazy = *as_lazy(stack.node().get());
  std::size_t moves = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto* before = lazy.elements().data();
    lazy_extend(stack.node(), {dict({2}).node()});
    moves += lazy.elements().data() != before ? 1 : 0;
  }
  EXPECT_LT(moves, 30) << "the elements move when their number has doubled";
  EXPECT_EQ(list(stack.batch_size()), (std::vector<std::int64_t>{2, 5001}));
}

// What can be told of a dictionary, with the tensors as addresses.
std::string told(const TensorDict& td) {
  std::string text;
  std::vector<const Node*> nodes;
  visit_nodes(td.node(), [&](const Node& node) {
    text += show_sizes(node.batch()) + (node.locked() ? " locked" : "") + node.saved_path();
    text += node.device() ? node.device()->str() : "";
    text += std::to_string(node.memmapped()) + std::to_string(node.shared());
    for (const auto& name : node.names()) text += name.value_or("None") + ",";
    text += std::to_string(reinterpret_cast<std::uintptr_t>(&node)) + ":";
    const DenseNode* one = as_dense(&node);
    for (std::size_t i = 0; one != nullptr && i < one->size(); ++i) {
      const Value& value = one->value(i);
      const auto* address = value.is_node() ? static_cast<const void*>(value.node().get())
                                            : value.tensor().unsafeGetTensorImpl();
      text += one->name(i) + "=" + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + ";";
    }
    text += "\n";
  });
  return text;
}

// What the operations below change: two levels, a lazy stack, a value that is none, long names.
struct Subject {
  TensorDict td = dict({4, 3});
  TensorDict other = dict({4, 3});
  at::Tensor leaf = ramp({4, 3});
  TensorDict element = dict({4});

  Subject() {
    td.set({"a name that needs memory of its own"}, ramp({4, 3, 2}));
    td.set({"n", "b"}, ramp({4, 3}, at::kLong));
    td.set({"n", "deeper", "c"}, ramp({4, 3}));
    td.set_non_tensor({"text"}, "\"some text\"");
    TensorDict parts = dict({4, 3});
    parts.set({"x"}, ramp({4, 3}));
    td.set({"lazy"}, TensorDict(to_lazy(parts.node(), 1)));
    other.set({"n", "new entry that needs memory of its own"}, ramp({4, 3}));
    other.set({"new", "one"}, ramp({4, 3}));
    other.set({"new", "two"}, ramp({4, 3}));
    other.set_non_tensor({"another text"}, "1");
    element.set({"x"}, ramp({4}));
  }
};

using Operation = std::function<void(Subject&)>;

void check_every_allocation(const char* name, const Operation& run) {
  {
    Subject warm;
    run(warm);
  }
  for (long fail_at = 1;; ++fail_at) {
    Subject subject;
    const std::string before = told(subject.td), other = told(subject.other);
    bool failed = false;
    countdown = fail_at;
    try {
      run(subject);
    } catch (const std::exception&) {
      failed = true;
    }
    const bool reached = countdown == 0;
    countdown = 0;
    if (!reached) return;
    if (!failed) continue;  // libtorch, or a cache, did without
    ASSERT_EQ(told(subject.td), before) << name << " without allocation " << fail_at;
    ASSERT_EQ(told(subject.other), other) << name << " without allocation " << fail_at;
    ASSERT_LT(fail_at, 10'000) << name;
  }
}

TEST(Changes, WithoutMemoryNothingChanges) {
  const std::vector<std::pair<const char*, Operation>> operations = {
      {"set",
       [](Subject& it) {
         it.td.set({"x", "y", "z"}, it.leaf);
       }},
      {"set in a stack",
       [](Subject& it) {
         it.td.set({"lazy", "new"}, it.leaf);
       }},
      {"set a dictionary",
       [](Subject& it) {
         it.td.set({"x", "y"}, it.other);
       }},
      {"set a text",
       [](Subject& it) {
         it.td.set_non_tensor({"n", "text"}, "\"other\"");
       }},
      {"remove",
       [](Subject& it) {
         it.td.remove({"lazy", "x"});
       }},
      {"batch size",
       [](Subject& it) { TensorDict(it.td.get_dict({"n"})).set_batch_size(Sizes{4}); }},
      {"names",
       [](Subject& it) {
         set_names(it.td, {"time", "a long name of a dimension"});
       }},
      {"clear device", [](Subject& it) { it.td.clear_device(); }},
      {"set at", [](Subject& it) { it.td.set_at({}, it.other); }},
      {"set a row",
       [](Subject& it) { it.td.set_at({IndexItem::at(1)}, it.other.index({IndexItem::at(0)})); }},
      {"update", [](Subject& it) { update(it.td, it.other); }},
      {"update with copies",
       [](Subject& it) {
         UpdateOptions options;
         options.clone = true;
         update(it.td, it.other, options);
       }},
      {"rename",
       [](Subject& it) {
         rename_key(it.td, {"n", "b"}, {"x", "y"}, false);
       }},
      {"rename in a stack",
       [](Subject& it) {
         rename_key(it.td, {"lazy", "x"}, {"lazy", "y"}, false);
       }},
      {"clear", [](Subject& it) { clear(it.td); }},
      {"select",
       [](Subject& it) {
         const std::string_view path[] = {"n", "b"};
         const Path paths[] = {path};
         select(it.td, paths, {/*inplace=*/true, false});
       }},
      {"exclude",
       [](Subject& it) {
         const std::string_view path[] = {"n", "b"};
         const Path paths[] = {path};
         exclude(it.td, paths, {/*inplace=*/true, false});
       }},
      {"flatten",
       [](Subject& it) {
         flatten_keys(it.td, ".", {/*inplace=*/true, nullptr});
       }},
      {"auto batch size", [](Subject& it) { auto_batch_size(it.td, 1, false); }},
      {"join",
       [](Subject& it) {
         const std::string_view first[] = {"n", "b"}, second[] = {"n", "deeper", "c"};
         const Path paths[] = {first, second};
         const std::string_view result[] = {"n", "b"};
         join_entries(it.td, Join::stack, paths, result, 2, /*keep=*/false);
       }},
      {"become", [](Subject& it) { become(it.td, it.other); }},
      {"convert",
       [](Subject& it) {
         ConvertOptions options;
         options.dtype = at::kDouble;
         options.inplace = true;
         convert(it.td, options);
       }},
      {"load a state",
       [](Subject& it) {
         LoadStateOptions options;
         options.assign = true;
         load_state_dict(it.td, state_dict(it.td, {}), options);
       }},
      {"apply with out",
       [](Subject& it) {
         ApplyManyOptions options;
         options.out = it.td;
         apply_leaves(it.other, options, [](Path, const at::Tensor& leaf) { return leaf; });
       }},
      {"extend",
       [](Subject& it) { lazy_extend(it.td.get_dict({"lazy"}).node(), {it.element.node()}); }},
      {"lock", [](Subject& it) { it.td.lock(); }},
  };
  for (const auto& [name, run] : operations) {
    SCOPED_TRACE(name);
    check_every_allocation(name, run);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace td
