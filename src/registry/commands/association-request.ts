import type { AssociationLifecycle } from '../model/association.ts'
import { invalidAssociation } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import type { Registration } from './register-schema.ts'

/** One association of a request. An undefined member gets a default value or stays unchanged. */
export type AssociationChange = {
  readonly subject: Subject | undefined
  readonly associationType: string
  readonly lifecycle: AssociationLifecycle | undefined
  readonly frozen: boolean | undefined
  /** The schema to register under the subject. */
  readonly schema: Omit<Registration, 'subject' | 'force'> | undefined
}

/** The requested associations of one resource. */
export type AssociationRequest = {
  readonly resourceName: string
  readonly resourceNamespace: string
  /** Can be undefined only in a dry run. */
  readonly resourceId: string | undefined
  readonly resourceType: string
  readonly changes: readonly AssociationChange[]
}

/** The subject that a STRONG association of the resource owns: `:.NAMESPACE:NAME-TYPE`. */
export function defaultSubject(
  { resourceName, resourceNamespace }: Pick<AssociationRequest, 'resourceName' | 'resourceNamespace'>,
  associationType: string,
): Subject {
  return `:.${resourceNamespace}:${resourceName}-${associationType}` as Subject
}

/**
 * Sets `lifecycle` and `frozen` of an association that does not exist yet. With a schema it is STRONG; STRONG
 * associations are frozen, WEAK ones are not. Throws `invalid_association`, also for a schema in a request that is not
 * a create.
 */
export function withDefaults(change: AssociationChange, isCreate: boolean): AssociationChange {
  const { schema, frozen } = change
  if (schema && !isCreate) {
    throw invalidAssociation(
      'schema',
      'cannot be provided when adding an association to an existing topic; an association with a schema must be created with the topic',
    )
  }
  if (schema && change.lifecycle === 'WEAK')
    throw invalidAssociation('lifecycle', 'cannot be WEAK when schema is provided')
  if (schema && frozen === false) throw invalidAssociation('frozen', 'cannot be false when a schema is provided')
  const lifecycle = schema ? 'STRONG' : (change.lifecycle ?? 'WEAK')
  checkFrozen(lifecycle, frozen ?? lifecycle === 'STRONG')
  return { ...change, lifecycle, frozen: lifecycle === 'STRONG' }
}

export function checkFrozen(lifecycle: AssociationLifecycle, frozen: boolean): void {
  if (frozen === (lifecycle === 'STRONG')) return
  throw invalidAssociation('frozen', `association with lifecycle of ${lifecycle} cannot be frozen=${frozen}`)
}
