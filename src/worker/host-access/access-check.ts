import { messageOf } from '../../config/errors.ts'
import type { HostAccess, Reaches } from '../../sdk/index.ts'
import { hostsIn } from './destinations.ts'

/** The error of a key. Without its value, in which a URL may hold a password. */
export function invalidValueMessage(key: string, problem: string): string {
  return `Invalid value for configuration ${key}: ${problem}`
}

/**
 * Why a value may not be used, before anything is opened: '' is no value. What a name resolves to, and what a path leads to
 * by then, is judged again when it is used.
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
    }
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
