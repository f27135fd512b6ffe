/* lua.i: how Lua values become arguments. Included by tensordict.i.
 *
 *   statuses    no result; anything but TD_OK is raised as an error
 *   path        "obs" or {"agent", "obs"}
 *   sizes       {3, 4}
 *   items       a text as of td_index_parse(), such as "0, ..., ::2"
 *   data        a string of bytes, see string.pack()
 *   result      comes back as a result of the call
 *
 * Handles are freed by the collector. Callbacks are not offered. */

%ignore td_apply;
%ignore td_set_log;
%ignore td_tensor_from_blob;
%ignore td_release_set_flag;
%ignore td_release_flag_fn;

/* Numbers: all of Lua's integers, none of its floats. */
%define TD_INTEGER(type)
%typemap(in, checkfn="lua_isinteger") type "$1 = (type)lua_tointeger(L, $input);"
%typemap(out) type { lua_pushinteger(L, (lua_Integer)$1); SWIG_arg++; }
%typemap(in, numinputs=0) type *result (type value) {
  value = 0;
  $1 = &value;
}
%typemap(argout) type *result { lua_pushinteger(L, (lua_Integer)*$1); SWIG_arg++; }
%apply type *result { type *result_index, type *count };
%enddef
TD_INTEGER(int32_t)
TD_INTEGER(uint32_t)
TD_INTEGER(int64_t)
TD_INTEGER(uint64_t)
TD_INTEGER(size_t)

%typemap(out) td_status {
  if ($1 != TD_OK) {
    lua_pushfstring(L, "%s: %s: %s", td_last_error_function(), td_status_name($1),
                    td_last_error_message());
    SWIG_fail;
  }
}
%typemap(out) td_status td_last_error_code { lua_pushinteger(L, $1); SWIG_arg++; }

/* Handles. */
%define TD_HANDLE(type, free_function)
%nodefaultctor type;
struct type {};
%extend type { ~type() { free_function($self); } }
%typemap(in, numinputs=0) type **result (type *made) { made = NULL; $1 = &made; }
%typemap(argout) type **result { SWIG_NewPointerObj(L, *$1, $*1_descriptor, 1); SWIG_arg++; }
%enddef
TD_HANDLE(td_tensor, td_tensor_free)
TD_HANDLE(td_tensordict, td_free)
TD_HANDLE(td_keys, td_keys_free)
TD_HANDLE(td_writer, td_writer_free)
TD_HANDLE(td_dataset, td_dataset_free)

/* Lists. The array is Lua's own, so an error on the way frees it. */
%typemap(in) (const char *const *path, size_t path_len) {
  size_t i, count = lua_istable(L, $input) ? lua_rawlen(L, $input) : 1;
  char **names = (char **)lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
  for (i = 0; i < count && lua_istable(L, $input); i++) {
    if (lua_rawgeti(L, $input, (lua_Integer)i + 1) != LUA_TSTRING)
      SWIG_fail_arg("$symname", $input, "names");
    names[i] = (char *)lua_tostring(L, -1);
    lua_pop(L, 1);  /* the table keeps it */
  }
  if (!lua_istable(L, $input)) names[0] = (char *)lua_tostring(L, $input);
  $1 = names;
  $2 = count;
}
%typemap(argout) (const char *const **path, size_t *path_len) {
  size_t i;
  lua_createtable(L, (int)*$2, 0);
  for (i = 0; i < *$2; i++) {
    lua_pushstring(L, (*$1)[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  SWIG_arg++;
}
%typemap(in, numinputs=0) (const char *const **path, size_t *path_len)
                          (char **names, size_t length) {
  names = NULL;
  length = 0;
  $1 = &names;
  $2 = &length;
}
%typemap(in, checkfn="lua_istable") (const int64_t *sizes, size_t dims) {
  size_t i;
  $2 = lua_rawlen(L, $input);
  $1 = (int64_t *)lua_newuserdatauv(L, ($2 + 1) * sizeof(int64_t), 0);
  for (i = 0; i < $2; i++) {
    lua_rawgeti(L, $input, (lua_Integer)i + 1);
    if (!lua_isinteger(L, -1)) SWIG_fail_arg("$symname", $input, "integers");
    ((int64_t *)$1)[i] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
}
%apply (const int64_t *sizes, size_t dims) {
  (const int64_t *batch_size, size_t batch_dims), (const int64_t *order, size_t dims)
};
%typemap(in, numinputs=0) (int64_t *sizes, size_t sizes_cap, size_t *dims)
                          (int64_t sizes[64], size_t dims) {
  dims = 0;
  $1 = sizes;
  $2 = 64;
  $3 = &dims;
}
%typemap(argout) (int64_t *sizes, size_t sizes_cap, size_t *dims) {
  size_t i;
  lua_createtable(L, (int)*$3, 0);
  for (i = 0; i < *$3; i++) {
    lua_pushinteger(L, $1[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  SWIG_arg++;
}
%apply (int64_t *sizes, size_t sizes_cap, size_t *dims) {
  (int64_t *strides, size_t strides_cap, size_t *dims)
};

/* An index, as text. */
%typemap(in, checkfn="lua_isstring") (const td_index_item *items, size_t items_len) {
  const char *text = lua_tostring(L, $input);
  td_status status = td_index_parse(text, NULL, 0, &$2);
  if (status == TD_OK) {
    $1 = (td_index_item *)lua_newuserdatauv(L, ($2 + 1) * sizeof(td_index_item), 0);
    status = td_index_parse(text, $1, $2, &$2);
  }
  if (status != TD_OK) {
    lua_pushstring(L, td_last_error_message());
    SWIG_fail;
  }
}

/* Bytes in, bytes out. */
%typemap(in, checkfn="lua_isstring") (const void *data, size_t bytes) {
  $1 = (void *)lua_tolstring(L, $input, &$2);
}
%typemap(in, numinputs=0) (void *data, size_t bytes) "$1 = NULL; $2 = 0;"
%typemap(argout) (void *data, size_t bytes) {
  lua_pushlstring(L, (const char *)$1, $2);
  SWIG_arg++;
}
%exception td_tensor_copy_to {
  if (td_tensor_nbytes(arg1, &arg3) == TD_OK) arg2 = lua_newuserdatauv(L, arg3 + 1, 0);
  $action
}

/* Text out: asked for its length first. */
%define TD_TEXT(function, text, text_cap, length)
%exception function {
  $action
  if (result == TD_OK) {
    text_cap = *length + 1;
    text = (char *)lua_newuserdatauv(L, text_cap, 0);
    $action
  }
}
%enddef
TD_TEXT(td_to_string, arg2, arg3, arg4)
TD_TEXT(td_print, arg3, arg4, arg5)
TD_TEXT(td_tensor_to_string, arg2, arg3, arg4)
TD_TEXT(td_saved_path, arg2, arg3, arg4)
TD_TEXT(td_get_non_tensor_json, arg4, arg5, arg6)
%typemap(in, numinputs=0) (char *text, size_t text_cap, size_t *length) (size_t length) {
  $1 = NULL;
  $2 = 0;
  $3 = &length;
}
%typemap(argout) (char *text, size_t text_cap, size_t *length) {
  lua_pushlstring(L, $1, *$3);
  SWIG_arg++;
}
