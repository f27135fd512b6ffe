/* tensordict/td_random.h: tensors of random numbers, and generators of them (C: td_generator, td_tensor_randperm, …; Python: torch.Generator, torch.randperm). */
#ifndef TENSORDICT_TD_RANDOM_H
#define TENSORDICT_TD_RANDOM_H

#include "tensordict/td_tensor.h"

TD_BEGIN_C

/**
 * A generator of random numbers on the CPU. The same seed gives the same numbers as in Python, with
 * the same version of libtorch.
 */
typedef struct td_generator td_generator;

/**
 * Makes a generator. Python: torch.Generator().manual_seed(seed).
 *
 * @param seed   what its numbers follow from
 * @param result new; free with td_generator_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_generator_create(uint64_t seed, td_generator **result) TD_NOEXCEPT;

/**
 * Frees a generator.
 *
 * @param generator consumed; NULL and handles already freed are ignored
 * @threadsafety any thread
 */
TD_API(0, 2) void td_generator_free(td_generator *TD_NULLABLE generator) TD_NOEXCEPT;

/**
 * Gets the state of a generator, for a checkpoint. Python: get_state.
 *
 * @param generator borrowed
 * @param result    new; uint8, of one dimension; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_generator_state(const td_generator *generator, td_tensor **result) TD_NOEXCEPT;

/**
 * Replaces the state of a generator: it goes on where the other one was. Python: set_state.
 *
 * @param generator borrowed; changed; unchanged on failure
 * @param state     borrowed; as td_generator_state() gives it
 *
 * @return TD_OK, TD_ERR_DTYPE (not uint8), TD_ERR_TORCH (no state of a generator)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_generator_load_state(td_generator *generator, const td_tensor *state) TD_NOEXCEPT;

/**
 * Makes a tensor of the whole numbers below n in random order, int64. Python: torch.randperm.
 *
 * @param n         how many
 * @param generator borrowed; changed; NULL for that of libtorch
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (n is negative), TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_randperm(int64_t n, td_generator *TD_NULLABLE generator,
                             td_tensor **result) TD_NOEXCEPT;

/**
 * Makes a tensor of random whole numbers. Python: torch.randint.
 *
 * @param low       the lowest number
 * @param high      above the highest one
 * @param sizes     borrowed; NULL only when dims is 0
 * @param dims      number of sizes
 * @param dtype     element type
 * @param generator borrowed; changed; NULL for that of libtorch
 * @param result    new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`high` is not above `low`), TD_ERR_SHAPE, TD_ERR_DTYPE,
 *         TD_ERR_TORCH (the dtype cannot hold the numbers), TD_ERR_UNSUPPORTED (it has no random
 *         numbers), TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_randint(int64_t low, int64_t high, const int64_t *TD_NULLABLE sizes,
                            size_t dims, td_dtype dtype, td_generator *TD_NULLABLE generator,
                            td_tensor **result) TD_NOEXCEPT;

/**
 * Makes a tensor of the numbers start, start + step, … before end. Python: torch.arange.
 *
 * @param start  the first number
 * @param end    above the last one; below it if `step` is negative
 * @param step   not 0
 * @param dtype  element type
 * @param result new; free with td_tensor_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (`step` is 0, or leads away from `end`), TD_ERR_DTYPE,
 *         TD_ERR_UNSUPPORTED (the dtype has no such tensor), TD_ERR_OUT_OF_MEMORY
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_tensor_arange(int64_t start, int64_t end, int64_t step, td_dtype dtype,
                           td_tensor **result) TD_NOEXCEPT;

TD_END_C

#endif
