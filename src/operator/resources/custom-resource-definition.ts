import type { z } from 'zod'
import { API_GROUP, DEPRECATED_VERSIONS, deprecationWarning, STORED_VERSION } from '../../common/resource-api.ts'
import { describeAnnotations } from './annotations.ts'
import { connectorSpec, connectorStatus } from './connector.ts'
import { IMMUTABLE_FIELDS } from './immutable-fields.ts'
import { registryModeSpec, registryModeStatus } from './registry-mode.ts'
import { INITIAL_STATUS, type ResourceKind } from './resource.ts'
import { type StructuralSchema, toStructuralSchema } from './structural-schema.ts'
import { subjectRule, subjectSpec, subjectStatus } from './subject.ts'

type Column = { readonly name: string; readonly type: string; readonly jsonPath: string; readonly priority?: 1 }
type Shape = {
  readonly shortName: string
  readonly description: string
  readonly spec: z.ZodObject
  readonly status: z.ZodObject
  readonly columns: readonly Column[]
  /** A validation that needs more than `spec`. */
  readonly rule?: { readonly cel: string; readonly message: string }
  readonly scale?: StructuralSchema
}

const text = (name: string, jsonPath: string): Column => ({ name, type: 'string', jsonPath })
const number = (name: string, jsonPath: string): Column => ({ name, type: 'integer', jsonPath })
/** Shown with `-o wide` only. */
const wide = (column: Column): Column => ({ ...column, priority: 1 })
const ready = (field: 'status' | 'reason') => `.status.conditions[?(@.type=="Ready")].${field}`
const LAST_COLUMNS = [text('Ready', ready('status')), text('Reason', ready('reason'))]
const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

const SHAPES: { readonly [K in ResourceKind]: Shape } = {
  Connector: {
    shortName: 'wconn',
    description: 'A connector on a worker cluster.',
    spec: connectorSpec,
    status: connectorStatus,
    scale: {
      specReplicasPath: '.spec.tasksMax',
      statusReplicasPath: '.status.tasks.total',
      labelSelectorPath: '.status.selector',
    },
    columns: [
      text('Worker', '.spec.workerRef.name'),
      wide(text('Class', '.spec.class')),
      text('Target', '.spec.state'),
      text('State', '.status.state'),
      text('Tasks', '.status.tasks.summary'),
      ...LAST_COLUMNS,
      wide(number('Restarts', '.status.autoRestart.count')),
      AGE,
    ],
  },
  Subject: {
    shortName: 'wsubj',
    description: 'A subject of a schema registry.',
    spec: subjectSpec,
    status: subjectStatus,
    columns: [
      wide(text('Registry', '.spec.registryRef.name')),
      text('Subject', '.status.subject'),
      text('Type', '.spec.schemaType'),
      number('Version', '.status.version'),
      wide(number('Latest', '.status.latestVersion')),
      number('ID', '.status.id'),
      text('Compat', '.status.compatibility'),
      ...LAST_COLUMNS,
      AGE,
    ],
    rule: subjectRule,
  },
  RegistryMode: {
    shortName: 'wmode',
    description: 'The mode of a registry, a context or a subject.',
    spec: registryModeSpec,
    status: registryModeStatus,
    columns: [
      text('Registry', '.spec.registryRef.name'),
      text('Scope', '.status.scope'),
      text('Target', '.spec.mode'),
      text('Mode', '.status.mode'),
      text('Window', '.status.window.phase'),
      wide(text('Closes', '.status.window.closesAt')),
      ...LAST_COLUMNS,
      AGE,
    ],
  },
}

/** `connectors.weir.dev` */
export const crdName = (kind: ResourceKind): string => `${pluralOf(kind)}.${API_GROUP}`

/** Lower case, as in the API's paths. */
export const pluralOf = (kind: ResourceKind): string => `${kind.toLowerCase()}s`

/** The CustomResourceDefinition of a kind, generated from the schemas that parse manifests. */
export function crdOf(kind: ResourceKind): StructuralSchema {
  const { shortName } = SHAPES[kind]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: crdName(kind),
      // Uninstalling the chart keeps the definition: deleting it would delete all objects of the kind.
      annotations: { 'helm.sh/resource-policy': 'keep' },
      labels: { 'app.kubernetes.io/part-of': 'weir' },
    },
    spec: {
      group: API_GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural: pluralOf(kind),
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['weir'],
      },
      versions: [versionOf(kind, STORED_VERSION), ...DEPRECATED_VERSIONS.map((version) => versionOf(kind, version))],
      // The versions have one schema, so that the API server converts by replacing `apiVersion`.
      conversion: { strategy: 'None' },
    },
  }
}

function versionOf(kind: ResourceKind, version: string): StructuralSchema {
  const { columns, scale } = SHAPES[kind]
  const apiVersion = `${API_GROUP}/${version}`
  const isStored = version === STORED_VERSION
  return {
    name: version,
    served: true,
    storage: isStored,
    ...(!isStored && { deprecated: true, deprecationWarning: deprecationWarning(apiVersion) }),
    subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
    additionalPrinterColumns: columns,
    schema: { openAPIV3Schema: objectSchema(kind, apiVersion) },
  }
}

function objectSchema(kind: ResourceKind, apiVersion: string): StructuralSchema {
  const { description, spec, status, rule } = SHAPES[kind]
  return {
    description: `${description} ${describeAnnotations(kind)}`,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `API version of the resource: ${apiVersion}.` },
      kind: { type: 'string', description: `Kind of the resource: ${kind}.` },
      metadata: { type: 'object' },
      spec: withIdentity(kind, toStructuralSchema(spec)),
      status: {
        ...toStructuralSchema(status),
        description: 'Observed state. Written by the operator.',
        default: { observedGeneration: INITIAL_STATUS.observedGeneration },
        // Not required, because the default that the API server fills in has no conditions.
        required: undefined,
      },
    },
    ...(rule && { 'x-kubernetes-validations': [{ rule: rule.cel, message: rule.message }] }),
  }
}

/** Transition rules, which compare the old with the new spec. */
function withIdentity(kind: ResourceKind, spec: StructuralSchema): StructuralSchema {
  const required = (spec['required'] ?? []) as readonly string[]
  const properties = spec['properties'] as Readonly<Record<string, StructuralSchema>>
  const rules = IMMUTABLE_FIELDS[kind].map((field) => {
    const isAlwaysThere = required.includes(field) || properties[field]?.['default'] !== undefined
    const same = `self.${field} == oldSelf.${field}`
    return {
      rule: isAlwaysThere ? same : `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || ${same})`,
      message: `${field} is immutable`,
      fieldPath: `.${field}`,
      reason: 'FieldValueForbidden',
    }
  })
  const others = (spec['x-kubernetes-validations'] ?? []) as readonly StructuralSchema[]
  return { ...spec, description: 'Desired state.', 'x-kubernetes-validations': [...rules, ...others] }
}
