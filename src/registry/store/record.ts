import type { Mode } from '../../clients/registry.ts'
import type { Association } from '../model/association.ts'
import type { Config } from '../model/config.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'

/** One change of the registry, as its topic holds it. A null value takes away what the key stands for. */
export type RegistryRecord =
  | {
      readonly kind: 'schema'
      readonly subject: Subject
      readonly version: number
      readonly value: StoredSchema | null
    }
  | { readonly kind: 'config'; readonly subject: Subject | null; readonly value: Config | null }
  | { readonly kind: 'mode'; readonly subject: Subject | null; readonly value: Mode | null }
  /** Versions up to `version` are soft-deleted. */
  | { readonly kind: 'delete-subject'; readonly subject: Subject; readonly version: number }
  /** Soft-deleted versions are forgotten: of one subject, of a context, of everything (null). */
  | { readonly kind: 'clear-subject'; readonly subject: Subject | null }
  | { readonly kind: 'context'; readonly context: string; readonly known: boolean }
  /** `association` names the key; a value of null deletes it. */
  | { readonly kind: 'association'; readonly association: AssociationKey; readonly value: Association | null }
  /** Nothing that changes this registry: a marker, or another product's record. */
  | { readonly kind: 'none' }

export type StoredSchema = Omit<SchemaVersion, 'timestampMs'>

export type AssociationKey = Pick<
  Association,
  'resourceName' | 'resourceNamespace' | 'resourceType' | 'associationType' | 'subject'
>
