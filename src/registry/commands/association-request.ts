import type { AssociationLifecycle } from '../model/association.ts'
import { invalidAssociation } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import type { Registration } from './register.ts'

/** One association that a request wants. What is undefined has a default, or stays as it is. */
export type AssociationChange = {
  readonly subject: Subject | undefined
  readonly associationType: string
  readonly lifecycle: AssociationLifecycle | undefined
  readonly frozen: boolean | undefined
  /** A schema to register under the subject. */
  readonly schema: Omit<Registration, 'subject' | 'force'> | undefined
}

/** What a request wants for one resource. */
export type AssociationRequest = {
  readonly resourceName: string
  readonly resourceNamespace: string
  /** Undefined only in a dry run. */
  readonly resourceId: string | undefined
  readonly resourceType: string
  readonly changes: readonly AssociationChange[]
}

/** The subject that a STRONG association owns. */
export function defaultSubject(
  { resourceName, resourceNamespace }: Pick<AssociationRequest, 'resourceName' | 'resourceNamespace'>,
  associationType: string,
): Subject {
  return `:.${resourceNamespace}:${resourceName}-${associationType}` as Subject
}

/**
 * The lifecycle and frozen of an association that does not exist yet. A schema belongs to a STRONG one, which is frozen;
 * a WEAK one is not. Only `isCreate` may bring a schema.
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
