#!/bin/bash
# Makes a chroot of each supported release of Debian, and in it runs the two commands of README.md,
# builds the .deb of this tree and installs it. Run it by hand, as root: it takes hours, 12 GB for
# a release, and the network.
#
# Usage: tools/verify_platforms.sh [-r RELEASE] ... [-t TARGETS] [FOLDER]
#   -r RELEASE  only this release, for example trixie. Repeat it for several releases
#   -t TARGETS  what the second command tests. Default: //...
#   FOLDER      gets the chroots, and keeps them: another run continues with what is there, and
#               its build has less to do. Default: a temporary one, which is removed at the end
#
# The environment variable DEBIAN_MIRROR names another source of packages than deb.debian.org.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
usage() { sed -n '6,12s/^# //p' "$0"; exit 2; }
fail() { echo "verify_platforms: $1" >&2; exit 1; }

releases=()
targets=//...
while getopts "r:t:" option; do
  case "$option" in
    r) releases+=("$OPTARG") ;;
    t) targets=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
(($# <= 1)) || usage
((${#releases[@]})) || releases=(bookworm trixie)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

[[ "$(id -u)" == 0 ]] || fail "chroot needs root: run it as root, or with sudo"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"

mounted=()
temporary=
clean_up() {
  for folder in "${mounted[@]}"; do umount "$folder"; done
  mounted=()
  # --one-file-system: nothing that is still mounted is removed.
  [[ -z "$temporary" ]] || rm -rf --one-file-system "$temporary"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
if (($#)); then
  mkdir -p "$1" || fail "cannot make the folder $1"
  folder=$(realpath "$1")
else
  temporary=$(mktemp -d) || fail "cannot make a temporary folder"
  folder=$temporary
fi

# in_chroot ROOT COMMAND...: in the copy of this tree, with the environment of a new user.
in_chroot() {
  local root=$1
  shift
  chroot "$root" env -i HOME=/root USER=root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    bash -c 'cd /estimator && "$@"' bash "$@"
}

# step ROOT NAME COMMAND...: runs a command in the chroot, and prints the seconds that it took.
step() {
  local root=$1 name=$2 begin=$SECONDS
  shift 2
  echo "== ${root##*/}: $name"
  if in_chroot "$root" "$@" </dev/null; then
    echo "== ${root##*/}: $name took $((SECONDS - begin)) s"
  else
    failed+=("${root##*/}: $name")
    return 1
  fi
}

verify() {
  local root=$folder/$1
  if [[ ! -e "$root/etc/debian_version" ]]; then
    echo "== $1: debootstrap"
    # git: whoever has a clone has it. pkgconf: tools/package_deb asks it.
    debootstrap --variant=minbase --include=git,pkgconf "$1" "$root" "$mirror" >"$root.log" 2>&1 ||
      { tail -n 15 "$root.log" >&2; failed+=("$1: debootstrap"); return; }
  fi
  cp /etc/resolv.conf "$root/etc/" || return
  mount -t proc proc "$root/proc" && mounted+=("$root/proc")

  # What git knows of this tree, with edits and new files.
  rm -rf "$root/estimator" && mkdir "$root/estimator" || return
  git ls-files --cached --others --exclude-standard -z |
    while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done |
    tar -c --null -T - | tar -x -C "$root/estimator" || { failed+=("$1: copy"); return; }

  if step "$root" "first command" ./bazelw run //models/mnist:mnist_tpu -- --use_tpu=false; then
    step "$root" "second command" ./bazelw test --noshow_progress "$targets"
    step "$root" "public headers" ./bazelw test //tools/install:headers_alone_test
    if [[ -e tools/package_deb ]]; then
      step "$root" "package" tools/package_deb /deb &&
        step "$root" "install" bash -c 'apt-get -qq install -y --no-install-recommends /deb/*.deb'
    fi
  fi
  in_chroot "$root" ./bazelw shutdown
}

failed=()
for release in "${releases[@]}"; do verify "$release"; done
if ((${#failed[@]})); then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
echo "all passed: ${releases[*]}"
