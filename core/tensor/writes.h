// core/tensor/writes.h: the one way in which tensors of dictionaries are written in place. Each write is
// checked when it is planned; run() gets all memory first, then writes, and only a lack of memory in
// libtorch itself can stop it half way.
#pragma once

#include "core/base/key.h"
#include "core/tensor/index.h"

#include <c10/util/MaybeOwned.h>

namespace td {

class Writes {
 public:
  // `borrows`: somebody else keeps the tensors until run() returns.
  enum class Hold { borrows, owns };
  explicit Writes(Hold hold = Hold::borrows);

  using Held = c10::MaybeOwned<at::Tensor>;
  struct Write {
    Held target;
    Held sources[2];  // undefined where there is none
    IndexPlan* part;  // of the target; nullptr: all of it
    bool in_step;  // each element is read before it is written: a source may be the target itself
  };

  // Each throws where libtorch would refuse the write: a leaf that requires gradients while they are
  // recorded, a view that autograd does not know of, several elements in one place, an inference tensor,
  // a source without values. `where` is for messages; shapes are the caller's to check.

  // target[part] = source, broadcast and converted.
  void set(Path where, const at::Tensor& target, const at::Tensor& source,
           IndexPlan* part = nullptr);

  // target.op_(b, c), element by element.
  void compute(Path where, const at::Tensor& target, const at::Tensor& b = {},
               const at::Tensor& c = {});

  // What is written does not depend on the target: as in libtorch, elements may share a place.
  void fill(Path where, const at::Tensor& target, const at::Tensor& mask = {},
            const at::Tensor& value = {});

  c10::ArrayRef<Write> all() const noexcept { return writes_; }

  // From here on nobody else need keep the tensors.
  void own();

  // Makes what is read independent of what is written: a source or an index that shares memory with any
  // target is copied. run() does it; call it before other changes that should not follow a failure.
  void prepare();

  // The writes of set().
  void run();

  // `f(Write&)` for each.
  template <class F>
  void run(F&& f) {
    prepare();
    for (Write& write : writes_) f(write);
  }

 private:
  void require_writable(Path where, const at::Tensor& target, const at::Tensor& b,
                        const at::Tensor& c) const;
  void add(const at::Tensor& target, const at::Tensor& b, const at::Tensor& c, IndexPlan* part,
           bool in_step);
  bool may_share() const;
  void separate();

  c10::SmallVector<Write, 12> writes_;
  bool owns_;
  const bool recording_;  // gradients
  bool prepared_ = false;
};

// Throws Code::torch for a tensor with several elements in one place, as an expanded one has.
void require_distinct(Path where, const at::Tensor& tensor);

// One write, checked and done: target.copy_(source), broadcast and converted; Code::shape where it does not
// fit.
void write_values(const at::Tensor& target, const at::Tensor& source);

}  // namespace td
