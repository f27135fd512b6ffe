// The path past libtorch's dispatcher, the path through it, and libtorch on each leaf alone give the
// same: values, layout, sharing and version counters. TD_ROUNDS sets how many random cases are tried.
#include "random_operation.h"

#include <cstdlib>
#include <map>

namespace td {
namespace {

using namespace test;

// What an operation gave, or why it failed.
struct Outcome {
  std::vector<TensorDict> sources, results;
  std::string failure;
};

// Of the exception in flight, without libtorch's list of stack frames.
std::string text_of_failure() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return std::string("libtorch: ") + error.what_without_backtrace();
  } catch (const std::exception& error) {
    return std::string("td: ") + error.what();
  }
}

Outcome run_trees(const Operation& operation, bool grad) {
  const at::AutoGradMode mode(grad);
  Outcome outcome;
  for (const TensorDict& source : operation.sources)
    outcome.sources.push_back(operation.writes ? twin(source) : source);
  try {
    outcome.results = operation.on_trees(outcome.sources);
  } catch (...) {
    outcome.failure = text_of_failure();
  }
  return outcome;
}

std::map<std::string, at::Tensor> leaves(const TensorDict& td) {
  std::map<std::string, at::Tensor> all;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (!value.is_node()) all[show_path(path)] = value.tensor();
  });
  return all;
}

std::string layout(const at::Tensor& tensor) {
  std::string text = show_sizes(tensor.sizes()) + " strides";
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.numel() > 0) text += " " + std::to_string(tensor.stride(i));
  }
  return text;
}

enum class Look { whole, open_layout, values };

std::string differs(const at::Tensor& a, const at::Tensor& b, Look look) {
  if (a.scalar_type() != b.scalar_type()) return "dtype";
  if (a.sizes() != b.sizes())
    return "sizes " + show_sizes(a.sizes()) + " and " + show_sizes(b.sizes());
  const bool same = look == Look::values || layout(a) == layout(b) ||
                    (look == Look::open_layout && a.is_non_overlapping_and_dense());
  if (!same) return "layout " + layout(a) + " and " + layout(b);
  if (a.key_set() != b.key_set()) return "dispatch keys";
  if (a.requires_grad() || b.requires_grad()) return "requires_grad";
  if (content(a) == content(b)) return "";
  // Which of the many NaNs comes out of 0 / 0 is the compiler's choice.
  const bool same_numbers = look == Look::values && (a.is_floating_point() || a.is_complex()) &&
                            at::allclose(a, b, 0, 0, /*equal_nan=*/true);
  if (same_numbers) return "";
  return a.numel() == 1 ? c10::str("value ", a, ", not ", b, ",") : "values";
}

// A result against the source it may share memory with. `a` and `b` stand for two paths.
std::string differs_in_sharing(const at::Tensor& source_a, const at::Tensor& a,
                               const at::Tensor& source_b, const at::Tensor& b) {
  if (a.is_alias_of(source_a) != b.is_alias_of(source_b)) return "sharing of memory";
  if (a.is_alias_of(source_a)) {
    if (a.numel() != 0 && a.storage_offset() != b.storage_offset()) return "offset";
    if (share_version(a, source_a) != share_version(b, source_b))
      return "sharing of the version counter";
  }
  return "";
}

// libtorch may lack an operator for a dtype that is moved as plain memory here.
bool unsupported(const std::string& failure) {
  return failure.find("not implemented for") != std::string::npos ||
         failure.find("not supported") != std::string::npos ||
         failure.find("Promotion for") != std::string::npos ||
         // libtorch only warns of it in some operators
         failure.find("refers to a single memory location") != std::string::npos;
}

class Case {
 public:
  explicit Case(const Operation& operation)
      : operation_(operation),
        fast_(run_trees(operation, false)),
        faithful_(run_trees(operation, true)) {}

  std::string check() {
    std::string wrong = run_leaves();
    if (!wrong.empty()) return wrong;
    if (!failure_.empty()) {
      if (unsupported(failure_)) return "";
      if (fast_.failure.empty() || faithful_.failure.empty()) {
        return "libtorch refuses: " + failure_ + "\nfast: " + fast_.failure +
               "\nfaithful: " + faithful_.failure;
      }
      return compare_untouched();
    }
    if (unsupported(fast_.failure) && unsupported(faithful_.failure)) return compare_untouched();
    if (!fast_.failure.empty()) return "the fast path fails: " + fast_.failure;
    if (!faithful_.failure.empty())
      return "the path through the dispatcher fails: " + faithful_.failure;
    return compare();
  }

 private:
  // libtorch on the leaves, one after the other, with gradients off.
  std::string run_leaves() {
    const at::NoGradGuard no_grad;
    std::vector<std::map<std::string, at::Tensor>> in;
    for (const TensorDict& source : operation_.sources)
      in.push_back(leaves(operation_.writes ? twin(source) : source));
    try {
      for (const auto& [path, leaf] : in[0]) {
        Leaves arguments;
        for (const auto& one : in) {
          if (one.count(path) == 0) return "the sources differ in " + path;
          arguments.push_back(one.at(path));
        }
        results_[path] = operation_.on_leaves(arguments);
        arguments_[path] = arguments;
      }
    } catch (...) {
      failure_ = text_of_failure();
    }
    return "";
  }

