import type { PermissionsSettings } from './permissions-file.ts'
import type { UsersSettings } from './users.ts'

export type AccessSettings = UsersSettings & PermissionsSettings

/** Why settings of a log-in contradict each other; undefined when they don't. */
export function accessContradiction(settings: AccessSettings): string | undefined {
  const method = settings['authentication.method']
  const users = [settings['weir.authentication.users'], settings['weir.authentication.users.file']].filter(Boolean)
  if (method === 'BASIC' && users.length !== 1) {
    return 'authentication.method=BASIC needs weir.authentication.users.file, or else weir.authentication.users: who may come in'
  }
  if (method === 'NONE' && settings['weir.authorization.permissions.file'] !== '') {
    return 'weir.authorization.permissions.file needs authentication.method=BASIC: permissions are those of people who log in'
  }
  return undefined
}
