import type { RuntimeChange, SimulatedResource } from '../../operator/simulation.ts'
import { printableText } from '../terminal/printable-text.ts'
import type { SecretKeyFinder } from './secret-settings.ts'
import { withoutSecrets } from './secret-values.ts'

export type PlannedChange = {
  readonly resource: string
  readonly action: 'create' | 'update' | 'delete'
  /** Whether the connector and its tasks are restarted. */
  readonly restarts: boolean
  /** In one sentence, with secrets masked. */
  readonly description: string
}

/** What applying the manifests changes in the runtimes. */
export function plannedChanges(
  outcomes: readonly SimulatedResource[],
  secretKeysOf: SecretKeyFinder,
): readonly PlannedChange[] {
  return outcomes.flatMap(({ key, changes }) =>
    changes.map((change) => ({ resource: key, ...plannedChange(change, secretKeysOf) })),
  )
}

function plannedChange(change: RuntimeChange, secretKeysOf: SecretKeyFinder): Omit<PlannedChange, 'resource'> {
  const planned = (action: PlannedChange['action'], description: string, restarts = false) => {
    return { action, restarts, description }
  }
  switch (change.do) {
    case 'register': {
      const { subject, version } = change
      return planned(version === 1 ? 'create' : 'update', `register version ${version} of subject ${subject}`)
    }
    case 'set-level':
      return planned('update', `set the compatibility level of ${nameOf(change.scope)} to ${change.level}`)
    case 'delete-level':
      return planned('update', `remove the compatibility level of ${nameOf(change.scope)}`)
    case 'set-mode':
      return planned('update', `set the mode of ${nameOf(change.scope)} to ${change.mode}`)
    case 'delete-mode':
      return planned('update', `remove the mode of ${nameOf(change.scope)}`)
    case 'delete-subject':
      return planned('delete', `delete subject ${change.subject}${change.permanent ? ' permanently' : ''}`)
    case 'create-connector':
      return planned('create', `create connector ${change.connector}, ${change.state.toLowerCase()}`)
    case 'update-connector':
      return planned('update', `change connector ${change.connector}: ${changedKeysOf(change, secretKeysOf)}`, true)
    case 'set-state':
      return planned('update', `set the state of connector ${change.connector} to ${change.state}`)
    case 'restart-connector':
      return planned('update', `restart connector ${change.connector}`, true)
    case 'alter-offsets':
      return planned('update', `alter the offsets of connector ${change.connector}`)
    case 'reset-offsets':
      return planned('update', `reset the offsets of connector ${change.connector}`)
    case 'delete-connector':
      return planned('delete', `delete connector ${change.connector}`)
  }
}

function nameOf(scope: string | undefined): string {
  return scope === undefined ? 'the registry' : scope
}

function changedKeysOf(
  { before, after }: Extract<RuntimeChange, { do: 'update-connector' }>,
  secretKeysOf: SecretKeyFinder,
): string {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const [wasSecret, isSecret] = [secretKeysOf(before), secretKeysOf(after)]
  // A value of a setting that was secret may be in the new configuration of another class.
  const isAnySecret = (key: string) => wasSecret(key) || isSecret(key)
  const [old, now] = [withoutSecrets(before, isAnySecret), withoutSecrets(after, isAnySecret)]
  const shown = (value: string | undefined) => (value === undefined ? 'absent' : JSON.stringify(value))
  return keys
    .filter((key) => before[key] !== after[key])
    .map((key) => `${key}: ${shown(old[key])} → ${shown(now[key])}`)
    .join(', ')
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const

export function diffText(planned: readonly PlannedChange[]): string {
  const lines = planned.map(({ action, resource, description, restarts }) => {
    return printableText(`${SIGNS[action]} ${resource}: ${description}${restarts ? ' (restarts its tasks)' : ''}`)
  })
  const count = (action: PlannedChange['action']) => planned.filter((one) => one.action === action).length
  const summary = `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete`
  return [...lines, planned.length === 0 ? 'no differences' : summary, ''].join('\n')
}
