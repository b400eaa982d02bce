import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

// `docs/time-limits.md` has a row for each time limit of the programs. A new duration is a limit, with a row, or it is one of `OTHERS`.

const ROOT = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const PROGRAMS = [
  'src/{worker,registry,operator,java,broker,http,clients,common,compatibility-worker,dead-letters,records,console}/**/*.ts',
  'src/cli/**/*.ts',
  'java/host/src/dev/weir/host/*.java',
]
const FILES = globSync(PROGRAMS, { cwd: ROOT })
  .filter((file) => !file.startsWith('src/console/page/'))
  .toSorted()

/** Intervals, pauses, ages and bounds of other durations, which end nothing that runs. */
const OTHERS: Readonly<Record<string, string>> = {
  'java/host/src/dev/weir/host/RecordChain.java': 'RETRY_DELAY_MS_MIN',
  'src/broker/consumer/consumer.ts': 'METADATA_MAX_AGE_MS METADATA_MAX_AGE_MS_MIN',
  'src/broker/consumer/log-reader.ts': 'FETCH_WAIT_MS',
  'src/broker/embedded/embedded-backend.ts': 'CLEANING_MS MAINTENANCE_MS TICK_MS',
  'src/broker/embedded/log-cleaner.ts': 'PRODUCER_MEMORY_MS',
  'src/broker/kafka/kafka-cluster.ts': 'LEADER_RETRY_FIRST_MS',
  'src/broker/kafka/oauth-token-provider.ts': 'LIFETIME_SECONDS',
  'src/broker/producer/producer.ts': 'METADATA_MAX_AGE_MS REQUEST_MS_MIN',
  'src/cli/commands/up.ts': 'OBSERVE_WORKER_MS',
  'src/cli/doctor/check-clock.ts': 'PROBLEM_MS WARNING_MS',
  'src/cli/terminal/progress-bar.ts': 'FRAME_MS',
  'src/cli/up/display.ts': 'REDRAW_MS',
  'src/cli/up/wait-until-ready.ts': 'STABLE_MS',
  'src/cli/verbs/connector-verbs.ts': 'WATCH_MS',
  'src/cli/verbs/verbs.ts': 'WATCH_MS',
  'src/common/clock.ts': 'SLEEP_MS_MAX',
  'src/common/logging/log-rate-limiter.ts': 'BURST_SECONDS',
  'src/common/secrets/secret-masker.ts': 'KEPT_MS',
  'src/compatibility-worker/schema-operations.ts': 'TURN_MS',
  'src/http/connection-limits.ts': 'SWEEP_MS',
  'src/http/request-body-limits.ts': 'BYTES_PER_MS_MIN',
  'src/http/token-keys.ts': 'COOLDOWN_MS FAILURE_MS',
  'src/http/users.ts': 'VERIFIED_MS_MAX',
  'src/java/discovery/discover-classes.ts': 'SLICE_MS',
  'src/operator/admission/issue-certificate.ts': 'AUTHORITY_MS CLOCK_SKEW_MS PAIR_MS',
  'src/operator/cluster/directory/manifest-watcher.ts': 'QUIET_MS RESCAN_MS',
  'src/operator/cluster/kubernetes/event-recorder.ts': 'REFILL_MS SERIES_MS YIELD_MAX_MS YIELD_MS',
  'src/operator/cluster/kubernetes/kubernetes-cluster.ts': 'WRITING_MS',
  'src/operator/connector/secret-restart.ts': 'SPREAD_MS',
  'src/operator/console/viewer.ts': 'KEPT_MS',
  'src/operator/controller/deferred-statuses.ts': 'HOLD_MS',
  'src/operator/controller/drift-fights.ts': 'TRUCE_MS',
  'src/operator/controller/work-queue.ts': 'DELAY_PRECISION_MS',
  'src/operator/registry-mode/plan-registry-mode.ts': 'CLOCK_SLACK_MS NEVER_MS QUIET_MS',
  'src/records/record-decoder.ts': 'FAILURE_MS',
  'src/registry/metrics/meter.ts': 'SLOT_MS',
  'src/worker/herder/fenced-tasks.ts': 'FENCED_AGAIN_MS',
  'src/worker/herder/status-writer.ts': 'RESTORE_MS',
  'src/worker/isolation/isolated-process.ts': 'SILENT_MS',
  'src/worker/isolation/java/java-plugin-host.ts': 'PROGRESS_MS',
  'src/worker/isolation/java/java-task-host.ts': 'STABLE_MS',
  'src/worker/isolation/plugins/plugin-executor.ts': 'REGENERATION_MS_MIN',
  'src/worker/membership/foreign-members.ts': 'MARGIN_MS',
  'src/worker/membership/rebalance-backoff.ts': 'BACKOFF_MS_MAX BACKOFF_MS_MIN UNUSED_MS_MAX',
  'src/worker/observability/connector-logs.ts': 'WATCHED_MS',
  'src/worker/tasks/error-policy.ts': 'RETRY_DELAY_MS_MIN',
  'src/worker/tasks/task-clients.ts': 'BLOCK_MS_MAX',
  'src/worker/tasks/worker-sink-task.ts': 'POLL_MS_MAX RETRY_POLL_MS_MAX',
  'src/worker/tasks/worker-source-task.ts': 'deliveryTimeoutMs',
}
/** Names of durations that end nothing that runs. */
const OTHER_NAMES =
  /(?:^|_)(?:INTERVAL|RETRY|CHECK|POLL|HEARTBEAT|PAUSE|KEEP_ALIVE|IDLE|REFRESH|FLUSH|BATCH|BACKOFF|WINDOW|DELAY|DAY|RESYNC|REQUEUE)(?:_TIMEOUT)?_(?:MS|NANOS)$/
