# Completion of tdtool for bash. Written by tdtool --print bash.
_tdtool() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "show head stats plot report watch grep slice diff cat merge convert pack unpack set rename drop run verify repair --help --version" -- "$word")
    return
  fi
  case ${COMP_WORDS[1]} in
  show)
    options=" --depth -d --elements -e --sha256"
    case $before in
    --depth | -d) return ;;
    --sha256) return ;;
    esac
    ;;
  head)
    options=" --rows -n --from -f"
    case $before in
    --rows | -n) return ;;
    --from | -f) return ;;
    esac
    ;;
  stats)
    options=" --fast"
    case $before in
    esac
    ;;
  plot)
    options=" --hist --rows -n --from -f --element -e --height --width"
    case $before in
    --rows | -n) return ;;
    --from | -f) return ;;
    --element | -e) return ;;
    --height) return ;;
    --width) return ;;
    esac
    ;;
  report)
    options=" --title"
    case $before in
    --title) return ;;
    esac
    ;;
  watch)
    options=" --interval -i --count --once -1"
    case $before in
    --interval | -i) return ;;
    --count) return ;;
    esac
    ;;
  grep)
    options=" --rows -n --count --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --rows | -n) return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  slice)
    options=" --to -t --force --compress -z --checksums --durable --tensors --pad --rows -n"
    case $before in
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    --rows | -n) return ;;
    esac
    ;;
  diff)
    options=" --rtol -r --atol -a --content -c --brief -q"
    case $before in
    --rtol | -r) return ;;
    --atol | -a) return ;;
    esac
    ;;
  cat)
    options=" --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  merge)
    options=" --prefer -p --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --prefer | -p) mapfile -t COMPREPLY < <(compgen -W "first last" -- "$word"); return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  convert)
    options=" --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  pack)
    options=" --force --compress -z --durable"
    case $before in
    esac
    ;;
  unpack)
    options=" --durable"
    case $before in
    esac
    ;;
  set)
    options=" --out -o --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --out | -o) return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  rename)
    options=" --out -o --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --out | -o) return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  drop)
    options=" --out -o --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --out | -o) return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  run)
    options=" --in -i --out -o --batch -b --only-outputs --freeze --device --sha256 --to -t --force --compress -z --checksums --durable --tensors --pad"
    case $before in
    --in | -i) return ;;
    --out | -o) return ;;
    --batch | -b) return ;;
    --device) return ;;
    --sha256) return ;;
    --to | -t) mapfile -t COMPREPLY < <(compgen -W "folder tdz consolidated safetensors npz npy h5 parquet arrow csv json" -- "$word"); return ;;
    esac
    ;;
  verify)
    options=" --add"
    case $before in
    esac
    ;;
  repair)
    options=" --dry-run -n --force"
    case $before in
    esac
    ;;
  esac
  case $before in
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word"); return ;;
    --progress) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word"); return ;;
    --batch-dims) return ;;
  esac
  case $word in
  -*) mapfile -t COMPREPLY < <(compgen -W "$options --json --color --progress --batch-dims --help -h" -- "$word") ;;
  *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -o filenames -F _tdtool tdtool
