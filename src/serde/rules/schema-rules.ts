import { RequestError } from '../../clients/http-client.ts'
import type { NewSchema } from '../../clients/registry-client.ts'
import { messageOf } from '../../common/errors.ts'
import { EncryptionError } from '../../encryption/encryption-error.ts'
import type { FieldContext, FieldTransform } from '../../formats/field-transform.ts'
import { SerdeError } from '../serde-error.ts'
import type { DekStore } from './dek-store.ts'
import { RuleError } from './rule-error.ts'
import { actionOf, type DataRule, type RuleMode, type RulePhase, rulesToRun } from './rules-to-run.ts'
import { metadataTags } from './tag-pattern.ts'
import { dekSpecOf, ValueEncryption } from './value-encryption.ts'

/** Returns a copy of a value with its fields transformed. */
export type TransformFields = (value: unknown, transform: FieldTransform) => unknown

/** Returns the subject of a value. Called only if a rule needs it. Throws a `SerdeError` if the subject is unknown. */
export type SubjectOfValue = () => string

/** The rules of one schema for one mode. Both methods reject with a `SerdeError`. */
export type SchemaRules = {
  /** Applies the domain rules. */
  transformValue(value: unknown, subject: SubjectOfValue, transformFields: TransformFields): Promise<unknown>
  /** Applies the encoding rules to the serialized value without its prefix. */
  transformPayload(payload: Buffer, subject: SubjectOfValue): Promise<Buffer>
}

/** Returns undefined if the schema has no rules for the mode. */
export function openSchemaRules(
  { metadata, ruleSet }: Pick<NewSchema, 'metadata' | 'ruleSet'>,
  mode: RuleMode,
  deks: DekStore,
): SchemaRules | undefined {
  const domain = rulesToRun(ruleSet, 'domainRules', mode)
  const encoding = rulesToRun(ruleSet, 'encodingRules', mode)
  if (domain.length === 0 && encoding.length === 0) return undefined
  const tagsOf = metadataTags(metadata)

  async function transformFieldsBy(rule: DataRule, value: unknown, subject: SubjectOfValue, fields: TransformFields) {
    const encryption = new ValueEncryption(dekSpecOf(rule, metadata, subject()), mode)
    const isMeant = (field: FieldContext) =>
      rule.tags.length === 0 || rule.tags.some((tag) => field.tags.includes(tag) || tagsOf(field.fullName).has(tag))
    fields(value, (field, type, one) => {
      if (isMeant(field)) within(field, () => encryption.add(type, one))
      return one
    })
    if (!encryption.isNeeded) return value
    await encryption.loadKeys(deks)
    return fields(value, (field, type, one) =>
      isMeant(field) ? within(field, () => encryption.apply(type, one)) : one,
    )
  }

  async function transformPayloadBy(rule: DataRule, payload: Buffer, subject: SubjectOfValue) {
    const encryption = new ValueEncryption(dekSpecOf(rule, metadata, subject()), mode)
    encryption.add('BYTES', payload)
    await encryption.loadKeys(deks)
    return encryption.apply('BYTES', payload) as Buffer
  }

  return {
    transformValue: (value, subject, fields) =>
      runRules(domain, mode, value, (rule, current) => {
        checkExecutor(rule, 'domainRules')
        return transformFieldsBy(rule, current, subject, fields)
      }),
    transformPayload: (payload, subject) =>
      runRules(encoding, mode, payload, (rule, current) => {
        checkExecutor(rule, 'encodingRules')
        return transformPayloadBy(rule, current, subject)
      }),
  }
}

const EXECUTOR_TYPES: Readonly<Record<RulePhase, string>> = { domainRules: 'ENCRYPT', encodingRules: 'ENCRYPT_PAYLOAD' }

/** Throws a `RuleError` if this library has no executor for the rule. */
function checkExecutor({ type, kind }: DataRule, phase: RulePhase): void {
  if (type.toUpperCase() !== EXECUTOR_TYPES[phase]) {
    throw new RuleError(`rules of type ${type} in ${phase} are not supported`)
  }
  if (kind !== 'TRANSFORM') throw new RuleError(`a rule of type ${type} must be of kind TRANSFORM, not ${kind}`)
}

/** If a rule fails and its `onFailure` action permits it, the message is left unchanged. */
async function runRules<Message>(
  rules: readonly DataRule[],
  mode: RuleMode,
  message: Message,
  execute: (rule: DataRule, message: Message) => Promise<Message>,
): Promise<Message> {
  let current = message
  for (const rule of rules) {
    try {
      current = await execute(rule, current)
    } catch (error) {
      if (!isFailure(error)) throw error
      runAction(rule, actionOf(rule, 'onFailure', mode), error)
      continue
    }
    runAction(rule, actionOf(rule, 'onSuccess', mode), undefined)
  }
  return current
}

/**
 * Other errors are defects of this library or values that do not match their schema; no `onFailure` action applies to
 * them.
 */
function isFailure(error: unknown): boolean {
  return error instanceof RuleError || error instanceof EncryptionError || error instanceof RequestError
}

function runAction(rule: DataRule, action: string, cause: unknown): void {
  if (action === 'NONE') return
  const isRetriable = cause instanceof RequestError && cause.retriable
  const reason = cause === undefined ? `its onSuccess is '${action}'` : messageOf(cause)
  const unknown = action === 'ERROR' ? '' : `; the rule action '${action}' is not supported`
  const message = `rule ${rule.name} failed: ${reason}${unknown}`
  throw new SerdeError(isRetriable ? 'unavailable' : 'rule_failed', message, { cause })
}

function within<Result>(field: FieldContext, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!isFailure(error)) throw error
    throw new RuleError(`field ${field.fullName}: ${messageOf(error)}`, { cause: error })
  }
}