  std::string compare() {
    if (fast_.results.size() != faithful_.results.size()) return "number of results";
    for (std::size_t k = 0; k < fast_.results.size(); ++k) {
      if (const std::string nodes =
              differ_in_nodes(*fast_.results[k].node(), *faithful_.results[k].node());
          !nodes.empty())
        return nodes;
    }
    for (const TensorDict& td : fast_.results) fast_leaves_.push_back(leaves(td));
    for (const TensorDict& td : faithful_.results) faithful_leaves_.push_back(leaves(td));
    for (const auto& [path, reference] : results_) {
      const std::string wrong =
          operation_.writes ? compare_written(path) : compare_leaf(path, reference);
      if (!wrong.empty()) return path + ": " + wrong;
    }
    return "";
  }

  // What failed has written nothing.
  std::string compare_untouched() const {
    for (std::size_t k = 0; operation_.writes && k < operation_.sources.size(); ++k) {
      const auto before = leaves(operation_.sources[k]);
      for (const Outcome* outcome : {&fast_, &faithful_}) {
        for (const auto& [path, leaf] : leaves(outcome->sources[k])) {
          if (content(leaf) != content(before.at(path))) return path + ": written before it failed";
        }
      }
    }
    return "";
  }

  std::string compare_leaf(const std::string& path, const Leaves& reference) {
    if (reference.size() != fast_.results.size()) return "number of results";
    for (std::size_t k = 0; k < reference.size(); ++k) {
      if (fast_leaves_[k].count(path) == 0 || faithful_leaves_[k].count(path) == 0)
        return "no such entry in result " + std::to_string(k);
    }
    for (std::size_t k = 0; k < reference.size(); ++k) {
      const at::Tensor& fast = fast_leaves_[k].at(path);
      const at::Tensor& faithful = faithful_leaves_[k].at(path);
      std::string wrong = differs(fast, reference[k]);
      if (!wrong.empty()) return wrong + " of the fast path";
      wrong = differs(faithful, reference[k]);
      if (!wrong.empty()) return wrong + " of the path through the dispatcher";
      if (operation_.values) continue;
      const at::Tensor source = arguments_.at(path)[0];
      wrong = differs_in_sharing(source, fast, source, reference[k]);
      if (!wrong.empty()) return wrong + " of the fast path";
      wrong = differs_in_sharing(source, faithful, source, reference[k]);
      if (!wrong.empty()) return wrong + " of the path through the dispatcher";
    }
    return "";
  }

  std::string differs(const at::Tensor& a, const at::Tensor& b) const {
    return td::differs(a, b,
                       operation_.values    ? Look::values
                       : operation_.gathers ? Look::open_layout
                                            : Look::whole);
  }

  std::string compare_written(const std::string& path) {
    const at::Tensor& reference = arguments_.at(path)[0];
    const at::Tensor fast = leaves(fast_.sources[0]).at(path);
    const at::Tensor faithful = leaves(faithful_.sources[0]).at(path);
    for (const at::Tensor* one : {&fast, &faithful}) {
      const std::string wrong = td::differs(*one, reference, Look::whole);
      const char* who = one == &fast ? " of the fast path" : " of the path through the dispatcher";
      if (!wrong.empty()) return wrong + who;
      if (!operation_.values && one->_version() != reference._version())
        return "version" + std::string(who);
    }
    return "";
  }

  static std::string differ_in_nodes(const Node& a, const Node& b) {
    if (a.batch() != b.batch())
      return "batch sizes " + show_sizes(a.batch()) + " and " + show_sizes(b.batch());
    const DenseNode& left = *as_dense(&a);
    const DenseNode& right = *as_dense(&b);
    if (left.size() != right.size()) return "number of entries";
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left.value(i).is_node() != right.value(i).is_node()) return "kind of " + left.name(i);
      if (left.value(i).is_node()) {
        const std::string inner = differ_in_nodes(*left.value(i).node(), *right.value(i).node());
        if (!inner.empty()) return inner;
      } else if (!left.value(i).tensor().sizes().slice(0, a.batch().size()).equals(a.batch())) {
        return "sizes that do not begin with the batch size";
      }
    }
    return "";
  }

  const Operation& operation_;
  Outcome fast_, faithful_;
  std::string failure_;  // of libtorch itself
  std::map<std::string, Leaves> results_, arguments_;
  std::vector<std::map<std::string, at::Tensor>> fast_leaves_, faithful_leaves_;
};

class Silence final : public compat::WarningSink {
  void warn(const std::string&) override {}
};

TEST(Paths, GiveTheSame) {
  Silence silence;
  const compat::WarningGuard no_warnings(&silence);
  const char* asked = std::getenv("TD_ROUNDS");
  const std::int64_t rounds = asked == nullptr ? 10000 : std::atoll(asked);
  std::map<std::string, int> tried;
  int failures = 0;
  for (std::int64_t round = 0; round < rounds && failures < 5; ++round) {
    at::manual_seed(static_cast<std::uint64_t>(round));
    Random random(static_cast<std::uint64_t>(round));
    const Operation operation = random_operation(random);
    ++tried[operation.name];
    const std::string wrong = Case(operation).check();
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << operation.name << ", round " << round << ", batch size "
                  << show_sizes(operation.sources[0].batch_size()) << ": " << wrong;
  }
  if (rounds >= 1000) {
    EXPECT_GE(tried.size(), 45U);
  }
}

}  // namespace
}  // namespace td
