import type { TableId } from '../table-model.ts'
import { type ColumnDefinition, readColumnDefinition } from './column-definition.ts'
import { readDefault } from './default-value.ts'
import { readKey, readTableOptions } from './table-definition.ts'
import { isKeyword, splitAtCommas, TokenReader } from './token-reader.ts'

/** Where a column is put: first, or after another one; undefined: where it is, or last. */
export type ColumnPlace = { readonly after: string | undefined } | undefined

/** One change of an ALTER TABLE. What does not change columns or keys is left out. */
export type AlterSpecification =
  | {
      readonly kind: 'add column'
      readonly definition: ColumnDefinition
      readonly isKept: boolean
      readonly place: ColumnPlace
    }
  | {
      readonly kind: 'change column'
      readonly oldName: string
      readonly definition: ColumnDefinition
      readonly isOptional: boolean
      readonly place: ColumnPlace
    }
  | { readonly kind: 'rename column'; readonly oldName: string; readonly newName: string }
  | { readonly kind: 'drop column'; readonly name: string }
  | { readonly kind: 'set default'; readonly name: string; readonly expression: string | null | undefined }
  | { readonly kind: 'add primary key'; readonly columns: readonly string[] }
  | { readonly kind: 'drop primary key' }
  | { readonly kind: 'add unique key'; readonly columns: readonly string[] }
  | { readonly kind: 'rename table'; readonly to: TableId }
  | { readonly kind: 'convert charset'; readonly charset: string | undefined }
  | { readonly kind: 'options'; readonly charset: string | undefined; readonly comment: string | undefined }

const KEYS = ['PRIMARY', 'KEY', 'INDEX', 'UNIQUE', 'FULLTEXT', 'SPATIAL', 'VECTOR', 'CONSTRAINT', 'FOREIGN', 'CHECK']
const NOT_DROPPED_COLUMNS = ['KEY', 'INDEX', 'FOREIGN', 'CONSTRAINT', 'CHECK', 'PARTITION', 'SYSTEM', 'PERIOD']

/** Reads the part of an ALTER TABLE between two commas. */
export function readAlterSpecification(reader: TokenReader, database: string): readonly AlterSpecification[] {
  if (reader.accept('ADD')) return readAdd(reader)
  if (reader.accept('MODIFY')) return readModify(reader)
  if (reader.accept('CHANGE')) return readChange(reader)
  if (reader.accept('DROP')) return readDrop(reader)
  if (reader.accept('RENAME')) return readRename(reader, database)
  if (reader.accept('ALTER')) return readAlterColumn(reader)
  if (reader.accept('CONVERT', 'TO')) return [{ kind: 'convert charset', charset: readTableOptions(reader).charset }]
  const { charset, comment } = readTableOptions(reader)
  return charset === undefined && comment === undefined ? [] : [{ kind: 'options', charset, comment }]
}

function readAdd(reader: TokenReader): readonly AlterSpecification[] {
  const isColumn = reader.accept('COLUMN')
  const isKept = reader.accept('IF', 'NOT', 'EXISTS')
  if (!isColumn && (reader.isAt('PARTITION') || reader.isAt('SYSTEM') || reader.isAt('PERIOD', 'FOR'))) return []
  if (!isColumn && KEYS.some((word) => isKeyword(reader.next, word))) {
    const key = readKey(reader)
    if (key === undefined) return []
    return [{ kind: key.kind === 'primary' ? 'add primary key' : 'add unique key', columns: key.columns }]
  }
  if (reader.isAtSymbol('(')) {
    return splitAtCommas(reader.parentheses()).flatMap((part) => readAdd(new TokenReader(part)))
  }
  const definition = readColumnDefinition(reader.name(), reader)
  return [{ kind: 'add column', definition, isKept, place: readPlace(reader) }]
}

function readModify(reader: TokenReader): readonly AlterSpecification[] {
  reader.accept('COLUMN')
  const isOptional = reader.accept('IF', 'EXISTS')
  const oldName = reader.name()
  const definition = readColumnDefinition(oldName, reader)
  return [{ kind: 'change column', oldName, definition, isOptional, place: readPlace(reader) }]
}

function readChange(reader: TokenReader): readonly AlterSpecification[] {
  reader.accept('COLUMN')
  const isOptional = reader.accept('IF', 'EXISTS')
  const oldName = reader.name()
  const definition = readColumnDefinition(reader.name(), reader)
  return [{ kind: 'change column', oldName, definition, isOptional, place: readPlace(reader) }]
}

function readDrop(reader: TokenReader): readonly AlterSpecification[] {
  if (reader.accept('PRIMARY', 'KEY')) return [{ kind: 'drop primary key' }]
  const isColumn = reader.accept('COLUMN')
  if (!isColumn && NOT_DROPPED_COLUMNS.some((word) => isKeyword(reader.next, word))) return []
  reader.accept('IF', 'EXISTS')
  return [{ kind: 'drop column', name: reader.name() }]
}

function readRename(reader: TokenReader, database: string): readonly AlterSpecification[] {
  if (reader.acceptOne('INDEX', 'KEY') !== undefined) return []
  if (reader.accept('COLUMN')) {
    reader.accept('IF', 'EXISTS')
    const oldName = reader.name()
    if (!reader.accept('TO')) throw reader.unexpected('TO')
    return [{ kind: 'rename column', oldName, newName: reader.name() }]
  }
  reader.acceptOne('TO', 'AS')
  reader.acceptSymbol('=')
  return [{ kind: 'rename table', to: reader.tableId(database) }]
}

function readAlterColumn(reader: TokenReader): readonly AlterSpecification[] {
  if (reader.isAt('INDEX') || reader.isAt('KEY') || reader.isAt('CHECK') || reader.isAt('CONSTRAINT')) return []
  reader.accept('COLUMN')
  reader.accept('IF', 'EXISTS')
  const name = reader.name()
  if (reader.accept('DROP', 'DEFAULT')) return [{ kind: 'set default', name, expression: undefined }]
  if (reader.accept('SET', 'DEFAULT')) return [{ kind: 'set default', name, expression: readDefault(reader) }]
  return []
}

function readPlace(reader: TokenReader): ColumnPlace {
  if (reader.accept('FIRST')) return { after: undefined }
  return reader.accept('AFTER') ? { after: reader.name() } : undefined
}
