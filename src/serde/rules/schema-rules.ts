import { BoundedMap } from '../../clients/bounded-map.ts'
import { RequestError } from '../../clients/http.ts'
import type { NewSchema, SchemaMetadata } from '../../clients/registry.ts'
import { messageOf } from '../../config/errors.ts'
import { EncryptionError } from '../../encryption/error.ts'
import type { FieldContext, FieldTransform } from '../../formats/field-transform.ts'
import { SerdeError } from '../error.ts'
import type { DekStore } from './dek-store.ts'
import { dekSpecOf, ValueEncryption } from './encryption-rule.ts'
import { RuleError } from './rule-error.ts'
import { actionOf, type DataRule, type RuleMode, type RulePhase, rulesToRun } from './rule-set.ts'
import { matchesTagPattern } from './tag-pattern.ts'

/** Paths of a schema that refers to itself have no end. */
const FIELD_NAMES_MAX = 10_000

/** Copies a value of the schema with its fields transformed. */
export type TransformFields = (value: unknown, transform: FieldTransform) => unknown

/** The subject of a value. Asked only where a rule needs it; throws a `SerdeError` where it is not known. */
export type SubjectOfValue = () => string

/** The rules of one schema, in one mode. Both methods reject with a `SerdeError`. */
export type SchemaRules = {
  /** Runs the domain rules. */
  transformValue(value: unknown, subject: SubjectOfValue, transformFields: TransformFields): Promise<unknown>
  /** Runs the encoding rules, on the bytes of a value without their frame. */
  transformPayload(payload: Buffer, subject: SubjectOfValue): Promise<Buffer>
}

/** Undefined where the schema has no rules for the mode. */
export function openSchemaRules(
  { metadata, ruleSet }: Pick<NewSchema, 'metadata' | 'ruleSet'>,
  mode: RuleMode,
  deks: DekStore,
): SchemaRules | undefined {
  const domain = rulesToRun(ruleSet, 'domainRules', mode)
  const encoding = rulesToRun(ruleSet, 'encodingRules', mode)
  if (domain.length === 0 && encoding.length === 0) return undefined
  const metadataTags = tagsByName(metadata)

  async function transformFieldsBy(rule: DataRule, value: unknown, subject: SubjectOfValue, fields: TransformFields) {
    const encryption = new ValueEncryption(dekSpecOf(rule, metadata, subject()), mode)
    const isMeant = (field: FieldContext) =>
      rule.tags.length === 0 ||
      rule.tags.some((tag) => field.tags.includes(tag) || metadataTags(field.fullName).has(tag))
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

/** Throws a `RuleError` where this library cannot execute the rule. */
function checkExecutor({ type, kind }: DataRule, phase: RulePhase): void {
  if (type.toUpperCase() !== EXECUTOR_TYPES[phase]) {
    throw new RuleError(`there is no executor for rules of type ${type} among the ${phase}`)
  }
  if (kind !== 'TRANSFORM') throw new RuleError(`a rule of type ${type} is a TRANSFORM, not a ${kind}`)
}

/** A rule that fails, and is allowed to, leaves the message as it was. */
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

/** Anything else is a mistake in this library, or a value that does not fit its schema: no rule may let that pass. */
function isFailure(error: unknown): boolean {
  return error instanceof RuleError || error instanceof EncryptionError || error instanceof RequestError
}

function runAction(rule: DataRule, action: string, cause: unknown): void {
  if (action === 'NONE') return
  const isRetriable = cause instanceof RequestError && cause.retriable
  const reason = cause === undefined ? `its onSuccess is '${action}'` : messageOf(cause)
  const unknown = action === 'ERROR' ? '' : `; there is no rule action '${action}'`
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

/** The tags that the metadata of a schema give a field, by its full name. */
function tagsByName(metadata: SchemaMetadata | undefined): (fullName: string) => ReadonlySet<string> {
  const patterns = Object.entries(metadata?.tags ?? {})
  const known = new BoundedMap<string, ReadonlySet<string>>(FIELD_NAMES_MAX)
  return (fullName) =>
    known.get(fullName) ??
    known.set(
      fullName,
      new Set(patterns.flatMap(([pattern, tags]) => (matchesTagPattern(pattern, fullName) ? tags : []))),
    )
}
