import type { Figure } from './figures.ts'
import type { NeededPart } from './needed-parts.ts'
import type { Settings } from './settings.ts'

/** Settings that can be chosen on the command line. */
export type Sizes = Pick<Settings, 'records' | 'rounds' | 'objects' | 'schemas' | 'converters'>

/** One part of the benchmark, which runs in a process of its own. */
export type BenchPart = {
  /** Loads the code that measures. */
  load(): Promise<(settings: Settings) => Promise<readonly Figure[]>>
  /** What has to be on this machine before the time limit counts. Kafka is there for all. */
  readonly needs: readonly NeededPart[]
  /** What `--quick` measures instead of the default sizes. */
  readonly quick: Partial<Sizes>
  /** Limit for one round in minutes, with `--quick` and without, on a machine of the speed for which it was chosen. */
  readonly limitMinutes: { readonly quick: number; readonly full: number }
  /** Whether `--beside` measures this part with the other revision, too. */
  readonly isPaired?: boolean
}

/** In the order in which they run: those with the most important aims first. */
export const PARTS = {
  start: {
    load: async () => (await import('./start/main.ts')).benchStart,
    needs: ['javaConnect'],
    quick: {},
    limitMinutes: { quick: 3, full: 5 },
  },
  latency: {
    load: async () => (await import('./latency/main.ts')).benchLatency,
    needs: ['javaConnect'],
    quick: {},
    limitMinutes: { quick: 2, full: 4 },
  },
  console: {
    load: async () => (await import('./console/main.ts')).benchConsole,
    needs: ['chromium'],
    quick: {},
    limitMinutes: { quick: 2, full: 3 },
  },
  datagen: {
    load: async () => (await import('./datagen/main.ts')).benchDatagen,
    needs: [],
    quick: { records: 2_000_000 },
    limitMinutes: { quick: 1, full: 2 },
  },
  registry: {
    load: async () => (await import('./registry/main.ts')).benchRegistry,
    needs: ['apicurio'],
    quick: {},
    limitMinutes: { quick: 6, full: 30 },
  },
  postgres: {
    load: async () => (await import('./postgres/main.ts')).benchPostgres,
    needs: ['postgres', 'javaConnect', 'debezium'],
    quick: { records: 1_000_000 },
    limitMinutes: { quick: 4, full: 15 },
    isPaired: true,
  },
  operator: {
    load: async () => (await import('./operator/main.ts')).benchOperator,
    needs: ['kubernetes'],
    quick: { objects: 2_000 },
    limitMinutes: { quick: 3, full: 90 },
  },
  log: {
    load: async () => (await import('./log.ts')).benchLog,
    needs: [],
    quick: {},
    limitMinutes: { quick: 1, full: 5 },
    isPaired: true,
  },
  worker: {
    load: async () => (await import('./worker/main.ts')).benchWorker,
    needs: ['javaConnect'],
    quick: {},
    limitMinutes: { quick: 4, full: 12 },
    isPaired: true,
  },
  'log-cluster': {
    load: async () => (await import('./log.ts')).benchLogOnCluster,
    needs: [],
    quick: {},
    limitMinutes: { quick: 2, full: 6 },
  },
  'worker-cluster': {
    load: async () => (await import('./worker/cluster.ts')).benchWorkerOnCluster,
    needs: ['javaConnect'],
    quick: {},
    limitMinutes: { quick: 4, full: 12 },
  },
  check: {
    load: async () => (await import('./check/main.ts')).benchCheck,
    needs: [],
    quick: {},
    limitMinutes: { quick: 2, full: 3 },
  },
  'java-plugins': {
    load: async () => (await import('./java-plugins/main.ts')).benchJavaPlugins,
    needs: ['postgres', 'javaConnect', 'javaHost', 'debezium'],
    quick: { records: 100_000 },
    limitMinutes: { quick: 2, full: 15 },
  },
  cdc: {
    load: async () => (await import('./cdc/main.ts')).benchCdc,
    needs: ['postgres', 'javaConnect', 'debezium', 'apicurio'],
    quick: { records: 200_000, converters: 'avro' },
    limitMinutes: { quick: 3, full: 20 },
    isPaired: true,
  },
  'cdc-mariadb': {
    load: async () => (await import('./cdc/mariadb.ts')).benchMariadbCdc,
    needs: ['mariadb', 'javaConnect', 'debezium'],
    quick: { records: 200_000, converters: 'json' },
    limitMinutes: { quick: 3, full: 12 },
  },
} as const satisfies Readonly<Record<string, BenchPart>>

export type PartName = keyof typeof PARTS
