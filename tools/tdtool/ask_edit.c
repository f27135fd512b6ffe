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

static const tool_option drop_options[] = {OUT_OPTION, SAVING_OPTIONS};

const tool_command command_drop = {
    .name = "drop",
    .arguments = "PATH KEY... [OPTION...]",
    .summary = "Removes entries",
    .text = "Without --out the result takes the place of PATH once it is complete.",
    .example = "tdtool drop rollout info next/info\ntdtool drop rollout image --out small",
    TAKES(drop_options, 2, -1),
};

struct merge_values merge_asked;

static const tool_option merge_options[] = {
    {"prefer", 'p', "WHICH", "first last", "whose entry counts where several inputs have it",
     TAKES_TEXT, &merge_asked.prefer},
    SAVING_OPTIONS,
};

const tool_command command_merge = {
    .name = "merge",
    .arguments = "PATH PATH... OUT [OPTION...]",
    .summary = "Puts the entries of several dictionaries side by side",
    .text =
        "All inputs need the same batch size. tdtool refuses an entry that two of them have, "
        "unless --prefer says whose counts.",
    .example =
        "tdtool merge rollout labels labelled\ntdtool merge rollout fixed both.tdz --prefer last",
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
