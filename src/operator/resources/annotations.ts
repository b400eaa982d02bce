import { RESOURCE_KINDS, type Resource, type ResourceKind } from './resource.ts'

type Annotation = {
  readonly kinds: readonly ResourceKind[]
  /** What it causes, for `kubectl explain` and for the documentation. */
  readonly effect: string
}

/** The annotations of resources that the operator reads, which are all that it can read. It writes none. */
export const ANNOTATIONS = {
  'weir.dev/reconcile-requested-at': {
    kinds: RESOURCE_KINDS,
    effect: 'reconciles the resource once for each value, which the status reports as lastHandledReconcile',
  },
  'weir.dev/restart-requested-at': {
    kinds: ['Connector'],
    effect: 'restarts the connector once for each value, which the status reports as lastHandledRestart',
  },
  'weir.dev/restart-scope': {
    kinds: ['Connector'],
    effect: 'what is restarted: all (the default), failed, connector, or tasks=0,3',
  },
  'weir.dev/offsets-export-requested-at': {
    kinds: ['Connector'],
    effect:
      'exports the offsets to the ConfigMap of spec.offsets.export once for each value, which the status reports as lastHandledOffsetsExport',
  },
  'weir.dev/take-over': {
    kinds: ['Connector'],
    effect:
      'takes over a connector that another resource manages, or that one with deletionPolicy Retain left: the value is its owner, instance/namespace/name, as the message of Conflict names it',
  },
  'weir.dev/force-delete': {
    kinds: RESOURCE_KINDS,
    effect: 'true completes a deletion without waiting for the runtime, and leaves what exists there',
  },
} as const satisfies Readonly<Record<string, Annotation>>

export type AnnotationName = keyof typeof ANNOTATIONS
type Request = 'reconcile' | 'restart' | 'offsets-export'
type Annotated = { readonly metadata: Pick<Resource['metadata'], 'annotations'> }

/** The status stores the handled value, and its definition limits the length. */
const REQUEST_CHARACTERS_MAX = 256

export function annotationOf({ metadata }: Annotated, name: AnnotationName): string | undefined {
  return metadata.annotations[name]
}

/** The value of a request, which is executed once for each value. */
export function requestOf(resource: Annotated, request: Request): string | undefined {
  return annotationOf(resource, `weir.dev/${request}-requested-at`)?.slice(0, REQUEST_CHARACTERS_MAX)
}

/** Sentences about the annotations of a kind, for the description of its definition. */
export function describeAnnotations(kind: ResourceKind): string {
  const entries = Object.entries<Annotation>(ANNOTATIONS).filter(([, { kinds }]) => kinds.includes(kind))
  return `Annotations: ${entries.map(([name, { effect }]) => `${name}: ${effect}`).join('; ')}.`
}
