import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { startJavaConnect } from '../../env/java-connect.ts'
import { describeOn, real } from '../../env/real.ts'
import { EventComparison } from '../../support/cdc/event-comparison.ts'
import { createJavaClient } from '../../support/java-requests.ts'
import { MYSQL_ALLOWANCES } from '../../support/mysql-cdc-allowances.ts'
import { ANY_VALUES, MYSQL_WORKLOAD } from '../../support/mysql-cdc-workload.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'
import { MysqlSideBySide } from '../../support/mysql-side-by-side.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const java = await real('javaConnect')
const debezium = await real('debezium')
const mariadb = await real('mariadb')

const SETTINGS = { 'offset.flush.interval.ms': '500' }

describeOn([kafka, java, debezium, mariadb], 'MariadbCdcSource beside Debezium', () => {
  it('writes the same events to the same topics', { timeout: 600_000 }, async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const { bootstrap } = kafka.address
    await database.run(...MYSQL_WORKLOAD.setup)
    const connect = await startJavaConnect({
      bootstrap,
      groupId: `debezium-${randomUUID()}`,
      properties: SETTINGS,
      plugins: { 'debezium-connector-mariadb': debezium.address.mariadb },
    })
    onTestFinished(() => connect.stop())
    const weir = await new WorkerGroup(bootstrap, { ...SETTINGS, 'worker.thread.blocked.max.ms': '60000' }).startOne()
    const ours = createWorkerClient({ url: weir.url, timeoutMs: 60_000 })
    const theirs = createJavaClient(connect.url)
    const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    onTestFinished(() => broker.close())
    const run = await MysqlSideBySide.start({ bootstrap, broker, mariadb: mariadb.address, database, ours, theirs })
    await database.run(ANY_VALUES, ...MYSQL_WORKLOAD.changes)
    await run.untilRead()
    for (const table of ['types', 'two_keys']) {
      const [[rows] = []] = await database.run(`SELECT count(*) FROM ${table}`)
      await run.readInChunks(table, Number(rows))
    }
    const differences = await run.differences(new EventComparison(MYSQL_ALLOWANCES))
    expect(differences.join('\n')).toBe('')
  })
})
