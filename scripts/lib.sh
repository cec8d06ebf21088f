# Shared by the other scripts, which source it; bash.
# shellcheck shell=bash

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$0")

die() {
  echo "$name: $*" >&2
  exit 1
}

# For a script without arguments: says what it is for, or refuses any.
takes_nothing() {
  case ${1:-} in
    '') ;;
    -h | --help)
      sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
      exit
      ;;
    *)
      echo "$name: unknown argument $1: there are none" >&2
      exit 2
      ;;
  esac
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || die "$command is not installed: run scripts/test once as root, or install it"
  done
}

jar=$repo/target/environments-api.jar
jvm_cache=$repo/target/environments-api.aot

# Builds the jar unless it is newer than everything it is made of, and the JVM's cache for it. One
# script at a time; those that it starts meanwhile leave that to it.
build() {
  local lock
  [ -z "${BUILDING:-}" ] || return 0
  if is_built && is_trained; then
    return
  fi
  mkdir -p "$repo/target"
  exec {lock}>"$repo/target/.build.lock"
  flock "$lock"
  export BUILDING=1
  is_built || compile
  is_trained || train
  unset BUILDING
  exec {lock}>&-
}

is_built() {
  [ -f "$jar" ] && [ -d "$repo/target/lib" ] &&
    [ -z "$(find "$repo/pom.xml" "$repo/src/main" -newer "$jar" -print -quit)" ]
}

compile() {
  echo "$name: building (the first time this fetches the libraries)" >&2
  rm -rf "$repo/target/lib"
  "$repo/mvnw" -q -B -Dmaven.test.skip=true -Dspotless.check.skip=true package >&2 </dev/null ||
    die "the build failed: see above"
  touch "$jar"
}

# Without the right to write there, the service starts without a cache.
is_trained() {
  [ -n "${NO_TRAINING:-}" ] || [ "$jvm_cache" -nt "$jar" ] || [ ! -w "$repo/target" ]
}

# An empty cache is none: what failed once is left to scripts/train by hand.
train() {
  echo "$name: training the JVM, which takes about a minute (not with NO_TRAINING=1)" >&2
  if ! "$repo/scripts/train"; then
    echo "$name: that failed: starts will be slower" >&2
    : >"$jvm_cache"
  fi
}

# Becomes the JVM that runs a main class; cache_output is where it leaves a new cache at its end.
exec_java() {
  # Not what it finds wrong with single entries of a cache that it has just made.
  local java flags=('-Xlog:aot*=error')
  java=$("$repo/mvnw" --jdk)/bin/java
  if [ -n "${cache_output:-}" ]; then
    flags+=("-XX:AOTCacheOutput=$cache_output")
  elif [ -s "$jvm_cache" ] && [ "$jvm_cache" -nt "$jar" ]; then
    flags+=("-XX:AOTCache=$jvm_cache")
  fi
  # The compiler gives way to requests: a new service has much to compile. Only root may set this.
  [ "$(id -u)" != 0 ] || flags+=(-XX:ThreadPriorityPolicy=1 -XX:CompilerThreadPriority=10)
  exec "$java" "@$repo/conf/jvm.options" "${flags[@]}" -cp "$jar:$repo/target/lib/*" "$@"
}

port_taken() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# The first port from FIRST on that nobody listens on and that is not among the others: FIRST [OTHER...].
free_port() {
  local port=$1 others=" ${*:2} "
  while port_taken "$port" || [[ $others = *" $port "* ]]; do
    port=$((port + 1))
  done
  echo "$port"
}

# Starts a script of ours in a process group of its own, so that Ctrl-C reaches it through us alone
# and in order; should we be killed, the kernel ends it. Sets started to its process id.
start() {
  local log=$1
  shift
  set -m
  setpriv --pdeathsig TERM "$@" </dev/null >"$log" 2>&1 &
  started=$!
  set +m
}

# Ends a process that start started and waits until it is gone.
stop() {
  local pid=$1 waited=0
  [ -n "$pid" ] && kill -TERM "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 300 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  if kill -KILL "$pid" 2>/dev/null; then
    echo "$name: process $pid did not end within 30 s and was killed" >&2
  fi
  wait "$pid" 2>/dev/null || true
}

