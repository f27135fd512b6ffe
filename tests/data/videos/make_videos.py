"""Writes videos of a moving square, and what PyAV reads of them, into videos.json; and a set of LeRobot v2.1 with videos.

    python3 make_videos.py VIDEOS [SET]      (Python with PyAV 14 or newer, NumPy; for a set pyarrow)
"""
import fractions
import hashlib
import json
import os
import sys

import av
import numpy as np


def frame(number, height, width):
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([x * 5 + number * 3, y * 7, (x + y) * 2 + number], axis=2).astype(np.uint8)
    pixels[4 : 12, (number * 2) % (width - 8) : (number * 2) % (width - 8) + 8] = [250, 20, 20 + number]
    return pixels


def write(path, codec, frames, fps, options, pix_fmt="yuv420p", start=0):
    with av.open(path, "w") as out:
        stream = out.add_stream(codec, fps, options=options)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pix_fmt
        stream.codec_context.thread_count = 1
        stream.time_base = fractions.Fraction(1, fps)
        for number, pixels in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(pixels, "rgb24").reformat(format=pix_fmt)
            picture.pts = start + number
            picture.time_base = fractions.Fraction(1, fps)
            out.mux(stream.encode(picture))
        out.mux(stream.encode())


def read(path):
    with av.open(path) as file:
        stream = file.streams.video[0]
        stream.codec_context.thread_count = 1
        found = [(float(one.pts * one.time_base), one.to_ndarray(format="rgb24")) for one in file.decode(stream)]
    return {
        "times": [time for time, _ in found],
        "shape": list(found[0][1].shape),
        "sha256": [hashlib.sha256(pixels.tobytes()).hexdigest() for _, pixels in found],
        "mean": [round(float(pixels.mean()), 3) for _, pixels in found],
    }


out = sys.argv[1]
still = {"x264-params": "threads=1:sliced-threads=0"}
videos = {
    # Differences in both directions, key frames far apart.
    "h264.mp4": ("libx264", [frame(i, 48, 64) for i in range(40)], 30, {"g": "12", "bf": "3", "crf": "20", **still}),
    # A width that is no multiple of a vector's, and no two frames in one group.
    "narrow.mp4": ("libx264", [frame(i, 34, 46) for i in range(6)], 10, {"g": "1", **still}),
    # Open groups: frames before a key frame, which need those of the group before.
    "hevc.mp4": ("libx265", [frame(i, 48, 64) for i in range(24)], 25,
                 {"x265-params": "keyint=8:min-keyint=8:open-gop=1:bframes=3:pools=none:frame-threads=1:log-level=none"}),
    "av1.mp4": ("libsvtav1", [frame(i, 64, 64) for i in range(12)], 10, {"g": "4", "crf": "30", "svtav1-params": "lp=1"}),
}
about = {}
for name, (codec, frames, fps, options) in videos.items():
    write(f"{out}/{name}", codec, frames, fps, options)
    about[name] = {"codec": codec, **read(f"{out}/{name}")}
about = dict(sorted(about.items()))
with open(f"{out}/videos.json", "w") as file:
    json.dump(about, file, indent=1)
    file.write("\n")

# Two episodes with a video each, in two cameras, one of which is described with its channels first.
if len(sys.argv) > 2:
    import pyarrow as pa
    import pyarrow.parquet as pq

    root, fps, lengths = sys.argv[2], 20, [7, 5]
    number = {"dtype": "int64", "shape": [1], "names": None}
    features = {
        "action": {"dtype": "float32", "shape": [2], "names": ["x", "y"]},
        "observation.images.top": {"dtype": "video", "shape": [32, 48, 3], "names": ["height", "width", "channels"]},
        "observation.images.hand": {"dtype": "video", "shape": [3, 24, 40], "names": ["channels", "height", "width"]},
        "timestamp": {"dtype": "float32", "shape": [1], "names": None},
        **{name: number for name in ("frame_index", "episode_index", "index", "task_index")},
    }
    os.makedirs(f"{root}/meta", exist_ok=True)
    os.makedirs(f"{root}/data/chunk-000", exist_ok=True)
    first = 0
    with open(f"{root}/meta/episodes.jsonl", "w") as episodes, open(f"{root}/meta/episodes_stats.jsonl", "w") as stats:
        for episode, length in enumerate(lengths):
            rows = np.arange(length)
            action = np.stack([rows + episode, -rows], axis=1).astype(np.float32)
            pq.write_table(pa.table({
                "action": pa.FixedSizeListArray.from_arrays(pa.array(action.reshape(-1)), 2),
                "timestamp": pa.array((rows / fps).astype(np.float32)),
                "frame_index": pa.array(rows), "episode_index": pa.array(np.full(length, episode)),
                "index": pa.array(rows + first), "task_index": pa.array(np.zeros(length, np.int64)),
            }), f"{root}/data/chunk-000/episode_{episode:06d}.parquet")
            for camera, size in (("top", (32, 48)), ("hand", (24, 40))):
                folder = f"{root}/videos/chunk-000/observation.images.{camera}"
                os.makedirs(folder, exist_ok=True)
                write(f"{folder}/episode_{episode:06d}.mp4", "libx264", [frame(10 * episode + i, *size) for i in range(length)], fps,
                      {"g": "2", **still})
            episodes.write(json.dumps({"episode_index": episode, "tasks": ["wave"], "length": length}) + "\n")
            stats.write(json.dumps({"episode_index": episode, "stats": {"action": {
                "min": action.min(0).tolist(), "max": action.max(0).tolist(), "mean": action.mean(0).tolist(),
                "std": action.std(0).tolist(), "count": [length]}}}) + "\n")
            first += length
    with open(f"{root}/meta/tasks.jsonl", "w") as file:
        file.write(json.dumps({"task_index": 0, "task": "wave"}) + "\n")
    with open(f"{root}/meta/info.json", "w") as file:
        json.dump({
            "codebase_version": "v2.1", "robot_type": None, "total_episodes": len(lengths), "total_frames": sum(lengths), "total_tasks": 1,
            "total_videos": 2 * len(lengths), "total_chunks": 1, "chunks_size": 1000, "fps": fps, "splits": {"train": "0:2"},
            "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
            "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4", "features": features}, file, indent=4)
