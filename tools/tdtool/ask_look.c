/* Options and help of the commands that look at data. */
#include "asked.h"

struct show_values show_asked;

static const tool_option show_options[] = {
    {"depth", 'd', "N", NULL, "show N levels; 0, the default, shows all", TAKES_COUNT,
     &show_asked.depth},
    {"elements", 'e', NULL, NULL, "show each element of a lazy stack separately", TAKES_NOTHING,
     &show_asked.elements},
    SHA256_OPTION,
};

const tool_command command_show = {
    .name = "show",
    .arguments = "PATH [KEY] [OPTION...]",
    .summary = "Shows the tree of entries with dtypes, shapes and sizes",
    .text =
        "tdtool does not read the values of tensors, so a folder of any size shows at once. KEY "
        "selects one entry; separate its names by slashes (a/b). A size of -1 differs between the "
        "elements of a lazy stack. Of a TorchScript archive it shows the keys and parameters of "
        "the module. Such an archive is code, and tdtool loads it: show only those that you "
        "trust, or give the checksum. With a KEY, tdtool reads the tensors alone and runs no code.",
    .example =
        "tdtool show rollout\ntdtool show rollout observation\ntdtool show rollout --json\n"
        "tdtool show policy.pt",
    TAKES(show_options, 1, 2),
};

struct head_values head_asked = {10, 0};

static const tool_option head_options[] = {
    {"rows", 'n', "N", NULL, "how many rows to print; 10 by default", TAKES_COUNT,
     &head_asked.rows},
    {"from", 'f', "ROW", NULL, "the first row, counted in row-major order from 0", TAKES_COUNT,
     &head_asked.from},
};

const tool_command command_head = {
    .name = "head",
    .arguments = "PATH [KEY...] [OPTION...]",
    .summary = "Prints rows",
    .text =
        "A row is one element of the batch. With several batch dimensions, rows come in row-major "
        "order. KEYs choose the columns. Of a tensor with more than one element per row, tdtool "
        "prints the first elements; with --json it prints all.",
    .example =
        "tdtool head rollout -n 3\ntdtool head rollout action next/reward --from 500\n"
        "tdtool head table.csv --json",
    TAKES(head_options, 1, -1),
};

struct stats_values stats_asked;

static const tool_option stats_options[] = {
    {"fast", 0, NULL, NULL, "skip the histogram, which reads the values a second time",
     TAKES_NOTHING, &stats_asked.fast},
};

const tool_command command_stats = {
    .name = "stats",
    .arguments = "PATH [KEY...] [OPTION...]",
    .summary = "Minimum, maximum, mean and NaN count of each tensor, and a histogram",
    .text =
        "tdtool reads the values piece by piece, so the data may be larger than the memory. Mean "
        "and standard deviation are those of the finite values. For complex numbers they are "
        "those of the magnitude.",
    .example =
        "tdtool stats rollout\ntdtool stats rollout next/reward\n"
        "tdtool stats rollout --fast --json",
    TAKES(stats_options, 1, -1),
};

struct slice_values slice_asked = {10};

static const tool_option slice_options[] = {
    SAVING_OPTIONS,
    EPISODES_OPTION("of a data set: write these, such as 0:10,15"),
    SET_OPTIONS,
    {"rows", 'n', "N", NULL, "without OUT: how many rows to print; 10 by default", TAKES_COUNT,
     &slice_asked.rows},
};

const tool_command command_slice = {
    .name = "slice",
    .arguments = "PATH INDEX [OUT] [OPTION...]",
    .summary = "Indexes the batch dimensions as in Python, and prints or saves the result",
    .text =
        "INDEX consists of integers, slices, ... and None, separated by commas. It applies to the "
        "batch dimensions of every entry. Without OUT, tdtool prints the rows.\n\n"
        "With --episodes, PATH is a data set, there is no INDEX, and OUT is a set of these "
        "episodes, numbered anew, of the same kind.",
    .example =
        "tdtool slice rollout -1\ntdtool slice rollout \"0:100, ..., ::2\" part\n"
        "tdtool slice rollout \"0, :, None\" first.tdz\n"
        "tdtool slice cartpole few-v0 --episodes 0:10",
    TAKES(slice_options, 2, 3),
};

struct diff_values diff_asked;

static const tool_option diff_options[] = {
    {"rtol", 'r', "X", NULL, "numbers may differ by X times the second one", TAKES_REAL,
     &diff_asked.relative},
    {"atol", 'a', "X", NULL, "numbers may differ by X", TAKES_REAL, &diff_asked.absolute},
    {"content", 'c', NULL, NULL, "ignore batch sizes, tensorclasses and lazy stacks", TAKES_NOTHING,
     &diff_asked.content},
    {"brief", 'q', NULL, NULL, "print nothing; only set the exit status", TAKES_NOTHING,
     &diff_asked.brief},
};

const tool_command command_diff = {
    .name = "diff",
    .arguments = "PATH PATH [OPTION...]",
    .summary = "Shows where two dictionaries differ",
    .text =
        "The two may be stored in different formats, and be data sets, of which the rows are "
        "compared. tdtool compares structure, dtypes and "
        "shapes, then values: it prints the first position that differs and the largest "
        "difference. NaN equals NaN. Without a difference it prints nothing and exits with 0, "
        "otherwise with 1.",
    .example = "tdtool diff rollout rollout.tdz\ntdtool diff before after --rtol 1e-5 --atol 1e-8",
    TAKES(diff_options, 2, 2),
};
