# Data sets of reinforcement learning and robotics.

const dataset_kinds = (minari = TD_DATASET_KIND_MINARI, robomimic = TD_DATASET_KIND_ROBOMIMIC, d4rl = TD_DATASET_KIND_D4RL,
                       lerobot = TD_DATASET_KIND_LEROBOT, torchrl = TD_DATASET_KIND_TORCHRL, ros = TD_DATASET_KIND_ROS)

"""
    open_dataset(path; kind = nothing, max_episode_steps = 0, max_bytes = 0, max_entries = 0, decode = false,
                 videos = false, rate = 0, clock = nothing) -> Dataset

Open a data set: a folder or a file. Its kind is found by looking, or told: `:minari`, `:robomimic`, `:d4rl`, `:lerobot`,
`:torchrl` or `:ros`. Values are read when they are asked for. A step is a row, laid out as TorchRL does it.

- `length(set)` is the number of episodes, `lengths(set)` are their lengths, `sum(lengths(set))` is the number of steps
- `episode(set, i)` is one episode, `episodes(set, range)` are several as a lazy stack
- `rows(set, range)` are rows of all episodes, numbered one after the other, `flat(set)` all of them
- `structure(set)` has no rows, and the keys, dtypes and sizes of an episode
- `metadata(set)` is what the data set says of itself, `metadata(set, i)` of an episode
- `dataset_kind(set)` and `TensorDicts.version(set)`: what it is, and the version that it names; `""` for none

`max_episode_steps` ends episodes of D4RL that has no `timeouts`; `max_bytes` and `max_entries` limit what is read.
`decode` makes tensors of encoded pictures and of the frames of videos, `videos` of these alone. Of bags of ROS, each message of the topic `clock` is a row, or there are `rate`
rows each second.
"""
function open_dataset(path::AbstractString; kind::Union{Symbol,Nothing} = nothing, max_episode_steps::Integer = 0,
                      max_bytes::Integer = 0, max_entries::Integer = 0, decode::Bool = false,
                      videos::Bool = false, rate::Real = 0, clock::Union{AbstractString,Nothing} = nothing)
    topic = clock === nothing ? nothing : String(clock)
    GC.@preserve topic call(Dataset, td_dataset_open, String(path), Ref(td_dataset_options(
        kind = kind === nothing ? TD_DATASET_KIND_DETECT : dataset_number(kind), max_episode_steps = max_episode_steps,
        max_bytes = max_bytes, max_entries = max_entries, rate = rate,
        flags = (decode ? TD_DATASET_DECODE : 0) | (videos ? TD_DATASET_VIDEOS : 0),
        clock = topic === nothing ? C_NULL : Base.unsafe_convert(Cstring, topic))))
end

function about(set::Dataset)
    kind, episodes, steps = Ref{td_dataset_kind}(0), Ref{Int64}(0), Ref{Int64}(0)
    check(td_dataset_about(set, kind, episodes, steps))
    kind[], Int(episodes[]), Int(steps[])
end

"Which library's layout a data set has, such as `:minari`. See [`open_dataset`](@ref)."
dataset_kind(set::Dataset) = keys(dataset_kinds)[findfirst(==(about(set)[1]), values(dataset_kinds))]
version(set::Dataset) = asktext(td_dataset_version, set)

Base.length(set::Dataset) = about(set)[2]

"The number of steps of each episode. See [`open_dataset`](@ref)."
lengths(set::Dataset) = collect(Int, asksizes(td_dataset_lengths, set))

"A dictionary without rows that has the entries of an episode. See [`open_dataset`](@ref)."
structure(set::Dataset) = call(TensorDict, td_dataset_structure, set)

"What a data set says of itself, or of an episode. See [`open_dataset`](@ref)."
metadata(set::Dataset) = call(TensorDict, td_dataset_metadata, set)
metadata(set::Dataset, i::Integer) = call(TensorDict, td_dataset_episode_metadata, set, one_of(set, i) - 1)

function one_of(set::Dataset, i)
    checkindex(Bool, 1:length(set), i) || throw(BoundsError(set, i))
    i
end

"One episode, of which each step is a row. See [`open_dataset`](@ref)."
episode(set::Dataset, i::Integer) = call(TensorDict, td_dataset_episode, set, one_of(set, i) - 1)

"Episodes as the elements of a lazy stack. See [`open_dataset`](@ref)."
episodes(set::Dataset, range::AbstractUnitRange{<:Integer} = 1:length(set)) =
    call(TensorDict, td_dataset_episodes, set, first(one_of(set, range)) - 1, length(range))

function rows(set::Dataset, range::AbstractUnitRange{<:Integer})
    checkindex(Bool, 1:about(set)[3], range) || throw(BoundsError(set, range))
    call(TensorDict, td_dataset_rows, set, first(range) - 1, length(range))
end
flat(set::Dataset) = call(TensorDict, td_dataset_flat, set)

const dataset_videos = (none = TD_DATASET_VIDEO_NONE, h264 = TD_DATASET_VIDEO_H264, av1 = TD_DATASET_VIDEO_AV1)

function video_number(video::Symbol)
    haskey(dataset_videos, video) ||
        throw(ArgumentError("no form of videos is called $video: there are $(join(keys(dataset_videos), ", "))"))
    dataset_videos[video]
