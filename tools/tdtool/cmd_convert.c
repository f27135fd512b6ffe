/* tdtool convert: from one form to another. */
#include <stdio.h>
#include <stdlib.h>

#include "asked.h"
#include "dataset.h"
#include "runs.h"

/* Formats that store no batch size: a dictionary whose tensors agree in their first size had one. */
static void tell_lost_batch(const td_tensordict *td, const char *from) {
  tree all = tree_of(td, false);
  int64_t rows = -1;
  bool agree = all.length > 1 && all.entries[0].dims == 0 && all.entries[0].values == 0;
  for (size_t i = 1; agree && i < all.length; i++) {
    const entry *one = all.entries + i;
    if (one->kind == TD_ENTRY_DICT) continue;
    agree = one->dims > 0 && (rows < 0 || rows == one->sizes[0]);
    if (agree) rows = one->sizes[0];
  }
  tree_free(&all);
  if (!agree || rows < 0) return;
  fprintf(stderr, "tdtool: note: %s stores no batch size; --batch-dims 1 makes it [%lld]\n", from,
          (long long)rows);
}

static void name_metadata(const char *place, const char *name, const char *json) {
  (void)json;
  fprintf(stderr, " %s%s%s", place ? place : "", place ? "@" : "", name);
}

/* What the file keeps beside its entries is copied, too. */
static void take_metadata(const char *from, form as) {
  char *metadata = metadata_of(from, form_of_file(from));
  if (!metadata || keeps_metadata(as)) {
    saving.metadata = metadata;
    return;
  }
  fprintf(stderr, "tdtool: note: left out, since %s has no place for it:", form_title(as));
  metadata_each(metadata, name_metadata);
  fputs("\n", stderr);
  free(metadata);
}

/* One data set, or dictionary, as a data set of a kind. */
static int convert_set(const char *from, const char *to) {
  const td_dataset_kind kind = dataset_kind_named("convert", convert_asked.as);
  td_dataset_save_options options = set_saving(convert_asked.as, convert_asked.lossy);
  if (convert_asked.video && kind != TD_DATASET_KIND_LEROBOT)
    die_usage("convert: --video is for --as lerobot and lerobot-v2.1 alone");
  if (convert_asked.video)
    options.video = *convert_asked.video == 'a' ? TD_DATASET_VIDEO_AV1 : TD_DATASET_VIDEO_H264;
  if (convert_asked.video_quality >= 0 && !convert_asked.video)
    die_usage("convert: --video-quality is for --video alone");
  if (convert_asked.fps != 0 && kind != TD_DATASET_KIND_LEROBOT)
    die_usage("convert: --fps is for --as lerobot and lerobot-v2.1 alone");
  options.fps = convert_asked.fps;
  if (convert_asked.video_quality == 0) die_usage("convert: --video-quality begins at 1");
  if (convert_asked.video_quality > 0)
    options.video_quality =
        (int32_t)(convert_asked.video_quality < INT32_MAX ? convert_asked.video_quality
                                                          : INT32_MAX);
  td_dataset *set;
  td_tensordict *td;
  refuse_existing(to);
  if (kind == TD_DATASET_KIND_DETECT) { /* the rows of one */
    /* a folder, unless the name or an option tells another format */
    const bool told = saving.to || form_of_name(to) != FORM_UNKNOWN;
    const form as = told ? form_for(to) : FORM_FOLDER;
    must(open_set(from, &set));
    td = keep_rows_of_set(set, to, as);
    print_saved(td, to, as);
    td_free(td);
  } else if (open_set_as(from, kind, &set) == TD_OK) {
    must(td_dataset_convert(set, kind, to, &options));
  } else {
    if (is_set_folder(from)) must(open_set_as(from, kind, &set)); /* says what is wrong with it */
    td = open_any(from, false);
    must(td_dataset_save(td, NULL, kind, to, &options));
    td_free(td);
  }
  td_dataset_free(set);
  if (kind == TD_DATASET_KIND_DETECT) return TOOL_FINE;
  must(td_dataset_open(to, NULL, &set));
  print_dataset(set, to);
  td_dataset_free(set);
  return TOOL_FINE;
}

int run_convert(int count, char **arguments) {
  (void)count;
  if (convert_asked.as) return convert_set(arguments[0], arguments[1]);
  if (convert_asked.video || convert_asked.fps != 0)
    die_usage("convert: --%s is for --as lerobot and lerobot-v2.1 alone",
              convert_asked.video ? "video" : "fps");
  form as = form_for(arguments[1]);
  refuse_existing(arguments[1]);
  td_tensordict *td = open_any(arguments[0], false);
  if (common.batch_dims < 0 && !form_has_batch(form_of_file(arguments[0])))
    tell_lost_batch(td, arguments[0]);
  take_metadata(arguments[0], as);
  save_any(td, arguments[1], as, "convert");
  free(saving.metadata);
  saving.metadata = NULL;
  print_saved(td, arguments[1], as);
  td_free(td);
  return TOOL_FINE;
}
