// Entries of random trees, against a list of paths and tensors.
#include "core/keys/entries.h"

#include "random_tree.h"

#include <gtest/gtest.h>

namespace td::test {

namespace {

using Strings = std::vector<std::string>;
using Model =
    std::vector<std::pair<Strings, const void*>>;  // paths of the tensors, and where they lie

std::vector<std::string_view> views(const Strings& names) {
  return std::vector<std::string_view>(names.begin(), names.end());
}

// Few names, so that paths meet; no name is both a tensor and a dictionary.
Strings random_path(Random& random) {
  Strings path;
  while (random.chance(45) && path.size() < 3)
    path.push_back("d" + std::to_string(random.below(3)));
  path.push_back("x" + std::to_string(random.below(4)));
  return path;
}

TensorDict random_dict(Random& random) {
  TensorDict td(SizesView{2});
  for (std::int64_t n = random.below(12); n > 0; --n) {
    td.set(views(random_path(random)), at::zeros({2}));
  }
  return td;
}

Model model_of(const TensorDict& td) {
  Model model;
  KeyQuery leaves;
  leaves.include_nested = leaves.leaves_only = true;
  for (const KeyList::Key& key : list_keys(td, leaves).keys) {
    model.emplace_back(key.path, td.get(views(key.path)).unsafeGetTensorImpl());
  }
  return model;
}

Model sorted(Model model) {
  std::sort(model.begin(), model.end());
  return model;
}

bool begins_with_path(const Strings& path, const Strings& with) {
  return path.size() >= with.size() && std::equal(with.begin(), with.end(), path.begin());
}

// Paths of tensors, of dictionaries, and of nothing.
std::vector<Strings> random_paths(Random& random) {
  std::vector<Strings> paths;
  for (std::int64_t n = random.below(5); n > 0; --n) {
    Strings path = random_path(random);
    if (path.size() > 1 && random.chance(30)) path.pop_back();
    paths.push_back(std::move(path));
  }
  return paths;
}

struct Lent {
  explicit Lent(const std::vector<Strings>& paths) {
    for (const Strings& path : paths) names.push_back(views(path));
    for (const auto& path : names) list.emplace_back(path);
  }
  std::vector<std::vector<std::string_view>> names;
  std::vector<Path> list;
};

TEST(Entries, SelectAndExcludeShareOutTheTensors) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorDict td = random_dict(random);
    const std::vector<Strings> paths = random_paths(random);
    const Lent lent(paths);
    Model left;
    for (const auto& leaf : model_of(td)) {
      const auto named = [&](const Strings& path) { return begins_with_path(leaf.first, path); };
      if (std::none_of(paths.begin(), paths.end(), named)) left.push_back(leaf);
    }
    const Model before = model_of(td);
    EXPECT_EQ(model_of(exclude(td, lent.list)), left);
    EXPECT_EQ(model_of(td), before);
    // Of a key and one below it the narrower one counts.
    Model taken;
    for (const auto& leaf : before) {
      bool wanted = false;
      for (const Strings& path : paths) {
        const auto narrower = [&](const Strings& other) {
          return other.size() > path.size() && begins_with_path(other, path);
        };
        wanted = wanted || (begins_with_path(leaf.first, path) &&
                            std::none_of(paths.begin(), paths.end(), narrower));
      }
      if (wanted) taken.push_back(leaf);
    }
    SelectOptions lenient;
    lenient.ignore_missing = true;
    EXPECT_EQ(sorted(model_of(select(td, lent.list, lenient))), sorted(taken));
    const TensorDict copy = td.clone(false);
    lenient.inplace = true;
    EXPECT_EQ(sorted(model_of(select(copy, lent.list, lenient))), sorted(taken));
    const TensorDict other = td.clone(false);
    exclude(other, lent.list, lenient);
    EXPECT_EQ(model_of(other), left);
  }
}

TEST(Entries, FlatAndNestedAgainIsTheSame) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorDict td = random_dict(random);
    const TensorDict flat = flatten_keys(td, "::");
    EXPECT_EQ(depth(flat), 0U);
    EXPECT_EQ(sorted(model_of(unflatten_keys(flat, "::"))), sorted(model_of(td)));
    FlattenOptions inplace;
    inplace.inplace = true;
    const TensorDict copy = td.clone(false);
    EXPECT_EQ(model_of(flatten_keys(copy, "::", inplace)), model_of(flat));
    EXPECT_EQ(sorted(model_of(unflatten_keys(copy, "::", true))), sorted(model_of(td)));
  }
}

TEST(Entries, EachElementOfAStackIsFlattenedAndBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorDict td = random_dict(random);
    std::vector<NodePtr> elements;
    for (int i = 0; i < 3; ++i) elements.push_back(td.clone(false).node());
    const TensorDict stack(NodePtr(lazy_stack(std::move(elements), 0)));
    const TensorDict flat = flatten_keys(stack, "::"), back = unflatten_keys(flat, "::");
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(model_of(TensorDict(stacked(*flat.node())[i])), model_of(flatten_keys(td, "::")));
      EXPECT_EQ(sorted(model_of(TensorDict(stacked(*back.node())[i]))), sorted(model_of(td)));
    }
  }
}

TEST(Entries, UpdateIsOneSetForEachTensor) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorDict td = random_dict(random), source = random_dict(random);
    TensorDict one_by_one = td.clone(false);
    for (const auto& leaf : model_of(source)) {
      one_by_one.set(views(leaf.first), source.get(views(leaf.first)));
    }
    const TensorDict copy = td.clone(false);
    update(copy, source);
    EXPECT_EQ(sorted(model_of(copy)), sorted(model_of(one_by_one)));
    const TensorDict merged = merge({source, td});
    EXPECT_EQ(sorted(model_of(merged)), sorted(model_of(one_by_one)));
  }
}

TEST(Entries, RenamingIsTakingOutAndSetting) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TensorDict td = random_dict(random);
    const Model before = model_of(td);
    if (before.empty()) continue;
    const auto& leaf =
        before[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(before.size())))];
    const Strings to = random_path(random);
    rename_key(td, views(leaf.first), views(to), false);
    Model after;
    for (const auto& other : before) {
      if (other.first != leaf.first && other.first != to) after.push_back(other);
    }
    after.emplace_back(to, leaf.second);
    EXPECT_EQ(sorted(model_of(td)), sorted(after));
  }
}

TEST(Entries, KeepTheirNamesInTheOrderThatIsAskedFor) {
  TensorDict td(SizesView{});
  td.set({"a"}, at::zeros({}));
  td.set({"b"}, at::ones({}));
  const std::vector<std::string_view> b{"b"}, missing{"c"}, a{"a"};
  const std::vector<Path> paths{b, missing, a};
  SelectOptions lenient;
  lenient.ignore_missing = true;
  const TensorDict both = select(td, paths, lenient);
  EXPECT_EQ(entry_names(*both.node()), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(both.get({"a"}).item<float>(), 0);
  EXPECT_EQ(both.get({"b"}).item<float>(), 1);
}

}  // namespace

}  // namespace td::test
