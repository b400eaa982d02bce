import { describe, expect, it } from 'vitest'
import { overridingStatements } from '../../../../src/plugins/connectors/cdc/config/overriding-statements.ts'
import { decideSnapshot, SNAPSHOT_MODES } from '../../../../src/plugins/connectors/cdc/snapshot/snapshot-mode.ts'

const BASED = { snapshotsData: true, startsStream: true, snapshotsOnDataError: true }

const STATES = [
  { stored: 'none', isPositionAvailable: false },
  { stored: 'snapshot', isPositionAvailable: true },
  { stored: 'snapshot', isPositionAvailable: false },
  { stored: 'stream', isPositionAvailable: true },
  { stored: 'stream', isPositionAvailable: false },
] as const

describe('decideSnapshot', () => {
  it('decides by mode: at the first start, in a snapshot with and without its slot, in the stream with and without its position', () => {
    const decisions = SNAPSHOT_MODES.map((mode) => {
      const data = STATES.map((state) => decideSnapshot(mode, state, BASED).data)
      return `${mode}: ${data.join(' ')}`
    })
    expect(decisions).toEqual([
      'initial: new continue new none none',
      'always: new continue new new new',
      'initial_only: new new new none none',
      'no_data: none none none none none',
      'never: none none none none none',
      'when_needed: new continue new none new',
      'configuration_based: new continue new new new',
    ])
  })

  it('streams after the snapshot, except in initial_only', () => {
    expect(SNAPSHOT_MODES.filter((mode) => !decideSnapshot(mode, STATES[0], BASED).streams)).toEqual(['initial_only'])
  })

  it('does what the keys of configuration_based say', () => {
    const decide = (changed: Partial<typeof BASED>, state: (typeof STATES)[number]) =>
      decideSnapshot('configuration_based', state, { ...BASED, ...changed })
    expect(decide({ snapshotsData: false }, STATES[0])).toEqual({ data: 'none', streams: true })
    expect(decide({ startsStream: false }, STATES[0])).toEqual({ data: 'new', streams: false })
    // Without a stream nothing would correct a snapshot that continues.
    expect(decide({ startsStream: false }, STATES[1])).toEqual({ data: 'new', streams: false })
    const onlyOnError = { snapshotsData: false }
    expect(decide(onlyOnError, STATES[3])).toEqual({ data: 'none', streams: true })
    expect(decide(onlyOnError, STATES[4])).toEqual({ data: 'new', streams: true })
    expect(decide({ ...onlyOnError, snapshotsOnDataError: false }, STATES[4])).toEqual({ data: 'none', streams: true })
  })
})

describe('overridingStatements', () => {
  it('are read by table, without a semicolon at their end', () => {
    const raw = { 'snapshot.select.statement.overrides.a.b': ' SELECT * FROM a.b WHERE x; ' }
    expect([...overridingStatements(['a.b'], raw)]).toEqual([['a.b', 'SELECT * FROM a.b WHERE x']])
    expect(() => overridingStatements(['a.c'], raw)).toThrow('snapshot.select.statement.overrides.a.c is missing')
  })
})
