import type { ConnectorProperties, WorkerClient } from '../../../src/clients/worker-client.ts'
import { parseMysqlUrl } from '../../../src/plugins/connectors/mysql/connection-url.ts'
import { MysqlSession } from '../../../src/plugins/connectors/mysql/session.ts'
import { type TaskLog, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { type Mariadb, startMariadb } from '../../env/mariadb.ts'
import { until } from '../../support/until.ts'
import type { MeasuredDatabase } from './rates.ts'

const DATABASE = 'bench'
const COLUMNS = '(id BIGINT PRIMARY KEY, word TEXT, amount DECIMAL(12, 2), at TIMESTAMP(6) NOT NULL)'
/** Of a changed or created row with this id. */
const VALUES = "seq, CONCAT('word ', seq, REPEAT('.', 50)), seq * 0.01, NOW(6)"
/** Several rows in each transaction. */
const TRANSACTION_ROWS = 100
const WAIT = { everyMs: 200, timeoutMs: 300_000 }
const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A server of MariaDB whose changes are captured. */
export class MariadbSource implements AsyncDisposable, MeasuredDatabase {
  readonly snapshotOnly = {}
  readonly #server: Mariadb
  readonly #session: MysqlSession
  readonly #bootstrap: string
  #connectors = 0
  #probes = 0

  private constructor(server: Mariadb, session: MysqlSession, bootstrap: string) {
    this.#server = server
    this.#session = session
    this.#bootstrap = bootstrap
  }

  static async start(rows: number, bootstrap: string): Promise<MariadbSource> {
    const server = await startMariadb('bench-mariadb', ['--server-id=1', '--innodb-buffer-pool-size=512M'])
    const { port, user, password } = server.address
    const session = await MysqlSession.open(
      {
        url: parseMysqlUrl(`jdbc:mariadb://127.0.0.1:${port}/`),
        ...{ user, password, applicationName: 'bench', log: SILENT, access: UNRESTRICTED },
        signal: new AbortController().signal,
      },
      { attempts: 1, backoffMs: 0 },
    )
    const source = new MariadbSource(server, session, bootstrap)
    await source.#run(`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`, `USE ${DATABASE}`)
    await source.#run(`CREATE TABLE made ${COLUMNS}`, `CREATE TABLE changed ${COLUMNS}`)
    await source.#run(`INSERT INTO made SELECT ${VALUES} FROM seq_1_to_${rows}`)
    return source
  }

  config(id: string, table: string, converters: ConnectorProperties): ConnectorProperties {
    const { port, user, password } = this.#server.address
    this.#connectors += 1
    return {
      'connector.class': 'io.debezium.connector.mariadb.MariaDbConnector',
      'tasks.max': '1',
      ...converters,
      'database.hostname': '127.0.0.1',
      'database.port': String(port),
      'database.user': user,
      'database.password': password,
      'database.ssl.mode': 'disable',
      'database.server.id': String(8_000 + this.#connectors),
      'topic.prefix': id,
      'table.include.list': `${DATABASE}.${table}`,
      'schema.history.internal.kafka.bootstrap.servers': this.#bootstrap,
      'schema.history.internal.kafka.topic': `history-${id}`,
    }
  }

  topicOf(id: string, table: string): string {
    return `${id}.${DATABASE}.${table}`
  }

  async clear(): Promise<void> {
    await this.#run('TRUNCATE changed')
  }

  async change(changes: number): Promise<void> {
    for (let first = 1; first <= changes / 3; first += TRANSACTION_ROWS) {
      const last = Math.min(first + TRANSACTION_ROWS - 1, Math.floor(changes / 3))
      const rows = `BETWEEN ${first} AND ${last}`
      await this.#run(
        'START TRANSACTION',
        `INSERT INTO changed SELECT ${VALUES} FROM seq_${first}_to_${last}`,
        `UPDATE changed SET word = 'changed' WHERE id ${rows}`,
        `DELETE FROM changed WHERE id ${rows}`,
        'COMMIT',
      )
    }
  }

  /** Without a slot, a connector continues after a stop from its offset, which it has when it has written a change. */
  async untilStreaming(id: string, client: WorkerClient, countRecords: () => Promise<number>): Promise<void> {
    await until(`a change of ${id}`, WAIT, async () => {
      this.#probes += 1
      await this.#run(`INSERT INTO changed SELECT -${this.#probes}, 'probe', 0, NOW(6)`)
      return (await countRecords()) > 0
    })
    await until(`the offset of ${id}`, WAIT, async () => {
      const [stored] = await client.offsets(id)
      return stored?.offset != null && stored.offset['snapshot'] === undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.close()
    await this.#server.stop()
  }

  async #run(...statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.#session.query('run a statement of the benchmark', statement)
  }
}
