import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../common/logging/logger.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { WatchdogThreadData } from './watchdog-thread-main.ts'

/** The watchdog checks the main thread about this many times within `blockedMsMax`; an interval is 250 ms to 2 s. */
const INTERVALS = 12
const INTERVAL_MS_MIN = 250
const INTERVAL_MS_MAX = 2_000
/** Most of it is for stripping the types of the thread's file when it runs from source. */
const THREAD_MEMORY_MB_MAX = 64

/**
 * The watchdog as a program of the shell. Its arguments are the watched process, the interval in seconds and in ms, and the
 * number of intervals without a heartbeat after which it kills the process. The heartbeat is SIGURG, because a process without
 * a handler ignores it. Other signals go to the whole process group and are meant for the watched process.
 *
 * It counts its own intervals, without those in which the watched process was stopped, so that neither a stopped process nor
 * a suspended machine counts as blocked. It ends with the watched process, which it identifies by its start time also (field
 * 22 of `/proc/PID/stat`), because another process may get the same id.
 */
const SHELL_SCRIPT = `trap '' HUP INT QUIT TERM
trap 'missed=0' URG
process=$1 seconds=$2 ms=$3 limit=$4 missed=0 born=
while sleep "$seconds" 2>/dev/null; do
  { read -r stat </proc/$process/stat; } 2>/dev/null || exit
  set -- \${stat##*") "}
  case $1 in [ZX]) exit ;; [Tt]) continue ;; esac
  [ "\${born:=\${20}}" = "\${20}" ] || exit
  missed=$((missed + 1))
  [ $missed -lt $limit ] && continue
  printf '{"level":"fatal","time":"%s","blockedMs":%d,"msg":"the main thread is blocked: killing the process"}\\n' \\
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" $((missed * ms)) >&2
  kill -9 $process
  exit
done`

export type WatchdogOptions = {
  /** Default: `/bin/sh`. */
  readonly shell?: string
}

/**
 * Kills the process when its main thread is blocked for `blockedMsMax`, because a blocked main thread cannot handle signals. Does
 * not keep the process alive. The watchdog is a shell, which needs 1 MB; where no shell can watch a process, it is a thread,
 * which needs 10 to 18 MB. Process 1 of a container cannot be killed from within it: its liveness probe ends it, and it has no
 * watchdog.
 */
export function startMainThreadWatchdog(
  blockedMsMax: number,
  logger: Logger,
  { shell = '/bin/sh' }: WatchdogOptions = {},
): void {
  if (process.pid === 1) return
  const intervalMs = Math.min(INTERVAL_MS_MAX, Math.max(INTERVAL_MS_MIN, Math.ceil(blockedMsMax / INTERVALS)))
  const watchdog = spawnShell(shell, intervalMs, blockedMsMax)
  const heartbeats = setInterval(() => watchdog.kill('SIGURG'), intervalMs).unref()
  const end = () => watchdog.kill('SIGKILL')
  process.once('exit', end)
  const ended = new Promise((resolve) => watchdog.on('error', resolve).on('exit', resolve))
  void ended.then(() => {
    clearInterval(heartbeats)
    process.off('exit', end)
    startThread(intervalMs, blockedMsMax, logger)
  })
}

function spawnShell(shell: string, intervalMs: number, blockedMsMax: number): ChildProcess {
  // One more, because the main thread may have become blocked in the middle of the first interval.
  const limit = Math.ceil(blockedMsMax / intervalMs) + 1
  const args = [process.pid, intervalMs / 1_000, intervalMs, limit].map(String)
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
  const options: SpawnOptions = { cwd: '/', env, stdio: ['ignore', 'ignore', 'inherit'] }
  const watchdog = spawn(shell, ['-c', SHELL_SCRIPT, 'weir-watchdog', ...args], options)
  watchdog.unref()
  return watchdog
}

function startThread(heartbeatMs: number, blockedMsMax: number, logger: Logger): void {
  const heartbeat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const counter = new Int32Array(heartbeat)
  setInterval(() => Atomics.add(counter, 0, 1), heartbeatMs).unref()
  const workerData: WatchdogThreadData = { heartbeat, heartbeatMs, blockedMsMax }
  const watchdog = new Worker(entryPoint('cli/process/watchdog-thread-main'), {
    name: 'main-thread-watchdog',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB_MAX },
  })
  // The program continues without the watchdog.
  watchdog.on('error', (error) => logger.warn({ err: error }, 'the main thread watchdog failed'))
  watchdog.unref()
}
