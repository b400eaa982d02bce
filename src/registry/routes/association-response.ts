import type { ResponseBody } from '../../http/endpoint.ts'
import { HttpError } from '../../http/http-error.ts'
import type { AssociationRequest } from '../commands/association-request.ts'
import type { Association, StoredAssociation } from '../model/association.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { association, registryError, resourceAssociations } from './entities.ts'
import { registryErrorResponse } from './error-response.ts'
import type { ResponseProfile } from './schema-response.ts'

type ResourceResponse = ResponseBody<typeof resourceAssociations>
export type AssociatedSchema = NonNullable<NonNullable<ResourceResponse['associations']>[number]['schema']>

/** The associations of a resource, with schemas by the type of their association. */
export function toResourceResponse(
  {
    resourceName,
    resourceNamespace,
    resourceId,
    resourceType,
  }: { readonly [Key in 'resourceName' | 'resourceNamespace' | 'resourceId']?: AssociationRequest[Key] | undefined } & {
    readonly resourceType: string
  },
  associations: readonly Association[],
  schemas: ReadonlyMap<string, AssociatedSchema>,
): ResourceResponse {
  const listed = associations.map(({ subject, associationType, lifecycle }) => {
    const schema = schemas.get(associationType)
    return { subject, associationType, lifecycle, ...(schema ? { schema } : {}) }
  })
  return {
    resourceName,
    resourceNamespace,
    ...(resourceId === undefined ? {} : { resourceId }),
    resourceType,
    ...(listed.length === 0 ? {} : { associations: listed }),
  }
}

/** As in Confluent's registry, `frozen` is omitted if it has the default value of the lifecycle. */
export function toAssociationResponse(stored: StoredAssociation): ResponseBody<typeof association> {
  const { frozen, createTimestampMs, updateTimestampMs, ...members } = stored
  const isDefault = frozen === (stored.lifecycle === 'STRONG')
  return { ...members, ...(isDefault ? {} : { frozen }), createTs: createTimestampMs, updateTs: updateTimestampMs }
}

/**
 * Errors that an association can cause keep their code in a batch. As in Confluent's registry, all others are a 500.
 */
export function toBatchError(
  error: unknown,
  prefix: string,
  profile: ResponseProfile,
): ResponseBody<typeof registryError> {
  if (error instanceof RegistryError && KEPT_IN_BATCHES.has(error.code)) {
    const body = registryErrorResponse(error, profile)?.body as ResponseBody<typeof registryError>
    return error.code === 'invalid_schema' ? { ...body, error_code: 42212 } : body
  }
  if (error instanceof HttpError && error.status === 403) return { error_code: 403, message: error.message }
  return { error_code: 500, message: `${prefix}${error instanceof Error ? error.message : String(error)}` }
}

const KEPT_IN_BATCHES: ReadonlySet<string> = new Set([
  'invalid_association',
  'association_exists',
  'association_for_subject_exists',
  'strong_association_exists',
  'association_frozen',
  'no_active_version',
  'reference_exists',
  'invalid_schema',
  'schema_too_large',
  'incompatible_schema',
])
