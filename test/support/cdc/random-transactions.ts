import fc from 'fast-check'
import type { Phase, Statement } from './workload.ts'

const CLIENTS = 4
/** Each client changes its own rows only, so that no statement waits for another client. */
const ROWS_OF_CLIENT = 1_000
const PAYLOAD_CHARS = [1, 20, 300, 9_000]

export const RANDOM_SETUP: readonly string[] = [
  'CREATE TABLE accounts (id integer PRIMARY KEY, balance numeric(12, 2), note text, changed timestamptz)',
  'CREATE TABLE items (id integer, part integer, label text, payload text, PRIMARY KEY (id, part))',
  'ALTER TABLE items REPLICA IDENTITY FULL; ALTER TABLE items ALTER COLUMN payload SET STORAGE EXTERNAL',
  'CREATE TABLE journal (at bigint, body jsonb)',
  `INSERT INTO accounts SELECT c * ${ROWS_OF_CLIENT} + n, n, 'first', '2026-11-22 10:00:00+00'
   FROM generate_series(0, ${CLIENTS - 1}) c, generate_series(0, 19) n`,
]

/** A statement as a function of the first id of the client that sends it. */
type Write = (firstId: number) => string

const row = fc.nat(60)
const count = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constantFrom(50, 400))
const text = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .map((value) => `'${value.replaceAll('\0', '').replaceAll("'", "''")}'`)
const payload = fc
  .tuple(fc.constantFrom(...PAYLOAD_CHARS), fc.nat(9))
  .map(([chars, digit]) => `repeat('${digit}', ${chars})`)
const cents = fc.integer({ min: -1_000_000, max: 1_000_000 })

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.tuple(row, count, cents, text).map(
    ([at, rows, amount, note]): Write =>
      (first) =>
        `INSERT INTO accounts SELECT n, ${amount} / 100.0, ${note}, '2026-11-22'::timestamptz + n * interval '1 us'
     FROM generate_series(${first + at}, ${first + at + rows - 1}) n ON CONFLICT DO NOTHING`,
  ),
  fc.tuple(row, count, cents).map(
    ([at, rows, amount]): Write =>
      (first) =>
        `UPDATE accounts SET balance = balance + ${amount} / 100.0 WHERE id BETWEEN ${first + at} AND ${first + at + rows - 1}`,
  ),
  fc.tuple(row, row).map(
    ([from, to]): Write =>
      (first) =>
        `UPDATE accounts SET id = ${first + to} WHERE id = ${first + from} AND NOT EXISTS (SELECT FROM accounts WHERE id = ${first + to})`,
  ),
  fc.tuple(row, count).map(
    ([at, rows]): Write =>
      (first) =>
        `DELETE FROM accounts WHERE id BETWEEN ${first + at} AND ${first + at + rows - 1}`,
  ),
  fc.tuple(row, fc.nat(3), text, payload).map(
    ([at, part, label, body]): Write =>
      (first) =>
        `INSERT INTO items VALUES (${first + at}, ${part}, ${label}, ${body}) ON CONFLICT (id, part) DO UPDATE SET label = excluded.label`,
  ),
  fc.tuple(row, text).map(
    ([at, label]): Write =>
      (first) =>
        `UPDATE items SET label = ${label} WHERE id BETWEEN ${first + at} AND ${first + at + 9}`,
  ),
  fc.tuple(row, payload).map(
    ([at, body]): Write =>
      (first) =>
        `UPDATE items SET payload = ${body} WHERE id BETWEEN ${first + at} AND ${first + at + 3}`,
  ),
  fc.tuple(row).map(
    ([at]): Write =>
      (first) =>
        `DELETE FROM items WHERE id BETWEEN ${first + at} AND ${first + at + 5}`,
  ),
  fc.tuple(count, text).map(
    ([rows, body]): Write =>
      (first) =>
        `INSERT INTO journal SELECT ${first} + n, jsonb_build_object('text', ${body}::text, 'n', n) FROM generate_series(1, ${rows}) n`,
  ),
  // A multi-insert, whose rows have one position in the log.
  fc.integer({ min: 1, max: 40 }).map(
    (rows): Write =>
      (first) =>
        `COPY journal (at) FROM PROGRAM 'seq ${first} ${first + rows - 1}'`,
  ),
  fc.tuple(fc.boolean(), text).map(
    ([isTransactional, content]): Write =>
      () =>
        `SELECT pg_logical_emit_message(${isTransactional}, 'random', ${content})`,
  ),
)

/** Writes in a savepoint, and what ends it. */
type Block = { readonly writes: readonly Write[]; readonly end: 'RELEASE' | 'ROLLBACK TO' }
type Transaction = { readonly blocks: readonly (Write | Block)[]; readonly end: 'COMMIT' | 'ROLLBACK' }

const block: fc.Arbitrary<Block> = fc.record({
  writes: fc.array(write, { maxLength: 3 }),
  end: fc.constantFrom('RELEASE', 'ROLLBACK TO'),
})
const transaction: fc.Arbitrary<Transaction> = fc.record({
  blocks: fc.array(fc.oneof({ weight: 4, arbitrary: write }, { weight: 1, arbitrary: block }), { maxLength: 6 }),
  end: fc.constantFrom('COMMIT', 'COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK'),
})
/** Transactions that run at the same time, and what is truncated after them. */
const group = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: CLIENTS }),
  truncated: fc.constantFrom(
    'journal',
    'items, accounts',
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ),
})

/** At least `transactions` random transactions of several connections, some of them at the same time. */
export function randomTransactions(transactions: number, seed: number): Phase {
  const statements: Statement[] = []
  let left = transactions
  for (const { transactions: together, truncated } of fc.sample(group, { numRuns: transactions, seed })) {
    if (left <= 0) break
    left -= together.length
    statements.push(...interleaved(together.map(statementsOf)))
    if (truncated !== undefined) statements.push({ client: 0, sql: `TRUNCATE ${truncated}` })
  }
  return { title: `random transactions of seed ${seed}`, statements }
}

function statementsOf({ blocks, end }: Transaction, client: number): readonly Statement[] {
  const first = client * ROWS_OF_CLIENT
  const writes = blocks.flatMap((one) =>
    typeof one === 'function'
      ? [one(first)]
      : ['SAVEPOINT here', ...one.writes.map((inner) => inner(first)), `${one.end} SAVEPOINT here`],
  )
  return ['BEGIN', ...writes, end].map((sql) => ({ client, sql }))
}

/** Takes one statement of each list in turn, so that short transactions commit during long ones. */
function interleaved(lists: readonly (readonly Statement[])[]): readonly Statement[] {
  const longest = Math.max(...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}
