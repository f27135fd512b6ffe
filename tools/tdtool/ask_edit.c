/* Options and help of the commands that change, join and pack data. */
#include "asked.h"

struct edit_values edit_asked;

#define OUT_OPTION \
  { "out", 'o', "OUT", NULL, "write OUT, and leave PATH as it is", TAKES_TEXT, &edit_asked.out }

static const tool_option set_options[] = {OUT_OPTION, SAVING_OPTIONS};

const tool_command command_set = {
    .name = "set",
    .arguments = "PATH KEY=VALUE... [OPTION...]",
    .summary = "Sets the elements of a tensor to a number, or a non-tensor value",
    .text =
        "A tensor gets the number in all of its elements and keeps its dtype and shape. Under "
        "other keys, VALUE is stored as non-tensor data: as JSON if it is JSON, otherwise as "
        "text. Without --out the result takes the place of PATH once it is complete; if anything "
        "fails, PATH stays as it was. A folder keeps the files that did not change.",
    .example =
        "tdtool set rollout next/reward=0 task=\"balance the ball\"\n"
        "tdtool set rollout version=2 --out second",
    TAKES(set_options, 2, -1),
};

static const tool_option rename_options[] = {OUT_OPTION, SAVING_OPTIONS};

const tool_command command_rename = {
    .name = "rename",
    .arguments = "PATH OLD NEW [OPTION...]",
    .summary = "Moves an entry to another key",
    .text =
        "tdtool refuses a NEW that exists. Missing dictionaries on the way are made. Without "
        "--out the result takes the place of PATH once it is complete.",
    .example =
        "tdtool rename rollout action agent/action\n"
        "tdtool rename rollout obs observation --out renamed.tdz",
    TAKES(rename_options, 3, 3),
};

static const tool_option drop_options[] = {
    OUT_OPTION,
    SAVING_OPTIONS,
    EPISODES_OPTION("of a data set: leave these out, such as 0:10,15"),
    {"keys", 0, "KEY", NULL, "of a data set: leave this entry out; may come several times",
     TAKES_TEXTS, &view_asked.keys},
    SET_OPTIONS,
};

const tool_command command_drop = {
    .name = "drop",
    .arguments = "PATH KEY... [OPTION...]",
    .summary = "Removes entries",
    .text =
        "Without --out the result takes the place of PATH once it is complete.\n\n"
        "With --episodes or --keys, PATH is a data set, and what follows it is OUT, a set without "
        "them: its episodes are numbered anew, and totals, statistics and masks are those of what "
        "is left. OUT may be PATH, with --force.",
    .example =
        "tdtool drop rollout info next/info\ntdtool drop rollout image --out small\n"
        "tdtool drop demos.hdf5 good.hdf5 --episodes 3,7 --keys states",
    TAKES(drop_options, 2, -1),
};

struct view_values view_asked;
struct split_values split_asked = {.share = 0.9};

static const tool_option split_options[] = {
    {"share", 0, "X", NULL, "the share of the episodes for TRAIN; 0.9 by default", TAKES_REAL,
     &split_asked.share},
    {"seed", 0, "N", NULL, "draw other episodes; 0 by default", TAKES_COUNT, &split_asked.seed},
    {"by-task", 0, NULL, NULL, "a set for each task of LeRobot, in a folder", TAKES_NOTHING,
     &split_asked.by_task},
    {"force", 0, NULL, NULL, "replace sets that exist", TAKES_NOTHING, &saving.force},
    {"compress", 'z', NULL, NULL, "compress the tensors, in a kind that can", TAKES_NOTHING,
     &saving.compress},
    {"durable", 0, NULL, NULL, "wait until all data is on the disk", TAKES_NOTHING,
     &saving.durable},
    SET_OPTIONS,
};

const tool_command command_split = {
    .name = "split",
    .arguments = "SET TRAIN VALID [OPTION...]",
    .summary = "Splits the episodes of a data set for training and validation, or by task",
    .text =
        "Whole episodes are drawn, the same ones for the same seed on every machine; each of the "
        "two sets has one at least. Episodes keep their order and are numbered anew. With "
        "--by-task there is one more argument, a folder, in place of two: it gets a set for each "
        "task, which is named by it.",
    .example =
        "tdtool split demos.hdf5 train.hdf5 valid.hdf5 --share 0.8 --seed 7\n"
        "tdtool split arm tasks --by-task",
    TAKES(split_options, 2, 3),
};

struct merge_values merge_asked;

static const tool_option merge_options[] = {
    {"prefer", 'p', "WHICH", "first last", "whose entry counts where several inputs have it",
     TAKES_TEXT, &merge_asked.prefer},
    SET_OPTIONS,
    SAVING_OPTIONS,
};

const tool_command command_merge = {
    .name = "merge",
    .arguments = "PATH PATH... OUT [OPTION...]",
    .summary = "Puts the entries of several dictionaries side by side",
    .text =
        "All inputs need the same batch size. tdtool refuses an entry that two of them have, "
        "unless --prefer says whose counts.\n\n"
        "Data sets are put one behind the other: OUT is of the kind of the first, and has the "
        "episodes of all. They need the same entries.",
    .example =
        "tdtool merge rollout labels labelled\ntdtool merge rollout fixed both.tdz --prefer last\n"
        "tdtool merge monday.hdf5 tuesday.hdf5 both.hdf5",
    TAKES(merge_options, 3, -1),
};

struct pack_values pack_asked;

static const tool_option pack_options[] = {
    {"force", 0, NULL, NULL, "replace an existing OUT", TAKES_NOTHING, &pack_asked.force},
    {"compress", 'z', NULL, NULL, "compress the tensors", TAKES_NOTHING, &pack_asked.compress},
    {"durable", 0, NULL, NULL, "wait until all data is on the disk", TAKES_NOTHING,
     &pack_asked.durable},
};

const tool_command command_pack = {
    .name = "pack",
    .arguments = "FOLDER OUT [OPTION...]",
    .summary = "Packs a folder into one archive",
    .text =
        "The archive is a zip file with the files of the folder, which are copied as they are. "
        "tdtool and Python's tensordict open it in place of the folder.",
    .example = "tdtool pack rollout rollout.tdz\ntdtool pack rollout small.tdz --compress",
    TAKES(pack_options, 2, 2),
};

struct unpack_values unpack_asked;

static const tool_option unpack_options[] = {
    {"durable", 0, NULL, NULL, "wait until all data is on the disk", TAKES_NOTHING,
     &unpack_asked.durable},
};

const tool_command command_unpack = {
    .name = "unpack",
    .arguments = "ARCHIVE OUT [OPTION...]",
    .summary = "Unpacks an archive into a folder",
    .text =
        "tdtool compares the checksums, and writes nothing outside of OUT, whatever names the "
        "archive holds. OUT must not exist; it appears when it is complete.",
    .example = "tdtool unpack rollout.tdz rollout",
    TAKES(unpack_options, 2, 2),
};
