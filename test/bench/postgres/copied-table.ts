import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Postgres, startPostgres } from '../../env/postgres.ts'

/** A server with the table `made`, which has rows, and the table `copied`, into which they are written. */
export class CopiedTable implements AsyncDisposable {
  readonly url: string
  /** Process id of the server, whose descendants execute the queries. */
  readonly pid: number
  readonly #server: Postgres
  readonly #client: pg.Client

  private constructor(server: Postgres, client: pg.Client, pid: number) {
    this.#server = server
    this.#client = client
    this.url = server.url
    this.pid = pid
  }

  static async start(rows: number): Promise<CopiedTable> {
    const server = await startPostgres({ max_wal_size: '8GB' })
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`CREATE TABLE made (id bigint PRIMARY KEY, word text, amount numeric(12, 2), at timestamptz NOT NULL);
      INSERT INTO made SELECT n, 'word ' || n || repeat('.', 50), n * 0.01, now() + n * interval '1 us' - interval '1 hour'
      FROM generate_series(1, ${rows}) n; CREATE TABLE copied (LIKE made INCLUDING INDEXES)`)
    await client.query('VACUUM ANALYZE made')
    const result = await client.query<{ file: string }>("SELECT pg_read_file('postmaster.pid') AS file")
    return new CopiedTable(server, client, Number.parseInt(result.rows[0]!.file, 10))
  }

  /** Copies the rows to a file of the server and from there into the empty table. Returns both times in ms. */
  async copy(): Promise<{ readonly toMs: number; readonly fromMs: number }> {
    const file = join(tmpdir(), `weir-bench-${process.pid}`)
    const toMs = await this.#timed(`COPY made TO '${file}'`)
    await this.truncate()
    const fromMs = await this.#timed(`COPY copied FROM '${file}'`)
    rmSync(file, { force: true })
    return { toMs, fromMs }
  }

  async truncate(): Promise<void> {
    await this.#client.query('TRUNCATE copied')
    // The checkpoint of one measurement is not part of the next one.
    await this.#client.query('CHECKPOINT')
  }

  /** The highest id that was written. Rows are written in the order of their ids. */
  async lastId(): Promise<number> {
    const { rows } = await this.#client.query<{ last: string | null }>('SELECT max(id) AS last FROM copied')
    return Number(rows[0]?.last ?? 0)
  }

  async #timed(sql: string): Promise<number> {
    const startMs = performance.now()
    await this.#client.query(sql)
    return performance.now() - startMs
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
    await this.#server.stop()
  }
}
