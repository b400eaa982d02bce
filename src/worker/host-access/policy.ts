import { UserError } from '../../config/errors.ts'

/** What connectors may use of the worker's machine and network. Plain data: threads get it as it is. */
export type HostAccessPolicy = {
  readonly paths: PathPolicy
  readonly addresses: AddressPolicy
  readonly listeners: ListenerPolicy
}

export type PathPolicy = {
  /** Directories and files; undefined: all but the worker's own. */
  readonly allowed: readonly string[] | undefined
  /** The worker's own files and directories, which no connector may use whatever is allowed. */
  readonly own: readonly string[]
}

export type AddressPolicy = {
  /** Entries as `address-rules.ts` reads them; undefined: all that are not denied. */
  readonly allowed: readonly string[] | undefined
  readonly denied: readonly string[]
}

export type ListenerPolicy = {
  /** `HOST:PORT`; undefined: all. */
  readonly allowed: readonly string[] | undefined
  /** Ports that the worker itself listens at. */
  readonly ownPorts: readonly number[]
}

/** What every refusal is. Plugins and clients know it by its code. */
export function notAllowed(message: string): UserError {
  return new UserError('not_allowed', message)
}
