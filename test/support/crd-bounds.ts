import { crdOf } from '../../src/operator/resources/custom-resource-definition.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'
import type { ResourceKind } from '../../src/operator/resources/resource.ts'
import { type Manifest, VALID_MANIFESTS } from './manifests.ts'

// Builds manifests at and past the bounds of each field, from the CRDs, so that new fields are included.

/** The schema of a field in a CRD. */
export type Schema = {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object'
  readonly format?: string
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

type Step = string | number
type Field = { readonly path: readonly Step[]; readonly schema: Schema }
/** A value of a field; `of`: the field that an error must name, if it is not the field itself. */
type Value = { readonly what: string; readonly value: unknown; readonly of?: string }
type Bounds = { readonly at: readonly Value[]; readonly past: readonly Value[] }

export type BoundaryCase = {
  /** `spec.tasksMax: maximum` */
  readonly what: string
  readonly resource: Manifest
  /** The field that an error must name. */
  readonly field: string
}

/** Manifests at the bounds of each field of the kind, and just past each bound. */
export function boundaryCasesOf(kind: ResourceKind): {
  readonly at: readonly BoundaryCase[]
  readonly past: readonly BoundaryCase[]
} {
  const trials = fieldsOf(['spec'], specOf(kind)).map((field) => {
    const examples = examplesOf(kind, field)
    const { at, past } = boundsOf(field.schema, examples[0]!.sample)
    const trial = ({ what, value, of }: Value, resource: Manifest): BoundaryCase => {
      const name = dotted(of === undefined ? field.path : [...field.path, of])
      return { what: `${dotted(field.path)}: ${what}`, resource: changed(resource, field.path, value), field: name }
    }
    return {
      // A rule over several fields may reject the value in one example and not in another.
      at: at.map((one) => {
        const all = examples.map(({ resource }) => trial(one, resource))
        return all.find(({ resource }) => parseResource(resource).errors.length === 0) ?? all[0]!
      }),
      past: past.map((one) => trial(one, examples[0]!.resource)),
    }
  })
  return { at: trials.flatMap(({ at }) => at), past: trials.flatMap(({ past }) => past) }
}

function specOf(kind: ResourceKind): Schema {
  const definition = crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }
  return definition.spec.versions[0]!.schema.openAPIV3Schema.properties!['spec']!
}

function fieldsOf(path: readonly Step[], schema: Schema): readonly Field[] {
  const inner = schema.items ?? schema.additionalProperties
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => fieldsOf([...path, name], field)),
    ...(inner === undefined ? [] : fieldsOf([...path, schema.items === undefined ? 'key' : 0], inner)),
  ]
}

/** Valid manifests with the field; if there are none, those with its parent. */
function examplesOf(kind: ResourceKind, { path, schema }: Field) {
  const all = VALID_MANIFESTS.filter(({ resource }) => resource.kind === kind).map(({ resource }) =>
    withDefaults(resource),
  )
  const having = all.map((resource) => ({ resource, sample: at(resource, path) }))
  const found = having.filter(({ sample }) => sample !== undefined)
  if (found.length > 0) return found
  const around = all.filter((resource) => at(resource, path.slice(0, -1)) !== undefined)
  if (around.length === 0) throw new Error(`no good manifest has anything around ${dotted(path)}: give one that has`)
  return around.map((resource) => ({ resource, sample: sampleOf(schema) }))
}

/** Adds the default values, and an entry `key` to a map with free keys. */
function withDefaults(resource: Manifest): Manifest {
  const spec = JSON.parse(JSON.stringify(parseResource(resource).declared!.spec)) as Record<string, unknown>
  const { config } = spec as { config?: object }
  return { ...resource, spec: { ...spec, ...(config && { config: { ...config, key: 'x' } }) } }
}

function sampleOf({ type, enum: options, minimum = 1, items }: Schema): unknown {
  if (options !== undefined) return options[0]
  if (type === 'integer') return minimum
  if (type === 'boolean') return true
  if (type === 'array') return [sampleOf(items ?? {})]
  return type === 'string' ? 'aa' : {}
}

const WRONG_TYPE = { string: 7, integer: 'seven', boolean: 'yes', array: { a: 1 }, object: ['a'] } as const

function boundsOf(schema: Schema, sample: unknown): Bounds {
  const own = ofType(schema, sample)
  const wrong = WRONG_TYPE[schema.type ?? 'object']
  return { at: own.at, past: [...own.past, { what: 'of another type', value: wrong }] }
}

function ofType(schema: Schema, sample: unknown): Bounds {
  if (schema.enum !== undefined) {
    return {
      at: schema.enum.map((value) => ({ what: value, value })),
      past: [{ what: 'not of the list', value: 'Otherwise' }],
    }
  }
  switch (schema.type) {
    case 'string':
      return ofText(schema, String(sample))
    case 'integer':
      return ofNumber(schema)
    case 'array':
      return ofList(schema, sample as readonly unknown[])
    case 'object':
      return ofMap(schema, sample as Readonly<Record<string, unknown>>)
    default:
      return { at: [], past: [] }
  }
}

