import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { ALLOWANCES, EXTRA_EVENTS } from '../../support/cdc/allowances.ts'
import { startDebeziumWorker, startWeirWorker } from '../../support/cdc/cdc-workers.ts'
import { PROFILES } from '../../support/cdc/connector-profiles.ts'
import { EventComparison } from '../../support/cdc/event-comparison.ts'
import { OLDER_CHANGES, runOlderChanges } from '../../support/cdc/older-changes.ts'
import { OPERATION_SETUP, operationPhases } from '../../support/cdc/operations.ts'
import { RANDOM_SETUP, randomTransactions } from '../../support/cdc/random-transactions.ts'
import { EVOLVING_SETUP, schemaChangePhases } from '../../support/cdc/schema-changes.ts'
import { SideBySide } from '../../support/cdc/side-by-side.ts'
import { runSnapshotMode, SNAPSHOT_MODE_CASES } from '../../support/cdc/snapshot-modes.ts'
import { type Workload, WorkloadClients } from '../../support/cdc/workload.ts'
import { startSourceDatabase } from '../../support/debezium.ts'
import { SEED } from '../../support/property-seed.ts'

const kafka = await real('kafka')
const java = await real('javaConnect')
const debezium = await real('debezium')
const postgres = await real('postgres')

/** Compares Debezium with itself, which shows what cannot be equal. */
const IS_BASELINE = process.env['WEIR_CDC_BASELINE'] !== undefined
const IS_COMPLETE = IS_BASELINE || process.env['WEIR_CDC_DEBEZIUM'] !== undefined
const TRANSACTIONS = IS_COMPLETE ? 200 : 25
const SHORT_PROFILES = new Set(['texts'])
const WORKLOAD: Workload = {
  setup: [...OPERATION_SETUP, ...EVOLVING_SETUP, ...RANDOM_SETUP],
  phases: [...operationPhases, ...schemaChangePhases, randomTransactions(TRANSACTIONS, SEED)],
}

describeOn([kafka, java, debezium, postgres], 'PostgresCdcSource beside Debezium', () => {
  it('writes the same events to the same topics', { timeout: 900_000 }, async () => {
    const database = await startSourceDatabase({ max_replication_slots: '20', max_wal_senders: '20' })
    for (const sql of WORKLOAD.setup) await database.run(sql)
    const { bootstrap } = kafka.address
    const theirs = await startDebeziumWorker(bootstrap, debezium.address)
    const ours = IS_BASELINE ? theirs : await startWeirWorker(bootstrap)
    const profiles = PROFILES.filter(({ name }) => IS_COMPLETE || SHORT_PROFILES.has(name))
    await using run = await SideBySide.start({ bootstrap, database, workers: [ours, theirs], profiles })
    await using clients = new WorkloadClients(database)
    for (const phase of WORKLOAD.phases) {
      await clients.run(phase)
      await run.untilRead()
    }
    const comparison = new EventComparison(ALLOWANCES, EXTRA_EVENTS)
    const differences = await run.differences(comparison)
    if (differences.length > 0) throw new Error(`${differences.length} topics differ\n${differences.join('\n')}`)
    if (IS_COMPLETE && !IS_BASELINE) expect(comparison.unused(), 'allowances that are not needed').toEqual([])
  })

  it('reads changes that are older than its first start, with the events that are written down', async () => {
    const database = await startSourceDatabase({ max_replication_slots: '20', max_wal_senders: '20' })
    const { bootstrap } = kafka.address
    const workers = [await startWeirWorker(bootstrap), await startDebeziumWorker(bootstrap, debezium.address)]
    const found: object[] = []
    const expected: object[] = []
    for (const one of OLDER_CHANGES) {
      const events = await runOlderChanges({ bootstrap, database, workers }, one)
      const { name, events: ofWeir, eventsOfDebezium = ofWeir } = one
      found.push({ name, ...Object.fromEntries(events) })
      expected.push({ name, Weir: ofWeir, Debezium: eventsOfDebezium })
    }
    expect(found).toEqual(expected)
  })

  it.each(IS_COMPLETE ? [SNAPSHOT_MODE_CASES] : [])(
    'reads existing rows at the starts at which Debezium reads them, with each snapshot.mode',
    { timeout: 900_000 },
    async (...cases) => {
      const database = await startSourceDatabase({ max_replication_slots: '20', max_wal_senders: '20' })
      const { bootstrap } = kafka.address
      const theirs = await startDebeziumWorker(bootstrap, debezium.address)
      const run = { bootstrap, database, workers: [await startWeirWorker(bootstrap), theirs] }
      const found: string[] = []
      for (const one of cases) {
        const comparison = new EventComparison(ALLOWANCES)
        const differences = await runSnapshotMode(run, one, comparison).catch((error: Error) => [error.message])
        if (differences.length > 0) found.push(`── ${one.name}: ${differences.join('\n')}`)
      }
      if (found.length > 0) throw new Error(found.join('\n'))
    },
  )
})
