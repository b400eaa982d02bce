import type { HistoryColumn } from '../table-model.ts'
import { readColumnType } from './column-type.ts'
import { readDefault } from './default-value.ts'
import type { TokenReader } from './token-reader.ts'

/** A column, and what its definition says about the keys of the table. */
export type ColumnDefinition = {
  readonly column: HistoryColumn
  readonly isPrimaryKey: boolean
  readonly isUnique: boolean
}

const PLAIN = {
  isOptional: true,
  isAutoIncrement: false,
  isGenerated: false,
  comment: undefined,
  defaultExpression: undefined,
} as const

/** Reads a column's type and attributes. Its end is a comma, `FIRST`, `AFTER` or the end. Throws a `SqlSyntaxError`. */
export function readColumnDefinition(name: string, reader: TokenReader): ColumnDefinition {
  let definition = readBeginning(name, reader)
  while (!isAtEnd(reader)) {
    const attribute = ATTRIBUTES.find(({ words }) => words.some((keywords) => reader.accept(...keywords)))
    if (attribute !== undefined) definition = attribute.apply(definition, reader)
    else if (reader.isAtSymbol('(')) reader.parentheses()
    else reader.take()
  }
  const { column, isPrimaryKey } = definition
  return isPrimaryKey ? { ...definition, column: { ...column, isOptional: false } } : definition
}

function readBeginning(name: string, reader: TokenReader): ColumnDefinition {
  if (!reader.accept('SERIAL')) {
    return { column: { name, ...readColumnType(reader), ...PLAIN }, isPrimaryKey: false, isUnique: false }
  }
  const type = {
    typeName: 'BIGINT UNSIGNED',
    jdbcType: -5,
    charsetName: undefined,
    length: undefined,
    scale: undefined,
  }
  const generated = { isOptional: false, isAutoIncrement: true, isGenerated: true }
  return { column: { name, ...type, enumValues: [], ...PLAIN, ...generated }, isPrimaryKey: false, isUnique: true }
}

function isAtEnd(reader: TokenReader): boolean {
  return reader.isAtEnd || reader.isAtSymbol(',') || reader.isAt('FIRST') || reader.isAt('AFTER')
}

type Attribute = {
  /** The keywords with which it begins. */
  readonly words: readonly (readonly string[])[]
  readonly apply: (definition: ColumnDefinition, reader: TokenReader) => ColumnDefinition
}

const onColumn =
  (change: (reader: TokenReader, column: HistoryColumn) => Partial<HistoryColumn>): Attribute['apply'] =>
  (definition, reader) => ({ ...definition, column: { ...definition.column, ...change(reader, definition.column) } })

const ATTRIBUTES: readonly Attribute[] = [
  { words: [['NOT', 'NULL']], apply: onColumn(() => ({ isOptional: false })) },
  { words: [['NULL']], apply: onColumn(() => ({ isOptional: true })) },
  { words: [['AUTO_INCREMENT']], apply: onColumn(() => ({ isAutoIncrement: true, isGenerated: true })) },
  { words: [['UNIQUE', 'KEY'], ['UNIQUE']], apply: (definition) => ({ ...definition, isUnique: true }) },
  { words: [['PRIMARY', 'KEY'], ['PRIMARY'], ['KEY']], apply: (definition) => ({ ...definition, isPrimaryKey: true }) },
  { words: [['DEFAULT']], apply: onColumn((reader) => ({ defaultExpression: readDefault(reader) })) },
  {
    words: [['ON', 'UPDATE']],
    apply(definition, reader) {
      readDefault(reader)
      return definition
    },
  },
  { words: [['COMMENT']], apply: onColumn((reader) => ({ comment: reader.take().value })) },
  {
    words: [['CHARACTER', 'SET'], ['CHARSET']],
    apply: onColumn((reader) => ({ charsetName: reader.name().toLowerCase() })),
  },
  {
    words: [['COLLATE']],
    apply: onColumn((reader, { charsetName }) => {
      const collated = charsetOfCollation(reader.name())
      return { charsetName: charsetName ?? collated }
    }),
  },
]

/** A collation begins with the name of its character set. MariaDB's newer ones are those of each character set. */
export function charsetOfCollation(collation: string): string | undefined {
  const lower = collation.toLowerCase()
  return lower.startsWith('uca1400_') ? undefined : lower.split('_')[0]
}
