import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from './refusal.ts'
import { ROLES, type Role, type Users } from './users.ts'

/** Who makes a request. `FastifyRequest.principal` is undefined where nobody has to log in: then everything is allowed. */
export type Principal = { readonly name: string; readonly role: Role }

/** BASIC authentication with roles (RFC 7617): who may call what. */
export type Access = {
  readonly realm: string
  readonly users: Users
  /** Who may come in at all. Default: everybody who is known. */
  readonly roles?: readonly Role[]
  /** Paths that need no name; `/*` at the end takes all below. */
  readonly openPaths?: readonly string[]
  /** The least role that may make this request; undefined: it needs no name. */
  readonly roleFor: (request: FastifyRequest) => Role | undefined
}

const FAILURES_MAX = 10
const WINDOW_MS = 60_000
const ADDRESSES_MAX = 10_000

/** How often an address failed to log in lately; past the bound it waits, so that passwords can't be tried in bulk. */
export class FailedLogins {
  readonly #failures = new Map<string, { count: number; sinceMs: number }>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Seconds until this address may try again; 0: now. */
  waitSeconds(address: string): number {
    const entry = this.#failures.get(address)
    if (!entry || entry.count < FAILURES_MAX) return 0
    const leftMs = entry.sinceMs + WINDOW_MS - this.#nowMs()
    if (leftMs > 0) return Math.ceil(leftMs / 1_000)
    this.#failures.delete(address)
    return 0
  }

  add(address: string): void {
    const nowMs = this.#nowMs()
    const entry = this.#failures.get(address)
    if (entry && nowMs - entry.sinceMs < WINDOW_MS) {
      entry.count += 1
      return
    }
    if (this.#failures.size >= ADDRESSES_MAX) this.#failures.clear()
    this.#failures.set(address, { count: 1, sinceMs: nowMs })
  }
}

/** Lets a request pass and sets `request.principal`, or throws a 401, 403 or 429. */
export async function authorize(
  access: Access,
  failed: FailedLogins,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const needed = access.roleFor(request)
  if (needed === undefined || isOpen(access.openPaths ?? [], request.url)) return
  const waitSeconds = failed.waitSeconds(request.ip)
  if (waitSeconds > 0) {
    void reply.header('retry-after', String(waitSeconds))
    throw new Refusal(429, `too many failed log-ins from this address: try again in ${waitSeconds} s`)
  }
  const given = credentialsOf(request.headers.authorization)
  const role = given && (await access.users.verify(given.name, given.password))
  if (!role) {
    if (given) failed.add(request.ip)
    void reply.header('www-authenticate', `Basic realm="${access.realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`)
    throw new Refusal(401, given ? 'User cannot access the resource: wrong name or password' : 'HTTP 401 Unauthorized')
  }
  if (access.roles && !access.roles.includes(role)) {
    throw new Refusal(403, `User '${given.name}' has the role ${role}, which may not come in`)
  }
  if (ROLES.indexOf(role) < ROLES.indexOf(needed)) {
    throw new Refusal(403, `User '${given.name}' has the role ${role}; this request needs ${needed}`)
  }
  request.principal = { name: given.name, role }
}

function isOpen(openPaths: readonly string[], url: string): boolean {
  const path = url.split('?', 1)[0] ?? url
  return openPaths.some((open) => (open.endsWith('/*') ? path.startsWith(open.slice(0, -1)) : path === open))
}

function credentialsOf(header: string | undefined): { name: string; password: string } | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
