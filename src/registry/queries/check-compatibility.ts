import type { DecisionContext } from '../commands/decision.ts'
import type { SchemaVersion, SentSchema } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import { type Candidate, compatibilityMessages } from './compatibility-messages.ts'
import { configInScope } from './effective-config.ts'
import { resolveSchema } from './schema-lookup.ts'

/**
 * Returns the reasons why a schema is not compatible with the `previous` versions (ascending); empty if it is. Throws
 * `invalid_schema`.
 */
export function checkCompatibility(
  context: DecisionContext,
  subject: Subject,
  sent: SentSchema,
  previous: readonly SchemaVersion[],
  options: { readonly normalize: boolean },
): readonly string[] {
  const config = configInScope(context.view, subject, context.defaults)
  const { parsed, content } = resolveSchema(context, subject, sent, {
    normalize: options.normalize || config.normalize === true,
    validation: config.validateNewSchemas === false ? 'loose' : 'strict',
    fields: config.validateFields === true,
  })
  return compatibilityMessages({ parsed, metadata: content.metadata }, candidates(context, previous), config)
}

/** Converts registered versions to the input of `compatibilityMessages`. */
export function candidates(
  { view, schemas, workerResults }: DecisionContext,
  versions: readonly SchemaVersion[],
): readonly Candidate[] {
  return versions.map(({ subject, version, content }) => ({
    type: content.type,
    version,
    metadata: content.metadata,
    parsed: () => schemas.parseStored(view, subject, content, workerResults),
  }))
}
