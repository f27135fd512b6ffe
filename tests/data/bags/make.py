#!/usr/bin/env python3
"""Writes bags of ROS 2 without ROS: the same messages as MCAP in several forms and as SQLite.

Values follow from the number of a message, i; tests compute them too. Packing uses liblz4 and libzstd.
"""
import ctypes
import json
import pathlib
import sqlite3
import struct
import zlib

here = pathlib.Path(__file__).parent
START = 1_700_000_000_000_000_000
MS = 1_000_000

DEFINITIONS = {
    'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec\n',
    'std_msgs/Header': '# when and where\nbuiltin_interfaces/Time stamp\nstring frame_id\n',
    'geometry_msgs/Vector3': 'float64 x\nfloat64 y\nfloat64 z\n',
    'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z\n',
    'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n',
    'geometry_msgs/Twist': 'Vector3  linear\nVector3  angular\n',
    'sensor_msgs/Imu': 'std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n'
                       'geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n'
                       'geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance\n',
    'sensor_msgs/JointState': 'std_msgs/Header header\n\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n',
    'sensor_msgs/Image': 'std_msgs/Header header # the camera\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n'
                         'uint32 step\nuint8[] data\n',
    'sensor_msgs/CompressedImage': 'std_msgs/Header header\nstring format\nuint8[] data\n',
    'demo_msgs/Mixed': 'int32 LIMIT=7\nstring NAME="a # b"\nbool ok\nint8 s\nuint16 u\nuint32 v\nuint64 w\nstring<=20 label "none"\n'
                       'uint8[3] code\ngeometry_msgs/Point[2] corners\ngeometry_msgs/Point[] points\nfloat32[<=8] ranges\nstring[] names\n',
    'std_msgs/Empty': '',
}
USES = {
    'std_msgs/Header': ['builtin_interfaces/Time'], 'geometry_msgs/Twist': ['geometry_msgs/Vector3'],
    'sensor_msgs/Imu': ['std_msgs/Header', 'geometry_msgs/Quaternion', 'geometry_msgs/Vector3'],
    'sensor_msgs/JointState': ['std_msgs/Header'], 'sensor_msgs/Image': ['std_msgs/Header'],
    'sensor_msgs/CompressedImage': ['std_msgs/Header'], 'demo_msgs/Mixed': ['geometry_msgs/Point'],
}


def definition(name):
    text, done, todo = DEFINITIONS[name], {name}, list(USES.get(name, []))
    while todo:
        one = todo.pop(0)
        if one not in done:
            done.add(one)
            text += '=' * 80 + '\nMSG: ' + one + '\n' + DEFINITIONS[one]
            todo += USES.get(one, [])
    return text


class Cdr:
    def __init__(self, big=False):
        self.order, self.bytes = '>' if big else '<', b''

    def put(self, kind, *values):
        for value in values:
            size = struct.calcsize(kind)
            self.bytes += bytes(-len(self.bytes) % size) + struct.pack(self.order + kind, value)
        return self

    def list(self, kind, values):
        return self.put('I', len(values)).put(kind, *values)

    def text(self, text):
        data = text.encode() + b'\0'
        self.put('I', len(data))
        self.bytes += data
        return self

    def header(self, i, frame):
        return self.put('i', 100 + i).put('I', 7 * i).text(frame)

    def done(self):
        return bytes([0, self.order == '<', 0, 0]) + self.bytes


def png(i):
    rows = b''.join(b'\0' + bytes((i * 40 + y * 10 + x * 3 + c) % 256 for x in range(5) for c in range(3)) for y in range(4))

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 5, 4, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) +
            chunk(b'IEND', b''))


def joints(i):
    cdr = Cdr().header(i, 'base').put('I', 2).text('hip').text('knee')
    return cdr.list('d', [i, i + 0.25]).list('d', [-i, i * 2]).list('d', []).done()


def imu(i):
    cdr = Cdr().header(i, 'imu').put('d', 0, 0, i / 8, 1).put('d', *range(9)).put('d', i, 0, -i).put('d', *[0] * 9)
    return cdr.put('d', 0, 0, 9.75 + i).put('d', *[i] * 9).done()


def image(i):
    data = b''
    for y in range(4):
        data += bytes((i * 50 + y * 20 + x * 3 + c) % 256 for x in range(6) for c in range(3)) + b'\xee\xee'
    return Cdr().header(i, 'cam').put('I', 4, 6).text('rgb8').put('B', 0).put('I', 20).list('B', data).done()


