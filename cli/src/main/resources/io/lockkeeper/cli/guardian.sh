# lockkeeper's guardian: ends a command before its lock is no longer valid, should lockkeeper be killed or stopped.
# SPDX-License-Identifier: Apache-2.0
#
# Lockkeeper stops its command itself when it loses the lock. This shell is for the times when it cannot. It is informed, again
# and again, until when the command may run, and has a watch (a subshell with a sleep) that ends the command then; a lockkeeper
# that is stopped says nothing, and the watch runs out. When lockkeeper is killed, the pipe from it ends: at once, the command
# is asked to end, and has until then.
#
# Usage: sh -c THIS guardian MARK kill|term|none FOLDER
#   MARK  what the command and all below it have in their environment (read on Linux only)
#   kill  TERM, and KILL for what is left when the time is over; term: TERM alone; none: nothing
#   FOLDER  is deleted when lockkeeper was killed; may be empty
# Input, in lines:
#   root PID               the command, or the shell whose lock it is
#   until TERM_AT KILL_AT  in ms of /proc/uptime; where there is none, in ms from when the line is read
#   done                   the command has ended, or needs no lock any more
#
# It ignores what a terminal sends to everybody, for it is needed just then.
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
cd /
mark=$1
how=$2
folder=$3
root=
root_began=
term_at=0
kill_at=0
watch=
slept=0
tab='	'
line='
'

# now: the time, in ms. Without a clock it is what this shell has slept.
if [ -r /proc/uptime ]; then
    clock() {
        read -r now rest </proc/uptime
        now=$((${now%.*} * 1000 + 1${now#*.} * 10 - 1000))
    }
else
    clock() { now=$slept; }
fi

# Sleeps until $1. A sleep that is cut short begins again, where there is a clock.
rest_until() {
    clock
    while [ "$now" -lt "$1" ]; do
        ms=$(($1 - now))
        part=$((1000 + ms % 1000))
        sleep "$((ms / 1000)).${part#1}" &
        wait $! || [ "$ms" -lt 1000 ] || sleep 1
        slept=$((slept + ms))
        clock
    done
}

# When a process began, as its number may be another's later; empty where that cannot be read.
began() {
    when=
    if read -r stat 2>/dev/null <"/proc/$1/stat"; then
        set -- ${stat##*) }
        when=${20-}
    fi
}

# found: all that live of the command, what it has started, and what has the mark.
look() {
    found=
    tree=' '
    if [ -n "$root" ]; then
        began "$root"
        if [ "$when" = "$root_began" ]; then tree=" $root "; fi
    fi
    if [ -r /proc/self/status ]; then
        cd /proc
        for process in $(LC_ALL=C grep -laF -e "$mark" [0-9]*/environ 2>/dev/null); do
            tree="$tree${process%%/*} "
        done
        table=$(LC_ALL=C grep -E '^(State|PPid):' [0-9]*/status 2>/dev/null)
        cd /
    else
        table=$(ps -A -o pid= -o ppid= -o stat= 2>/dev/null)
    fi
    parents
    close_tree
}

# pairs: PID:PARENT of all that live; a zombie is dead.
parents() {
    pairs=
    dead=
    saved=$IFS
    IFS=$line
    for entry in $table; do
        IFS=$saved
        case $entry in
            */status:State:?[ZX]*) dead=1 ;;
            */status:State:*) dead= ;;
            */status:PPid:*) if [ -z "$dead" ]; then pairs="$pairs ${entry%%/*}:${entry##*"$tab"}"; fi ;;
            *)
                set -- $entry
                case ${3-Z} in Z*) ;; *) pairs="$pairs $1:$2" ;; esac
                ;;
        esac
    done
    IFS=$saved
}

# From the tree's first members to all below them.
close_tree() {
    more=1
    while [ -n "$more" ]; do
        more=
        for pair in $pairs; do
            case $tree in
                *" ${pair%:*} "*) ;;
                *" ${pair#*:} "*) tree="$tree${pair%:*} " more=1 ;;
            esac
        done
    done
    # In a container the shell that has the lock may be the parent of all orphans, and so ours.
    self=$$
    if read -r self rest 2>/dev/null </proc/self/stat; then :; fi
    for pair in $pairs; do
        case ${pair%:*} in "$$" | "$self") continue ;; esac
        case $tree in *" ${pair%:*} "*) found="$found ${pair%:*}" ;; esac
    done
}

# Asks all to end; those that have not at $1 are killed. A lockkeeper that was killed while it started the command has not given
# its number: then the mark may appear a moment later.
end_all() {
    if [ "$how" = none ]; then return; fi
    asked=' '
    clock
    appears_by=$now
    if [ -z "$root" ]; then appears_by=$((now + 2000)); fi
    while look; [ -n "$found" ] || [ "$now" -lt "$appears_by" ]; do
        clock
        if [ "$how" = kill ] && [ "$now" -ge "$1" ]; then
            kill -KILL $found 2>/dev/null
            rest_until $((now + 20))
            continue
        fi
        for process in $found; do
            case $asked in *" $process "*) continue ;; esac
            kill -TERM "$process" 2>/dev/null
            asked="$asked$process "
        done
        if [ "$how" = term ]; then return; fi
        next=$((now + 50))
        if [ "$next" -gt "$1" ] && [ "$1" -gt "$now" ]; then next=$1; fi
        rest_until "$next"
    done
}

start_watch() {
    stop_watch
    (
        trap 'kill -KILL $! 2>/dev/null; wait $! 2>/dev/null; exit 0' USR1
        rest_until "$term_at"
        end_all "$kill_at"
    ) </dev/null &
    watch=$!
}

stop_watch() {
    if [ -n "$watch" ]; then
        kill -USR1 "$watch" 2>/dev/null
        wait "$watch" 2>/dev/null
    fi
    watch=
}

while read -r verb first second; do
    case $verb in
        root)
            root=$first
            began "$root"
            root_began=$when
            start_watch
            ;;
        until)
            term_at=$first
            kill_at=$second
            start_watch
            ;;
        done)
            stop_watch
            exit 0
            ;;
    esac
done
stop_watch
end_all "$kill_at"
if [ -n "$folder" ]; then rm -rf "$folder"; fi
