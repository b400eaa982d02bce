import { UserError } from '../../common/errors.ts'

/** The files and network destinations that connectors may use. Plain data, so that it can be posted to threads. */
export type HostAccessPolicy = {
  readonly paths: PathPolicy
  readonly addresses: AddressPolicy
  readonly listeners: ListenerPolicy
}

export type PathPolicy = {
  /** Directories and files; undefined: all except the worker's own. */
  readonly allowed: readonly string[] | undefined
  /** The worker's own files and directories, which connectors may never use. */
  readonly own: readonly string[]
}

export type AddressPolicy = {
  /** Entries in the format of `address-rules.ts`; undefined: all that are not denied. */
  readonly allowed: readonly string[] | undefined
  readonly denied: readonly string[]
}

export type ListenerPolicy = {
  /** Entries of the form `HOST:PORT`; undefined: all. */
  readonly allowed: readonly string[] | undefined
  /** Ports that the worker itself listens on. */
  readonly ownPorts: readonly number[]
}

/** The error of every access that is not allowed. Plugins and clients recognize it by its code. */
export function notAllowed(message: string): UserError {
  return new UserError('not_allowed', message)
}