/** Settings that are intervals, pauses or ages. */
const OTHER_SETTINGS = /interval|\.ttl\.|\.idle\.|cache|reload|refresh/

const CONSTANT =
  /\b([A-Z][A-Z\d_]*_(?:MS|SECONDS|NANOS)(?:_(?:MAX|MIN))?|[A-Z][A-Z\d_]*_(?:MAX|MIN)_MS)(?:: [^=\n]+)? = (\d[\d_]*|\D.*)/g
const OPTION = /\b(withinMs|\w*[tT]imeoutMs|\w+MsMax)(?:: | = )([1-9][\d_]*)\b/g

/** The durations in the source: `FILE NAME` and the values in ms; NaN for a value that is computed. */
function durations(): ReadonlyMap<string, readonly number[]> {
  const all = FILES.flatMap((file) => {
    const text = textOf(file)
    const constants = [...text.matchAll(CONSTANT)].filter(([line]) => !line.includes('=>'))
    return [...constants, ...text.matchAll(OPTION)].map(([, name = '', value = '']) => ({
      key: `${file} ${name}`,
      ms: Number(value.replaceAll('_', '').replace(/;$/, '')) * (name.endsWith('_SECONDS') ? 1_000 : 1),
    }))
  })
  const found = all.filter(({ key }) => !OTHER_NAMES.test(key.slice(key.lastIndexOf(' ') + 1)))
  return new Map([...Map.groupBy(found, ({ key }) => key)].map(([key, same]) => [key, same.map(({ ms }) => ms)]))
}

function settings(): ReadonlyMap<string, number> {
  const pages = ['worker', 'registry'].flatMap((program) => [
    ...textOf(`docs/config/${program}.md`).matchAll(/^\| `([\w.]+\.ms)` \| [^|]+ \| `?([^|`]*)`? \|/gm),
  ])
  return new Map(pages.map(([, key = '', value = '']) => [key, value.trim() === '' ? Number.NaN : Number(value)]))
}

const rows = [...textOf('docs/time-limits.md').matchAll(/^\| (.+?) \| (.+?) \| (.+) \| (.+) \|$/gm)].flatMap(
  ([, limit = '', value = '']) => {
    const [name, file] = [...limit.matchAll(/`([^`]+)`/g)].map(([, code]) => code)
    return name === undefined ? [] : [{ name, key: file === undefined ? name : `${file} ${name}`, value, file }]
  },
)

it('every time limit in the source has a row, with its value', () => {
  const inSource = durations()
  const ofConstants = rows.filter(({ file }) => file !== undefined)
  const listed = [...ofConstants.map(({ key }) => key), ...others()].toSorted()
  expect(listed).toEqual([...inSource.keys()].toSorted())
  expect(ofConstants.map(({ key, value }) => `${key}: ${value}`)).toEqual(
    ofConstants.map(({ key }) => `${key}: ${inText(inSource.get(key)?.[0] ?? Number.NaN)}`),
  )
})

it('every setting that is a time limit has a row, with its default', () => {
  const known = settings()
  const mentioned = textOf('docs/time-limits.md')
  const limits = [...known].filter(([key]) => !OTHER_SETTINGS.test(key))
  expect(limits.filter(([key]) => !mentioned.includes(`\`${key}\``)).map(([key]) => key)).toEqual([])
  const ofSettings = rows.filter(({ file, key }) => file === undefined && known.has(key))
  expect(ofSettings.map(({ key, value }) => `${key}: ${value}`)).toEqual(
    ofSettings.map(({ key }) => `${key}: ${inText(known.get(key)!)}`),
  )
})

it('a time limit in the source has a name', () => {
  const calls =
    /\b(?:withTimeout|startDeadline|AbortSignal\.timeout|setTimeout)\((?:[^()]|\([^()]*\))*?, ?\d[\d_]{2,}\)|\bAbortSignal\.timeout\(\d/g
  const unnamed = FILES.flatMap((file) => [...textOf(file).matchAll(calls)].map(([call]) => `${file}: ${call}`))
  // The pause of a pipe that is read too fast, and of a file that is being replaced.
  expect(unnamed.filter((call) => !/1_000\)$/.test(call))).toEqual([])
})

function others(): readonly string[] {
  return Object.entries(OTHERS).flatMap(([file, names]) => names.split(' ').map((name) => `${file} ${name}`))
}

function inText(ms: number): string {
  if (Number.isNaN(ms)) return 'none'
  const [unit, size] =
    (
      [
        ['h', 3_600_000],
        ['min', 60_000],
        ['s', 1_000],
      ] as const
    ).find(([, one]) => ms === one || (ms >= 2 * one && ms % one === 0)) ?? (ms > 1_000 ? ['s', 1_000] : ['ms', 1])
  return `${ms / size} ${unit}`
}
