import { describe, expect, it } from 'vitest'
import { type Listing, parseOutputFormat, renderChanged, renderListing } from '../../../src/cli/verbs/listing.ts'

type Row = { readonly name: string; readonly note: string }
const LISTING: Listing<Row> = {
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'NOTE', isWide: true, cell: ({ note }) => note },
  ],
  nameOf: ({ name }) => `thing/${name}`,
  dataOf: (row) => row,
}
const ROWS: readonly Row[] = [
  { name: '日本', note: '' },
  { name: 'evil\u001b[2J\n', note: 'x' },
]

describe('a listing', () => {
  it('aligns columns by the width of their text, and escapes control characters', () => {
    expect(renderListing(LISTING, ROWS, 'wide').split('\n')).toEqual([
      'NAME                 NOTE',
      '日本                 -',
      'evil\\u001b[2J\\u000a  x',
    ])
  })

  it('has its wide columns with -o wide only', () => {
    expect(renderListing(LISTING, ROWS, 'table').split('\n')[0]).toBe('NAME')
  })

  it.each(['json', 'yaml', 'name'] as const)('is printed as %s without control characters', (format) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the check is for
    expect(renderListing(LISTING, ROWS, format)).not.toMatch(/[\x00-\x09\x0b-\x1f]/)
  })

  it('is a list in JSON, and one object when one resource was named', () => {
    expect(JSON.parse(renderListing(LISTING, ROWS, 'json'))).toEqual(ROWS)
    expect(JSON.parse(renderListing(LISTING, ROWS.slice(0, 1), 'json', true))).toEqual(ROWS[0])
  })

  it('aligns rows that have changed with all rows', () => {
    expect(renderChanged(LISTING, ROWS, ROWS.slice(0, 1), 'wide')).toBe(`日本${' '.repeat(17)}-`)
    expect(renderChanged(LISTING, ROWS, ROWS.slice(0, 1), 'name')).toBe('thing/日本')
  })

  it('has a closed set of formats', () => {
    expect(() => parseOutputFormat('xml')).toThrow('-o xml: expected table, wide, json, yaml, name')
  })
})
