import { API_VERSION } from '../../src/common/resource-api.ts'
import { crdOf } from '../../src/operator/resources/custom-resource-definition.ts'
import { IMMUTABLE_FIELDS } from '../../src/operator/resources/immutable-fields.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../../src/operator/resources/resource.ts'
import { MAY_CHANGE } from '../../src/operator/resources/structural-schema.ts'

type Schema = {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly 'x-kubernetes-list-type'?: 'map' | 'atomic'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

/** Generates `docs/resources.md` from the definitions. */
export function resourceFieldsPage(): string {
  return `# Fields of the resources

The fields of \`${API_VERSION}\`, in the order of the definitions; \`kubectl explain connector.spec\` describes each. *Required* is meant within the
object that contains the field. Lists with a key are merged by server-side apply item by item; others are replaced as a whole.

A **stable** field keeps its name, meaning and default within this API version, and accepts what it accepts. The others are records of the operator,
which no program should read. [Compatibility](compatibility.md) has the promise, and
[ADR 23](adr/0023-one-schema-for-both-api-versions.md) the review of the fields.

${[...RESOURCE_KINDS].reverse().map(sectionOf).join('\n')}
This page is generated from \`src/operator/resources/\`.
`
}

function sectionOf(kind: ResourceKind): string {
  const { spec, status } = rootOf(kind)
  const immutable = new Set(IMMUTABLE_FIELDS[kind].map((field) => `spec.${field}`))
  const rows = [...rowsOf('spec', spec, immutable), ...rowsOf('status', status, immutable)]
  return `## ${kind}

| field | type | default | remark | stable |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}

function rootOf(kind: ResourceKind): { readonly spec: Schema; readonly status: Schema } {
  type Definition = { spec: { versions: { schema: { openAPIV3Schema: { properties: Record<string, Schema> } } }[] } }
  const { properties } = (crdOf(kind) as Definition).spec.versions[0]!.schema.openAPIV3Schema
  return { spec: properties['spec']!, status: properties['status']! }
}

function rowsOf(
  path: string,
  schema: Schema,
  immutable: ReadonlySet<string>,
  isStableParent = true,
): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`
    const isRequired = path.startsWith('spec') && schema.required?.includes(name) === true
    const remarks = [isRequired ? 'required' : '', immutable.has(at) ? 'immutable' : '', keysOf(field)]
    const isStable = isStableParent && field.description?.endsWith(MAY_CHANGE) !== true
    const remark = remarks.filter((each) => each !== '').join(', ')
    const row = `| ${[code(at), typeOf(field), defaultOf(field), remark, isStable ? 'yes' : 'no'].join(' | ')} |`
    const { items } = field
    return [
      row,
      ...(items === undefined ? rowsOf(at, field, immutable, isStable) : rowsOf(`${at}[]`, items, immutable, isStable)),
    ]
  })
}

function keysOf({ 'x-kubernetes-list-map-keys': keys }: Schema): string {
  return keys === undefined ? '' : `key: ${keys.map(code).join(', ')}`
}

function defaultOf({ default: value }: Schema): string {
  return value === undefined ? '' : code(JSON.stringify(value).replaceAll('"', ''))
}

function typeOf({ type, format, enum: words, items, additionalProperties, properties }: Schema): string {
  if (words !== undefined) return words.map(code).join(', ')
  if (items !== undefined) return `list of ${items.type === 'object' ? 'objects' : `${items.format ?? items.type}`}`
  if (additionalProperties !== undefined) return `map of ${additionalProperties.type}s`
  if (type === 'object' && properties === undefined) return 'any object'
  return format ?? type ?? 'any'
}

function code(text: string): string {
  return `\`${text}\``
}
