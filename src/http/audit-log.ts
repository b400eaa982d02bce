import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import { REQUEST_ID } from './request-id.ts'

/** What a request does, in words of permissions, and with which objects. */
export type AuditedAction = {
  /** Undefined where there is no such route. */
  readonly operation: string | undefined
  readonly objects: Readonly<Record<string, unknown>>
}

export type AuditLog = {
  readonly program: string
  /** `changes`: everything but reads that were allowed. */
  readonly requests: 'changes' | 'all'
  readonly describe: (request: FastifyRequest) => AuditedAction
  readonly add: (line: string) => void
  /** Whether what can't be recorded has to be refused now. */
  readonly isRefusing: () => boolean
  readonly nowMs: () => number
}

/** Statuses of requests that were refused for who made them. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429])
const TEXT_MAX = 256

/**
 * Records who did what and how it was answered, never what was sent or answered. A request is recorded when its connection
 * is done with it: who hangs up before the answer is recorded, too.
 */
export function auditRequests(app: FastifyInstance, audit: AuditLog): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions
    if (url === '/healthz' || url === '/readyz') return done()
    const startMs = audit.nowMs()
    reply.raw.once('close', () => {
      const action = audit.describe(request)
      if (isRecorded(audit, action, reply)) audit.add(JSON.stringify(entryOf(audit, action, request, reply, startMs)))
    })
    const isWanted = audit.requests === 'all' || isChange(audit.describe(request))
    const isRefused = isWanted && audit.isRefusing()
    done(isRefused ? new HttpError(503, 'the audit log can not be written: nothing is done without it') : undefined)
  })
}

function isRecorded({ requests }: AuditLog, action: AuditedAction, { statusCode }: FastifyReply): boolean {
  return requests === 'all' || isChange(action) || REFUSED.has(statusCode)
}

function isChange({ operation }: AuditedAction): boolean {
  return operation !== undefined && operation !== 'read'
}

function entryOf(
  { program, nowMs }: AuditLog,
  { operation, objects }: AuditedAction,
  request: FastifyRequest,
  reply: FastifyReply,
  startMs: number,
): object {
  const { principal, claimedName, routeOptions, ip, method } = request
  const isAnswered = reply.raw.writableFinished
  return {
    time: new Date(startMs).toISOString(),
    program,
    user: principal ? bounded(principal.name) : null,
    ...(principal ? { role: principal.role, login: principal.method } : {}),
    ...(principal === undefined && claimedName !== undefined ? { claimedUser: bounded(claimedName) } : {}),
    address: ip,
    method,
    path: routeOptions.url ?? null,
    operation: operation ?? null,
    objects: Object.fromEntries(Object.entries(objects).map(([name, value]) => [name, bounded(String(value))])),
    status: isAnswered ? reply.statusCode : null,
    requestId: bounded(String(reply.getHeader(REQUEST_ID) ?? '')),
    ms: Math.round(nowMs() - startMs),
  }
}

function bounded(text: string): string {
  return text.slice(0, TEXT_MAX)
}
