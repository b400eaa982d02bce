import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Where the parts of this process live, and what makes sure that they end with it. However this process ends (Ctrl-C,
 * SIGKILL, a crash), a small shell sees its end of the pipe close, kills what was started and removes the directory.
 */
const REAPER = `
trap '' HUP INT TERM
while read -r verb pid; do
  case $verb in
    watch) pids="$pids $pid" ;;
    forget) rest=; for p in $pids; do [ "$p" = "$pid" ] || rest="$rest $p"; done; pids=$rest ;;
  esac
done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`

type Workspace = { readonly directory: string; readonly reaper: ChildProcess }

let workspace: Workspace | undefined
let parts = 0

/** A new directory for one part, gone at the latest when this process is. */
export function partDirectory(name: string): string {
  parts += 1
  const directory = join(openWorkspace().directory, `${name}-${parts}`)
  mkdirSync(directory)
  return directory
}

/** From now on the process dies when this one does. */
export function watchProcess(pid: number): void {
  openWorkspace().reaper.stdin?.write(`watch ${pid}\n`)
}

/** The process has ended: its number may become somebody else's. */
export function forgetProcess(pid: number): void {
  openWorkspace().reaper.stdin?.write(`forget ${pid}\n`)
}

function openWorkspace(): Workspace {
  workspace ??= createWorkspace()
  return workspace
}

function createWorkspace(): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'weir-env-'))
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  // A session of its own: Ctrl-C in the terminal must not reach it before it has done its work.
  const reaper = spawn('sh', ['-c', REAPER, 'weir-env-reaper', directory], { stdio: [...stdio], detached: true })
  reaper.unref()
  const pipe = reaper.stdin as Socket | null
  pipe?.unref()
  // A test process outlives a vitest that was killed, and waits in vain for what died with it.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  return { directory, reaper }
}