end

dataset_save_options(lossy, durable, deflate; resume = false, lerobot_v21 = false, video = :none, video_quality = 0, fps = 0) = Ref(td_dataset_save_options(
    flags = lossy * TD_DATASET_SAVE_LOSSY | durable * TD_DATASET_SAVE_DURABLE | resume * TD_DATASET_SAVE_RESUME |
            lerobot_v21 * TD_DATASET_SAVE_LEROBOT_V21,
    deflate = deflate, video = video_number(video), video_quality = video_quality, fps = fps))

function dataset_number(kind::Symbol)
    haskey(dataset_kinds, kind) ||
        throw(ArgumentError("no kind of data sets is called $kind: there are $(join(keys(dataset_kinds), ", "))"))
    dataset_kinds[kind]
end

"""
    save_dataset(file, td, kind; metadata = nothing, lossy = false, durable = false, deflate = 0, lerobot_v21 = false,
                 video = :none, video_quality = 0, fps = 0)
    convert_dataset(set, kind, file; lossy = false, durable = false, deflate = 0, lerobot_v21 = false, video = :none,
                    video_quality = 0, fps = 0)

Write a data set that the library of that kind opens: `:minari` (a folder), `:robomimic`, `:d4rl`, `:torchrl` or `:lerobot`. Episodes of `td` are runs
of one number in `episode`, or the elements of a lazy stack; `metadata` is what `metadata(set)` gives. What the kind cannot
hold is an error, and left out, or filled in, with `lossy`. `:lerobot` is version 3.0, or 2.1 with `lerobot_v21`;
its pictures stay PNG, without a loss, or become videos with `video = :h264` or `:av1`, of `video_quality` 1 to 51 or 63 (less is
better and larger; 0: 23 and 30). It has `fps` steps in a second; 0: those of the metadata, else by the times of the first episode.
"""
function save_dataset(file::AbstractString, td::TensorDict, kind::Symbol; metadata::Union{TensorDict,Nothing} = nothing,
                      lossy::Bool = false, durable::Bool = false, deflate::Integer = 0, lerobot_v21::Bool = false,
                      video::Symbol = :none, video_quality::Integer = 0, fps::Real = 0)
    about = metadata === nothing ? Ptr{td_tensordict}(C_NULL) : metadata
    check(td_dataset_save(td, about, dataset_number(kind), String(file),
                          dataset_save_options(lossy, durable, deflate; lerobot_v21, video, video_quality, fps)))
    file
end

"See [`save_dataset`](@ref)."
function convert_dataset(set::Dataset, kind::Symbol, file::AbstractString; lossy::Bool = false, durable::Bool = false,
                         deflate::Integer = 0, lerobot_v21::Bool = false, video::Symbol = :none,
                         video_quality::Integer = 0, fps::Real = 0)
    check(td_dataset_convert(set, dataset_number(kind), String(file),
                             dataset_save_options(lossy, durable, deflate; lerobot_v21, video, video_quality, fps)))
    file
end

"""
    dataset_writer(file, kind; metadata = nothing, resume = false, lossy = false, durable = false, deflate = 0,
                   video = :none, video_quality = 0, fps = 0) -> DatasetWriter

Write a data set episode by episode: `add_episode!(writer, rows; metadata)` adds one, `length(writer)` is the number of episodes,
`finish!(writer)` ends it. Whatever happens to the program, the set opens and has all episodes that were added. `resume` goes on
with a set that is there; otherwise the first episode replaces it. The rest is as in [`save_dataset`](@ref).
"""
function dataset_writer(file::AbstractString, kind::Symbol; metadata::Union{TensorDict,Nothing} = nothing,
                        resume::Bool = false, lossy::Bool = false, durable::Bool = false, deflate::Integer = 0,
                        video::Symbol = :none, video_quality::Integer = 0, fps::Real = 0)
    about = metadata === nothing ? Ptr{td_tensordict}(C_NULL) : metadata
    call(DatasetWriter, td_dataset_writer_open, String(file), dataset_number(kind), about,
         dataset_save_options(lossy, durable, deflate; resume, video, video_quality, fps))
end

"Add an episode, of which each step is a row. See [`dataset_writer`](@ref)."
function add_episode!(writer::DatasetWriter, rows::TensorDict; metadata::Union{TensorDict,Nothing} = nothing)
    about = metadata === nothing ? Ptr{td_tensordict}(C_NULL) : metadata
    check(td_dataset_writer_add(writer, rows, about))
    writer
end

function Base.length(writer::DatasetWriter)
    episodes = Ref{Int64}(0)
    check(td_dataset_writer_episodes(writer, episodes))
    Int(episodes[])
end

"End the writing; later episodes are refused. See [`dataset_writer`](@ref)."
finish!(writer::DatasetWriter) = (check(td_dataset_writer_close(writer)); nothing)

function Base.show(io::IO, set::Dataset)
    isopen(set) || return print(io, "Dataset(closed)")
    print(io, "Dataset(", dataset_kind(set), ", ", length(set), " episodes)")
end

Base.show(io::IO, writer::DatasetWriter) =
    isopen(writer) ? print(io, "DatasetWriter(", length(writer), " episodes)") : print(io, "DatasetWriter(closed)")
