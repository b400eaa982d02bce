import fs, { rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { DataFsync } from '../../../src/broker/broker-address.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { Random } from '../../../src/java-compat/avro-random-generator/random.ts'
import { type DurableFiles, readDurableFiles, tornFile, writeDurableFiles } from '../../support/power-cut.ts'
import { SEED } from '../../support/property-seed.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'

/** `WEIR_POWER_CUTS=10000` cuts the power more often. */
const CUTS = Number(process.env['WEIR_POWER_CUTS'] ?? 160)
const CUTS_A_STEP = 4
/** A restart of the program after this many steps. */
const STEPS_A_LIFE = 40
const NAMES = 4
/** So many that `broker.check` has several sectors. */
const PARTITIONS = 100

/**
 * The files after each step, which is one acknowledged commit, as the program sees them. What has reached the disk when the
 * power is cut is built from them by what SQLite syncs: with `commit` the write-ahead log before each acknowledgement,
 * otherwise before a checkpoint only; the database after a checkpoint, before the log is written from its start again; and
 * `broker.check` at some time.
 */
type Step = { readonly step: number; readonly files: DurableFiles }

type Recording = {
  readonly fsync: DataFsync
  readonly random: Random
  /** The states whose `broker.check` may be the one on the disk. */
  readonly checks: Step[]
  /** The states since the log was synced. */
  unsynced: Step[]
}

type Cut = {
  /** A directory that does not exist, for these files. */
  readonly directory: string
  readonly files: DurableFiles
  /** The acknowledged step that must have survived. */
  readonly from: number
  /** The last step that may have. */
  readonly to: number
}

it('syncs each directory in which it has created a directory, so that a power cut does not remove the new one', () => {
  const paths = new Map<number, unknown>()
  const synced: unknown[] = []
  const { openSync, fsyncSync } = fs
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...more) => {
    const file = openSync(path, ...more)
    paths.set(file, path)
    return file
  })
  vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
    synced.push(paths.get(file))
    fsyncSync(file)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
  const existing = memoryDirectory()
  const directory = join(existing, 'new/data')
  new Storage(directory, { nowMs: 0, logger: silentLogger() }).close()
  expect(synced).toEqual(expect.arrayContaining([existing, join(existing, 'new'), directory]))
})

it('loses nothing acknowledged in a power cut when it syncs each commit', {
  tags: ['slow'],
  timeout: 120_000,
}, async () => {
  for await (const cut of cuts('commit')) {
    const { from, to } = cut
    const found = await stepAfter(cut)
    expect(found, String(found)).toBeTypeOf('number')
    expect(found).toBeGreaterThanOrEqual(from)
    expect(found).toBeLessThanOrEqual(to)
  }
})

it('has a complete earlier state after a power cut, or refuses to start, when it syncs at checkpoints', {
  tags: ['slow'],
  timeout: 120_000,
}, async () => {
  const refusals: string[] = []
  for await (const cut of cuts('checkpoint')) {
    const { from, to } = cut
    const found = await stepAfter(cut)
    if (typeof found === 'string') refusals.push(found)
    else {
      expect(found).toBeGreaterThanOrEqual(from)
      expect(found).toBeLessThanOrEqual(to)
    }
  }
  expect(refusals.length).toBeGreaterThan(0)
  expect(refusals.filter((message) => !message.includes('was acknowledged, but the last one in it is'))).toEqual([])
})

