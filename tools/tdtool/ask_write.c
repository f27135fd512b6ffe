/* Options and help of the commands that write data. */
#include "asked.h"

struct saving_values saving;
struct module_values loading;

static const tool_option cat_options[] = {
    SAVING_OPTIONS,
};

const tool_command command_cat = {
    .name = "cat",
    .arguments = "PATH... OUT [OPTION...]",
    .summary = "Concatenates dictionaries along their first batch dimension",
    .text =
        "All inputs need the same keys, dtypes and shapes, except for the number of rows. tdtool "
        "appends one input after the other, so the result may be larger than the memory.",
    .example = "tdtool cat monday tuesday wednesday week\ntdtool cat shard-* all.tdz",
    TAKES(cat_options, 2, -1),
};

struct convert_values convert_asked = {.video_quality = -1};

static const tool_option convert_options[] = {
    {"as", 0, "KIND", NULL,
     "write a data set: minari, lerobot, lerobot-v2.1, robomimic, d4rl or torchrl; or the rows of "
     "one: "
     "tensordict",
     TAKES_TEXT, &convert_asked.as},
    {"lossy", 0, NULL, NULL, "leave out, or fill in, what a data set of that kind cannot hold",
     TAKES_NOTHING, &convert_asked.lossy},
    {"video", 0, "CODEC", "h264 av1",
     "LeRobot: pictures become videos, which lose a little; otherwise they are PNG", TAKES_TEXT,
     &convert_asked.video},
    {"video-quality", 0, "N", NULL,
     "of videos, less is better and larger: h264 1 to 51, 23 by default; av1 1 to 63, 30 by "
     "default",
     TAKES_COUNT, &convert_asked.video_quality},
    {"fps", 0, "N", NULL, "LeRobot: steps in a second; by default those of PATH", TAKES_REAL,
     &convert_asked.fps},
    SAVING_OPTIONS,
};

const tool_command command_convert = {
    .name = "convert",
    .arguments = "PATH OUT [OPTION...]",
    .summary = "Converts a dictionary to another format",
    .text =
        "tdtool recognises the format of PATH by its content. OUT appears under its name only "
        "when it is complete. With --as, PATH is a data set, such as one of Minari, or a "
        "dictionary whose rows are steps, with \"episode\" or \"done\" in \"next\".",
    .example =
        "tdtool convert rollout rollout.tdz\ntdtool convert weights.safetensors weights\n"
        "tdtool convert table.csv table.npz\ntdtool convert cartpole demos.hdf5 --as robomimic\n"
        "tdtool convert demos.hdf5 rows --as tensordict",
    TAKES(convert_options, 2, 2),
};

struct run_values run_asked;

static const tool_option run_options[] = {
    {"in", 'i', "KEY", NULL, "an input of the module; give all, in their order", TAKES_TEXTS,
     &loading.in},
    {"out", 'o', "KEY", NULL, "an output of the module; give all, in their order; _ drops one",
     TAKES_TEXTS, &loading.out},
    {"batch", 'b', "N", NULL, "rows in one call; 0, the default: some 1024 elements of the batch",
     TAKES_COUNT, &run_asked.batch},
    {"only-outputs", 0, NULL, NULL, "write the outputs without the other entries", TAKES_NOTHING,
     &run_asked.only_outputs},
    {"freeze", 0, NULL, NULL, "turn the parameters into constants, in evaluation mode",
     TAKES_NOTHING, &loading.freeze},
    {"device", 0, "DEVICE", NULL, "where the module runs, such as cuda:0; by default the CPU",
     TAKES_TEXT, &loading.device},
    SHA256_OPTION,
    SAVING_OPTIONS,
};

const tool_command command_run = {
    .name = "run",
    .arguments = "MODULE PATH OUT [OPTION...]",
    .summary = "Runs a module over the rows of a dictionary, and saves what it gives",
    .text =
        "MODULE is a TorchScript archive. Such an archive is code: run only those that you trust, "
        "or give the checksum. OUT gets all entries of PATH and the outputs of the module, which "
        "replace entries of the same key. A row is one element of the first batch dimension; PATH "
        "may be a data set, which is read whole. The "
        "module gets some rows at once, so a folder may be larger than the memory; a lazy stack "
        "may not. The archive names the keys of inputs and outputs; others are given one by one: "
        "--in agent/image --in agent/goal. OUT appears under its name only when it is complete.",
    .example =
        "tdtool run policy.pt rollout acted\n"
        "tdtool run policy.pt rollout acted.tdz --only-outputs\n"
        "tdtool run encoder.pt images codes --in image --out code --batch 256",
    TAKES(run_options, 3, 3),
};
