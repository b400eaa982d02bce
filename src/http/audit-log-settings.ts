import type { FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { z } from 'zod'
import { messageOf, UserError } from '../config/errors.ts'
import type { Logger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { enumSetting } from '../config/settings.ts'
import type { AuditedAction, AuditLog } from './audit-log.ts'
import { AuditLogFile } from './audit-log-file.ts'

/** Settings of the audit log that the registry and the worker have alike. */
export const auditLogShape = {
  'audit.log.file': z
    .string()
    .trim()
    .default('')
    .describe('File that says who did what, a JSON object a line; `stdout`: the standard output. None: there is none.'),
  'audit.log.requests': enumSetting(['changes', 'all'])
    .default('changes')
    .describe('What it says: everything but reads that were allowed, or everything.'),
  'audit.log.on.failure': enumSetting(['refuse', 'drop'])
    .default('refuse')
    .describe('What becomes of requests while it can not be written: refused with 503, or done and counted.'),
}

export type AuditLogSettings = z.infer<z.ZodObject<typeof auditLogShape>>

/** What the page of a program says of these settings. */
export const AUDIT_LOG_DESCRIPTIONS = Object.fromEntries(
  Object.entries(auditLogShape).map(([key, type]) => [key, type.description ?? '']),
) as Readonly<Record<keyof typeof auditLogShape, string>>

export type AuditLogOptions = {
  readonly program: string
  readonly logger: Logger
  readonly metrics: Metrics | undefined
  readonly describe: (request: FastifyRequest) => AuditedAction
}

/** Undefined when nothing is recorded. Rejects with a `UserError` when the file can't be written. */
export async function openAuditLog(
  settings: AuditLogSettings,
  parts: AuditLogOptions,
): Promise<{ readonly audit: AuditLog; close(): Promise<void> } | undefined> {
  const path = settings['audit.log.file']
  if (path === '') return undefined
  const { program, describe, logger } = parts
  const sink = path === 'stdout' ? STDOUT : await openFile(path, parts)
  const refuses = settings['audit.log.on.failure'] === 'refuse'
  logger.info({ file: path }, 'the audit log is written')
  return {
    audit: {
      program,
      describe,
      requests: settings['audit.log.requests'],
      add: (line) => sink.add(line),
      isRefusing: () => refuses && sink.isFailing,
      nowMs: Date.now,
    },
    close: () => sink.close(),
  }
}

const STDOUT = {
  isFailing: false,
  add: (line: string): void => void process.stdout.write(`${line}\n`),
  close: async (): Promise<void> => {},
}

async function openFile(path: string, { logger, metrics }: AuditLogOptions): Promise<AuditLogFile> {
  const counter = new Counter({
    name: 'weir_audit_records_dropped_total',
    help: 'Records that the audit log had no room for while it could not be written.',
    registers: metrics ? [metrics] : [],
  })
  try {
    return await AuditLogFile.open({ path, logger, dropped: () => counter.inc() })
  } catch (error) {
    throw new UserError('invalid_audit_log', `audit.log.file=${path} can't be written: ${messageOf(error)}`)
  }
}
