#include "core/keys/convert_keys.h"

#include "core/tree/inherit.h"
#include "core/tree/kinds.h"

namespace td {

TensorDict convert_keys(const TensorDict& td, std::optional<PathList> keys,
                        const ConvertOptions& options) {
  if (!keys) return convert(td, options);
  ConvertOptions of_part = options;
  of_part.inplace = false;
  const TensorDict part = convert(select(td, *keys), of_part);
  if (options.inplace) {
    update(td, part);
    return td;
  }
  const TensorDict result = td.clone(/*recurse=*/false);
  update(result, part);
  inherit_flags(*td.node(), result.node(), /*memmap=*/false);
  return result;
}

}  // namespace td
