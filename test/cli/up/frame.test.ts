import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { type FrameInput, renderFrame } from '../../../src/cli/up/frame.ts'
import type { ResourceRow } from '../../../src/operator/main.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { readyConnectorRow } from '../../support/resource-row.ts'

const INCOMPATIBLE =
  'version 3 of orders-value is not compatible with version 2 (BACKWARD): READER_FIELD_MISSING_DEFAULT_VALUE at ' +
  '/fields/4: the field "discount" has no default, and records of version 2 do not have it'

it.each([
  [60, 15],
  [80, 24],
  [140, 40],
])('shows a problem whole on a terminal of %i×%i', (width, height) => {
  const rows = [
    readyConnectorRow('a'),
    readyConnectorRow('b'),
    readyConnectorRow('c'),
    readyConnectorRow('d'),
    failed('orders-value', INCOMPATIBLE),
  ]
  const lines = frame({ rows, width, height: height - 1 })
  expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(INCOMPATIBLE)
  expect(lines.some((line) => line.includes('weir reconciles'))).toBe(true)
  for (const { name } of rows) expect(lines.some((line) => line.includes(name))).toBe(true)
})

it('shows names and states on a narrow terminal, and all columns on a wide one', () => {
  const title = (width: number) =>
    frame({ rows: [readyConnectorRow('orders')], width, height: 20 }).find((line) => line.includes('NAME'))
  expect(title(36)?.split(/ {2,}/)).toEqual(['NAME', 'READY', 'STATUS'])
  expect(title(140)?.split(/ {2,}/)).toEqual([
    'KIND',
    'NAME',
    'CLASS/TYPE',
    'READY',
    'STATUS',
    'RECORDS',
    'RATE',
    'AGE',
  ])
})

it('fits the terminal, whatever the resources are', { tags: ['slow'] }, () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  const resource = fc.record({
    name: text,
    message: text,
    reason: text,
    ready: fc.constantFrom('True', 'False', 'Unknown'),
  })
  const size = { width: fc.integer({ min: 60, max: 200 }), height: fc.integer({ min: 14, max: 60 }) }
  fc.assert(
    fc.property(fc.array(resource, { maxLength: 60 }), size.width, size.height, (resources, width, height) => {
      const rows = resources.map((one) => ({ ...readyConnectorRow(one.name), ...one }))
      const lines = frame({ rows, width, height })
      expect(lines.length).toBeLessThanOrEqual(height)
      for (const line of lines.filter((one) => /^(?:KIND|NAME| {2})|●/.test(one)))
        expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(width, 60))
    }),
    { numRuns: propertyRuns(200) },
  )
})

it('says how many lines do not fit', () => {
  const rows = Array.from({ length: 50 }, (_, at) => failed(`subject-${at}`, INCOMPATIBLE))
  const lines = frame({ rows, width: 80, height: 23 })
  expect(lines).toHaveLength(23)
  expect(lines.filter((line) => /^… and \d+ more/.test(line))).toEqual([
    '… and 43 more',
    expect.stringMatching(/^… and \d+ more lines$/),
  ])
})

it('shows control characters of a message as their codes', () => {
  const lines = frame({ rows: [failed('a', 'bad value \u001b[2J\u202e')], width: 100, height: 20 })
  expect(lines).toContain('  bad value \\u001b[2J\\u202e')
})

function frame(input: Pick<FrameInput, 'rows' | 'width' | 'height'>): readonly string[] {
  const addresses = { registryUrl: 'http://127.0.0.1:8081', workerUrl: 'http://127.0.0.1:8083' }
  const shown = { manifests: './m', broker: 'embedded in ./m/.weir', ...addresses, consoleUrl: 'http://127.0.0.1:8082' }
  const lines = renderFrame({ ...shown, throughput: new Map(), nowMs: 0, suggestions: ['tail -f x'], ...input })
  return lines.map(stripVTControlCharacters)
}

function failed(name: string, message: string): ResourceRow {
  return { ...readyConnectorRow(name), ready: 'False', reason: 'Incompatible', message, isStalled: true }
}