def depth(i):
    data = b''.join(struct.pack('>H', 60000 + i * 10 + n) for n in range(6))
    return Cdr().header(i, 'cam').put('I', 2, 3).text('16UC1').put('B', 1).put('I', 6).list('B', data).done()


def mixed(i):
    cdr = Cdr().put('?', i % 2 == 1).put('b', -i).put('H', 65530 + i % 5).put('I', 4294967290 + i % 5).put('Q', 5 * i).text('label %d' % i)
    cdr.put('B', i, i + 1, i + 2).put('d', *[i + n / 4 for n in range(6)])
    cdr.put('I', i % 3).put('d', *range(3 * (i % 3))).list('f', [0.5] * (i % 4)).put('I', 2).text('a').text('b%d' % i)
    return cdr.done()


# topic, type, encoding, of the definition, messages: time and bytes
TOPICS = [
    ('/robot/joint_states', 'sensor_msgs/JointState', 'cdr', 'ros2msg', [(i * 100 * MS, joints(i)) for i in range(10)]),
    ('/robot/imu', 'sensor_msgs/Imu', 'cdr', 'ros2msg', [((20 + i * 50) * MS, imu(i)) for i in range(20)]),
    ('/camera/image', 'sensor_msgs/Image', 'cdr', 'ros2msg', [((10 + i * 200) * MS, image(i)) for i in range(5)]),
    ('/camera/depth', 'sensor_msgs/Image', 'cdr', 'ros2msg', [((12 + i * 200) * MS, depth(i)) for i in range(5)]),
    ('/camera/small', 'sensor_msgs/CompressedImage', 'cdr', 'ros2msg',
     [((15 + i * 200) * MS, Cdr().header(i, 'cam').text('png').list('B', png(i)).done()) for i in range(5)]),
    ('/cmd_vel', 'geometry_msgs/Twist', 'cdr', 'ros2msg',
     [((30 + i * 120) * MS, Cdr(True).put('d', i, 0, 0, 0, 0, i / 2).done()) for i in range(8)]),
    ('/mixed', 'demo_msgs/Mixed', 'cdr', 'ros2msg', [((5 + i * 150) * MS, mixed(i)) for i in range(6)]),
    ('/event', 'std_msgs/Empty', 'cdr', 'ros2msg', [(0, Cdr().put('B', 0).done())]),
    ('/json', 'demo', 'json', 'jsonschema', [(0, b'{}')]),
    ('/idl', 'demo_msgs/msg/Other', 'cdr', 'ros2idl', [(0, b'\0\1\0\0')]),
    ('/timestamp', 'geometry_msgs/Twist', 'cdr', 'ros2msg', [(0, Cdr().put('d', *range(6)).done())]),
    ('/silent', 'geometry_msgs/Twist', 'cdr', 'ros2msg', []),
]


def long_name(name):
    return name.replace('/', '/msg/') if name.count('/') == 1 else name


def string(text):
    return struct.pack('<I', len(text)) + (text if isinstance(text, bytes) else text.encode())


def record(opcode, content):
    return bytes([opcode]) + struct.pack('<Q', len(content)) + content


def packed(data, how):
    library = {'lz4': 'liblz4.so.1', 'zstd': 'libzstd.so.1', '': None}[how]
    if library is None:
        return data
    library, room = ctypes.CDLL(library), ctypes.create_string_buffer(len(data) + 1000)
    call = library.LZ4F_compressFrame if how == 'lz4' else library.ZSTD_compress
    call.restype, call.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    size = call(room, len(data) + 1000, data, len(data), None if how == 'lz4' else 3)
    return room.raw[:size]


