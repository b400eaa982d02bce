import type { JavaPattern } from '../../../../../java-compat/java-regex.ts'
import { parseNamePattern } from '../../../cdc/config/name-patterns.ts'

const KEY = 'replica.identity.autoset.values'

/** A replica identity as `ALTER TABLE … REPLICA IDENTITY` names it. */
export type ReplicaIdentity =
  | { readonly kind: 'default' | 'full' | 'nothing' }
  | { readonly kind: 'index'; readonly index: string }

/** The replica identity that tables shall have whose name matches. */
export type ReplicaIdentityRule = { readonly tables: JavaPattern; readonly identity: ReplicaIdentity }

/** Parses `replica.identity.autoset.values`: `REGEX:VALUE,…`. Throws an `Error` for another form. */
export function parseReplicaIdentities(text: string): readonly ReplicaIdentityRule[] {
  return text
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const at = entry.lastIndexOf(':')
      const identity = parseIdentity(entry.slice(at + 1).trim())
      if (at < 0 || identity === undefined) {
        throw new Error(
          `Invalid value ${text} for configuration ${KEY}: '${entry.trim()}' is not REGEX:VALUE ` +
            'with the value DEFAULT, FULL, NOTHING or INDEX NAME',
        )
      }
      return { tables: parseNamePattern(KEY, entry.slice(0, at).trim(), text), identity }
    })
}

function parseIdentity(text: string): ReplicaIdentity | undefined {
  const index = /^INDEX\s+(\S+)$/i.exec(text)?.[1]
  if (index !== undefined) return { kind: 'index', index }
  return (['default', 'full', 'nothing'] as const)
    .map((kind) => ({ kind }))
    .find(({ kind }) => kind === text.toLowerCase())
}
