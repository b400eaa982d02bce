import { messageOf } from '../../common/errors.ts'
import type { HostAccess, Reaches } from '../../sdk/index.ts'
import { hostsIn } from './hosts-in-config.ts'

/** The error message for a key. It omits the value, because a URL can contain a password. */
export function invalidValueMessage(key: string, problem: string): string {
  return `Invalid value for configuration ${key}: ${problem}`
}

/**
 * Returns the reason why a value may not be used, or undefined. Opens nothing. An empty value counts as not set.
 * Addresses and symbolic links are resolved and checked again when the value is used.
 */
export function accessProblem(reaches: Reaches, value: string, { files, network }: HostAccess): string | undefined {
  if (value.trim() === '') return undefined
  try {
    switch (reaches) {
      case 'path':
        files.checkPath(value)
        break
      case 'url':
        for (const { host, port } of hostsIn(value)) network.connectOptions(host, port)
        break
      case 'listener':
        for (const { host, port } of hostsIn(value)) network.checkListener(host, port)
        break
      // Not of the host: `checkTopics` of the worker checks them.
      case 'read topic':
      case 'written topic':
    }
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
