import { describe, expect, it } from 'vitest'
import { deadLetterTopic } from '../../src/common/topic-use.ts'
import {
  correctionOf,
  type DeadLetterPayload,
  type DeadLetterRow,
  editableText,
  editProblem,
  indentJson,
  listingPath,
  olderFilters,
  originText,
  replayConsequences,
  replayTarget,
  wrongLine,
} from '../../src/console/page/dead-letters.ts'

function payload(form: DeadLetterPayload['form'], text: string): DeadLetterPayload {
  return { form, text, bytes: text.length, isTruncated: false, problem: null }
}

function row(own: Partial<DeadLetterRow> = {}): DeadLetterRow {
  return {
    partition: 0,
    offset: 4,
    timestampMs: 0,
    origin: { topic: 'orders', partition: '2', offset: '7' },
    stage: null,
    className: null,
    exceptionClass: null,
    message: null,
    stackTrace: null,
    headers: [],
    moreHeaders: 0,
    key: payload('text', 'k'),
    value: payload('json', '{"n":1}'),
    target: 'orders',
    problem: null,
    replayed: null,
    ...own,
  }
}

const NAMELESS = row({ origin: { topic: null, partition: null, offset: null }, target: null, problem: 'no topic' })

describe('the dead letters of a connector', () => {
  it('are shown for sinks that have a dead-letter topic', () => {
    const config = { 'errors.deadletterqueue.topic.name': 'dead' }
    expect([deadLetterTopic(config, 'sink'), deadLetterTopic(config, 'source'), deadLetterTopic({}, 'sink')]).toEqual([
      'dead',
      '',
      '',
    ])
  })

  it('are requested with the filters of the URL, and older ones with a link', () => {
    expect(listingPath('/p', { error: 'a b', partition: '1', before: '9', search: 'x' })).toBe(
      '/p?error=a+b&partition=1&before=9',
    )
    expect(listingPath('/p', { error: '' })).toBe('/p')
    const listing = {
      topic: 'dead',
      exists: true,
      records: [],
      partitions: [{ partition: 3, end: 9, olderBefore: 5 }],
      partitionCount: 4,
      ofOthers: 0,
      marksProblem: null,
    }
    expect(olderFilters(listing)).toEqual({ partition: '3', before: '5' })
    expect(olderFilters({ ...listing, partitions: [{ partition: 3, end: 9 }] })).toBeUndefined()
    // Of several partitions, one has to be chosen first.
    expect(olderFilters({ ...listing, partitions: [...listing.partitions, { partition: 4, end: 1 }] })).toBeUndefined()
  })

  it('name where they came from, and where a replay sends them', () => {
    expect(originText(row())).toBe('orders, partition 2, offset 7')
    expect(originText(NAMELESS)).toContain('unknown')
    expect([replayTarget(row(), 'other'), replayTarget(NAMELESS, 'other'), replayTarget(NAMELESS, '')]).toEqual([
      'orders',
      'other',
      null,
    ])
    // Its topic is known, and the connector does not read it.
    expect(replayTarget(row({ target: null }), 'other')).toBeNull()
  })
})

describe('the confirmation of a replay', () => {
  it('says what is written where, what is corrected, and what arrives twice', () => {
    expect(replayConsequences([row(), row({ replayed: 'command' }), NAMELESS], 'other', { value: '{}' })).toEqual([
      '2 records are written to the end of the topic orders.',
      '1 record is written to the end of the topic other.',
      'The value is corrected.',
      'The connector reads them again, and so does every other consumer of the topic. The dead-letter topic keeps its records.',
      '1 record of these was replayed before: consumers get it twice.',
    ])
  })
})

describe('a correction', () => {
  it('consists of what has changed, in the form in which it was shown', () => {
    expect(correctionOf(row(), { key: 'k', value: editableText(row().value) })).toEqual({ partition: 0, offset: 4 })
    expect(correctionOf(row(), { key: 'K', value: '{"n":2}' })).toEqual({
      partition: 0,
      offset: 4,
      key: { form: 'text', text: 'K' },
      value: { form: 'json', text: '{"n":2}' },
    })
  })

  it('names the line at which it is not JSON', () => {
    expect(wrongLine(payload('json', ''), '{"a":1,\n"b" 2}')).toBe(2)
    expect(wrongLine(payload('text', ''), '{"a":1,\n"b":2')).toBe(2)
    expect(wrongLine(payload('text', ''), 'not meant as JSON')).toBeUndefined()
    expect(wrongLine(payload('json', ''), '{"a":[1,2]}')).toBeUndefined()
  })

  it('is not offered for what a browser cannot show as it is', () => {
    expect(editProblem(payload('null', ''))).toContain('none')
    expect(editProblem(payload('text', 'a\r\nb'))).toContain('line ends')
    expect(editProblem({ ...payload('text', 'a'), isTruncated: true })).toContain('as it is')
    expect(editProblem(payload('hex', '00'))).toBeUndefined()
  })
})

describe('the indentation of JSON', () => {
  it('changes space only, so that numbers and texts stay as they are', () => {
    const text = '{"n":1.50,"big":12345678901234567890.10,"t":"a\\"{b}, :c","e":{},"l":[[],[1,{"x":null}]]}'
    expect(indentJson(text)).toBe(`{
  "n": 1.50,
  "big": 12345678901234567890.10,
  "t": "a\\"{b}, :c",
  "e": {},
  "l": [
    [],
    [
      1,
      {
        "x": null
      }
    ]
  ]
}`)
    expect(indentJson(' "text" ')).toBe('"text"')
  })
})
