-- A dictionary made, filled, indexed by a text, and printed, through SWIG's own Lua module.
--
--   LUA_CPATH='build/bindings/?.so' lua example.lua
local td = require("tensordict")

local episode = td.td_create({3, 4}, td.TD_DEVICE_NONE, -1)
local numbers = {}
for i = 1, 12 do numbers[i] = i end
local bytes = string.pack("<" .. ("f"):rep(12), table.unpack(numbers))
local reward = td.td_tensor_from_data(bytes, {3, 4}, td.TD_DTYPE_FLOAT32)
td.td_set(episode, "reward", reward)
local zeros = td.td_tensor_zeros({3, 4, 2}, td.TD_DTYPE_INT64, td.TD_DEVICE_NONE, -1)
td.td_set(episode, {"agent", "obs"}, zeros)
print(td.td_to_string(episode))
assert(td.td_print(episode, nil) == "TensorDict(batch_size=[3,4], fields={agent: {obs: i64[2]}, reward: f32[]})")

-- Every second step of the last episode.
local part = td.td_index(episode, "-1, ::2")
assert(td.td_batch_size(part)[1] == 2)
local first, second = string.unpack("<ff", td.td_tensor_copy_to(td.td_get(part, "reward")))
print("rewards", first, second)
assert(first == 9 and second == 11)

local keys = td.td_keys_of(episode, nil)
for i = 0, td.td_keys_len(keys) - 1 do
  print("key", table.concat(td.td_keys_at(keys, i), "."))
end

-- One episode of a data set of Minari, unless this build has no HDF5.
local folder = arg[0]:match("^(.*)/") or "."
local opened, set = pcall(td.td_dataset_open, folder .. "/../../tests/data/datasets/minari/cartpole", nil)
if opened then
  local steps = td.td_dataset_episode(set, 4)
  assert(td.td_batch_size(steps)[1] == 60)
  assert(td.td_batch_size(td.td_dataset_rows(set, 8, 3))[1] == 3)
  set, steps = nil, nil
else
  assert(td.td_last_error_code() == td.TD_ERR_UNSUPPORTED, set)
end

-- A bag of ROS 2.
local bag = td.td_dataset_open(folder .. "/../../tests/data/bags/robot_plain.mcap", nil)
assert(td.td_batch_size(td.td_dataset_rows(bag, 0, 5))[1] == 5)
bag = nil

-- A failing call is an error that names the function and the status.
local good, message = pcall(td.td_get, episode, "missing")
assert(not good and message:find("td_get: TD_ERR_KEY_NOT_FOUND", 1, true), message)
good, message = pcall(td.td_index, episode, "1, nonsense")
assert(not good and #message > 0)
assert(td.td_last_error_code() == td.TD_ERR_INDEX)

-- Handles that nothing refers to are freed by the collector; freeing one by hand first is harmless.
td.td_keys_free(keys)
episode, part, reward, zeros, keys = nil, nil, nil, nil, nil
collectgarbage()
assert(td.td_debug_live_handles() == 0, td.td_debug_live_handles())