# Waits until a URL answers 200; fails with the end of the log when the process ends before.
await() {
  local url=$1 pid=$2 log=$3 waited=0
  until curl -fs -m 2 -o /dev/null "$url"; do
    if ! kill -0 "$pid" 2>/dev/null || [ "$waited" -ge 600 ]; then
      tail -n 20 "$log" >&2
      die "$url does not answer: the last lines of $log are above"
    fi
    sleep 0.1
    waited=$((waited + 1))
  done
}

# Waits until somebody listens on a port, like await.
await_port() {
  local port=$1 pid=$2 log=$3 waited=0
  until port_taken "$port"; do
    if ! kill -0 "$pid" 2>/dev/null || [ "$waited" -ge 600 ]; then
      tail -n 20 "$log" >&2
      die "nobody listens on port $port: the last lines of $log are above"
    fi
    sleep 0.1
    waited=$((waited + 1))
  done
}

# Starts the dev keyring and the service on the given ports, logs into a directory, and waits until
# all are ready. Sets keyring_pid, service_pid, keyring_url and base_url. With a fourth argument, a
# port, also a dev settings service there: sets settings_pid and settings_url.
keyring_pid='' service_pid='' settings_pid='' settings_url=''
start_both() {
  local port=$1 keyring_port=$2 logs=$3 settings_port=${4:-} secret
  secret=$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n')
  keyring_url=http://127.0.0.1:$keyring_port
  base_url=http://127.0.0.1:$port
  export DEV_KEYRING_PORT=$keyring_port DEV_KEYRING_ISSUER=$keyring_url DEV_KEYRING_SERVICE_TOKEN=$secret
  start "$logs/keyring.log" "$repo/scripts/dev-keyring"
  keyring_pid=$started
  unset DEV_KEYRING_PORT DEV_KEYRING_ISSUER DEV_KEYRING_SERVICE_TOKEN
  if [ -n "$settings_port" ]; then
    settings_url=http://127.0.0.1:$settings_port
    export DEV_SETTINGS_PORT=$settings_port DEV_SETTINGS_KEYRING_URL=$keyring_url DEV_SETTINGS_TOKEN=$secret
    start "$logs/settings.log" "$repo/scripts/dev-settings-api"
    settings_pid=$started
    unset DEV_SETTINGS_PORT DEV_SETTINGS_KEYRING_URL DEV_SETTINGS_TOKEN
    export ENVAPI_SETTINGS_API_BASE_URL=$settings_url ENVAPI_SETTINGS_API_TOKEN=$secret
  fi
  export ENVAPI_HTTP_PORT=$port ENVAPI_KEYRING_BASE_URL=$keyring_url ENVAPI_KEYRING_ISSUER=$keyring_url \
    ENVAPI_KEYRING_SERVICE_TOKEN=$secret
  start "$logs/service.log" "$repo/scripts/envapi"
  service_pid=$started
  unset ENVAPI_KEYRING_SERVICE_TOKEN ENVAPI_SETTINGS_API_TOKEN
  await "$keyring_url/.well-known/jwks.json" "$keyring_pid" "$logs/keyring.log"
  [ -z "$settings_port" ] || await_port "$settings_port" "$settings_pid" "$logs/settings.log"
  await "$base_url/ready" "$service_pid" "$logs/service.log"
}

stop_both() {
  stop "$service_pid"
  stop "$settings_pid"
  stop "$keyring_pid"
  service_pid='' settings_pid='' keyring_pid=''
}

# One call with the token in $token: METHOD URL [JSON]. Sets status and body.
call() {
  local answer
  answer=$(curl -sS -m 60 -w '\n%{http_code}' -X "$1" -H "Authorization: Bearer ${token:-none}" \
    ${3:+-H 'Content-Type: application/json' -d "$3"} "$2") || die "no answer from $2"
  body=${answer%$'\n'*}
  status=${answer##*$'\n'}
}

# The first member of a JSON text with this name, if it is a string without escapes or a number.
member() {
  grep -o "\"$1\" *: *\(\"[^\"]*\"\|-\?[0-9.]*\)" | head -n 1 | sed 's/^[^:]*: *//; s/"//g'
}

# A token of the dev keyring: ACCOUNT SECONDS. Sets token.
mint() {
  call POST "$keyring_url/dev/mint" "{\"account_id\": \"$1\", \"ttl\": $2}"
  token=$(member token <<<"$body")
  [ -n "$token" ] || die "$keyring_url gave no token (status $status): is it the dev keyring?"
}
