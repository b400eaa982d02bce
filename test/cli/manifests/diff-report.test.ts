import { describe, expect, it } from 'vitest'
import { diffText, plannedChanges } from '../../../src/cli/manifests/diff-report.ts'
import type { RuntimeChange } from '../../../src/operator/simulation.ts'

/** The plan of these changes of one resource. */
function plan(...changes: readonly RuntimeChange[]) {
  const verdict = { kind: 'accepted' } as const
  const outcome = {
    key: 'Connector/default/feed',
    verdict,
    advice: [],
    missingReferences: [],
    isDeletion: false,
  } as const
  return plannedChanges([{ ...outcome, changes }])
}

describe('the plan of weir diff', () => {
  it('names changed keys with their values, and masks secrets', () => {
    const token = 'k3J9xPq7Lw2ZrT8vBn5M'
    const planned = plan({
      do: 'update-connector',
      connector: 'feed',
      before: { 'batch.size': '1', password: 'old-secret', note: token, same: 's', gone: 'g' },
      after: { 'batch.size': '2', password: 'new-secret', note: `${token}x`, same: 's' },
    })
    expect(planned).toEqual([
      {
        resource: 'Connector/default/feed',
        action: 'update',
        restarts: true,
        description:
          'change connector feed: batch.size: "1" → "2", gone: "g" → absent, note: "[hidden]" → "[hidden]", password: "[hidden]" → "[hidden]"',
      },
    ])
  })

  it('distinguishes creations, updates and deletions', () => {
    const planned = plan(
      { do: 'create-connector', connector: 'feed', config: {}, state: 'RUNNING' },
      { do: 'set-state', connector: 'feed', state: 'PAUSED' },
      { do: 'delete-connector', connector: 'feed' },
    )
    expect(diffText(planned).split('\n').slice(-2)).toEqual(['1 to create, 1 to update, 1 to delete', ''])
    expect(diffText([])).toBe('no differences\n')
  })
})
