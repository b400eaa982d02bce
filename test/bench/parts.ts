import type { Figure } from './figures.ts'
import type { Settings } from './settings.ts'

/** Settings that can be chosen on the command line. */
export type Sizes = Pick<Settings, 'records' | 'rounds' | 'objects' | 'schemas' | 'converters'>

/** One part of the benchmark, which runs in a process of its own. */
export type BenchPart = {
  /** Loads the code that measures. */
  load(): Promise<(settings: Settings) => Promise<readonly Figure[]>>
  /** What `--quick` measures instead of the default sizes. */
  readonly quick: Partial<Sizes>
  /** Limit for one round in minutes: with `--quick`, and without. */
  readonly limitMinutes: { readonly quick: number; readonly full: number }
}

/** In the order in which they run: those with the most important aims first. */
export const PARTS = {
  start: {
    load: async () => (await import('./start/main.ts')).benchStart,
    quick: {},
    limitMinutes: { quick: 3, full: 5 },
  },
  latency: {
    load: async () => (await import('./latency/main.ts')).benchLatency,
    quick: {},
    limitMinutes: { quick: 2, full: 4 },
  },
  console: {
    load: async () => (await import('./console/main.ts')).benchConsole,
    quick: {},
    limitMinutes: { quick: 1, full: 2 },
  },
  datagen: {
    load: async () => (await import('./datagen/main.ts')).benchDatagen,
    quick: { records: 2_000_000 },
    limitMinutes: { quick: 1, full: 2 },
  },
  registry: {
    load: async () => (await import('./registry/main.ts')).benchRegistry,
    quick: {},
    limitMinutes: { quick: 4, full: 30 },
  },
  postgres: {
    load: async () => (await import('./postgres/main.ts')).benchPostgres,
    quick: { records: 1_000_000 },
    limitMinutes: { quick: 4, full: 15 },
  },
  operator: {
    load: async () => (await import('./operator/main.ts')).benchOperator,
    quick: { objects: 2_000 },
    limitMinutes: { quick: 3, full: 90 },
  },
  log: {
    load: async () => (await import('./log.ts')).benchLog,
    quick: {},
    limitMinutes: { quick: 1, full: 5 },
  },
  worker: {
    load: async () => (await import('./worker/main.ts')).benchWorker,
    quick: {},
    limitMinutes: { quick: 3, full: 10 },
  },
  check: {
    load: async () => (await import('./check/main.ts')).benchCheck,
    quick: {},
    limitMinutes: { quick: 2, full: 3 },
  },
  'java-plugins': {
    load: async () => (await import('./java-plugins/main.ts')).benchJavaPlugins,
    quick: { records: 100_000 },
    limitMinutes: { quick: 2, full: 15 },
  },
  cdc: {
    load: async () => (await import('./cdc/main.ts')).benchCdc,
    quick: { records: 200_000, converters: 'avro' },
    limitMinutes: { quick: 3, full: 20 },
  },
} as const satisfies Readonly<Record<string, BenchPart>>

export type PartName = keyof typeof PARTS
