/* This library: a folder that grows, and rows gathered out of its mapped files. */
#include "peers.h"

#include <tensordict/td.h>

static void must(td_status status) {
  if (status != TD_OK) give_up("tensordict", td_last_error_message());
}

static td_tensordict* one_step(void) {
  static float zeros[4];
  td_tensordict* td = NULL;
  must(td_create(&(int64_t){1}, 1, TD_DEVICE_NONE, -1, &td));
  for (int i = 0; i < FIELDS; i++) {
    const int64_t sizes[] = {1, fields[i].count};
    must(td_set_data(td, &fields[i].name, 1, zeros, fields[i].count * 4, sizes,
                     fields[i].count > 1 ? 2 : 1,
                     fields[i].kind == 'f' ? TD_DTYPE_FLOAT32 : TD_DTYPE_INT32));
  }
  return td;
}

static void write_steps(int64_t steps) {
  td_tensordict* like = one_step();
  td_writer* writer = NULL;
  int32_t field = 0;
  must(td_writer_open_append(file_named("tensordict"), like, NULL, &writer));
  for (int i = 0; i < FIELDS; i++) must(td_writer_bind(writer, &fields[i].name, 1, &field));
  for (int64_t row = 0; row < steps; row++) {
    const step now = step_of(row);
    for (int i = 0; i < FIELDS; i++)
      must(td_writer_put(writer, i, (const char*)&now + fields[i].offset, fields[i].count * 4));
    must(td_writer_next(writer));
  }
  must(td_writer_close(writer));
  td_writer_free(writer);
  td_free(like);
}

static const void* data_of(const td_tensordict* td, int i) {
  td_tensor* tensor = NULL;
  void* data = NULL;
  must(td_get(td, &fields[i].name, 1, &tensor));
  must(td_tensor_data(tensor, &data));
  td_tensor_free(tensor); /* the dictionary holds it */
  return data;
}

static double read_rows(const int64_t* rows, int64_t minibatches) {
  td_tensordict* all = NULL;
  double sum = 0;
  must(td_memmap_load(file_named("tensordict"), NULL, &all));
  for (int64_t k = 0; k < minibatches; k++) {
    td_tensor* index = NULL;
    td_tensordict* batch = NULL;
    must(td_tensor_from_data(rows + k * MINIBATCH, MINIBATCH * sizeof *rows, &(int64_t){MINIBATCH},
                             1, TD_DTYPE_INT64, &index));
    const td_index_item item = TD_I_TENSOR(index);
    must(td_index(all, &item, 1, &batch));
    const float *position = data_of(batch, 0), *velocity = data_of(batch, 1),
                *action = data_of(batch, 2), *reward = data_of(batch, 3);
    const int32_t* done = data_of(batch, 4);
    for (int i = 0; i < MINIBATCH; i++) {
      const step one = {{position[3 * i]},
                        {0, 0, velocity[3 * i + 2]},
                        {0, 0, 0, action[4 * i + 3]},
                        reward[i],
                        done[i]};
      sum += sum_of(&one, 1);
    }
    td_free(batch);
    td_tensor_free(index);
  }
  td_free(all);
  return sum;
}

peer tensordict_peer = {"this library",
                        VERSION_OF(TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH),
                        write_steps, read_rows};
