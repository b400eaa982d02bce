import { describe, expect, it } from 'vitest'
import { mergeStatus } from '../../../src/operator/controller/merge-status.ts'
import { INITIAL_STATUS, type ResourceStatus } from '../../../src/operator/resources/resource.ts'

type Status = ResourceStatus['Connector']

const condition = (reason: string) => [
  { type: 'Ready', status: 'True' as const, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
]
const status = (fields: Partial<Status>, reason = 'Read'): Status => ({
  ...(INITIAL_STATUS as Status),
  conditions: condition(reason),
  ...fields,
})

describe('mergeStatus', () => {
  it('is the computed status where nothing else was stored', () => {
    const read = status({ configHash: 'a', lastHandledRestart: '1' })
    const computed = status({ configHash: 'b' }, 'Computed')
    expect(mergeStatus(computed, read, structuredClone(read))).toEqual(computed)
  })

  it('keeps what was stored meanwhile in fields that the reconcile has not changed', () => {
    const read = status({ configHash: 'a' })
    const stored = status({ configHash: 'b', lastHandledRestart: '1' }, 'Stored')
    const computed = status({ configHash: 'a', lastAppliedTime: '2026-01-01T00:00:00Z' }, 'Computed')
    expect(mergeStatus(computed, read, stored)).toEqual({
      ...stored,
      lastAppliedTime: '2026-01-01T00:00:00Z',
      conditions: condition('Computed'),
    })
  })

  it('replaces what both have changed, and compares single fields of an object', () => {
    const offsets = (more: object) => ({ offsets: more }) as Partial<Status>
    const read = status({ ...offsets({ lastOperationId: '1' }), lastHandledRestart: '1' })
    const stored = status({ ...offsets({ lastOperationId: '2' }), lastHandledRestart: '2' })
    const computed = status({
      ...offsets({ lastOperationId: '1', lastExportTime: '2026-01-01T00:00:00Z' }),
      lastHandledRestart: '3',
    })
    expect(mergeStatus(computed, read, stored)).toMatchObject({
      offsets: { lastOperationId: '2', lastExportTime: '2026-01-01T00:00:00Z' },
      lastHandledRestart: '3',
    })
  })

  it('has the conditions and the generation of the reconcile, also where it has not changed them', () => {
    const read = status({ observedGeneration: 1 })
    const stored = status({ observedGeneration: 2 }, 'Stored')
    expect(mergeStatus(read, read, stored)).toEqual(read)
  })

  it('has no field without a value, so that it equals what is stored', () => {
    const read = status({ configHash: 'a' })
    const computed = { ...status({}), configHash: undefined } as unknown as Status
    expect(Object.keys(mergeStatus(computed, read, read))).not.toContain('configHash')
  })
})