/** One character, two UTF-16 units, four bytes. */
const ASTRAL = '\u{1d4b6}'

function ofText({ minLength = 0, maxLength, pattern, format }: Schema, sample: string): Bounds {
  const isLike = (text: string) => pattern === undefined || new RegExp(pattern, 'u').test(text)
  const takesAstral = maxLength !== undefined && format === undefined && isLike(ASTRAL.repeat(maxLength))
  const broken = ['', ' ', '/', '\\', '\u0001', 'A', 'a:b', '.'].find(
    (text) => text.length >= minLength && !isLike(text),
  )
  return {
    at: [
      { what: 'as in the example', value: sample },
      ...(minLength > 0 ? [{ what: 'minLength', value: resized(sample, minLength, isLike) }] : []),
      ...(maxLength === undefined ? [] : [{ what: 'maxLength', value: resized(sample, maxLength, isLike) }]),
      ...(takesAstral ? [{ what: 'maxLength, of astral characters', value: ASTRAL.repeat(maxLength) }] : []),
    ],
    past: [
      ...(minLength > 0 ? [{ what: 'minLength', value: sample.slice(0, minLength - 1) }] : []),
      ...(maxLength === undefined ? [] : [{ what: 'maxLength', value: resized(sample, maxLength + 1, isLike) }]),
      ...(takesAstral ? [{ what: 'maxLength, of astral characters', value: ASTRAL.repeat(maxLength + 1) }] : []),
      ...(pattern === undefined ? [] : [{ what: 'pattern', value: broken }]),
      ...(format === 'date-time' ? [{ what: 'format', value: 'tomorrow' }] : []),
    ],
  }
}

/** The text, shortened or extended to `length` by removing or repeating a character, so that it is still valid. */
function resized(text: string, length: number, isLike: (text: string) => boolean): string {
  const more = Math.max(0, length - text.length)
  const places = [...text, ''].map((_, place) => place)
  const grown = places.flatMap((place) =>
    [...text.slice(place, place + 1), '0', 'a'].map(
      (one) => text.slice(0, place) + one.repeat(more) + text.slice(place),
    ),
  )
  const cut = places.flatMap((place) => text.slice(place, place + length)).filter((part) => part.length === length)
  const found = (more > 0 ? grown : [...cut, '0s']).find((one) => one.length === length && isLike(one))
  if (found === undefined) throw new Error(`no text of ${length} characters is like '${text}'`)
  return found
}

function ofNumber({ minimum = -(2 ** 31), maximum = 2 ** 31 - 1 }: Schema): Bounds {
  return {
    at: [
      { what: 'minimum', value: minimum },
      { what: 'maximum', value: maximum },
    ],
    past: [
      { what: 'minimum', value: minimum - 1 },
      { what: 'maximum', value: maximum + 1 },
      { what: 'not whole', value: minimum + 0.5 },
    ],
  }
}

function ofList({ maxItems = 0, 'x-kubernetes-list-map-keys': keys }: Schema, [first]: readonly unknown[]): Bounds {
  const items = (count: number) =>
    Array.from({ length: count }, (_, place) =>
      keys === undefined ? first : renamed(first as object, keys[0]!, place),
    )
  return {
    at: [
      { what: 'no items', value: [] },
      { what: 'maxItems', value: items(maxItems) },
    ],
    past: [{ what: 'maxItems', value: items(maxItems + 1) }],
  }
}

function renamed(item: object, key: string, place: number): object {
  const before = (item as Readonly<Record<string, unknown>>)[key]
  return { ...item, [key]: typeof before === 'number' ? place + 1 : `${before}${place}` }
}

function ofMap(schema: Schema, sample: Readonly<Record<string, unknown>>): Bounds {
  const { required = [], properties, maxProperties } = schema
  const { additionalProperties, 'x-kubernetes-preserve-unknown-fields': isFree } = schema
  if (additionalProperties !== undefined || isFree) {
    if (maxProperties === undefined) return { at: [{ what: 'empty', value: {} }], past: [] }
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, place) => [`k${place}`, 'x']))
    return {
      at: [{ what: 'maxProperties', value: entries(maxProperties) }],
      past: [{ what: 'maxProperties', value: entries(maxProperties + 1) }],
    }
  }
  const lacking = required
    .filter((name) => properties?.[name] !== undefined)
    .map((name) => {
      const { [name]: _, ...rest } = sample
      return { what: `without ${name}`, value: rest, of: name }
    })
  return { at: [], past: [...lacking, { what: 'a field more', value: { ...sample, unheardOf: 1 }, of: 'unheardOf' }] }
}

function at(value: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<Step, unknown> | undefined)?.[step], value)
}

function changed(whole: Manifest, path: readonly Step[], value: unknown): Manifest {
  const copy = structuredClone(whole)
  const last = path.at(-1)!
  const around = at(copy, path.slice(0, -1)) as Record<Step, unknown>
  around[last] = value
  return copy
}

function dotted(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
