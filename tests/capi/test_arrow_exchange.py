#!/usr/bin/env python3
"""Files of Parquet and Arrow, compared with pyarrow: what we write it reads, what it writes tdtool reads.

    test_arrow_exchange.py TDTOOL ARROW_EXCHANGE

Without pyarrow the test is skipped.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
    import pyarrow.parquet
except ImportError as error:
    print(f'skip: {error}')
    sys.exit(77)

TDTOOL, EXCHANGE = sys.argv[1:]
TYPES = {'bool': pa.bool_(), 'u1': pa.uint8(), 'i1': pa.int8(), 'i2': pa.int16(), 'i4': pa.int32(), 'i8': pa.int64(),
         'f2': pa.float16(), 'f4': pa.float32(), 'f8': pa.float64()}


def counted(name, first):
    """What the tests of C put at this place: numbers count up; to bool they are converted."""
    return first != 0 if name == 'bool' else first % 256 if name == 'u1' else first


def columns(rows, row):
    """The row of a table as pyarrow gives it."""
    flat = {name: counted(name, row) for name in TYPES}
    lists = {name: [counted(name, 3 * row + i) for i in range(3)] for name in TYPES}
    deep = {name: [[counted(name, 4 * row + 2 * i + j) for j in range(2)] for i in range(2)] for name in TYPES}
    return flat | {'lists': lists | {'deep.er': deep}}


def equal(got, want, where):
    if got != want:
        raise AssertionError(f'{where}: {got!r}, not {want!r}')


def check_written(folder, rows):
    env = os.environ | {'TD_EXCHANGE_FOLDER': str(folder), 'TD_EXCHANGE_ROWS': str(rows)}
    subprocess.run([EXCHANGE], env=env, check=True, stdout=subprocess.PIPE)
    for name in ('a.parquet', 'a.arrow', 'compressed.arrow'):
        path = folder / name
        table = pa.parquet.read_table(path) if name.endswith('.parquet') else pa.ipc.open_file(path).read_all()
        table.validate(full=True)
        schema = table.schema
        deep = schema.field('lists').type.field('deep.er').type
        for column, dtype in TYPES.items():
            equal(schema.field(column).type, dtype, name)
            lists = schema.field('lists').type.field(column).type
            equal((lists.list_size, lists.value_type), (3, dtype), name)
            lists = deep.field(column).type
            equal((lists.list_size, lists.value_type.list_size, lists.value_type.value_type), (2, 2, dtype), name)
        equal(table.to_pylist(), [columns(rows, row) for row in range(rows)], name)
    if rows:
        codec = pa.parquet.ParquetFile(folder / 'a.parquet').metadata.row_group(0).column(0).compression
        equal(codec, 'ZSTD', 'compression')


def tdtool(*arguments):
    return subprocess.run([TDTOOL, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def check_read(folder):
    rows = 50
    table = pa.table({
        'a': pa.array(range(rows), pa.int16()),
        'word': pa.array([f'w{i % 7}' for i in range(rows)]).dictionary_encode(),
        'p': pa.FixedSizeListArray.from_arrays(pa.array([0.25 * i for i in range(2 * rows)], pa.float64()), 2),
        'n': pa.StructArray.from_arrays([pa.array([i % 2 == 0 for i in range(rows)])], ['b'])})
    want = [{'a': i, 'word': f'w{i % 7}', 'p': [0.5 * i, 0.5 * i + 0.25], 'n/b': i % 2 == 0} for i in range(rows)]
    for name in ('b.parquet', 'b.arrow'):
        path = folder / name
        if name.endswith('.parquet'):
            pa.parquet.write_table(table, path, row_group_size=7)
        else:
            with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression='lz4')) as file:
                file.write_table(table, max_chunksize=7)
        got = json.loads(tdtool('head', path, '-n', rows, '--json'))
        equal([row['values'] for row in got], want, name)
        shown = json.loads(tdtool('show', path, '--json'))
        equal((shown['form'], shown['batch_size']), (name.split('.')[1], [rows]), name)
        # And once more, through a folder.
        between = folder / name.replace('.', '-')
        tdtool('convert', path, between)
        tdtool('convert', between, folder / ('again.' + name))
        tdtool('diff', path, folder / ('again.' + name))


with tempfile.TemporaryDirectory() as scratch:
    for count in (5, 1, 0):
        check_written(pathlib.Path(scratch), count)
    check_read(pathlib.Path(scratch))
print('pyarrow', pa.__version__, 'reads and writes the same')
