import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A shell script that cleans up after this process. However this process ends (Ctrl-C, SIGKILL, a crash), the shell
 * detects that its pipe is closed, kills all started processes, unmounts what was mounted and removes the directory of
 * the parts.
 */
const REAPER = `
trap '' HUP INT TERM
while read -r verb pid; do
  case $verb in
    watch) pids="$pids $pid" ;;
    mount) mounts="$mounts $pid" ;;
    forget) rest=; for p in $pids; do [ "$p" = "$pid" ] || rest="$rest $p"; done; pids=$rest ;;
  esac
done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
[ -z "$mounts" ] || umount -l $mounts 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`

type Workspace = { readonly directory: string; readonly reaper: ChildProcess }

let workspace: Workspace | undefined
let parts = 0

/** Creates a directory for one part. It is removed when this process exits. */
export function partDirectory(name: string): string {
  parts += 1
  const directory = join(openWorkspace().directory, `${name}-${parts}`)
  mkdirSync(directory)
  return directory
}

/** From now on the process is killed when this one exits. */
export function watchProcess(pid: number): void {
  openWorkspace().reaper.stdin?.write(`watch ${pid}\n`)
}

/** Called when the process has exited, because its id may be reused. */
export function forgetProcess(pid: number): void {
  openWorkspace().reaper.stdin?.write(`forget ${pid}\n`)
}

/** From now on the file system that is mounted in this part's directory is unmounted when this process exits. */
export function watchMount(directory: string): void {
  openWorkspace().reaper.stdin?.write(`mount ${directory}\n`)
}

function openWorkspace(): Workspace {
  workspace ??= createWorkspace()
  return workspace
}

function createWorkspace(): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'weir-env-'))
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  // Runs in a new session, so that Ctrl-C in the terminal does not end it before it has cleaned up.
  const reaper = spawn('sh', ['-c', REAPER, 'weir-env-reaper', directory], { stdio: [...stdio], detached: true })
  reaper.unref()
  const pipe = reaper.stdin as Socket | null
  pipe?.unref()
  // If vitest is killed, a test process would continue and wait forever for parts that were stopped.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  return { directory, reaper }
}