async function* cuts(fsync: DataFsync): AsyncGenerator<Cut> {
  const random = new Random(SEED)
  const parent = memoryDirectory()
  const directory = join(parent, 'data')
  const place = { directory: join(parent, 'cut') }
  for (let count = 0, step = 0; count < CUTS; count += CUTS_A_STEP * STEPS_A_LIFE) {
    const storage = new Storage(directory, { nowMs: 0, logger: silentLogger(), fsync })
    const first = { step, files: readDurableFiles(directory) }
    const recording: Recording = { fsync, random, checks: [first], unsynced: [first] }
    for (const end = step + STEPS_A_LIFE; step < end; ) {
      step += 1
      await write(storage, step, random)
      const after = { step, files: readDurableFiles(directory) }
      for (let cut = 0; cut < CUTS_A_STEP; cut++) yield { ...place, ...cutIn(recording, after) }
      if (fsync === 'commit' || isCheckpoint(recording.unsynced.at(-1)!, after)) recording.unsynced = []
      recording.unsynced.push(after)
      recording.checks.push(after)
    }
    storage.close()
    // The removal of the log may not have reached the disk.
    const log = recording.unsynced.at(-1)!.files['broker.db-wal']
    yield { ...place, files: { ...readDurableFiles(directory), 'broker.db-wal': log }, from: step, to: step }
  }
}

/** A state of the disk when the power is cut during the last step. */
function cutIn({ fsync, unsynced, checks, random }: Recording, after: Step): Omit<Cut, 'directory'> {
  const before = unsynced.at(-1)!
  const torn = (name: keyof DurableFiles, synced: Step, written: Step) =>
    tornFile(synced.files[name], written.files[name], () => random.fraction())
  const checkUpTo = (written: Step) => {
    const earlier = checks.filter(({ step }) => step < written.step)
    const synced = earlier.length === 0 ? written : random.pick(earlier)
    return torn('broker.check', synced, written)
  }
  if (isCheckpoint(before, after) && random.below(2) === 0) {
    // The log is complete, and the checkpoint is not.
    const files = { ...after.files, 'broker.db': torn('broker.db', before, after), 'broker.check': checkUpTo(after) }
    return { files, from: after.step, to: after.step }
  }
  const log = torn('broker.db-wal', random.pick(unsynced), after)
  // With `commit`, the log is synced before `broker.check` is written.
  const check = checkUpTo(fsync === 'commit' ? before : after)
  return {
    files: { ...before.files, 'broker.db-wal': log, 'broker.check': check },
    from: unsynced[0]!.step,
    to: after.step,
  }
}

function isCheckpoint(before: Step, after: Step): boolean {
  return !before.files['broker.db']!.equals(after.files['broker.db']!)
}

/** Replaces one of a few values, so that the database stays small and its pages are written again and again. */
function write(storage: Storage, step: number, random: Random): Promise<void> {
  const length = random.below(20) === 0 ? 6_000_000 : 1 + random.below(100_000)
  const isCheckpoint = random.below(5) === 0
  return storage.write((change) => {
    storage
      .prepare(
        'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
      )
      .run(`name ${step % NAMES}`, valueAt(step, length))
    for (let partition = 0; partition < PARTITIONS; partition++) change.recordEndOffset(partition, step)
    if (isCheckpoint) change.checkpointTopics()
  })
}

function valueAt(step: number, length: number): string {
  return `${step}:${length}:`.padEnd(length, `${step},`)
}

/**
 * The last step that a program finds when it starts with these files, or the reason why it does not. Checks that everything is there that
 * the step left.
 */
async function stepAfter({ directory, files }: Cut): Promise<number | string> {
  writeDurableFiles(directory, files)
  try {
    const storage = new Storage(directory, { nowMs: 0, logger: silentLogger() })
    const rows = storage.prepare("select name, value from settings where name like 'name %'").all()
    const steps = rows.map(({ name, value }) => {
      const [step, length] = String(value).split(':', 2).map(Number)
      expect(name).toBe(`name ${step! % NAMES}`)
      expect(value === valueAt(step!, length!), `the value of step ${step} is whole`).toBe(true)
      return step!
    })
    const last = Math.max(0, ...steps)
    expect(steps.toSorted((a, b) => a - b)).toEqual(lastSteps(last))
    // It works as before.
    await write(storage, last + 1, new Random(last))
    storage.close()
    return last
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'data_corrupt') return error.message
    throw error
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The steps whose values are not replaced by later ones. */
function lastSteps(last: number): readonly number[] {
  const count = Math.min(last, NAMES)
  return Array.from({ length: count }, (_, at) => last - count + 1 + at)
}
