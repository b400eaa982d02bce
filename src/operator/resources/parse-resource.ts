import { z } from 'zod'
import { API_VERSION, API_VERSIONS } from '../../common/resource-api.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import { connectorSpec } from './connector.ts'
import { describeValue, type FieldError, toFieldErrors } from './field-error.ts'
import { objectName } from './field-schemas.ts'
import { registryModeSpec } from './registry-mode.ts'
import { RESOURCE_KINDS, type ResourceKind, type ResourceSpec } from './resource.ts'
import { type SubjectSpec, subjectRule, subjectSpec } from './subject.ts'

/** A resource as its author writes it, without server fields. */
export type DeclaredResource<K extends ResourceKind = ResourceKind> = K extends ResourceKind
  ? {
      readonly kind: K
      readonly namespace: string
      readonly name: string
      readonly labels: Readonly<Record<string, string>>
      readonly annotations: Readonly<Record<string, string>>
      readonly spec: ResourceSpec[K]
    }
  : never

export type ParsedResource =
  | { readonly declared: DeclaredResource; readonly errors: readonly [] }
  | { readonly declared: undefined; readonly errors: readonly FieldError[] }

const SPECS = { Connector: connectorSpec, Subject: subjectSpec, RegistryMode: registryModeSpec } as const

const texts = z.record(z.string(), z.string())
/** Fields of the metadata of exported manifests that the API server sets. They have no meaning in a manifest. */
export const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'finalizers',
  'managedFields',
  'ownerReferences',
  'selfLink',
]
const metadata = z.strictObject({
  name: objectName(),
  namespace: objectName().default('default'),
  labels: texts.default({}),
  annotations: texts.default({}),
  ...Object.fromEntries(SERVER_FIELDS.map((name) => [name, z.unknown().optional().meta({ server: true })])),
})

/** Created once for each kind: zod compiles a schema at its first use, which costs more than parsing. */
const RESOURCES = new Map(
  RESOURCE_KINDS.map((kind) => [
    kind,
    z.strictObject({
      apiVersion: z.enum(API_VERSIONS),
      kind: z.literal(kind),
      metadata,
      spec: SPECS[kind],
      status: z.unknown().optional(),
    }),
  ]),
)

/**
 * Parses an object of the API server. The definition there may be newer than this version, so unknown fields are ignored:
 * the API server adds them to each object if they have defaults.
 */
export function parseStoredResource(value: Readonly<Record<string, unknown>>): ParsedResource {
  const schema = RESOURCES.get(value['kind'] as ResourceKind)
  const issues = schema?.safeParse(value).error?.issues ?? []
  const unknown = issues.filter((issue) => issue.code === 'unrecognized_keys')
  if (unknown.length === 0) return parseResource(value)
  const known = structuredClone(value)
  for (const { path, keys } of unknown) {
    const at = path.reduce<unknown>((object, part) => (object as Record<PropertyKey, unknown>)[part], known)
    for (const key of keys) delete (at as Record<string, unknown>)[key]
  }
  return parseResource(known)
}

/** Parses one manifest. An invalid one returns all errors with their paths. `written` has the texts of its numbers. */
export function parseResource(value: unknown, written?: () => unknown): ParsedResource {
  if (!isObject(value)) return refused([{ path: [], message: `expected a resource, got ${describeValue(value)}` }])
  const { kind, apiVersion } = value
  const kindFault = faultOfKind(kind, apiVersion)
  if (kindFault !== undefined) return refused([kindFault])
  const known = kind as ResourceKind
  const schema = RESOURCES.get(known)!
  const parsed = schema.safeParse(value)
  if (!parsed.success)
    return refused(parsed.error.issues.flatMap((issue) => toFieldErrors(issue, value, schema, written)))
  const { spec } = parsed.data
  const { name, namespace, labels, annotations } = parsed.data.metadata
  if (known === 'Subject' && !subjectRule.isValid(name, spec as SubjectSpec)) {
    const { field, message } = subjectRule
    return refused([{ path: ['spec', field], message: `spec.${field}: ${message}` }])
  }
  return { declared: { kind: known, namespace, name, labels, annotations, spec } as DeclaredResource, errors: [] }
}

function refused(errors: readonly FieldError[]): ParsedResource {
  return { declared: undefined, errors }
}

function faultOfKind(kind: unknown, apiVersion: unknown): FieldError | undefined {
  if (typeof kind !== 'string') {
    return { path: ['kind'], message: `kind is missing: expected one of ${RESOURCE_KINDS.join(', ')}` }
  }
  if (!RESOURCE_KINDS.includes(kind as ResourceKind)) {
    const meant = didYouMean(kind, RESOURCE_KINDS)
    const hint = meant === undefined ? `expected one of ${RESOURCE_KINDS.join(', ')}` : `did you mean ${meant}?`
    return { path: ['kind'], message: `kind: '${kind}' is not a kind of Weir: ${hint}` }
  }
  if (!API_VERSIONS.includes(apiVersion as string)) {
    const got = apiVersion === undefined ? 'is missing' : `is ${describeValue(apiVersion)}`
    return { path: ['apiVersion'], message: `apiVersion ${got}: expected ${API_VERSION}` }
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
