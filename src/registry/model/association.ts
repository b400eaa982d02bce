import type { Subject } from './subject.ts'

/** STRONG: the resource owns the subject exclusively. WEAK: resources can share the subject. */
export type AssociationLifecycle = 'STRONG' | 'WEAK'
export const LIFECYCLES = ['STRONG', 'WEAK'] as const

/** Associates a resource, such as a topic, with the subject of its keys or values. */
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

/** An association with the timestamps of its first and its last record. */
export type StoredAssociation = Association & { readonly createTimestampMs: number; readonly updateTimestampMs: number }
