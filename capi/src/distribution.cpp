// tensordict/td_distribution.h
#include "choices.h"
#include "give.h"
#include "module_handle.h"

#include "core/nn/probabilistic.h"

namespace {

td::KeyPath key_in(const td_key* key, const char* name) {
  return std::move(key_paths_in(not_null(key, name), 1, name)[0]);
}

td::DistributionPart part_in(const td_distribution& given) {
  for (const std::uint64_t reserved : given.reserved) {
    if (reserved != 0) td::fail(td::Code::invalid_argument, "td_distribution.reserved is not zero");
  }
  td::DistributionPart part;
  part.shape.kind = capi::choice_in<td::DistributionKind>(given.kind, TD_DISTRIBUTION_NORMAL,
                                                          TD_DISTRIBUTION_LOG_NORMAL, "kind");
  check_flags(given.flags,
              TD_DISTRIBUTION_TANH_LOC | TD_DISTRIBUTION_EVENT | TD_DISTRIBUTION_MIXTURE);
  part.shape.tanh_loc = (given.flags & TD_DISTRIBUTION_TANH_LOC) != 0;
  part.shape.event = (given.flags & TD_DISTRIBUTION_EVENT) != 0;
  part.shape.mixture = (given.flags & TD_DISTRIBUTION_MIXTURE) != 0;
  if (given.low != 0 || given.high != 0) {
    part.shape.low = given.low;
    part.shape.high = given.high;
  }
  if (given.bounds_len != 0) {
    const double* const lows = not_null(given.lows, "lows");
    const double* const highs = not_null(given.highs, "highs");
    part.shape.lows.assign(lows, lows + given.bounds_len);
    part.shape.highs.assign(highs, highs + given.bounds_len);
  }
  if (given.upscale != 0) part.shape.upscale = given.upscale;
  part.keys = key_paths_in(given.in_keys, given.in_keys_len, "in_keys");
  if (given.names_len != 0) not_null(given.names, "names");
  for (std::size_t i = 0; i < given.names_len; ++i)
    part.names.emplace_back(not_null(given.names[i], "names[i]"));
  if (given.names_len != 0 && given.names_len != given.in_keys_len) {
    td::fail(td::Code::invalid_argument, given.names_len, " names for ", given.in_keys_len,
             " in_keys");
  }
  part.out_key = key_in(given.out_key, "out_key");
  if (given.log_prob_key != nullptr) part.log_prob_key = key_in(given.log_prob_key, "log_prob_key");
  return part;
}

td::ProbabilisticOptions probabilistic_options_in(const td_module_probabilistic_options* options) {
  const td_module_probabilistic_options given = capi::options_in(
      options, td_module_probabilistic_options TD_MODULE_PROBABILISTIC_OPTIONS_INIT);
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  check_flags(given.flags, TD_MODULE_PROBABILISTIC_LOG_PROB | TD_MODULE_PROBABILISTIC_SEED);
  td::ProbabilisticOptions result;
  if (given.interaction != TD_INTERACTION_DEFAULT) {
    result.interaction = capi::choice_in<td::Interaction>(
        given.interaction, TD_INTERACTION_MODE, TD_INTERACTION_DETERMINISTIC, "interaction");
  }
  result.return_log_prob = (given.flags & TD_MODULE_PROBABILISTIC_LOG_PROB) != 0;
  result.num_samples = given.num_samples;
  if ((given.flags & TD_MODULE_PROBABILISTIC_SEED) != 0) result.seed = given.seed;
  if (given.seed_key != nullptr) result.seed_key = key_in(given.seed_key, "seed_key");
  return result;
}

td::NormalParamOptions normal_options_in(td::Path path,
                                         const td_module_normal_params_options* options) {
  const td_module_normal_params_options given = capi::options_in(
      options, td_module_normal_params_options TD_MODULE_NORMAL_PARAMS_OPTIONS_INIT);
  capi::require_zero(static_cast<std::int32_t>(given.reserved));
  td::check_path(path);
  td::NormalParamOptions result;
  result.in_key = td::KeyPath(path);
  result.loc_key = td::KeyPath(std::vector<std::string>{"loc"});
  result.scale_key = td::KeyPath(std::vector<std::string>{"scale"});
  if (given.loc_key != nullptr) result.loc_key = key_in(given.loc_key, "loc_key");
  if (given.scale_key != nullptr) result.scale_key = key_in(given.scale_key, "scale_key");
  if (given.scale_mapping != nullptr) result.scale_mapping = given.scale_mapping;
  if (given.scale_lb != 0) result.scale_lb = given.scale_lb;
  return result;
}

}  // namespace

td_status td_module_probabilistic(const td_distribution* parts, size_t parts_len,
                                  const td_module_probabilistic_options* options,
                                  td_module** result) noexcept {
  return give(__func__, result, [&] {
    not_null(parts, "parts");
    std::vector<td::DistributionPart> given;
    for (size_t i = 0; i < parts_len; ++i) given.push_back(part_in(parts[i]));
    return module_out(
        td::module_probabilistic(std::move(given), probabilistic_options_in(options)));
  });
}

td_status td_module_log_prob(const td_tensordict* td, const td_module* module,
                             const td_module_call_options* options,
                             td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    auto source = in(td);
    const td::ModulePtr called = *in(module);
    return td::log_prob(called, source, module_call_in(options));
  });
}

td_status td_module_normal_params(const char* const* path, size_t path_len,
                                  const td_module_normal_params_options* options,
                                  td_module** result) noexcept {
  return give(__func__, result, [&] {
    const PathIn entry(path, path_len);
    return module_out(td::module_normal_params(normal_options_in(entry, options)));
  });
}
