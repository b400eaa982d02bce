import type { Subject } from './subject.ts'

/** STRONG: the subject belongs to the resource, which has it for itself. WEAK: the subject may be shared. */
export type AssociationLifecycle = 'STRONG' | 'WEAK'
export const LIFECYCLES = ['STRONG', 'WEAK'] as const

/** Says that a resource, such as a topic, uses a subject for its keys or values. */
export type Association = {
  readonly guid: string
  readonly subject: Subject
  readonly resourceName: string
  readonly resourceNamespace: string
  readonly resourceId: string
  readonly resourceType: string
  readonly associationType: string
  readonly lifecycle: AssociationLifecycle
  readonly frozen: boolean
}

/** An association with the times of its first and its last record. */
export type StoredAssociation = Association & { readonly createTimestampMs: number; readonly updateTimestampMs: number }
