# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What only a clone needs: Maven, on first use, after changes of the sources, and to make packages. Part of ../../../lockkeeper and
# ../../../install, which define $root, $me (how messages begin), $java and `unavailable`. One process at a time builds; the others
# wait for it.
# shellcheck disable=SC2154,SC2034 # variables of the two scripts

home=$root/cli/target/launcher # its link "current" leads to the folder of the newest build

# On a terminal, one line that changes and disappears in the end.
say() { if [[ -t 2 ]]; then printf '\r\033[K%s: %s' "$me" "$*" >&2; fi; }
wipe() { if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi; }

# Elsewhere, as in the log of a job, a line that stays: nobody should have to guess why nothing happens for minutes.
announce() { if [[ -t 2 ]]; then say "$*"; else printf '%s: %s\n' "$me" "$*" >&2 || true; fi; }
waits="waiting for another lockkeeper, which builds"

lock() {
    { mkdir -p "$home" && [[ -w $home ]]; } 2>/dev/null \
        || unavailable "it has to be built first, and $home is not writable"
    if command -v flock >/dev/null; then
        exec 9>"$home/lock"
        flock -n 9 || { announce "$waits"; flock 9; }
        return
    fi
    # Without flock a folder is the lock. A builder that was killed leaves it behind; its pid shows that.
    local owner announced=
    until mkdir "$home/building" 2>/dev/null; do
        if [[ -z $announced ]]; then announce "$waits"; announced=1; fi
        owner=$(cat "$home/building/pid" 2>/dev/null || true)
        if [[ -n $owner ]] && ! kill -0 "$owner" 2>/dev/null; then
            mv "$home/building" "$home/stale.$$" 2>/dev/null && rm -rf "$home/stale.$$"
        fi
        sleep 0.2
    done
    trap 'rm -rf "$home/building"' EXIT
    echo $$ >"$home/building/pid"
}

unlock() {
    if command -v flock >/dev/null; then
        exec 9>&-
    else
        rm -rf "$home/building"
        trap - EXIT
    fi
}

# maven WHAT LOG ARGUMENTS…: runs Maven without tests and format, shows for how long, and keeps its output in the log.
maven() {
    local what=$1 log=$2 start=$SECONDS failed=0
    shift 2
    (
        cd "$root" || exit
        export MAVEN_OPTS="${MAVEN_OPTS--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}" # it does not run for long
        exec mvn -B -ntp -Dmaven.test.skip=true -Dspotless.check.skip "$@"
    ) >"$log" 2>&1 </dev/null & # it inherits the lock: if we are killed, nobody builds beside it
    local maven=$!
    trap 'give_up 1' HUP
    trap 'give_up 2' INT
    trap 'give_up 15' TERM
    # shellcheck disable=SC2317 # called by the traps
    give_up() {
        kill "$maven" 2>/dev/null || true
        wait "$maven" || true
        if [[ -n ${next-} ]]; then rm -rf "$next"; fi
        wipe
        exit $((128 + $1))
    }
    while kill -0 "$maven" 2>/dev/null; do
        say "$what, $((SECONDS - start)) s"
        sleep 0.5
    done
    wait "$maven" || failed=1
    trap - HUP INT TERM
    wipe
    if ((failed)); then
        grep -m 20 '^\[ERROR\]' "$log" >&2 || tail -n 20 "$log" >&2
        if [[ -n ${next-} ]]; then rm -rf "$next"; fi
        unavailable "the build failed; its whole output is in $log"
    fi
}

# A build knows where it was made: in a clone that was copied or moved, the link leads elsewhere.
is_current() {
    local app=$home/current
    [[ -e $app/stamp && $(<"$app/stamp") == "$root" ]] || return 1
    [[ -z $(find "$root/pom.xml" "$root"/{core,cli,stores/*}/pom.xml "$root"/{core,cli,stores/*}/src/main \
        -newer "$app/stamp" -print 2>/dev/null | head -n 1) ]]
}

# Whether a command runs from that build, or may, where we cannot look.
is_used() {
    local all
    all=$(ps -A -ww -o args= 2>/dev/null) || return 0
    [[ $all == *"$1/"* ]]
}

build() {
    local next jar old
    command -v mvn >/dev/null || unavailable "it has to be built first, and there is no mvn on the PATH"
    next=$home/$(date +%s).$$
    mkdir -p "$next"
    echo "$root" >"$next/stamp" # older than everything that changes during the build
    rm -rf "$root"/cli/target/lib "$root"/cli/target/lockkeeper-cli-*.jar # may be of another version
    announce "building, which takes a minute or more the first time; see $home/build.log"
    maven building "$home/build.log" -q -pl cli -am package
    for jar in "$root"/cli/target/lib/*.jar "$root"/cli/target/lockkeeper-cli-*.jar; do
        case $jar in
            *-sources.jar | *-javadoc.jar) ;;
            *) cp "$jar" "$next" ;;
        esac
    done
    say "preparing a quick start"
    prepare "$next" "$(classpath "$next")"
    # In one step, so that nobody finds half of it. A running command still needs its own build: Java opens files late.
    ln -sfn "${next##*/}" "$home/current.$$"
    mv -fT "$home/current.$$" "$home/current" 2>/dev/null || { rm -f "$home/current" && mv -f "$home/current.$$" "$home/current"; }
    for old in "$home"/[0-9]*.[0-9]*; do
        if [[ $old != "$next" && -z $(find "$old" -maxdepth 0 -mmin -60) ]] && ! is_used "$old"; then rm -rf "$old"; fi
    done
}

# Builds if necessary. $prepared is the folder of the build.
find_build() {
    if ! is_current; then
        lock
        if ! is_current; then build; fi
        unlock
        wipe
    fi
    prepared=$home/$(readlink "$home/current")
}

# lockkeeper package: the archive for other hosts.
package() {
    local log=$root/cli/target/package.log archive
    case $#${1-} in
        0) ;;
        1-h | 1--help)
            cat <<'TEXT'
Usage: ./lockkeeper package
Makes cli/target/lockkeeper-VERSION.tar.gz: the command line for hosts that have
Bash and Java 17 or later, without Maven and without this clone.

Its last line is the path of the archive. Needs a JDK and Maven.
TEXT
            return
            ;;
        *)
            echo "lockkeeper: package has no arguments; try ./lockkeeper package --help (a lock of that name: lockkeeper run package -- COMMAND)" >&2
            exit 64
            ;;
    esac
    command -v mvn >/dev/null || unavailable "there is no mvn on the PATH"
    lock
    announce "packaging, which takes a minute or more the first time; see $log"
    rm -rf "$root"/cli/target/lockkeeper-*.tar.gz
    maven packaging "$log" -q -Prelease -Dmaven.javadoc.skip -Dmaven.source.skip -pl cli -am package
    unlock
    archive=$(echo "$root"/cli/target/lockkeeper-*.tar.gz)
    [[ -e $archive ]] || unavailable "no archive was made; see $log"
    echo "$archive"
}
