// core/tensor/writes.h: all in-place writes into tensors of dictionaries. Each write is checked when added.
// run() allocates first, then writes; only an out-of-memory error in libtorch itself can interrupt it.
#pragma once

#include "core/base/key.h"
#include "core/tensor/index.h"

#include <c10/util/MaybeOwned.h>

namespace td {

// Call before a recorded write: libtorch takes a view of a tensor that was written since for a leaf, until the view is asked
// for its history.
void renew_history(const at::Tensor& target);

// Whether autograd does not propagate writes from this view to its base: one of several results of an operator, or made
// without recording. libtorch cannot read it after a recorded write to its base.
bool stands_apart(const at::Tensor& tensor);

class Writes {
 public:
  // `borrows`: the caller keeps the tensors alive until run() returns.
  enum class Hold { borrows, owns };
  explicit Writes(Hold hold = Hold::borrows);

  using Held = c10::MaybeOwned<at::Tensor>;
  struct Write {
    Write(bool owns, const at::Tensor& to, const at::Tensor& b, const at::Tensor& c,
          const IndexPlan* of_target, bool elementwise)
        : target(hold(owns, to)),
          sources{hold(owns, b), hold(owns, c)},
          part(of_target),
          in_step(elementwise) {}
    static Held hold(bool owns, const at::Tensor& tensor) {
      return owns ? Held::owned(at::Tensor(tensor)) : Held::borrowed(tensor);
    }

    Held target;
    Held sources[2];        // may be undefined
    const IndexPlan* part;  // part of the target; nullptr: all
    bool in_step;           // elementwise: a source may be the target itself
    // A tensor into itself: nothing, unless another write changes its values first.
    bool idle = false;
    bool is_block = false;  // by IndexPlan::write_block()
  };

  // Each throws where libtorch would refuse the write: leaves that require gradients while recording, views
  // that autograd does not know, elements that share memory, inference tensors, sources without values.
  // `where` is for messages; the caller checks shapes.

  // target[part] = source, broadcast and converted.
  void set(Path where, const at::Tensor& target, const at::Tensor& source,
           const IndexPlan* part = nullptr);

  // The same for a row of plain memory, the usual case, which few of the checks concern. Adds nothing and returns false
  // for anything else.
  bool set_block(Path where, const at::Tensor& target, const at::Tensor& source,
                 const IndexPlan& part);

  // target.op_(b, c), elementwise.
  void compute(Path where, const at::Tensor& target, const at::Tensor& b = {},
               const at::Tensor& c = {});

  // Writes values independent of the target: as in libtorch, elements may share memory.
  void fill(Path where, const at::Tensor& target, const at::Tensor& mask = {},
            const at::Tensor& value = {});

  c10::ArrayRef<Write> all() const noexcept { return writes_; }

  // Takes ownership of the tensors.
  void own();

  // Throws if one write makes another one impossible: a gradient that it records is lost in another view of the same tensor.
  void require_possible() const;

  // require_possible(), and copies sources that share memory with a target. run() calls it; call it before other
  // changes if its failure must prevent them.
  void prepare();

  // Performs the writes of set().
  void run();

  // Calls `f(Write&)` for each write.
  template <class F>
  void run(F&& f) {
    prepare();
    for (Write& write : writes_) {
      if (recording_) renew_history(*write.target);
      f(write);
    }
  }

 private:
  void require_mutable(Path where, const at::Tensor& target) const;
  void require_writable(Path where, const at::Tensor& target, const at::Tensor& b,
                        const at::Tensor& c) const;
  void add(const at::Tensor& target, const at::Tensor& b, const at::Tensor& c,
           const IndexPlan* part, bool in_step) {
    writes_.emplace_back(owns_, target, b, c, part, in_step);
  }
  bool may_share() const;
  void separate();

  c10::SmallVector<Write, 12> writes_;
  bool owns_;
  const bool recording_;  // gradients
  const bool fast_;       // nothing lies between the caller and the kernels
  bool prepared_ = false;
};

// Throws Code::torch if elements share memory, as in an expanded tensor.
void require_distinct(Path where, const at::Tensor& tensor);

// A single checked write: target.copy_(source), broadcast and converted; Code::shape if it does not fit.
void write_values(const at::Tensor& target, const at::Tensor& source);

}  // namespace td
