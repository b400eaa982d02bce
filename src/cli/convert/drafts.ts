import type { DocumentPath } from '../../common/document-path.ts'
import type { SourceDocument } from './source-document.ts'

/** The document and the field that a resource comes from; errors of the resource are reported there. */
export type Origin = { readonly document: SourceDocument; readonly path: DocumentPath }

type DraftMetadata = {
  /** The name in the system that the input is for. */
  readonly name: string
  readonly namespace: string | undefined
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
}

/** A Connector before names are assigned and secrets are separated. */
export type ConnectorDraft = {
  readonly kind: 'Connector'
  readonly origin: Origin
  readonly metadata: DraftMetadata
  /** Name on the worker; undefined: `metadata.name`. */
  readonly connectorName?: string | undefined
  readonly workerRef?: string | undefined
  readonly config: ReadonlyMap<string, string>
  /** Keys whose values the input declares as secret, whatever their names are. */
  readonly secretKeys?: ReadonlySet<string>
  /** Fields of `spec` besides those above; undefined ones are left out. */
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly class?: string | undefined
    readonly tasksMax?: number | undefined
    readonly version?: string | undefined
  }
}

export type ReferenceDraft = {
  readonly name: string
  readonly subject: string
  /** Undefined: the version of the declared schema, which needs a Subject of the same input. */
  readonly version: number | undefined
  readonly origin: Origin
}

/** A Subject before names are assigned. Drafts of one subject are merged. */
export type SubjectDraft = {
  readonly kind: 'Subject'
  readonly origin: Origin
  readonly metadata: DraftMetadata
  readonly subject: string
  readonly registryRef?: string | undefined
  readonly references: readonly ReferenceDraft[]
  readonly spec: Readonly<Record<string, unknown>>
}

export type RegistryModeDraft = {
  readonly kind: 'RegistryMode'
  readonly origin: Origin
  readonly metadata: DraftMetadata
  readonly registryRef?: string | undefined
  readonly spec: Readonly<Record<string, unknown>>
}

export type ResourceDraft = ConnectorDraft | SubjectDraft | RegistryModeDraft

export const NO_LABELS: ReadonlyMap<string, string> = new Map()

/** A format of a schema, as other systems spell it. */
export const SUBJECT_SCHEMA_TYPES = { avro: 'AVRO', json: 'JSON', jsonschema: 'JSON', protobuf: 'PROTOBUF' } as const

export const COMPATIBILITY = {
  NONE: 'NONE',
  BACKWARD: 'BACKWARD',
  BACKWARD_TRANSITIVE: 'BACKWARD_TRANSITIVE',
  FORWARD: 'FORWARD',
  FORWARD_TRANSITIVE: 'FORWARD_TRANSITIVE',
  FULL: 'FULL',
  FULL_TRANSITIVE: 'FULL_TRANSITIVE',
} as const

export const SUBJECT_MODES = {
  READWRITE: 'READWRITE',
  READONLY: 'READONLY',
  READONLY_OVERRIDE: 'READONLY_OVERRIDE',
  IMPORT: 'IMPORT',
  FORWARD: 'FORWARD',
} as const

export const STATES = { running: 'Running', paused: 'Paused', stopped: 'Stopped' } as const

/** The mode of one subject, which is a resource of its own in Weir. */
export function subjectModeDraft(
  subject: Pick<SubjectDraft, 'origin' | 'metadata' | 'subject' | 'registryRef'>,
  mode: string,
  force = false,
): RegistryModeDraft {
  return {
    kind: 'RegistryMode',
    origin: subject.origin,
    metadata: subject.metadata,
    registryRef: subject.registryRef,
    spec: { scope: { type: 'Subject', subject: subject.subject }, mode, ...(force && { force }) },
  }
}
