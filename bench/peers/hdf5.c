/* HDF5: a dataset for each field, in chunks of 1,024 rows, as Minari and robomimic lay them out. */
#include "peers.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1024 };

static hid_t need(hid_t id, const char* what) {
  if (id < 0) give_up("HDF5", what);
  return id;
}

static hid_t type_of(const field* one) {
  return one->kind == 'f' ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32;
}

static hid_t make_set(hid_t file, const field* one) {
  const hsize_t none[] = {0, one->count}, most[] = {H5S_UNLIMITED, one->count},
                chunk[] = {CHUNK, one->count};
  const hid_t space = need(H5Screate_simple(2, none, most), "space"),
              how = need(H5Pcreate(H5P_DATASET_CREATE), "list");
  H5Pset_chunk(how, 2, chunk);
  const hid_t set = need(
      H5Dcreate2(file, one->name, type_of(one), space, H5P_DEFAULT, how, H5P_DEFAULT), "dataset");
  H5Pclose(how);
  H5Sclose(space);
  return set;
}

static void add_rows(hid_t set, const field* one, hsize_t first, hsize_t count,
                     const void* values) {
  const hsize_t size[] = {first + count, one->count}, start[] = {first, 0},
                part[] = {count, one->count};
  need(H5Dset_extent(set, size), "size");
  const hid_t file = need(H5Dget_space(set), "space"),
              memory = need(H5Screate_simple(2, part, NULL), "space");
  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, part, NULL);
  need(H5Dwrite(set, type_of(one), memory, file, H5P_DEFAULT, values), "cannot write");
  H5Sclose(memory);
  H5Sclose(file);
}

/* `rows` at a time. */
static void write_by(int64_t steps, int64_t rows) {
  static float held[FIELDS][CHUNK * 4];
  const hid_t file =
      need(H5Fcreate(file_named("steps.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "file");
  hid_t sets[FIELDS];
  int64_t first = 0;
  for (int i = 0; i < FIELDS; i++) sets[i] = make_set(file, &fields[i]);
  for (int64_t row = 0; row < steps; row++) {
    const step now = step_of(row);
    for (int i = 0; i < FIELDS; i++)
      memcpy(held[i] + (row - first) * fields[i].count, (const char*)&now + fields[i].offset,
             fields[i].count * 4);
    if (row - first + 1 < rows && row + 1 < steps) continue;
    for (int i = 0; i < FIELDS; i++)
      add_rows(sets[i], &fields[i], (hsize_t)first, (hsize_t)(row + 1 - first), held[i]);
    first = row + 1;
  }
  for (int i = 0; i < FIELDS; i++) H5Dclose(sets[i]);
  need(H5Fclose(file), "cannot close");
}

static void write_chunks(int64_t steps) { write_by(steps, CHUNK); }
static void write_rows(int64_t steps) { write_by(steps, 1); }

/* Rows in any order: a selection of points would be slower; h5py asks for sorted rows. */
static double read_rows(const int64_t* rows, int64_t minibatches) {
  const hid_t file = need(H5Fopen(file_named("steps.h5"), H5F_ACC_RDONLY, H5P_DEFAULT), "file");
  static float held[FIELDS][MINIBATCH * 4];
  hid_t sets[FIELDS];
  double sum = 0;
  for (int i = 0; i < FIELDS; i++)
    sets[i] = need(H5Dopen2(file, fields[i].name, H5P_DEFAULT), "dataset");
  for (int64_t k = 0; k < minibatches; k++) {
    for (int i = 0; i < FIELDS; i++) {
      const hid_t space = need(H5Dget_space(sets[i]), "space");
      for (int j = 0; j < MINIBATCH; j++) {
        const hsize_t start[] = {(hsize_t)rows[k * MINIBATCH + j], 0}, one[] = {1, fields[i].count};
        const hid_t memory = need(H5Screate_simple(2, one, NULL), "space");
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
        need(H5Dread(sets[i], type_of(&fields[i]), memory, space, H5P_DEFAULT,
                     held[i] + j * fields[i].count),
             "cannot read");
        H5Sclose(memory);
      }
      H5Sclose(space);
    }
    for (int j = 0; j < MINIBATCH; j++) {
      step one;
      for (int i = 0; i < FIELDS; i++)
        memcpy((char*)&one + fields[i].offset, held[i] + j * fields[i].count, fields[i].count * 4);
      sum += sum_of(&one, 1);
    }
  }
  for (int i = 0; i < FIELDS; i++) H5Dclose(sets[i]);
  H5Fclose(file);
  return sum;
}

peer hdf5_peer = {"HDF5, by 1,024 rows", VERSION_OF(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
                  write_chunks, read_rows};
peer hdf5_row_peer = {"HDF5, row by row", VERSION_OF(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
                      write_rows, NULL};
