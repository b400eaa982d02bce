import { describe, expect, it } from 'vitest'
import { UNSENT } from '../../../../../src/plugins/connectors/cdc/table.ts'
import type { DatabaseChange, Table } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { ToastReselect } from '../../../../../src/plugins/connectors/postgres/cdc/events/toast-reselect.ts'
import { toPostgresError } from '../../../../../src/plugins/connectors/postgres/postgres-error.ts'

const column = (name: string, typeId: number, isKey: boolean) => ({
  ...{ name, typeId, modifier: -1, isKey, isOptional: !isKey, defaultExpression: undefined },
})
const TABLE: Table = {
  ...{ id: 1, schema: 'public', name: 'pages', replicaIdentity: 'default', keyNames: ['id'] },
  columns: [column('id', 23, true), column('body', 25, false)],
}
const CHANGE: DatabaseChange = {
  ...{ kind: 'row', op: 'u', table: TABLE, before: undefined, isBeforeKeyOnly: false, after: ['7', UNSENT] },
  transaction: { id: 7, commitLsn: 90n, committedAtUs: 0n },
  ...{ lsn: 80n, position: { commitLsn: 90n, index: 0 } },
}

const reselectFailing = (sqlState: string) =>
  new ToastReselect(
    { query: () => Promise.reject(toPostgresError({ code: sqlState, message: 'refused' }, 'read')) },
    () => true,
  )

describe('ToastReselect', () => {
  it('adds the value of the row with the same key, if its column still has the type', async () => {
    const statements: string[] = []
    const query = async (_operation: string, text: string) => {
      statements.push(text)
      return [['7', 'text']]
    }
    const [completed] = await new ToastReselect({ query }, () => true).complete([CHANGE])
    expect(completed).toEqual({ ...CHANGE, after: ['7', 'text'] })
    expect(statements).toEqual([
      `SELECT "id", "body" FROM "public"."pages" WHERE ("id") IN (($1)) AND pg_typeof("body") = '25'::regtype`,
    ])
  })

  it.each([
    ['the table was dropped', '42P01'],
    ['a column was renamed', '42703'],
    ['the key has another type', '42883'],
    ['the key cannot be a value of the present type', '22007'],
  ])('leaves the change as it is when %s after it', async (_reason, sqlState) => {
    expect(await reselectFailing(sqlState).complete([CHANGE])).toEqual([CHANGE])
  })

  it('fails when the role may not read the table', async () => {
    await expect(reselectFailing('42501').complete([CHANGE])).rejects.toThrow('could not read')
  })
})
