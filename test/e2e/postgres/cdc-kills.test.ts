import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { ConcurrentWriters } from '../../support/cdc/concurrent-writers.ts'
import { KillRun } from '../../support/cdc/kill-run.ts'
import { SEED } from '../../support/property-seed.ts'

const kafka = await real('kafka')
const postgres = await real('postgres')

/** WEIR_CDC_CHANGES=1000000 takes minutes. */
const CHANGES = Number(process.env['WEIR_CDC_CHANGES'] ?? 40_000)
const SNAPSHOT_ROWS = CHANGES
/** Writers stay this close to the topics, so that there is something to be read at every kill. */
const AHEAD_MAX = CHANGES / 4
const TIMEOUT_MS = Math.max(240_000, CHANGES * 2)
/** At which part of the changes somebody is killed. Both are killed during the snapshot, too. */
const TROUBLE = [
  [0.15, 'worker'],
  [0.35, 'worker'],
  [0.5, 'server'],
  [0.65, 'worker'],
  [0.8, 'worker'],
] as const

describeOn([kafka, postgres], 'PostgresCdcSource', () => {
  it(
    'loses no change while eight clients write, the worker is killed five times and the server restarts twice',
    async () => {
      await using run = await KillRun.start({
        bootstrap: kafka.address.bootstrap,
        targetUrl: postgres.address.url,
        snapshotRows: SNAPSHOT_ROWS,
        timeoutMs: TIMEOUT_MS,
      })
      const progress = { records: 0 }
      const canWrite = (written: number) => written + SNAPSHOT_ROWS - progress.records < AHEAD_MAX
      const writers = new ConcurrentWriters(run.source, { seed: SEED, changes: CHANGES, canWrite })
      const untilRecords = async (count: number) => {
        await run.until(`${count} records`, async () => {
          progress.records = await run.records()
          return progress.records >= count
        })
      }
      await untilRecords(0.2 * SNAPSHOT_ROWS)
      await run.killWorker()
      await untilRecords(0.6 * SNAPSHOT_ROWS)
      await run.crashServer()
      for (const [part, victim] of TROUBLE) {
        await untilRecords(SNAPSHOT_ROWS + part * CHANGES)
        if (victim === 'server') await run.crashServer()
        else await run.killWorker()
      }
      progress.records = Number.POSITIVE_INFINITY
      await writers.finished()
      await run.untilCopied()
      const report = await run.audit()
      console.log(`${writers.written} changes: ${JSON.stringify(report)}`)
      expect(report.findings).toEqual([])
      expect(report.changes).toBeGreaterThan(CHANGES / 2)
    },
    TIMEOUT_MS + 60_000,
  )
})
