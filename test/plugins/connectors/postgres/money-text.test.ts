import { expect, it } from 'vitest'
import { UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { moneyNumber } from '../../../../src/plugins/connectors/postgres/money-text.ts'
import type { PostgresField } from '../../../../src/plugins/connectors/postgres/postgres-field.ts'
import { toResultColumn } from '../../../../src/plugins/connectors/postgres/source/result-columns.ts'

const TEXTS = [
  ['$1,234.50', '1234.50'],
  ['-$0.05', '-0.05'],
  ['($1,234.50)', '-1234.50'],
  ['1.234,56 €', '1234.56'],
  ['¥1,234', '1234'],
] as const

it.each(TEXTS)('%s is the number %s, whatever the locale of the server', (text, number) => {
  expect(moneyNumber(text)).toBe(number)
  const mapping = { numeric: 'none', granularity: 'connect_logical', zone: UTC } as const
  const column = toResultColumn(
    { name: 'price', modifier: -1 } as PostgresField,
    { name: 'money', notNull: true },
    mapping,
  )
  expect(column.read(text)).toBe(Number(number))
})
