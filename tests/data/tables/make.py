#!/usr/bin/env python3
"""Writes the tables of this folder with pyarrow.

    make.py [FOLDER]

The tests read them without pyarrow; tests/capi/test_arrow_tables.c knows the values.
"""
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
ROWS = 7


def table():
    """Columns as other programs write them: the dtypes of NumPy, times, words from a dictionary, a struct, lists."""
    return pa.table({
        'i': pa.array(range(ROWS), pa.int64()),
        'u': pa.array(range(ROWS), pa.uint16()),
        'f': pa.array([0.5 * i for i in range(ROWS)], pa.float32()),
        'b': pa.array([i % 3 == 0 for i in range(ROWS)], pa.bool_()),
        'when': pa.array([1000 * i for i in range(ROWS)], pa.timestamp('us')),
        'word': pa.array(['left', 'right', None] * 2 + ['left']).dictionary_encode(),
        'pair': pa.FixedSizeListArray.from_arrays(pa.array(range(2 * ROWS), pa.int32()), 2),
        'at': pa.StructArray.from_arrays([pa.array(range(10, 10 + ROWS), pa.int8())], ['x']),
    })


def write_batches(what, name, codec):
    with pa.ipc.new_file(FOLDER / name, what.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as file:
        file.write_table(what, max_chunksize=3)


def main():
    whole = table()
    for name, codec in (('groups.parquet', 'snappy'), ('gzip.parquet', 'gzip'), ('plain.parquet', 'none')):
        pa.parquet.write_table(whole, FOLDER / name, row_group_size=3, compression=codec)
    # Without Arrow's own schema: what any other writer of Parquet leaves.
    pa.parquet.write_table(whole.drop_columns(['pair']), FOLDER / 'foreign.parquet', store_schema=False)
    for name, codec in (('batches.arrow', None), ('lz4.feather', 'lz4'), ('zstd.feather', 'zstd')):
        write_batches(whole, name, codec)
    missing = pa.table({'a': pa.array([1, None, 3], pa.int64())})
    pa.parquet.write_table(missing, FOLDER / 'missing.parquet')
    write_batches(missing, 'missing.arrow', None)
    ragged = pa.table({'a': pa.array([[1], [2, 3]], pa.list_(pa.int64()))})
    pa.parquet.write_table(ragged, FOLDER / 'ragged.parquet')
    pa.parquet.write_table(pa.table({}), FOLDER / 'none.parquet')
    # Two million rows of one value take a few bytes.
    pa.parquet.write_table(pa.table({'a': pa.array([7], pa.int64()).take(pa.array([0] * (1 << 21)))}),
                           FOLDER / 'dense.parquet', compression='zstd', data_page_size=1 << 30, write_statistics=False)


main()
