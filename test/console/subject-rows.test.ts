import { expect, it } from 'vitest'
import {
  filterSubjectRows,
  type SubjectSummary,
  sortSubjectRows,
  subjectRow,
} from '../../src/console/page/subject-rows.ts'

const summaries: readonly SubjectSummary[] = [
  ['orders-value', 'AVRO', 3, 17, 3, 'BACKWARD', false, 300],
  ['payments-value', 'JSON', 10, 7, 9, 'FULL', true, 100],
  [':.team:orders-key', 'PROTOBUF', 1, 1, 1, 'BACKWARD', false, 200],
  ['unknown'],
]
const rows = summaries.map(subjectRow)
const useOf = (subject: string) => ({ topics: [], connectors: subject === 'orders-value' ? ['Archive'] : [] })
const names = (found: ReturnType<typeof sortSubjectRows>) => found.map(({ qualified }) => qualified)

it.each([
  [{ search: 'ORDERS' }, ['orders-value', ':.team:orders-key']],
  [{ search: 'id:7' }, ['payments-value']],
  [{ search: 'used:arch' }, ['orders-value']],
  [{ type: 'JSON' }, ['payments-value']],
  [{ level: 'BACKWARD', context: '.team' }, [':.team:orders-key']],
])('The filters %j find %j', (filters: Readonly<Record<string, string>>, found) => {
  expect(names(filterSubjectRows(rows, filters, useOf))).toEqual(found)
})

it.each([
  ['', ['orders-value', 'payments-value', 'unknown', ':.team:orders-key']],
  ['-name', [':.team:orders-key', 'unknown', 'payments-value', 'orders-value']],
  ['version', ['payments-value', 'orders-value', ':.team:orders-key', 'unknown']],
  ['id', ['unknown', ':.team:orders-key', 'payments-value', 'orders-value']],
  ['changed', ['orders-value', ':.team:orders-key', 'payments-value', 'unknown']],
  ['constructor', ['orders-value', 'payments-value', 'unknown', ':.team:orders-key']],
])('The order %j is %j', (sort, found) => expect(names(sortSubjectRows(rows, sort))).toEqual(found))
