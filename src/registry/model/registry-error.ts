import { UserError } from '../../common/errors.ts'

/** The codes of errors that a request can cause. `routes/error-response.ts` maps them to the error codes of the REST API. */
export type RegistryErrorCode =
  | 'subject_not_found'
  | 'version_not_found'
  | 'schema_not_found'
  | 'subject_soft_deleted'
  | 'subject_not_soft_deleted'
  | 'version_soft_deleted'
  | 'version_not_soft_deleted'
  | 'subject_config_not_found'
  | 'subject_mode_not_found'
  | 'incompatible_schema'
  | 'invalid_schema'
  | 'invalid_version'
  | 'invalid_compatibility'
  | 'invalid_mode'
  | 'not_permitted'
  | 'reference_exists'
  | 'invalid_subject'
  | 'schema_too_large'
  | 'invalid_rule_set'
  | 'context_not_empty'
  | 'association_not_found'
  | 'association_exists'
  | 'association_for_subject_exists'
  | 'strong_association_exists'
  | 'no_active_version'
  | 'association_frozen'
  | 'invalid_association'
  | 'invalid_context'
  | 'invalid_body'
  | 'missing_body'
  | 'no_such_resource'
  | 'too_many_writes'
  | 'too_many_checks'
  | 'store_failed'
  | 'store_timeout'
  | 'store_unreadable'
  | 'forward_failed'
  | 'leader_unknown'
  | 'key_not_found'
  | 'key_not_soft_deleted'
  | 'key_soft_deleted'
  | 'key_exists'
  | 'too_many_keys'
  | 'invalid_key'
  | 'key_reference_exists'
  | 'key_unreadable'
  | 'kek_not_usable'
  | 'dek_generation_failed'

export class RegistryError extends UserError<RegistryErrorCode> {}

// The messages are exactly those of Confluent's registry, because clients match them.

export function subjectNotFound(subject: string): RegistryError {
  return new RegistryError('subject_not_found', `Subject '${subject}' not found.`)
}

export function versionNotFound(version: number): RegistryError {
  return new RegistryError('version_not_found', `Version ${version} not found.`)
}

/** Without an argument, for a lookup by content; otherwise for a lookup by ID or GUID. */
export function schemaNotFound(idOrGuid?: number | string): RegistryError {
  const which = idOrGuid === undefined ? 'Schema' : `Schema ${idOrGuid}`
  return new RegistryError('schema_not_found', `${which} not found`)
}

export function subjectSoftDeleted(subject: string): RegistryError {
  return new RegistryError(
    'subject_soft_deleted',
    `Subject '${subject}' was soft deleted.Set permanent=true to delete permanently`,
  )
}

export function subjectNotSoftDeleted(subject: string): RegistryError {
  return new RegistryError(
    'subject_not_soft_deleted',
    `Subject '${subject}' was not deleted first before being permanently deleted`,
  )
}

export function versionSoftDeleted(subject: string, version: number): RegistryError {
  return new RegistryError(
    'version_soft_deleted',
    `Subject '${subject}' Version ${version} was soft deleted.Set permanent=true to delete permanently`,
  )
}

export function versionNotSoftDeleted(subject: string, version: number): RegistryError {
  return new RegistryError(
    'version_not_soft_deleted',
    `Subject '${subject}' Version ${version} was not deleted first before being permanently deleted`,
  )
}

export function configNotFound(subject: string): RegistryError {
  return new RegistryError(
    'subject_config_not_found',
    `Subject '${subject}' does not have subject-level compatibility configured`,
  )
}

export function modeNotFound(subject: string): RegistryError {
  return new RegistryError('subject_mode_not_found', `Subject '${subject}' does not have subject-level mode configured`)
}

export function incompatibleSchema(subject: string, messages: readonly string[]): RegistryError {
  return new RegistryError(
    'incompatible_schema',
    `Schema being registered is incompatible with an earlier schema for subject "${subject}", details: [${messages.join(', ')}]`,
  )
}

export function invalidSchema(details: string): RegistryError {
  return new RegistryError('invalid_schema', details)
}

export function invalidVersion(version: string): RegistryError {
  return new RegistryError(
    'invalid_version',
    `The specified version '${version}' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"`,
  )
}

export function invalidCompatibility(): RegistryError {
  return new RegistryError(
    'invalid_compatibility',
    'Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive',
  )
}

export function invalidMode(
  message = 'Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.',
): RegistryError {
  return new RegistryError('invalid_mode', message)
}

export function notPermitted(message: string): RegistryError {
  return new RegistryError('not_permitted', message)
}

export function referenceExists(subject: string, version: number): RegistryError {
  return new RegistryError(
    'reference_exists',
    `One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=${subject},version=${version}}.`,
  )
}

export function invalidSubject(subject: string): RegistryError {
  return new RegistryError('invalid_subject', `The specified subject '${subject}' is not a valid.`)
}

export function contextNotEmpty(context: string): RegistryError {
  return new RegistryError('context_not_empty', `The specified context '${context}' is not empty.`)
}

export function associationNotFound(resourceId: string): RegistryError {
  return new RegistryError('association_not_found', `Association for '${resourceId}' not found.`)
}

export function associationExists(associationType: string, resourceName: string): RegistryError {
  return new RegistryError(
    'association_exists',
    `An association of type '${associationType}' already exists for resource '${resourceName}'`,
  )
}

export function associationForSubjectExists(subject: string): RegistryError {
  return new RegistryError('association_for_subject_exists', `An association already exists for subject '${subject}'`)
}

export function strongAssociationExists(subject: string): RegistryError {
  return new RegistryError('strong_association_exists', `A strong association already exists for subject '${subject}'`)
}

export function noActiveVersion(subject: string): RegistryError {
  return new RegistryError('no_active_version', `No active (non-deleted) version exists for subject '${subject}'`)
}

export function associationFrozen(associationType: string, subject: string): RegistryError {
  return new RegistryError(
    'association_frozen',
    `The association of type  '${associationType}' is frozen for subject '${subject}'`,
  )
}

export function invalidAssociation(property: string, detail: string): RegistryError {
  return new RegistryError(
    'invalid_association',
    `The association specified an invalid value for property: '${property}', detail: ${detail}`,
  )
}

export function referenceToSubjectExists(subject: string): RegistryError {
  return new RegistryError('reference_exists', `One or more references exist to the schema ${subject}.`)
}

/** For a schema in an association request. The message consists of the reasons only. */
export function incompatibleAssociationSchema(messages: readonly string[]): RegistryError {
  return new RegistryError('incompatible_schema', `[${messages.join(', ')}]`)
}
