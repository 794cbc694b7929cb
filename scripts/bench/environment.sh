# shellcheck shell=bash
# How every benchmark prints: the environment first, then lines "name value unit" and "name.ratio value ratio".

print_environment() {
  printf '# %s\n' "$(date -u +%FT%TZ)" "$(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    "load average $(cut -d' ' -f1-3 /proc/loadavg), $(awk '/^MemTotal/ { print int($2 / 1048576) " GB" }' /proc/meminfo)" \
    "$("$PG_BIN/postgres" --version), $("$JAVA" -version 2>&1 | head -n 1), $(git -C "$CHECKOUT" log -1 --format=%h 2>/dev/null || echo 'no git')"
}

# result NAME VALUE UNIT
result() { printf '%-44s %14s %s\n' "$1" "$2" "$3"; }

# ratio NAME NUMERATOR DENOMINATOR
ratio() { result "$1" "$(awk -v a="$2" -v b="$3" 'BEGIN { if (b > 0) printf "%.3f", a / b; else print "none" }')" ratio; }
