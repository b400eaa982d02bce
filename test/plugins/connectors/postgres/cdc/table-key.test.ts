import { describe, expect, it } from 'vitest'
import type { Table } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { tableKey } from '../../../../../src/plugins/connectors/postgres/cdc/changes/table-key.ts'

/** `dropped` is a dropped column, `name=` a generated one. */
function catalogOf(key: string, columns: string) {
  const table: Table = {
    ...{ id: 1, schema: 'public', name: 't', replicaIdentity: 'full', columns: [] },
    keyNames: key.split(' ').filter(Boolean),
  }
  const attributes = columns.split(' ').map((text) => ({
    name: text === 'dropped' ? undefined : text.replace('=', ''),
    isGenerated: text.endsWith('='),
  }))
  return { table, attributes }
}

/** `*` marks the columns of the replica identity. */
function relationOf(columns: string, replicaIdentity: Table['replicaIdentity'] = 'full') {
  return {
    ...{ id: 1, schema: 'public', name: 't', replicaIdentity },
    columns: columns.split(' ').map((text) => ({
      ...{ name: text.replace('*', ''), typeId: 23, modifier: -1 },
      isIdentity: replicaIdentity === 'full' || text.endsWith('*'),
    })),
  }
}

describe('the key of a table whose catalog is ahead of the stream', () => {
  it.each([
    ['a column of the key was renamed', 'a b note', 'a c', 'a c note', ['a', 'b']],
    ['all of its columns were renamed', 'a b note', 'x y', 'x y note', ['a', 'b']],
    ['the key has another order than the table', 'a b', 'c a', 'a c', ['b', 'a']],
    ['columns were added as well', 'a b', 'a c', 'a c d e', ['a', 'b']],
    ['a column between was dropped', 'a x b note', 'a c', 'a dropped c note', ['a', 'b']],
    ['a column was dropped before the message', 'a b note', 'a c', 'a dropped c note', ['a', 'b']],
    ['a column was renamed and others dropped before', 'a x note', 'a c', 'a dropped dropped c note', ['a', 'x']],
    ['a generated column is not sent', 'a b note', 'a c', 'a sum= c note', ['a', 'b']],
    ['the whole key was added later', 'note', 'id', 'note id', []],
    ['the table was dropped', 'a b', '', '', []],
  ])('is complete: %s', (_case, sent, key, columns, expected) => {
    const catalog = columns === '' ? undefined : catalogOf(key, columns)
    expect(tableKey(relationOf(sent), catalog)).toEqual({ keyNames: expected })
  })

  it.each([
    ['a column of the key was added', 'a note', 'a b', 'a note b', 'b'],
    ['one of two dropped columns may have been before it', 'a x b', 'a c', 'a dropped dropped c', 'c'],
    ['the key was moved from a dropped column to a new one', 'a b', 'a c', 'a dropped c', 'c'],
    ['the columns have another order', 'a b c', 'a z', 'c b a z', 'z'],
    ['the column is generated', 'a note', 'a b', 'a note b=', 'b'],
  ])('is an error that names the column: %s', (_case, sent, key, columns, unknown) => {
    const expected = { keyNames: [], unknownKeyName: unknown }
    expect(tableKey(relationOf(sent), catalogOf(key, columns))).toEqual(expected)
  })

  it('is that of the replica identity, in the order of the key', () => {
    expect(tableKey(relationOf('a* b* note', 'default'), catalogOf('c a', 'a c note')).keyNames).toEqual(['b', 'a'])
    expect(tableKey(relationOf('a* b* x y', 'default'), catalogOf('z a', 'dropped a z')).keyNames).toEqual(['b', 'a'])
  })

  it('is that of the index if a column of the primary key is not known', () => {
    expect(tableKey(relationOf('a b* c*', 'index'), catalogOf('z b', 'dropped b c z')).keyNames).toEqual(['b', 'c'])
    expect(tableKey(relationOf('a* b* c*', 'index'), catalogOf('z b', 'z b c')).keyNames).toEqual(['a', 'b'])
  })
})
