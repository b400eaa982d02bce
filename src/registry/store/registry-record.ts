import type { Mode } from '../../clients/registry-client.ts'
import type { Association } from '../model/association.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { Config } from '../model/subject-config.ts'

/**
 * One record of the registry's topic. A null value deletes what the key identifies. A null subject is the global scope.
 */
export type RegistryRecord =
  | {
      readonly kind: 'schema'
      readonly subject: Subject
      readonly version: number
      readonly value: StoredSchema | null
    }
  | { readonly kind: 'config'; readonly subject: Subject | null; readonly value: Config | null }
  | { readonly kind: 'mode'; readonly subject: Subject | null; readonly value: Mode | null }
  /** Soft-deletes the versions up to and including `version`. */
  | { readonly kind: 'delete-subject'; readonly subject: Subject; readonly version: number }
  /** Removes the soft-deleted versions of a subject, of a context, or of the whole registry (null). */
  | { readonly kind: 'clear-subject'; readonly subject: Subject | null }
  | { readonly kind: 'context'; readonly context: string; readonly known: boolean }
  /** `association` is the key. A null value deletes the association. */
  | { readonly kind: 'association'; readonly association: AssociationKey; readonly value: Association | null }
  /** A record without effect on the state, such as a NOOP marker. */
  | { readonly kind: 'none' }

export type StoredSchema = Omit<SchemaVersion, 'timestampMs'>

export type AssociationKey = Pick<
  Association,
  'resourceName' | 'resourceNamespace' | 'resourceType' | 'associationType' | 'subject'
>
