import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashPassword } from '../../src/http/password-hash.ts'
import type { Role } from '../../src/http/users.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Hashes by user name: hashing is slow by design, and the tests use the same names again and again. */
const hashes = new Map<string, Promise<string>>()

function hashOf(name: string): Promise<string> {
  const hash = hashes.get(name) ?? hashPassword(name)
  hashes.set(name, hash)
  return hash
}

/** Settings that enable basic authentication. Each user's password is the user name. */
export async function basicAuthSettings(
  roles: Readonly<Record<string, Role>>,
  permissions?: object,
  directory = temporaryDirectory,
): Promise<Readonly<Record<string, string>>> {
  const lines = Object.entries(roles).map(async ([name, role]) => `${name}: ${await hashOf(name)}, ${role}`)
  const file = permissions && join(directory(), 'permissions.yaml')
  if (file !== undefined) writeFileSync(file, JSON.stringify(permissions))
  return {
    'authentication.method': 'BASIC',
    'weir.authentication.users': (await Promise.all(lines)).join('\n'),
    ...(file !== undefined ? { 'weir.authorization.permissions.file': file } : {}),
  }
}

export type CallResponse = { readonly status: number; readonly body: unknown }

/** Sends a JSON request as `user`; undefined: without authentication. `line`: `METHOD /path`. */
export async function callAs(
  user: string | undefined,
  url: string,
  line: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<CallResponse> {
  const [method = '', path = ''] = line.split(' ')
  const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(user === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text }
}