def mcap(name, topics, how='', chunked=True, summary=True, per_chunk=16):
    descriptions, messages = {}, []
    for id, (topic, kind, encoding, schema_encoding, found) in enumerate(topics, 1):
        text = definition(kind) if kind in DEFINITIONS else 'struct'
        schema = record(3, struct.pack('<H', id) + string(long_name(kind)) + string(schema_encoding) + string(text))
        channel = record(4, struct.pack('<HH', id, id) + string(topic) + string(encoding) + string(b''))
        descriptions[id] = schema + channel
        messages += [(time, id, n, data) for n, (time, data) in enumerate(found)]
    messages.sort()
    out = b'\x89MCAP0\r\n' + record(1, string('ros2') + string('make.py 1'))
    index, chunks, written = b'', 0, set()
    if not chunked:
        out += b''.join(descriptions.values())
    for first in range(0, len(messages), per_chunk):
        inside, places, times = b'', {}, []
        for time, id, n, data in messages[first:first + per_chunk]:
            if chunked and id not in written:
                inside += descriptions[id]
                written.add(id)
            places.setdefault(id, []).append((START + time, len(inside)))
            times.append(START + time)
            inside += record(5, struct.pack('<HIQQ', id, n, START + time, START + time) + data)
        if not chunked:
            out += inside
            continue
        at, small, chunks = len(out), packed(inside, how), chunks + 1
        out += record(6, struct.pack('<QQQI', min(times), max(times), len(inside), zlib.crc32(inside)) + string(how) +
                      struct.pack('<Q', len(small)) + small)
        length, offsets, start = len(out) - at, b'', len(out)
        for id, found in places.items():
            offsets += struct.pack('<HQ', id, len(out))
            out += record(7, struct.pack('<H', id) + string(b''.join(struct.pack('<QQ', *place) for place in found)))
        index += record(8, struct.pack('<QQQQ', min(times), max(times), at, length) + string(offsets) +
                        struct.pack('<Q', len(out) - start) + string(how) + struct.pack('<QQ', len(small), len(inside)))
    note = len(out)
    out += record(12, string('setup') + string(string('robot') + string('arm')))
    note_index = record(13, struct.pack('<QQ', note, len(out) - note) + string('setup'))
    out += record(15, struct.pack('<I', 0))
    start = len(out) if summary else 0
    if summary:
        out += b''.join(descriptions.values()) + index + note_index
        out += record(11, struct.pack('<QHIIIIQQ', len(messages), len(topics), len(topics), 0, 1, chunks, 0, 0) + string(b''))
    foot = bytes([2]) + struct.pack('<Q', 20) + struct.pack('<QQ', start, 0)
    out += foot + struct.pack('<I', zlib.crc32(out[start:] + foot) if summary else 0) + b'\x89MCAP0\r\n'
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).write_bytes(out)


def db3(name, topics, defined=False):
    path = here / name
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,'
                 'offered_qos_profiles TEXT NOT NULL)')
    base.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, data BLOB NOT NULL)')
    base.execute('CREATE INDEX timestamp_idx ON messages (timestamp ASC)')
    if defined:
        base.execute('CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,'
                     'encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL)')
        for _, kind, _, encoding, _ in topics:
            base.execute('INSERT INTO message_definitions(topic_type,encoding,encoded_message_definition,type_description_hash) '
                         'VALUES(?,?,?,?)', (long_name(kind), encoding, definition(kind), ''))
    for id, (topic, kind, encoding, _, found) in enumerate(topics, 1):
        base.execute('INSERT INTO topics VALUES(?,?,?,?,?)', (id, topic, long_name(kind), encoding, ''))
        base.executemany('INSERT INTO messages(topic_id,timestamp,data) VALUES(?,?,?)', [(id, START + time, data) for time, data in found])
    base.commit()
    base.execute('VACUUM')
    base.close()


def half(first):
    return [(*topic[:4], [one for one in topic[4] if (one[0] < 400 * MS) == first]) for topic in TOPICS]


mcap('robot.mcap', TOPICS)
mcap('robot_lz4.mcap', TOPICS, 'lz4')
mcap('robot_zstd.mcap', TOPICS, 'zstd', per_chunk=100)
mcap('robot_plain.mcap', TOPICS, chunked=False, summary=False)
mcap('split/split_0.mcap', half(True), 'zstd')
mcap('split/split_1.mcap', half(False), 'zstd')
(here / 'split/metadata.yaml').write_text('rosbag2_bagfile_information:\n  version: 9\n')
db3('robot.db3', TOPICS)
db3('defined.db3', TOPICS[5:7], defined=True)
TWO = [TOPICS[5], (*TOPICS[6][:4], TOPICS[6][4][1:4])]
mcap('runs/run_2.mcap', [TOPICS[5]], per_chunk=3)
mcap('runs/run_10.mcap', [(*TOPICS[5][:4], TOPICS[5][4][:3])])
mcap('small.mcap', TWO, 'zstd', per_chunk=4)
