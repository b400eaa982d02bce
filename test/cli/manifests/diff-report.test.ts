import { describe, expect, it } from 'vitest'
import { diffText, plannedChanges } from '../../../src/cli/manifests/diff-report.ts'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'
import type { RuntimeChange } from '../../../src/operator/simulation.ts'

/** The plan of these changes of one resource. */
function plan(...changes: readonly RuntimeChange[]) {
  const verdict = { kind: 'accepted' } as const
  const outcome = {
    key: 'Connector/default/feed',
    verdict,
    advice: [],
    ineffective: [],
    missingReferences: [],
    isDeletion: false,
  } as const
  const isDefined = (config: Readonly<Record<string, string>>) => config['connector.class'] === 'org.example.Vault'
  return plannedChanges(
    [{ ...outcome, changes }],
    (config) => (key) => isSecretKey(key) || (key === 'pin' && isDefined(config)),
  )
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

  it('masks a setting that is secret by the definition of the class before or after the change', () => {
    const [planned] = plan({
      do: 'update-connector',
      connector: 'feed',
      before: { 'connector.class': 'org.example.Vault', pin: '1234' },
      after: { 'connector.class': 'org.example.Other', pin: '12345' },
    })
    expect(planned?.description).toContain('pin: "[hidden]" → "[hidden]"')
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
