import { z } from 'zod'
import type { WorkerTopicUse } from '../common/topic-use.ts'
import { type Endpoint, requestChecked } from './http-client.ts'

// What Weir's worker tells of its connectors, besides the REST API of Kafka Connect.

const logLine = z.looseObject({ number: z.number(), line: z.looseObject({}) })
const logResponse = z.object({
  workers: z.array(z.object({ worker: z.string(), run: z.string(), last: z.number(), lines: z.array(logLine) })),
  missing: z.array(z.string()),
})
const metricsResponse = z.object({
  workers: z.array(
    z.looseObject({
      times: z.array(z.number()).optional(),
      lags: z.record(z.string(), z.array(z.number().nullable())).optional(),
    }),
  ),
  missing: z.array(z.string()),
})

const topicsResponse = z.object({
  topics: z.record(z.string(), z.array(z.string())),
  defaultConverters: z.record(z.string(), z.string()),
})
const rightsResponse = z.object({ operations: z.array(z.string()) })

/** A worker reports the lags of this many partitions. */
const PARTITIONS_MAX = 16

export type LoggedLine = { readonly worker: string; readonly line: Readonly<Record<string, unknown>> }
/** `position`: of the next request, which returns the lines after these. */
export type LogPart = {
  readonly lines: readonly LoggedLine[]
  readonly position: ReadonlyMap<string, number>
  readonly missing: readonly string[]
}

export interface WorkerActivityClient {
  /** The log lines of a connector that the workers keep in memory, in the order of time. */
  log(name: string, position: ReadonlyMap<string, number>): Promise<LogPart>
  /**
   * The last known lag of a partition of a sink (`topic-number`), in records; undefined if it is not known. The workers report the
   * highest lags, and leave out partitions that never had one.
   */
  lags(name: string): Promise<(partition: string) => number | undefined>
  /** The topics that each connector has used. */
  topics(): Promise<WorkerTopicUse>
  /** What the user of the request may do with a connector. */
  rights(name: string): Promise<readonly string[]>
}

/** Every call rejects with a `RequestError`, with status 404 if the worker is Java's. */
export function createWorkerActivityClient(endpoint: Endpoint): WorkerActivityClient {
  const get = <Body>(shape: z.ZodType, path: string, query = {}) =>
    requestChecked<Body>(endpoint, { method: 'GET', path, query }, shape)
  return {
    async log(name, position) {
      const after = [...position].map(([run, last]) => `${run}:${last}`).join(',')
      const { workers, missing } = await get<z.infer<typeof logResponse>>(
        logResponse,
        `/ui/api/connectors/${encodeURIComponent(name)}/log`,
        after === '' ? {} : { after },
      )
      const lines = workers.flatMap(({ worker, lines }) => lines.map(({ line }) => ({ worker, line })))
      return {
        lines: lines.toSorted((a, b) => timeOf(a) - timeOf(b)),
        position: new Map([...position, ...workers.map(({ run, last }) => [run, last] as const)]),
        missing,
      }
    },
    async lags(name) {
      const { workers } = await get<z.infer<typeof metricsResponse>>(
        metricsResponse,
        `/ui/api/connectors/${encodeURIComponent(name)}/metrics`,
      )
      const known = new Map(
        workers.flatMap(({ lags = {} }) =>
          Object.entries(lags).flatMap(([partition, values]) => {
            const last = values.at(-1)
            return typeof last === 'number' ? [[partition, last] as const] : []
          }),
        ),
      )
      const isComplete = known.size < PARTITIONS_MAX && workers.some(({ times = [] }) => times.length > 0)
      return (partition) => known.get(partition) ?? (isComplete ? 0 : undefined)
    },
    topics: () => get(topicsResponse, '/ui/api/connector-topics'),
    async rights(name) {
      const query = { kind: 'connectors', name }
      return (await get<z.infer<typeof rightsResponse>>(rightsResponse, '/ui/api/rights', query)).operations
    },
  }
}

function timeOf({ line: { time } }: LoggedLine): number {
  return typeof time === 'string' ? Date.parse(time) || 0 : Number(time) || 0
}
