import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/common/logging/logger.ts'
import { ManifestWatcher } from '../../../../src/operator/cluster/directory/manifest-watcher.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

const RESCAN_MS = 60 * 60_000

let folder: string
let clock: FakeClock
let reads: number
let watcher: ManifestWatcher

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-'))
  clock = new FakeClock()
  reads = 0
  watcher = watcherOf(async () => {
    reads += 1
  })
})
afterEach(async () => {
  await watcher.stop()
  rmSync(folder, { recursive: true })
})

function watcherOf(read: () => Promise<void>): ManifestWatcher {
  return new ManifestWatcher({ path: folder, clock, logger: silentLogger(), rescanMs: RESCAN_MS }, read)
}

it('reads at the start and after each rescan interval, until it is stopped', async () => {
  await watcher.start()
  expect(reads).toBe(1)
  await clock.advance(2 * RESCAN_MS)
  expect(reads).toBe(3)
  await watcher.stop()
  await clock.advance(2 * RESCAN_MS)
  expect(reads).toBe(3)
})

it('reads after a file has changed, without waiting for the rescan', async () => {
  await watcher.start()
  writeFileSync(join(folder, 'a.yaml'), 'kind: Connector')
  const deadlineMs = performance.now() + 10_000
  // The file system reports the change in real time.
  while (reads === 1 && performance.now() < deadlineMs) await clock.advance(50)
  expect(reads).toBeGreaterThan(1)
  expect(clock.monotonicMs()).toBeLessThan(RESCAN_MS)
})

it('waits for the read in progress when it is stopped', async () => {
  const reading = Promise.withResolvers<void>()
  let isStopped = false
  watcher = watcherOf(async () => {
    reads += 1
    if (reads > 1) await reading.promise
  })
  await watcher.start()
  await clock.advance(RESCAN_MS)
  const stopped = watcher.stop().then(() => {
    isStopped = true
  })
  await clock.advance(RESCAN_MS)
  expect(isStopped).toBe(false)
  reading.resolve()
  await stopped
  expect(reads).toBe(2)
})
