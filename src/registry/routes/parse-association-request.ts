import { z } from 'zod'
import {
  type AssociationChange,
  type AssociationRequest,
  defaultSubject,
  withDefaults,
} from '../commands/association-request.ts'
import { LIFECYCLES } from '../model/association.ts'
import { optionalBooleanSpec, optionalTextSpec, optionalWordSpec, textSpec } from '../model/jackson-coercion.ts'
import { invalidAssociation } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import { schemaBody } from './request-bodies.ts'

export const DEFAULT_RESOURCE_TYPE = 'topic'
const ASSOCIATION_TYPES = ['key', 'value']
const NAME_LENGTH_MAX = 256

const lifecycleSpec = optionalWordSpec(LIFECYCLES)
const changeSpec = z.object({
  subject: optionalTextSpec,
  associationType: optionalTextSpec,
  lifecycle: lifecycleSpec,
  frozen: optionalBooleanSpec,
  schema: schemaBody.nullish(),
  normalize: optionalBooleanSpec,
})
const operationSpec = changeSpec.extend({
  opType: z.enum(['CREATE', 'UPSERT', 'DELETE']),
  cascadeLifecycle: optionalBooleanSpec,
})
const resourceSpec = z.object({
  resourceName: optionalTextSpec,
  resourceNamespace: optionalTextSpec,
  resourceId: optionalTextSpec,
  resourceType: optionalTextSpec,
})
export const associationBody = resourceSpec
  .extend({ associations: z.array(changeSpec).nullish() })
  .meta({ id: 'AssociationRequest' })
export const batchBody = z
  .object({ requests: z.array(resourceSpec.extend({ associations: z.array(operationSpec).nullish() })).nullish() })
  .transform(({ requests }) => requireSome(requests))
  .meta({ id: 'AssociationBatch' })
export const searchBody = z
  .object({
    requests: z
      .array(resourceSpec.extend({ associationTypes: z.array(textSpec).nullish(), lifecycle: lifecycleSpec }))
      .nullish(),
  })
  .transform(({ requests }) => requireSome(requests))
  .meta({ id: 'AssociationSearch' })

/** Only the types of the members are checked; `toAssociationRequest` checks their values. */
export type AssociationBody = z.infer<typeof associationBody>
export type AssociationOperation = z.infer<typeof operationSpec>
export type BatchRequest = z.infer<typeof batchBody>[number]
export type SearchRequest = z.infer<typeof searchBody>[number]

function requireSome<Item>(requests: readonly Item[] | null | undefined): readonly Item[] {
  if (!requests || requests.length === 0) throw invalidAssociation('requests', 'cannot be null or empty')
  return requests
}

export type RequestOptions = {
  readonly isCreate: boolean
  readonly dryRun: boolean
  /** Qualifies a subject name with the request's context and resolves its alias. */
  readonly toSubject: (name: string) => Subject
}

/** Makes the checks of Confluent's registry, in its order. Throws `invalid_association` with the same messages. */
export function toAssociationRequest(body: AssociationBody, options: RequestOptions): AssociationRequest {
  const resource = checkResource(body, options.dryRun)
  const changes = body.associations
  if (!changes || changes.length === 0) throw invalidAssociation('associations', 'cannot be null or empty')
  return { ...resource, changes: changes.map((change) => toChange(resource, change, options)) }
}

type Resource = Omit<AssociationRequest, 'changes'>

/** Throws `invalid_association` for a resource that cannot have associations. */
export function checkResource(body: z.infer<typeof resourceSpec>, dryRun: boolean): Resource {
  const resourceId = body.resourceId || undefined
  const resourceName = checkName(body.resourceName, 'resourceName')
  const resourceNamespace = checkName(body.resourceNamespace, 'resourceNamespace')
  if (!dryRun && resourceId === undefined) throw invalidAssociation('resourceId', 'cannot be null or empty')
  const resourceType = body.resourceType || DEFAULT_RESOURCE_TYPE
  if (resourceType !== DEFAULT_RESOURCE_TYPE) {
    throw invalidAssociation('resourceType', `must be '${DEFAULT_RESOURCE_TYPE}'`)
  }
  return { resourceName, resourceNamespace, resourceId, resourceType }
}

function toChange(resource: Resource, sent: z.infer<typeof changeSpec>, options: RequestOptions): AssociationChange {
  const { isCreate, toSubject } = options
  if (typeof sent.subject === 'string' && !/^\P{Cc}+$/u.test(sent.subject)) {
    throw invalidAssociation('subject', 'must not be empty')
  }
  const requested: AssociationChange = {
    subject: sent.subject == null ? undefined : toSubject(sent.subject),
    associationType: checkAssociationType(sent.associationType),
    lifecycle: sent.lifecycle ?? undefined,
    frozen: sent.frozen ?? undefined,
    schema: sent.schema ? { ...sent.schema, normalize: sent.normalize ?? false } : undefined,
  }
  const change = isCreate ? withDefaults(requested, true) : requested
  const { lifecycle } = change
  if (lifecycle === 'WEAK') checkWeak(change)
  return isCreate ? withDefaultSubject(resource, change) : change
}

function checkWeak({ schema, frozen }: AssociationChange): void {
  if (schema) throw invalidAssociation('lifecycle', 'cannot be WEAK when schema is provided')
  if (frozen) throw invalidAssociation('frozen', 'association with lifecycle of WEAK cannot be frozen')
}

/**
 * A strong association uses the subject of its resource unless it names another one; a weak one has to name another.
 */
function withDefaultSubject(resource: Resource, change: AssociationChange): AssociationChange {
  const { lifecycle } = change
  if (lifecycle === 'WEAK' && change.subject === undefined) {
    throw invalidAssociation('subject', 'must be provided for WEAK associations')
  }
  const owned = defaultSubject(resource, change.associationType)
  const subject = change.subject ?? owned
  if (change.frozen && subject !== owned) {
    throw invalidAssociation('subject', `frozen associations must use subject '${owned}'`)
  }
  if (lifecycle === 'WEAK' && subject === owned) {
    throw invalidAssociation('subject', `WEAK associations cannot use subject '${owned}'`)
  }
  return { ...change, subject }
}

export function checkAssociationType(type: string | null | undefined): string {
  if (!type) return 'value'
  if (!ASSOCIATION_TYPES.includes(type)) throw invalidAssociation('associationType', "must be either 'key' or 'value'")
  return type
}

function checkName(name: string | null | undefined, property: string): string {
  if (!name) throw invalidAssociation(property, 'cannot be null or empty')
  if (name.length > NAME_LENGTH_MAX) throw invalidAssociation(property, `exceeds max length of ${NAME_LENGTH_MAX}`)
  const [illegal] = /[^\p{L}\p{Nd}_-]/u.exec(name) ?? []
  if (illegal !== undefined) throw invalidAssociation(property, `illegal character '${illegal}'`)
  return name
}
