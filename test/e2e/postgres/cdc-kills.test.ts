import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { ConcurrentWriters } from '../../support/cdc/concurrent-writers.ts'
import { KillRun } from '../../support/cdc/kill-run.ts'
import { SEED } from '../../support/property-seed.ts'

const kafka = await real('kafka')
const postgres = await real('postgres')

/** WEIR_CDC_CHANGES=1000000 takes minutes. */
const CHANGES = Number(process.env['WEIR_CDC_CHANGES'] ?? 20_000)
const SNAPSHOT_ROWS = CHANGES / 4
/** Writers stay this close to the topics, so that there is something to be read at every kill. */
const AHEAD_MAX = CHANGES / 4
/** Takes about 70 s, and four times as long on a machine that is busy with other tests. */
const TIMEOUT_MS = Math.max(600_000, CHANGES * 2)
/** What is killed or restarted after which part of the changes. Worker and server are killed during the snapshot, too. */
const KILLS = [
  [0.15, 'worker'],
  [0.3, 'worker'],
  [0.4, 'server'],
  [0.5, 'source'],
  [0.55, 'worker'],
  [0.7, 'worker'],
] as const

describeOn([kafka, postgres], 'PostgresCdcSource', () => {
  it(
    'loses no change while eight clients write, the worker is killed five times, the server restarts twice and the source once',
    async () => {
      await using run = await KillRun.start({
        bootstrap: kafka.address.bootstrap,
        targetUrl: postgres.address.url,
        snapshotRows: SNAPSHOT_ROWS,
        timeoutMs: TIMEOUT_MS,
      })
      let delivered = 0
      const canWrite = (written: number) => written - delivered < AHEAD_MAX
      const writers = new ConcurrentWriters(run.source, { seed: SEED, changes: CHANGES, canWrite })
      await run.killWorker()
      await run.untilSnapshotWaits()
      await run.crashServer()
      await run.untilStreaming()
      const untilDelivered = (changes: number) =>
        run.until(`${changes} changes`, async () => {
          delivered = await run.delivered()
          return delivered >= changes
        })
      for (const [part, victim] of KILLS) {
        await untilDelivered(part * CHANGES)
        if (victim === 'server') await run.crashServer()
        else if (victim === 'worker') await run.killWorker()
        else while (!(await run.restartSource())) await untilDelivered(delivered + 1)
      }
      delivered = Number.POSITIVE_INFINITY
      await writers.finished()
      // A change that is missing in the topics may be hidden in the copy by a later change of its row.
      const report = await run.audit()
      console.log(`${writers.written} changes: ${JSON.stringify(report)}`)
      expect(report.findings).toEqual([])
      await run.untilCopied()
      expect(report.changes).toBeGreaterThan(CHANGES / 2)
      expect(run.phases).toEqual(['snapshot', 'snapshot', 'stream', 'stream', 'stream', 'stream', 'stream'])
    },
    TIMEOUT_MS + 60_000,
  )
})
