import { hash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf, UserError } from '../common/errors.ts'
import { watchFiles } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import { isPasswordOf, type PasswordHash } from './password-hash.ts'

/** Each role includes the permissions of those before it; `none` has only those of the permissions file. */
export const ROLES = ['none', 'readonly', 'developer', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** The authenticated user of a request. */
export type Principal = {
  readonly name: string
  readonly role: Role
  /** Groups of the token. */
  readonly groups: readonly string[]
  readonly method: 'basic' | 'bearer'
}

type User = PasswordHash & { readonly name: string; readonly role: Role }

const LINE = /^([^\s:#][^:]*):\s*scrypt\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)\s*,\s*(\w+)$/
/** Maximum number of cached passwords, and the time after which a password is hashed again. */
const VERIFIED_MAX = 1_000
const VERIFIED_MS_MAX = 3_600_000

/** The settings of every program with authentication. */
export type UsersSettings = {
  readonly 'authentication.method': readonly string[]
  readonly 'weir.authentication.users.file': string
  readonly 'weir.authentication.users': string
}

/** Undefined without password authentication. */
export function openUsers(settings: UsersSettings, logger: Logger): Users | undefined {
  if (!settings['authentication.method'].includes('BASIC')) return undefined
  const file = settings['weir.authentication.users.file']
  return file === ''
    ? Users.fromText(settings['weir.authentication.users'], 'weir.authentication.users')
    : Users.fromFile(file, logger)
}

/**
 * Parses a users file: one user per line, `NAME: scrypt$SALT$HASH, ROLE`; `#` starts a comment. Throws a `UserError`
 * with the line number; the line itself is secret and not quoted.
 */
export function parseUsers(text: string, file: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue
    const [, name, salt, hash, role] = LINE.exec(line.trim()) ?? []
    if (name === undefined || !isRole(role)) {
      throw new UserError(
        'invalid_users',
        `${file}:${at + 1}: expected NAME: scrypt$SALT$HASH, ROLE with a role of ${ROLES.join(', ')}; 'weir password' prints such a line`,
      )
    }
    users.set(name, { name, role, salt: Buffer.from(salt ?? '', 'base64'), hash: Buffer.from(hash ?? '', 'base64') })
  }
  // A file that is being written may be empty, too.
  if (users.size === 0) throw new UserError('invalid_users', `${file} contains no users`)
  return users
}

function isRole(text: string | undefined): text is Role {
  return (ROLES as readonly (string | undefined)[]).includes(text)
}

/**
 * The users of a server. The file is reloaded when it changes; an invalid file keeps the previous users and is logged.
 * Verified passwords are cached for an hour as keyed hashes, because scrypt is slow by design.
 */
export class Users {
  #users: ReadonlyMap<string, User>
  readonly #verified = new Map<string, { readonly principal: Principal; readonly sinceMs: number }>()
  readonly #key = randomBytes(32).toString('base64')
  readonly #followed: { close(): void } | undefined

  private constructor(users: ReadonlyMap<string, User>, file?: string, logger?: Logger) {
    this.#users = users
    if (file !== undefined) this.#followed = this.#follow(file, logger)
  }

  static fromText(text: string, source: string): Users {
    return new Users(parseUsers(text, source))
  }

  static fromFile(file: string, logger: Logger): Users {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new UserError('invalid_users', `cannot read the users file ${file}: ${messageOf(error)}`)
    }
    return new Users(parseUsers(text, file), file, logger)
  }

  /** The user whose password is cached: the same object each time. */
  findVerified(name: string, password: string): Principal | undefined {
    const verified = this.#verified.get(this.#seen(name, password))
    return verified && performance.now() - verified.sinceMs < VERIFIED_MS_MAX ? verified.principal : undefined
  }

  /** The user; undefined if name or password is wrong. Takes equally long for both. */
  async verify(name: string, password: string): Promise<Principal | undefined> {
    const known = this.findVerified(name, password)
    if (known !== undefined) return known
    const users = this.#users
    const user = users.get(name)
    if (!(await isPasswordOf(user, password)) || !user) return undefined
    // A user that was changed or removed in the meantime is verified again by the next request.
    const principal: Principal = { name, role: user.role, groups: [], method: 'basic' }
    if (users !== this.#users) return this.#users.get(name)?.hash.equals(user.hash) ? principal : undefined
    if (this.#verified.size >= VERIFIED_MAX) this.#verified.clear()
    this.#verified.set(this.#seen(name, password), { principal, sinceMs: performance.now() })
    return principal
  }

  #seen(name: string, password: string): string {
    return hash('sha256', `${this.#key}${name.length} ${name}${password}`, 'base64')
  }

  close(): void {
    this.#followed?.close()
  }

  #follow(file: string, logger: Logger | undefined): { close(): void } {
    return watchFiles({
      files: [file],
      read: () => parseUsers(readFileSync(file, 'utf8'), file),
      use: (users) => {
        this.#users = users
        this.#verified.clear()
      },
      logger,
    })
  }
}
