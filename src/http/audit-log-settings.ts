import type { FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { z } from 'zod'
import { messageOf, UserError } from '../common/errors.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { enumSetting } from '../config/settings.ts'
import type { AuditedAction, AuditLog } from './audit-log.ts'
import { AuditLogFile } from './audit-log-file.ts'

/** Settings of the audit log, shared by the registry and the worker. */
export const auditLogShape = {
  'audit.log.file': z
    .string()
    .trim()
    .default('')
    .describe('File of the audit log, with one JSON object per line. `stdout`: standard output. Empty: no audit log.'),
  'audit.log.requests': enumSetting(['changes', 'all'])
    .default('changes')
    .describe(
      'Recorded requests. `changes`: all except permitted reads, but reads of the records of a topic are included; `all`: all requests.',
    ),
  'audit.log.on.failure': enumSetting(['refuse', 'drop'])
    .default('refuse')
    .describe(
      'Behavior while the audit log cannot be written. `refuse`: requests are rejected with 503; `drop`: they are processed, and their records are counted as dropped.',
    ),
}

export type AuditLogSettings = z.infer<z.ZodObject<typeof auditLogShape>>

/** Descriptions of these settings for generated pages. */
export const AUDIT_LOG_DESCRIPTIONS = Object.fromEntries(
  Object.entries(auditLogShape).map(([key, type]) => [key, type.description ?? '']),
) as Readonly<Record<keyof typeof auditLogShape, string>>

export type AuditLogOptions = {
  readonly program: string
  readonly logger: Logger
  readonly metrics: Metrics | undefined
  readonly describe: (request: FastifyRequest) => AuditedAction
}

/** Undefined without an audit log. Rejects with a `UserError` if the file cannot be written. */
export async function openAuditLog(
  settings: AuditLogSettings,
  parts: AuditLogOptions,
): Promise<{ readonly audit: AuditLog; close(): Promise<void> } | undefined> {
  const path = settings['audit.log.file']
  if (path === '') return undefined
  const { program, describe, logger } = parts
  const sink = path === 'stdout' ? STDOUT : await openFile(path, parts)
  const rejectsOnFailure = settings['audit.log.on.failure'] === 'refuse'
  logger.info({ file: path }, 'writing the audit log')
  return {
    audit: {
      program,
      describe,
      requests: settings['audit.log.requests'],
      add: (line) => sink.add(line),
      isRejecting: () => rejectsOnFailure && sink.isFailing,
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
    help: 'Audit records that were dropped while the audit log could not be written.',
    registers: metrics ? [metrics] : [],
  })
  try {
    return await AuditLogFile.open({ path, logger, onDropped: () => counter.inc() })
  } catch (error) {
    throw new UserError('invalid_audit_log', `audit.log.file=${path} cannot be written: ${messageOf(error)}`)
  }
}
