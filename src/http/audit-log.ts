import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { truncateText } from '../common/truncate-text.ts'
import { HttpError } from './http-error.ts'
import { REQUEST_ID } from './request-id.ts'

/** The operation of a request in terms of permissions, and the objects it concerns. */
export type AuditedAction = {
  /** Undefined if no route matched. */
  readonly operation: string | undefined
  readonly objects: Readonly<Record<string, unknown>>
  /** Whether the response contains records of topics. The audit log has each such request, also if it does not have other reads. */
  readonly readsRecords?: boolean
}

export type AuditLog = {
  readonly program: string
  /** `changes`: all requests except permitted reads; reads of records are included. */
  readonly requests: 'changes' | 'all'
  readonly describe: (request: FastifyRequest) => AuditedAction
  readonly add: (line: string) => void
  /** Whether requests have to be rejected because they cannot be recorded. */
  readonly isRejecting: () => boolean
  readonly nowMs: () => number
}

/** Status codes of requests rejected by authentication or authorization. */
const REJECTED: ReadonlySet<number> = new Set([401, 403, 429])
const TEXT_MAX = 256

/**
 * Records the user, operation, objects and status of each request, never bodies. A request is recorded when its connection
 * closes or the response ends, so requests aborted by the client are included.
 */
export function auditRequests(app: FastifyInstance, audit: AuditLog): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions
    if (url === '/healthz' || url === '/readyz') return done()
    const startMs = audit.nowMs()
    const action = audit.describe(request)
    // `close` is emitted once, so `once` is not needed.
    reply.raw.on('close', () => {
      if (!isRecorded(audit, action, reply)) return
      // Described again, because the body, which is read by now, may contain the name of the object.
      audit.add(JSON.stringify(entryOf(audit, audit.describe(request), request, reply, startMs)))
    })
    const isRecordedRequest = audit.requests === 'all' || isAlwaysRecorded(action)
    const isRejected = isRecordedRequest && audit.isRejecting()
    done(
      isRejected
        ? new HttpError(
            503,
            'the audit log cannot be written: requests are rejected because audit.log.on.failure=refuse',
          )
        : undefined,
    )
  })
}

function isRecorded({ requests }: AuditLog, action: AuditedAction, { statusCode }: FastifyReply): boolean {
  return requests === 'all' || isAlwaysRecorded(action) || REJECTED.has(statusCode)
}

function isAlwaysRecorded({ operation, readsRecords = false }: AuditedAction): boolean {
  return readsRecords || (operation !== undefined && operation !== 'read' && operation !== 'describe')
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
    user: principal ? truncated(principal.name) : null,
    ...(principal ? { role: principal.role, login: principal.method } : {}),
    ...(principal === undefined && claimedName !== undefined ? { claimedUser: truncated(claimedName) } : {}),
    address: ip,
    method,
    path: routeOptions.url ?? null,
    operation: operation ?? null,
    objects: Object.fromEntries(Object.entries(objects).map(([name, value]) => [name, truncated(String(value))])),
    status: isAnswered ? reply.statusCode : null,
    requestId: truncated(String(reply.getHeader(REQUEST_ID) ?? '')),
    ms: Math.round(nowMs() - startMs),
  }
}

const truncated = (text: string) => truncateText(text, TEXT_MAX, '')
